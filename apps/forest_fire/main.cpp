/// @file
/// The program forest-fire: the model's options and outputs.

#include <string>
#include <vector>

#include <app/allocator_choice.h>
#include <app/program.h>

#include "colors.h"
#include "simulation.h"

namespace forest_fire {
namespace {

app::Description about() {
  return {
      .name = "forest-fire",
      .text =
          "Simulates a forest in which trees grow, are struck by lightning and burn (B. Drossel, F. Schwabl, 1992).\n"
          "Writes the numbers of trees after every step, a chart of them and a picture of the forest.",
      .variant_help = "What is an object: trees, placed on a lattice",
      .allocators = app::allocator_names(),
      .steps = 500,
      .log = {"trees.csv", "Trees, and those on fire, after every step"},
      .columns = {{"trees"}, {"fires"}},
      .object_columns = 2,
      .ranks = app::all_ranks};
}

app::Row row_of(const Census& census) {
  return {static_cast<double>(census.trees), static_cast<double>(census.fires)};
}

class ForestFire final : public app::GridProgram<Simulation, Parameters> {
 public:
  ForestFire()
      : GridProgram(about(), {{"placed", "trees placed on a lattice", make_placed, true}},
                    baselines_of(make_soa_baseline, make_aos_baseline, make_reference), row_of) {}

  void add_options(CLI::App& cli) override {
    GridProgram::add_options(cli);
    app::add_fraction(cli, "--trees", parameters().trees, "Fraction of the cells with a tree at the start");
    app::add_fraction(cli, "--growth", parameters().growth, "Probability that a tree grows on empty ground in a step");
    app::add_fraction(cli, "--lightning", parameters().lightning, "Probability that a tree is struck in a step");
  }

  std::string variant_of_large_grids() const override { return "placed"; }

  app::Drawings drawings() const override {
    return {.chart = {"trees.png", "Chart of the trees"},
            .picture = {"forest-fire.png", "The forest at the end, by default not if it has more than 2^31 - 1 cells"}};
  }

  app::Chart chart(const std::vector<app::Row>& history) const override {
    constexpr app::Rgb kTreeLine = {22, 128, 61};
    constexpr app::Rgb kFireLine = {234, 88, 12};
    return app::history_chart(history, "Trees of the forest", size_and_seed(), "Trees",
                              {{"Trees", kTreeLine, app::column(0)}, {"On fire", kFireLine, app::column(1)}});
  }
};

}  // namespace
}  // namespace forest_fire

int main(int argc, char** argv) {
  forest_fire::ForestFire program;
  return app::run_program(program, argc, argv);
}
