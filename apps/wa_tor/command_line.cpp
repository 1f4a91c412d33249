#include "command_line.h"

#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include <app/error.h>
#include <app/options.h>

namespace wa_tor {
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();

void add_model_options(CLI::App& cli, CommandLine& options) {
  Parameters& model = options.parameters;
  app::add_integer(cli, "--width", model.width, 1, kMaxInt, "Cells per row");
  app::add_integer(cli, "--height", model.height, 1, kMaxInt, "Rows");
  app::add_integer(cli, "--steps", options.steps, 0, kMaxInt, "Steps to simulate");
  app::add_unsigned(cli, "--seed", model.seed, "Seed of all random numbers: the same seed, the same run");
  app::add_fraction(cli, "--fish", model.fish, "Fraction of the cells with a fish at the start");
  app::add_fraction(cli, "--sharks", model.sharks, "Fraction of the cells with a shark at the start");
}

void add_implementation_options(CLI::App& cli, CommandLine& options) {
  app::add_choice(cli, "--variant", options.variant, {"cells", "agents"},
                  "What is an object: cells and agents, or agents only");
  app::add_choice(cli, "--baseline", options.baseline, {"none", "soa", "aos", "reference"},
                  "Run this instead of a variant: hand-written arrays without dynamic allocation, or the sequential "
                  "reference");
  app::add_size(cli, "--heap", options.parameters.heap_bytes, "Memory for objects; 0: as much as this ocean can need",
                "0");
  app::add_integer(cli, "--threads", options.parameters.threads, 0, 4096,
                   "Threads on the CPU; 0: one per processor; a GPU uses all it has");
}

void add_output_options(CLI::App& cli, CommandLine& options) {
  app::add_path(cli, "--csv", options.csv, "FILE", "Fish and sharks after every step; none: not written");
  app::add_path(cli, "--chart", options.chart, "FILE", "Chart of the populations (PNG); none: not written");
  app::add_path(cli, "--picture", options.picture, "FILE", "The ocean at the end (PNG); none: not written");
  app::add_path(cli, "--frames", options.frames, "DIR", "Folder for pictures during the run, frame-000000.png ...");
  app::add_integer(cli, "--every", options.every, 1, kMaxInt, "Steps from one frame to the next");
  cli.add_flag("--quiet", options.quiet, "Print nothing but errors");
}

void check_together(const Parameters& model) {
  const std::int64_t cells = std::int64_t{model.width} * model.height;
  if (cells > kMaxInt) {
    throw app::UsageError(fmt::format("--width x --height: {} x {} are more than 2^31 - 1 cells (see --help)",
                                      model.width, model.height));
  }
  if (model.fish + model.sharks > 1) {
    throw app::UsageError(
        fmt::format("--fish + --sharks: must not exceed 1, but {} + {} do (see --help)", model.fish, model.sharks));
  }
}

}  // namespace

std::optional<int> read_command_line(int argc, const char* const* argv, CommandLine& command_line) {
  CLI::App cli;
  cli.name("wa-tor");
  app::set_up(cli,
              "Simulates fish and sharks on the torus-shaped planet Wa-Tor (A. K. Dewdney, 1984).\n"
              "Writes the populations of every step, a chart of them and a picture of the ocean.");
  cli.footer(
      "Exit codes: 0 done, 1 failed, 2 wrong option or output that cannot be written, 3 heap too small, 130 "
      "interrupted.");
  add_model_options(cli, command_line);
  add_implementation_options(cli, command_line);
  add_output_options(cli, command_line);
  const std::optional<int> exit_code = app::parse(cli, argc, argv);
  if (exit_code) return exit_code;
  if (command_line.frames == kNoOutput) command_line.frames.clear();
  check_together(command_line.parameters);
  return std::nullopt;
}

}  // namespace wa_tor
