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

#include <app/text.h>
#include <dynasoar/program/format.h>
#include <dynasoar/program/options.h>
#include <dynasoar/write_file.h>

#include "box.h"
#include "pictures.h"

namespace life {
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();
// The largest frame that a pattern file can request: this many cells, or this many per cell that is not dead. See
// README.md.
constexpr std::int64_t kFreeCells = std::int64_t{1} << 24;
constexpr std::int64_t kFreeCellsPerCell = 256;

using Implementations = std::vector<LifeProgram::Implementation>;

Implementations all_baselines(const Flavor& flavor) {
  Implementations baselines = {{"soa", "structure-of-arrays baseline", make_soa_baseline},
                               {"aos", "array-of-structures baseline", make_aos_baseline},
                               {"dense", "dense baseline", make_dense_baseline}};
  if (flavor.has_stencil) baselines.push_back({"stencil", "stencil baseline", make_stencil_baseline});
  baselines.push_back({"reference", "sequential reference", make_reference});
  return baselines;
}

app::Row alive_and_candidates(const Population& population) {
  return {static_cast<double>(population.alive), static_cast<double>(population.candidates)};
}

app::Row alive_and_dying(const Population& population) {
  return {static_cast<double>(population.alive), static_cast<double>(population.dying)};
}

// The common part of the programs' descriptions.
app::Description completed(app::Description description) {
  description.variant_help =
      "What is an object: cells that are not dead, on a lattice; or all cells, alive cells and candidates";
  description.variant = "placed";
  description.log.path = "population.csv";
  description.object_columns = 2;
  description.ranks = app::all_ranks;
  return description;
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

LifeProgram::LifeProgram(Flavor flavor)
    : ModelProgram(completed(flavor.description),
                   {{"cells", "cells, alive cells and candidates as objects", make_cells},
                    {"placed", "cells placed on a lattice", make_placed, true}},
                   all_baselines(flavor), flavor.has_dying ? alive_and_dying : alive_and_candidates),
      flavor_(std::move(flavor)) {}

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
  app::add_fraction(cli, "--density", parameters().density, "Fraction of the cells that are alive in a random start");
  add_seed(cli, parameters().seed, "Seed of a random start: the same seed, the same run");
  app::add_choice(cli, "--edge", edge_, {"dead", "torus", "grow"},
                  "What is beyond the edge: cells that stay dead; the opposite side; or the frame grows, and moves, "
                  "with what lives, so that the plane has no edge");
  app::add_integer(cli, "--margin", parameters().margin, 0, kMaxInt,
                   "Dead cells around the start on each side, part of the frame; a growing frame has at least 64");
  app::add_path(cli, "--output", output_, "FILE", "The pattern at the end (RLE)");
}

void LifeProgram::check_options(app::RunOptions& options) {
  parameters().edge = edge_ == "dead" ? Edge::dead : edge_ == "torus" ? Edge::torus : Edge::grow;
  if (!pattern_path_.empty()) read_pattern();
  if (pattern_path_.empty()) {
    parameters().rule = rule_from(rule_text_.empty() ? flavor_.default_rule : rule_text_);
    parameters().width = width_ > 0 ? width_ : flavor_.random_side;
    parameters().height = height_ > 0 ? height_ : flavor_.random_side;
  }
  if (parameters().rule.states > 2 && !flavor_.has_dying) {
    throw app::UsageError(
        fmt::format("the rule {} has dying states; the program for it is generation", text_of(parameters().rule)));
  }
  check_size(options);
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
  parameters().rule = rule_of(pattern_, pattern_path_, rule);
  if (parameters().edge == Edge::grow && width_ == 0 && height_ == 0) pattern_.trim();
  const auto size = [this](const char* option, int wanted, int least) {
    if (wanted == 0) return std::max(least, 1);
    if (wanted < least) {
      throw app::UsageError(fmt::format("{}: {} is less than the {} of the pattern {} (see --help)", option, wanted,
                                        least, pattern_path_));
    }
    return wanted;
  };
  parameters().width = size("--width", width_, pattern_.width);
  parameters().height = size("--height", height_, pattern_.height);
}

void LifeProgram::check_size(const app::RunOptions& options) const {
  // A growing frame may begin with a larger margin. It reports itself if it becomes too large.
  const std::int64_t margin = parameters().margin;
  const std::int64_t width = parameters().width + 2 * margin;
  const std::int64_t height = parameters().height + 2 * margin;
  const bool may_be_large =
      options.variant == "placed" && options.baseline == "none" && parameters().edge != Edge::grow;
  const bool is_long = width > kMaxInt || height > kMaxInt;
  if (!is_long && (may_be_large || width * height <= kMaxInt)) return;
  throw app::UsageError(fmt::format(
      "--width x --height with --margin: {} x {} are more than 2^31 - 1 cells{} (see --help)", width, height,
      is_long ? " in a row or column" : ", which only --variant placed with --edge dead or torus can have"));
}

// Only the user can request a large frame, not a file, because a few bytes in a file can state any size.
void LifeProgram::check_memory() const {
  if (width_ > 0 && height_ > 0) return;
  const std::int64_t cells = std::int64_t{parameters().width} * parameters().height;
  if (cells <= std::max(kFreeCells, kFreeCellsPerCell * pattern_.cells())) return;
  throw app::UsageError(fmt::format(
      "{}: a frame of {} x {} cells, of which {} are not dead, takes a lot of memory; ask for it with "
      "--width {} --height {}{}",
      app::shown(pattern_path_, 1000), parameters().width, parameters().height, pattern_.cells(), parameters().width,
      parameters().height, parameters().edge == Edge::grow ? "" : ", or leave out --edge"));
}

// Puts the pattern into the middle of the start.
void LifeProgram::place_pattern() {
  const int x = (parameters().width - pattern_.width) / 2;
  const int y = (parameters().height - pattern_.height) / 2;
  parameters().left = pattern_.left - x;
  parameters().top = pattern_.top - y;
  for (Run& run : pattern_.runs) {
    run.x += x;
    run.y += y;
  }
  pattern_.width = parameters().width;
  pattern_.height = parameters().height;
  parameters().start = pattern_.states();
  pattern_.runs = {};
}

std::string LifeProgram::why_not_on_ranks(const app::RunOptions& options) const {
  if (parameters().edge == Edge::grow) return "--edge grow is for one process: take --edge dead or --edge torus";
  return ModelProgram::why_not_on_ranks(options);
}

std::string LifeProgram::size() const {
  const char* const edge = parameters().edge == Edge::dead    ? "with a dead edge"
                           : parameters().edge == Edge::torus ? "on a torus"
                                                              : "on an unbounded plane";
  return fmt::format("{} x {} cells {}, rule {}", parameters().width + 2 * parameters().margin,
                     parameters().height + 2 * parameters().margin, edge, text_of(parameters().rule));
}

std::unique_ptr<Simulation> LifeProgram::make(const Make& make) {
  return parameters().edge == Edge::grow ? make_growing(parameters(), make) : make(parameters());
}

app::Drawings LifeProgram::drawings() const {
  return {.chart = {"population.png", "Chart of the populations"},
          .picture = {flavor_.description.name + ".png",
                      "The frame at the end, by default not if it has more than 2^31 - 1 cells"}};
}

bool LifeProgram::has_default_picture() const {
  const std::int64_t margin = parameters().margin;
  return app::is_drawn_by_default(parameters().width + 2 * margin, parameters().height + 2 * margin);
}

app::Picture LifeProgram::picture() {
  const Frame frame = simulation().frame();
  return is_first_rank() ? frame_picture(frame, parameters().rule) : app::Picture(1, 1);
}

app::World LifeProgram::world() const {
  return {static_cast<double>(parameters().left - parameters().margin),
          static_cast<double>(parameters().top - parameters().margin),
          static_cast<double>(parameters().width + 2 * parameters().margin),
          static_cast<double>(parameters().height + 2 * parameters().margin)};
}

app::Chart LifeProgram::chart(const std::vector<app::Row>& history) const {
  const std::string start =
      !pattern_.name.empty() ? app::shown(pattern_.name)
      : !pattern_path_.empty()
          ? app::shown(std::filesystem::path(pattern_path_).filename().string())
          : fmt::format("{} × {} cells at random, seed {}",
                        app::grouped(static_cast<std::uint64_t>(parameters().width)),
                        app::grouped(static_cast<std::uint64_t>(parameters().height)), parameters().seed);
  return population_chart(history, flavor_.has_dying ? "Dying" : "Candidates", flavor_.title,
                          fmt::format("{}, rule {}", start, text_of(parameters().rule)));
}

void LifeProgram::save_output(const app::NamedFile& output) {
  const Frame frame = simulation().frame();
  if (!is_first_rank()) return;
  Pattern result;
  result.name = pattern_.name;
  if (const std::optional<Box> box = bounding_box(frame)) {
    result.left = frame.left + box->left;
    result.top = frame.top + box->top;
    result.width = box->width();
    result.height = box->height();
    result.set_states(states_in(frame, *box));
  }
  dynasoar::write_file(output.path, format_rle(result, parameters().rule));
}

}  // namespace life
