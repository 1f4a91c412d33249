/// @file
/// The program forest-fire: the model's options, and what its results look like.

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

namespace forest_fire {
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();

app::ProgramTexts program_texts() {
  return {
      .name = "forest-fire",
      .description =
          "Simulates a forest in which trees grow, are struck by lightning and burn (B. Drossel, F. Schwabl, 1992).\n"
          "Writes the numbers of trees after every step, a chart of them and a picture of the forest.",
      .variants = {"trees"},
      .variant_help = "What is an object: the trees",
      .allocators = app::allocator_names(),
      .baselines = {"none", "soa", "aos", "reference"},
      .log_help = "Trees, and those on fire, after every step",
      .chart_help = "Chart of the trees",
      .picture_help = "The forest at the end"};
}

app::RunOptions default_options() {
  app::RunOptions options;
  options.steps = 500;
  options.variant = "trees";
  options.log = "trees.csv";
  options.chart = "trees.png";
  options.picture = "forest-fire.png";
  return options;
}

class ForestFire final : public app::Program {
 public:
  ForestFire() : Program(program_texts(), default_options()) {}

  void add_options(CLI::App& cli) override {
    app::add_integer(cli, "--width", parameters_.width, 1, kMaxInt, "Cells per row");
    app::add_integer(cli, "--height", parameters_.height, 1, kMaxInt, "Rows");
    app::add_unsigned(cli, "--seed", parameters_.seed, "Seed of all random numbers: the same seed, the same run");
    app::add_fraction(cli, "--trees", parameters_.trees, "Fraction of the cells with a tree at the start");
    app::add_fraction(cli, "--growth", parameters_.growth, "Probability that a tree grows on empty ground in a step");
    app::add_fraction(cli, "--lightning", parameters_.lightning, "Probability that a tree is struck in a step");
  }

  void check_options(app::RunOptions&) override {
    if (std::int64_t{parameters_.width} * parameters_.height > kMaxInt) {
      throw app::UsageError(fmt::format("--width x --height: {} x {} are more than 2^31 - 1 cells (see --help)",
                                        parameters_.width, parameters_.height));
    }
  }

  std::string describe(const app::RunOptions& options) const override {
    return fmt::format("{}, {} x {} cells", implementation(options), parameters_.width, parameters_.height);
  }

  std::vector<app::Column> columns() const override { return {{"trees"}, {"fires"}}; }

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
      rows.push_back({static_cast<double>(census.trees), static_cast<double>(census.fires)});
    }
    return rows;
  }

  double objects(const app::Row& row) const override { return row[0] + row[1]; }

  app::Picture picture() override { return forest_picture(simulation_->forest(), parameters_); }

  app::World world() const override {
    return {0, 0, static_cast<double>(parameters_.width), static_cast<double>(parameters_.height)};
  }

  std::uint64_t seed() const override { return parameters_.seed; }

  void place(dynasoar::Columns& trees) const override { app::add_places(trees, parameters_.width); }

  app::Chart chart(const std::vector<app::Row>& history) const override { return tree_chart(history, parameters_); }

 private:
  static std::string implementation(const app::RunOptions& options) {
    if (options.baseline == "soa") return "structure-of-arrays baseline";
    if (options.baseline == "aos") return "array-of-structures baseline";
    return options.baseline == "reference" ? "sequential reference" : "trees as objects";
  }

  std::unique_ptr<Simulation> make(const app::RunOptions& options) const {
    if (options.baseline == "soa") return make_soa_baseline(parameters_);
    if (options.baseline == "aos") return make_aos_baseline(parameters_);
    return options.baseline == "reference" ? make_reference(parameters_) : make_trees(parameters_);
  }

  Parameters parameters_;
  std::unique_ptr<Simulation> simulation_;
};

}  // namespace
}  // namespace forest_fire

int main(int argc, char** argv) {
  forest_fire::ForestFire program;
  return app::run_program(program, argc, argv);
}
