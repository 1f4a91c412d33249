/// @file
/// The program sugarscape: the model's options and outputs.

#include <vector>

#include <app/allocator_choice.h>
#include <app/program.h>

#include "colors.h"
#include "simulation.h"

namespace sugarscape {
namespace {

app::Description about() {
  return {.name = "sugarscape",
          .text =
              "Simulates people who live on sugar, age and have children (after J. M. Epstein and R. Axtell, 1996).\n"
              "Writes the population of every step, a chart of it and a picture of the landscape.",
          .variant_help = "What is an object: cells and agents, on a lattice or with pointers, or agents only",
          .allocators = app::allocator_names(),
          .log = {"population.csv", "Agents, and sugar on the cells, after every step"},
          .columns = {{"agents"}, {"males"}, {"females"}, {"sugar"}},
          .ranks = app::all_ranks};
}

app::Row row_of(const Census& census) {
  return {static_cast<double>(census.males + census.females), static_cast<double>(census.males),
          static_cast<double>(census.females), static_cast<double>(census.sugar)};
}

class Sugarscape final : public app::GridProgram<Simulation, Parameters> {
 public:
  Sugarscape()
      : GridProgram(about(),
                    {{"placed", "cells and agents placed on a lattice", make_placed, true},
                     {"cells", "cells and agents as objects", make_cells},
                     {"agents", "agents as objects", make_agents}},
                    baselines_of(make_soa_baseline, make_aos_baseline, make_reference), row_of) {}

  void add_options(CLI::App& cli) override {
    GridProgram::add_options(cli);
    app::add_fraction(cli, "--male", parameters().males, "Fraction of the cells with a male at the start");
    app::add_fraction(cli, "--female", parameters().females, "Fraction of the cells with a female at the start");
  }

  void check_options(app::RunOptions& options) override {
    GridProgram::check_options(options);
    app::check_fractions("--male", parameters().males, "--female", parameters().females);
  }

  app::Drawings drawings() const override {
    return {.chart = {"population.png", "Chart of the populations"},
            .picture = {"sugarscape.png", "The landscape at the end"}};
  }

  app::Chart chart(const std::vector<app::Row>& history) const override {
    constexpr app::Rgb kMaleLine = {14, 133, 196};
    constexpr app::Rgb kFemaleLine = {214, 51, 148};
    return app::history_chart(history, "Males and females on the Sugarscape", size_and_seed(), "Population",
                              {{"Males", kMaleLine, app::column(1)}, {"Females", kFemaleLine, app::column(2)}});
  }
};

}  // namespace
}  // namespace sugarscape

int main(int argc, char** argv) {
  sugarscape::Sugarscape program;
  return app::run_program(program, argc, argv);
}
