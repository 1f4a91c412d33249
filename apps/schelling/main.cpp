/// @file
/// The program schelling: the model's options, and what its results look like.

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

namespace schelling {
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();

app::ProgramTexts program_texts() {
  return {
      .name = "schelling",
      .description =
          "Simulates a city whose agents move until enough of their neighbours are like them (T. C. Schelling, 1971).\n"
          "Writes how happy and how segregated they are after every step, a chart of that and a picture.",
      .variants = {"agents"},
      .variant_help = "What is an object: the agents",
      .allocators = app::allocator_names(),
      .baselines = {"none", "soa", "aos", "reference"},
      .log_help = "Agents, unhappy ones, and the share of similar neighbours after every step",
      .chart_help = "Chart of the shares of similar neighbours and unhappy agents",
      .picture_help = "The city at the end"};
}

app::RunOptions default_options() {
  app::RunOptions options;
  options.steps = 200;
  options.variant = "agents";
  options.log = "segregation.csv";
  options.chart = "segregation.png";
  options.picture = "schelling.png";
  return options;
}

class Schelling final : public app::Program {
 public:
  Schelling() : Program(program_texts(), default_options()) {}

  void add_options(CLI::App& cli) override {
    app::add_integer(cli, "--width", parameters_.width, 1, kMaxInt, "Cells per row");
    app::add_integer(cli, "--height", parameters_.height, 1, kMaxInt, "Rows");
    app::add_unsigned(cli, "--seed", parameters_.seed, "Seed of all random numbers: the same seed, the same run");
    app::add_fraction(cli, "--red", parameters_.red, "Fraction of the cells with a red agent at the start");
    app::add_fraction(cli, "--blue", parameters_.blue, "Fraction of the cells with a blue agent at the start");
    app::add_fraction(cli, "--similar", parameters_.similar,
                      "An agent is unhappy if a smaller share of its neighbours is of its group");
    app::add_integer(
        cli, "--patience", patience_, 0, kMaxInt,
        "An agent that is unhappy for so many steps, and finds no other cell, leaves the city; 0: none does");
    app::add_fraction(cli, "--newcomers", parameters_.newcomers,
                      "Probability that somebody moves into a vacant cell, in a step");
  }

  void check_options(app::RunOptions&) override {
    const std::int64_t cells = std::int64_t{parameters_.width} * parameters_.height;
    if (cells > kMaxInt) {
      throw app::UsageError(fmt::format("--width x --height: {} x {} are more than 2^31 - 1 cells (see --help)",
                                        parameters_.width, parameters_.height));
    }
    if (parameters_.red + parameters_.blue > 1) {
      throw app::UsageError(fmt::format("--red + --blue: must not exceed 1, but {} + {} do (see --help)",
                                        parameters_.red, parameters_.blue));
    }
    parameters_.patience = static_cast<std::uint32_t>(patience_);
  }

  std::string describe(const app::RunOptions& options) const override {
    return fmt::format("{}, {} x {} cells", implementation(options), parameters_.width, parameters_.height);
  }

  std::vector<app::Column> columns() const override { return {{"red"}, {"blue"}, {"unhappy"}, {"similar", false}}; }

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
      rows.push_back({static_cast<double>(census.red), static_cast<double>(census.blue),
                      static_cast<double>(census.unhappy), census.similar()});
    }
    return rows;
  }

  double objects(const app::Row& row) const override { return row[0] + row[1]; }

  app::Picture picture() override { return city_picture(simulation_->city(), parameters_); }

  app::World world() const override {
    return {0, 0, static_cast<double>(parameters_.width), static_cast<double>(parameters_.height)};
  }

  std::uint64_t seed() const override { return parameters_.seed; }

  void place(dynasoar::Columns& agents) const override { app::add_places(agents, parameters_.width); }

  app::Chart chart(const std::vector<app::Row>& history) const override {
    return segregation_chart(history, parameters_);
  }

 private:
  static std::string implementation(const app::RunOptions& options) {
    if (options.baseline == "soa") return "structure-of-arrays baseline";
    if (options.baseline == "aos") return "array-of-structures baseline";
    return options.baseline == "reference" ? "sequential reference" : "agents as objects";
  }

  std::unique_ptr<Simulation> make(const app::RunOptions& options) const {
    if (options.baseline == "soa") return make_soa_baseline(parameters_);
    if (options.baseline == "aos") return make_aos_baseline(parameters_);
    return options.baseline == "reference" ? make_reference(parameters_) : make_agents(parameters_);
  }

  int patience_ = 0;
  Parameters parameters_;
  std::unique_ptr<Simulation> simulation_;
};

}  // namespace
}  // namespace schelling

int main(int argc, char** argv) {
  schelling::Schelling program;
  return app::run_program(program, argc, argv);
}
