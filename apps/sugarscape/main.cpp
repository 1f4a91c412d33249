/// @file
/// The program sugarscape: the model's options, and what its results look like.

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

namespace sugarscape {
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();

app::ProgramTexts program_texts() {
  return {.name = "sugarscape",
          .description =
              "Simulates people who live on sugar, age and have children (after J. M. Epstein and R. Axtell, 1996).\n"
              "Writes the population of every step, a chart of it and a picture of the landscape.",
          .variants = {"cells", "agents"},
          .variant_help = "What is an object: cells and agents, or agents only",
          .allocators = app::allocator_names(),
          .baselines = {"none", "soa", "aos", "reference"},
          .log_help = "Agents, and sugar on the cells, after every step",
          .chart_help = "Chart of the populations",
          .picture_help = "The landscape at the end"};
}

app::RunOptions default_options() {
  app::RunOptions options;
  options.variant = "agents";
  options.log = "population.csv";
  options.chart = "population.png";
  options.picture = "sugarscape.png";
  return options;
}

class Sugarscape final : public app::Program {
 public:
  Sugarscape() : Program(program_texts(), default_options()) {}

  void add_options(CLI::App& cli) override {
    app::add_integer(cli, "--width", parameters_.width, 1, kMaxInt, "Cells per row");
    app::add_integer(cli, "--height", parameters_.height, 1, kMaxInt, "Rows");
    app::add_unsigned(cli, "--seed", parameters_.seed, "Seed of all random numbers: the same seed, the same run");
    app::add_fraction(cli, "--male", parameters_.males, "Fraction of the cells with a male at the start");
    app::add_fraction(cli, "--female", parameters_.females, "Fraction of the cells with a female at the start");
  }

  void check_options(app::RunOptions&) override {
    const std::int64_t cells = std::int64_t{parameters_.width} * parameters_.height;
    if (cells > kMaxInt) {
      throw app::UsageError(fmt::format("--width x --height: {} x {} are more than 2^31 - 1 cells (see --help)",
                                        parameters_.width, parameters_.height));
    }
    if (parameters_.males + parameters_.females > 1) {
      throw app::UsageError(fmt::format("--male + --female: must not exceed 1, but {} + {} do (see --help)",
                                        parameters_.males, parameters_.females));
    }
  }

  std::string describe(const app::RunOptions& options) const override {
    return fmt::format("{}, {} x {} cells", implementation(options), parameters_.width, parameters_.height);
  }

  std::vector<app::Column> columns() const override { return {{"agents"}, {"males"}, {"females"}, {"sugar"}}; }

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
    for (const Census& census : simulation_->take_history()) {
      rows.push_back({static_cast<double>(census.males + census.females), static_cast<double>(census.males),
                      static_cast<double>(census.females), static_cast<double>(census.sugar)});
    }
    return rows;
  }

  app::Picture picture() override { return landscape_picture(simulation_->landscape(), parameters_); }

  void place(dynasoar::Columns& agents) const override { app::add_places(agents, parameters_.width); }

  app::World world() const override {
    return {0, 0, static_cast<double>(parameters_.width), static_cast<double>(parameters_.height)};
  }

  std::uint64_t seed() const override { return parameters_.seed; }

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
}  // namespace sugarscape

int main(int argc, char** argv) {
  sugarscape::Sugarscape program;
  return app::run_program(program, argc, argv);
}
