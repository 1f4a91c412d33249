#include "life_program.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <app/error.h>
#include <app/format.h>
#include <app/options.h>
#include <app/text.h>
#include <dynasoar/write_file.h>

#include "box.h"
#include "pictures.h"

namespace life {
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();
// What a pattern's file may ask for: a frame of so many cells, or so many for each that is not dead. See README.md.
constexpr std::int64_t kFreeCells = std::int64_t{1} << 24;
constexpr std::int64_t kFreeCellsPerCell = 256;

app::RunOptions default_options(const Flavor& flavor) {
  app::RunOptions options;
  options.variant = "agents";
  options.log = "population.csv";
  options.chart = "population.png";
  options.picture = flavor.picture;
  return options;
}

Make implementation(const app::RunOptions& options) {
  if (options.baseline == "soa") return make_soa_baseline;
  if (options.baseline == "aos") return make_aos_baseline;
  if (options.baseline == "dense") return make_dense_baseline;
  if (options.baseline == "stencil") return make_stencil_baseline;
  if (options.baseline == "reference") return make_reference;
  return options.variant == "cells" ? make_cells : make_agents;
}

std::string name_of_implementation(const app::RunOptions& options) {
  if (options.baseline == "soa") return "structure-of-arrays baseline";
  if (options.baseline == "aos") return "array-of-structures baseline";
  if (options.baseline == "dense") return "dense baseline";
  if (options.baseline == "stencil") return "stencil baseline";
  if (options.baseline == "reference") return "sequential reference";
  return options.variant == "cells" ? "cells, alive cells and candidates as objects"
                                    : "alive cells and candidates as objects";
}

Rule rule_from(const std::string& text) {
  try {
    return parse_rule(text);
  } catch (const RuleError& error) {
    throw app::UsageError(
        fmt::format("--rule '{}', character {}: {}", app::shown(text), error.position() + 1, error.what()));
  }
}

}  // namespace

LifeProgram::LifeProgram(Flavor flavor) : Program(flavor.texts, default_options(flavor)), flavor_(std::move(flavor)) {}

void LifeProgram::add_options(CLI::App& cli) {
  app::add_path(cli, "--pattern", pattern_path_, "FILE", "Start with this pattern, an RLE file; none: at random");
  app::add_path(cli, "--rule", rule_text_, "RULE",
                "B3/S23 or 23/3 (survival first); with dying states B2/S345/C4 or 345/2/4 (4 states in all)")
      ->default_str(fmt::format("the pattern's, or {}", flavor_.default_rule));
  app::add_integer(
      cli, "--width", width_, 0, kMaxInt,
      fmt::format("Cells per row, with the pattern in the middle; 0: the pattern's, or {}", flavor_.random_side));
  app::add_integer(cli, "--height", height_, 0, kMaxInt,
                   fmt::format("Rows, with the pattern in the middle; 0: the pattern's, or {}", flavor_.random_side));
  app::add_fraction(cli, "--density", parameters_.density, "Fraction of the cells that are alive in a random start");
  app::add_unsigned(cli, "--seed", parameters_.seed, "Seed of a random start: the same seed, the same run");
  app::add_choice(cli, "--edge", edge_, {"dead", "torus", "grow"},
                  "What is beyond the edge: cells that stay dead; the opposite side; or the frame grows, and moves, "
                  "with what lives, so that the plane has no edge");
  app::add_integer(cli, "--margin", parameters_.margin, 0, kMaxInt,
                   "Dead cells around the start on each side, part of the frame; a growing frame has at least 64");
  app::add_path(cli, "--output", output_, "FILE", "The pattern at the end (RLE)");
}

void LifeProgram::check_options(app::RunOptions&) {
  parameters_.edge = edge_ == "dead" ? Edge::dead : edge_ == "torus" ? Edge::torus : Edge::grow;
  if (!pattern_path_.empty()) read_pattern();
  if (pattern_path_.empty()) {
    parameters_.rule = rule_from(rule_text_.empty() ? flavor_.default_rule : rule_text_);
    parameters_.width = width_ > 0 ? width_ : flavor_.random_side;
    parameters_.height = height_ > 0 ? height_ : flavor_.random_side;
  }
  if (parameters_.rule.states > 2 && !flavor_.has_dying) {
    throw app::UsageError(
        fmt::format("the rule {} has dying states; the program for it is generation", text_of(parameters_.rule)));
  }
  check_size();
  if (!pattern_path_.empty()) {
    check_memory();
    place_pattern();
  }
}

// Sets the rule and the size of the start.
void LifeProgram::read_pattern() {
  std::optional<Rule> rule;
  if (!rule_text_.empty()) rule = rule_from(rule_text_);
  pattern_ = read_rle(pattern_path_);
  if (!rule && pattern_.rule.empty()) rule = parse_rule(flavor_.default_rule);
  parameters_.rule = rule_of(pattern_, pattern_path_, rule);
  if (parameters_.edge == Edge::grow && width_ == 0 && height_ == 0) pattern_.trim();
  const auto size = [this](const char* option, int wanted, int least) {
    if (wanted == 0) return std::max(least, 1);
    if (wanted < least) {
      throw app::UsageError(fmt::format("{}: {} is less than the {} of the pattern {} (see --help)", option, wanted,
                                        least, pattern_path_));
    }
    return wanted;
  };
  parameters_.width = size("--width", width_, pattern_.width);
  parameters_.height = size("--height", height_, pattern_.height);
}

void LifeProgram::check_size() const {
  // A growing frame may begin with a larger margin; it says itself if it becomes too large.
  const std::int64_t margin = parameters_.margin;
  const std::int64_t width = parameters_.width + 2 * margin;
  const std::int64_t height = parameters_.height + 2 * margin;
  if (width > kMaxInt || height > kMaxInt || width * height > kMaxInt) {
    throw app::UsageError(
        fmt::format("--width x --height with --margin: {} x {} are more than 2^31 - 1 cells (see "
                    "--help)",
                    width, height));
  }
}

// Large frames are for the user to ask for, not for a file, of which a few bytes can state any size.
void LifeProgram::check_memory() const {
  if (width_ > 0 && height_ > 0) return;
  const std::int64_t cells = std::int64_t{parameters_.width} * parameters_.height;
  if (cells <= std::max(kFreeCells, kFreeCellsPerCell * pattern_.cells())) return;
  throw app::UsageError(fmt::format(
      "{}: a frame of {} x {} cells, of which {} are not dead, takes a lot of memory; ask for it with "
      "--width {} --height {}{}",
      app::shown(pattern_path_, 1000), parameters_.width, parameters_.height, pattern_.cells(), parameters_.width,
      parameters_.height, parameters_.edge == Edge::grow ? "" : ", or leave out --edge"));
}

// Puts the pattern into the middle of the start.
void LifeProgram::place_pattern() {
  const int x = (parameters_.width - pattern_.width) / 2;
  const int y = (parameters_.height - pattern_.height) / 2;
  parameters_.left = pattern_.left - x;
  parameters_.top = pattern_.top - y;
  for (Run& run : pattern_.runs) {
    run.x += x;
    run.y += y;
  }
  pattern_.width = parameters_.width;
  pattern_.height = parameters_.height;
  parameters_.start = pattern_.states();
  pattern_.runs = {};
}

std::string LifeProgram::describe(const app::RunOptions& options) const {
  const char* const edge = parameters_.edge == Edge::dead    ? "with a dead edge"
                           : parameters_.edge == Edge::torus ? "on a torus"
                                                             : "on an unbounded plane";
  return fmt::format("{}, {} x {} cells {}, rule {}", name_of_implementation(options),
                     parameters_.width + 2 * parameters_.margin, parameters_.height + 2 * parameters_.margin, edge,
                     text_of(parameters_.rule));
}

std::vector<app::Column> LifeProgram::columns() const {
  return {{"alive"}, {flavor_.has_dying ? "dying" : "candidates"}};
}

app::Simulation& LifeProgram::start(const app::RunOptions& options) {
  parameters_.allocator = options.allocator;
  parameters_.heap_bytes = options.heap_bytes;
  parameters_.threads = options.threads;
  parameters_.profile_every = options.profile_every;
  const Make make = implementation(options);
  simulation_ = parameters_.edge == Edge::grow ? make_growing(parameters_, make) : make(parameters_);
  return *simulation_;
}

std::vector<app::Row> LifeProgram::take_history() {
  std::vector<app::Row> rows;
  for (const Population& population : simulation_->take_history()) {
    const std::uint64_t second = flavor_.has_dying ? population.dying : population.candidates;
    rows.push_back({static_cast<double>(population.alive), static_cast<double>(second)});
  }
  return rows;
}

double LifeProgram::objects(const app::Row& row) const {
  return row[0] + row[1];
}

app::Picture LifeProgram::picture() {
  return frame_picture(simulation_->frame(), parameters_.rule);
}

app::World LifeProgram::world() const {
  return {static_cast<double>(parameters_.left - parameters_.margin),
          static_cast<double>(parameters_.top - parameters_.margin),
          static_cast<double>(parameters_.width + 2 * parameters_.margin),
          static_cast<double>(parameters_.height + 2 * parameters_.margin)};
}

app::Chart LifeProgram::chart(const std::vector<app::Row>& history) const {
  const std::string start =
      !pattern_.name.empty() ? app::shown(pattern_.name)
      : !pattern_path_.empty()
          ? app::shown(std::filesystem::path(pattern_path_).filename().string())
          : fmt::format("{} × {} cells at random, seed {}", app::grouped(static_cast<std::uint64_t>(parameters_.width)),
                        app::grouped(static_cast<std::uint64_t>(parameters_.height)), parameters_.seed);
  return population_chart(history, flavor_.has_dying ? "Dying" : "Candidates", flavor_.title,
                          fmt::format("{}, rule {}", start, text_of(parameters_.rule)));
}

void LifeProgram::save_output(const app::NamedFile& output) {
  const Frame frame = simulation_->frame();
  Pattern result;
  result.name = pattern_.name;
  if (const std::optional<Box> box = bounding_box(frame)) {
    result.left = frame.left + box->left;
    result.top = frame.top + box->top;
    result.width = box->width();
    result.height = box->height();
    result.set_states(states_in(frame, *box));
  }
  dynasoar::write_file(output.path, format_rle(result, parameters_.rule));
}

}  // namespace life
