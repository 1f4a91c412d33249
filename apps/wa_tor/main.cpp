/// @file
/// The program wa-tor: the model's options, and what its results look like.

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <app/allocator_choice.h>
#include <app/cell_columns.h>
#include <app/error.h>
#include <app/options.h>
#include <app/program.h>

#include "pictures.h"
#include "simulation.h"

namespace wa_tor {
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();

app::ProgramTexts program_texts() {
  return {.name = "wa-tor",
          .description =
              "Simulates fish and sharks on the torus-shaped planet Wa-Tor (A. K. Dewdney, 1984).\n"
              "Writes the populations of every step, a chart of them and a picture of the ocean.",
          .variants = {"cells", "agents"},
          .variant_help = "What is an object: cells and agents, or agents only",
          .allocators = app::allocator_names(),
          .baselines = {"none", "soa", "aos", "reference"},
          .log_help = "Fish and sharks after every step",
          .chart_help = "Chart of the populations",
          .picture_help = "The ocean at the end"};
}

app::RunOptions default_options() {
  app::RunOptions options;
  options.variant = "agents";
  options.log = "population.csv";
  options.chart = "population.png";
  options.picture = "wa-tor.png";
  return options;
}

class WaTor final : public app::Program {
 public:
  WaTor() : Program(program_texts(), default_options()) {}

  void add_options(CLI::App& cli) override {
    app::add_integer(cli, "--width", parameters_.width, 1, kMaxInt, "Cells per row");
    app::add_integer(cli, "--height", parameters_.height, 1, kMaxInt, "Rows");
    app::add_unsigned(cli, "--seed", parameters_.seed, "Seed of all random numbers: the same seed, the same run");
    app::add_fraction(cli, "--fish", parameters_.fish, "Fraction of the cells with a fish at the start");
    app::add_fraction(cli, "--sharks", parameters_.sharks, "Fraction of the cells with a shark at the start");
    app::add_fraction(cli, "--compact-above", parameters_.compact_above,
                      "After each step, agents move together if more than this fraction of their slots is free");
  }

  void check_options(app::RunOptions&) override {
    const std::int64_t cells = std::int64_t{parameters_.width} * parameters_.height;
    if (cells > kMaxInt) {
      throw app::UsageError(fmt::format("--width x --height: {} x {} are more than 2^31 - 1 cells (see --help)",
                                        parameters_.width, parameters_.height));
    }
    if (parameters_.fish + parameters_.sharks > 1) {
      throw app::UsageError(fmt::format("--fish + --sharks: must not exceed 1, but {} + {} do (see --help)",
                                        parameters_.fish, parameters_.sharks));
    }
  }

  std::string describe(const app::RunOptions& options) const override {
    return fmt::format("{}, {} x {} cells", implementation(options), parameters_.width, parameters_.height);
  }

  std::vector<app::Column> columns() const override { return {{"fish"}, {"sharks"}}; }

  app::Simulation& start(const app::RunOptions& options) override {
    parameters_.allocator = options.allocator;
    parameters_.heap_bytes = options.heap_bytes;
    parameters_.threads = options.threads;
    parameters_.profile_every = options.profile_every;
    simulation_ = make(options);
    return *simulation_;
  }

  std::vector<app::Row> take_history() override {
    std::vector<app::Row> rows;
    for (const Population& population : simulation_->take_history()) {
      rows.push_back({static_cast<double>(population.fish), static_cast<double>(population.sharks)});
    }
    return rows;
  }

  double objects(const app::Row& row) const override { return row[0] + row[1]; }

  app::Picture picture() override { return ocean_picture(simulation_->ocean(), parameters_); }

  app::World world() const override {
    return {0, 0, static_cast<double>(parameters_.width), static_cast<double>(parameters_.height)};
  }

  std::uint64_t seed() const override { return parameters_.seed; }

  void place(dynasoar::Columns& agents) const override { app::add_places(agents, parameters_.width); }

  app::Chart chart(const std::vector<app::Row>& history) const override {
    return population_chart(history, parameters_);
  }

 private:
  static std::string implementation(const app::RunOptions& options) {
    if (options.baseline == "soa") return "structure-of-arrays baseline";
    if (options.baseline == "aos") return "array-of-structures baseline";
    if (options.baseline == "reference") return "sequential reference";
    return options.variant == "cells" ? "cells and agents as objects" : "agents as objects";
  }

  std::unique_ptr<Simulation> make(const app::RunOptions& options) const {
    if (options.baseline == "soa") return make_soa_baseline(parameters_);
    if (options.baseline == "aos") return make_aos_baseline(parameters_);
    if (options.baseline == "reference") return make_reference(parameters_);
    return options.variant == "cells" ? make_cells(parameters_) : make_agents(parameters_);
  }

  Parameters parameters_;
  std::unique_ptr<Simulation> simulation_;
};

}  // namespace
}  // namespace wa_tor

int main(int argc, char** argv) {
  wa_tor::WaTor program;
  return app::run_program(program, argc, argv);
}
