#include <dynasoar/program/program.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <dynasoar/platform/error.h>
#include <dynasoar/program/display.h>
#include <dynasoar/program/format.h>
#include <dynasoar/program/options.h>
#include <dynasoar/program/simulation.h>
#include "device.h"
#include "messages.h"

#include "ranks.h"
#include "run.h"

namespace dynasoar::program {
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();

int fail(const Program& program, int exit_code, const std::string& message) {
  print_error(fmt::format("{}: {}\n", program.description().name, message));
  return exit_code;
}

// The same for an exception. If only this rank of several has thrown it, it ends the run on all ranks, and only this
// rank can print the reason.
int fail_by_exception(const Program& program, int exit_code, const std::string& message) {
  const Ranks* const ranks = program.ranks();
  if (ranks == nullptr || ranks->is_end_agreed()) return fail(program, exit_code, message);
  silence(false);
  return fail(program, exit_code, fmt::format("rank {}: {}", ranks->rank(), message));
}

RunOptions default_options(const Program& program) {
  const Description& description = program.description();
  RunOptions options;
  options.steps = description.steps;
  options.variant = description.variant.empty() ? program.variants().front() : description.variant;
  options.log = description.log.path;
  return options;
}

// Adds the options that choose what to run, if there is a choice.
void add_choices(CLI::App& cli, const Program& program, RunOptions& options) {
  const Description& description = program.description();
  std::vector<std::string> baselines = program.baselines();
  if (!description.variant_help.empty()) {
    add_choice(cli, "--variant", options.variant, program.variants(), description.variant_help);
  }
  if (!description.allocators.empty()) {
    add_choice(cli, "--allocator", options.allocator, description.allocators,
               "Where the variant's objects live: soa is DynaSOAr's own, others hold each object in one piece");
  }
  if (!baselines.empty()) {
    baselines.insert(baselines.begin(), "none");
    add_choice(cli, "--baseline", options.baseline, baselines,
               "Run this instead of a variant: hand-written arrays without dynamic allocation, or the sequential "
               "reference");
  }
}

void add_run_options(CLI::App& cli, const Program& program, Display* display, RunOptions& options) {
  const bool has_baselines = !program.baselines().empty();
  add_choices(cli, program, options);
  add_size(cli, "--heap", options.heap_bytes, "Memory for objects; 0: enough for this model", "0");
  add_integer(cli, "--threads", options.threads, 0, 4096,
              "Threads on the CPU; 0: one per processor; a GPU uses all it has");
  if (program.description().ranks != nullptr) {
    add_choice(
        cli, "--transport", options.transport, {"auto", "peer", "nccl", "staged"},
        "With mpirun, how ranks exchange rows: into the neighbour's memory, by NCCL, or by MPI through the hosts' "
        "memory; auto: the first that is possible, on CPUs staged");
  }
  add_path(cli, "--log", options.log, "FILE",
           program.description().log.help + ", as .csv or .jsonl (JSON lines); none: not written");
  if (display != nullptr) display->add_options(cli);
  add_path(
      cli, "--export", options.exported, "FILE",
      "Objects with all fields during the run: FILE.csv, FILE.h5 (HDF5) or FILE.vtp (VTK, for ParaView) stands for "
      "FILE-000000.csv ..." +
          std::string(has_baselines ? "; not with --baseline" : ""));
  add_integer(cli, "--export-every", options.export_every, 1, kMaxInt, "Steps from one of these files to the next");
  add_path(cli, "--checkpoint", options.checkpoint, "FILE",
           "File from which the run can continue, written during the run, at its end, and when it is interrupted" +
               std::string(has_baselines ? "; only for variants with objects in allocator soa" : ""));
  add_integer(cli, "--checkpoint-every", options.checkpoint_every, 1, kMaxInt, "Steps from one checkpoint to the next");
  add_path(cli, "--restore", options.restore, "FILE",
           "Checkpoint from which to continue, with the same other options; --steps counts from the run's beginning");
  cli.add_flag("--quiet", options.quiet, "Print nothing but errors");
}

// The given values of the first `count` options, without those of the program's outputs.
SavedOptions given_options(const Program& program, const CLI::App& cli, std::size_t count) {
  const std::vector<NamedFile> outputs = program.outputs();
  SavedOptions saved;
  for (std::size_t i = 0; i < count; ++i) {
    const CLI::Option* const option = cli.get_options()[i];
    const std::string name = option->get_name();
    const auto is_this = [&name](const NamedFile& output) { return output.option == name; };
    if (option == cli.get_help_ptr() || std::any_of(outputs.begin(), outputs.end(), is_this)) continue;
    saved.add(name, option->count() > 0 ? option->results().back() : option->get_default_str());
  }
  return saved;
}

// Checks the options for several processes. @throws UsageError
void check_on_ranks(const Program& program, const Display* display, const RunOptions& options) {
  const auto refuse = [](const std::string& why) {
    throw UsageError(why + ", or start the program without mpirun, as one process");
  };
  if (const std::string why = program.why_not_on_ranks(options); !why.empty()) refuse(why);
  if (options.allocator != "soa") refuse("--allocator " + options.allocator + " is for one process: take soa");
  if (display != nullptr && !display->option_for_objects().empty()) {
    refuse(display->option_for_objects() + " is for one process: leave it out");
  }
}

Transport transport_of(const std::string& name) {
  for (const Transport transport : {Transport::peer, Transport::nccl, Transport::staged}) {
    if (name == name_of(transport)) return transport;
  }
  return Transport::automatic;
}

// Tells the ranks how to exchange rows. @throws UsageError if there are none
void choose_transport(const RunOptions& options) {
  const Transport wanted = transport_of(options.transport);
  if (options.ranks != nullptr) return options.ranks->want_transport(wanted);
  if (wanted == Transport::automatic) return;
  throw UsageError(
      fmt::format("--transport {} is for several processes: leave it out, or start them with mpirun, such "
                  "as mpirun -n 4",
                  options.transport));
}

// @return the exit code if the program is to end: 0 after --help
std::optional<int> read_options(Program& program, Display* display, int argc, const char* const* argv,
                                RunOptions& options) {
  CLI::App cli;
  cli.name(program.description().name);
  set_up(cli, program.description().text);
  cli.footer(
      "Exit codes: 0 done, 1 failed, 2 wrong option or output that cannot be written, 3 heap too small, 4 done or "
      "interrupted but something could not be written, 130 interrupted.");
  program.add_options(cli);
  const std::size_t model_options = cli.get_options().size();
  add_integer(cli, "--steps", options.steps, 0, kMaxInt, "Steps to simulate");
  add_run_options(cli, program, display, options);
  const std::optional<int> exit_code = parse(cli, argc, argv);
  if (exit_code) return exit_code;
  program.check_options(options);
  if (options.ranks != nullptr) check_on_ranks(program, display, options);
  choose_transport(options);
  set_running_program(program.description().name, options.variant, given_options(program, cli, model_options));
  return std::nullopt;
}

// A size for --heap, rounded up to whole MiB.
std::string heap_option(std::uint64_t bytes) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  return fmt::format("--heap {}MiB", (bytes + kMiB - 1) / kMiB);
}

// Writes the results of a run that cannot go on, and reports the reason.
int end_early(const Program& program, Run& run, bool quiet, int exit_code, const std::string& why,
              const std::string& advice) {
  run.write_results(false);
  if (!quiet) run.print_files();
  return fail_by_exception(program, exit_code, fmt::format("{} ({}){}", why, run.what_is_valid(), advice));
}

std::string device_text(const RunOptions& options) {
  const std::string device = device_description(options.threads);
  return options.ranks == nullptr ? device : fmt::format("{} ranks, the first on {}", options.ranks->size(), device);
}

std::string first_line(const Program& program, const RunOptions& options) {
  const bool sequential = options.baseline == "reference";
  const bool other_allocator = options.baseline == "none" && options.allocator != "soa";
  return fmt::format("{}: {}, {}{}, {}, on {}", program.description().name, program.implementation(options),
                     program.size(), other_allocator ? ", allocator " + options.allocator : "",
                     counted(static_cast<std::uint64_t>(options.steps), "step", "steps"),
                     sequential ? "one CPU thread" : device_text(options));
}

// Reports the end of a run, or its interruption. @return the exit code
int report_end(const Program& program, const Run& run, int steps) {
  int exit_code = 0;
  if (run.completed_steps() < steps && !run.was_closed()) {
    exit_code =
        fail(program, kExitInterrupted, fmt::format("interrupted after step {} of {}", run.completed_steps(), steps));
  }
  if (run.losses().empty()) return exit_code;
  return fail(program, kExitNotWritten, "not everything was written, see above: " + run.losses().text());
}

// The exit code for all ranks: that of the first rank, which knows what was written.
int agreed(Ranks* ranks, int exit_code) {
  if (ranks == nullptr) return exit_code;
  std::vector<std::uint64_t> code = {ranks->rank() == 0 ? static_cast<std::uint64_t>(exit_code) : 0};
  ranks->sum(code);
  return static_cast<int>(code[0]);
}

// Ranks of one host share its GPUs, or its processors.
void choose_device(RunOptions& options) {
  on_all(options.ranks, [&options] {
    if (!device_available()) throw dynasoar::Error("no GPU is available, and this program was built to run on one");
    if (options.ranks == nullptr) return;
    const int threads = share_host(options.ranks->local_rank(), options.ranks->local_size());
    if (options.threads == 0) options.threads = threads;
  });
}

// The processes that were started together. Checks that they have the same options.
Ranks* join(Program& program, int argc, const char* const* argv) {
  program.find_ranks();
  Ranks* const ranks = program.ranks();
  if (ranks == nullptr) return nullptr;
  silence(ranks->rank() > 0);
  std::string text = program.description().name;
  for (int i = 1; i < argc; ++i) text += std::string(" ") + argv[i];
  on_all(ranks, [&] { ranks->check_same("options", text); });
  return ranks;
}

int simulate(Program& program, const RunOptions& options, Display* display) {
  Run run(program, options, display);
  if (!options.quiet) run.print(first_line(program, options) + '\n');
  try {
    run.simulate();
  } catch (const HeapTooSmall& error) {
    const std::string advice =
        error.needed_bytes() > 0 ? "; run again with " + heap_option(error.needed_bytes()) : std::string();
    return end_early(program, run, options.quiet, kExitHeapTooSmall, error.what(), advice);
  } catch (const std::exception& error) {
    if (!run.has_started()) throw;
    return end_early(program, run, options.quiet, kExitFailure, text_of(error), "");
  }
  run.write_results(true);
  if (!options.quiet) {
    run.print_summary();
    run.print_files();
  }
  return agreed(options.ranks, report_end(program, run, options.steps));
}

}  // namespace

double Program::objects(const Row& row) const {
  const std::size_t columns = std::min(row.size(), description_.object_columns);
  return std::accumulate(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(columns), 0.0);
}

void Program::add_seed(CLI::App& cli, std::uint64_t& seed, const std::string& help) {
  add_unsigned(cli, "--seed", seed, help);
  seed_ = &seed;
}

int run_program(Program& program, int argc, const char* const* argv, Display* display) {
  protect_streams();
  try {
    RunOptions options = default_options(program);
    options.ranks = join(program, argc, argv);
    std::optional<int> exit_code;
    on_all(options.ranks, [&] { exit_code = read_options(program, display, argc, argv, options); });
    if (exit_code) return *exit_code;
    choose_device(options);
    return simulate(program, options, display);
  } catch (const UsageError& error) {
    return fail_by_exception(program, kExitUsage, error.what());
  } catch (const std::exception& error) {
    return fail_by_exception(program, kExitFailure, text_of(error));
  }
}

}  // namespace dynasoar::program
