/// @file
/// The program wa-tor: the model's options and outputs.

#include <string>
#include <vector>

#include <app/allocator_choice.h>
#include <app/program.h>
#include <dynasoar/program/options.h>

#include "colors.h"
#include "simulation.h"

namespace wa_tor {
namespace {

app::Description about() {
  return {.name = "wa-tor",
          .text =
              "Simulates fish and sharks on the torus-shaped planet Wa-Tor (A. K. Dewdney, 1984).\n"
              "Writes the populations of every step, a chart of them and a picture of the ocean.",
          .variant_help = "What is an object: agents, on a lattice; cells and agents; or agents beside arrays of cells",
          .allocators = app::allocator_names(),
          .log = {"population.csv", "Fish and sharks after every step"},
          .columns = {{"fish"}, {"sharks"}},
          .object_columns = 2,
          .ranks = app::all_ranks};
}

app::Row row_of(const Population& population) {
  return {static_cast<double>(population.fish), static_cast<double>(population.sharks)};
}

class WaTor final : public app::GridProgram<Simulation, Parameters> {
 public:
  WaTor()
      : GridProgram(about(),
                    {{"placed", "agents placed on a lattice", make_placed, true},
                     {"cells", "cells and agents as objects", make_cells},
                     {"agents", "agents as objects", make_agents}},
                    baselines_of(make_soa_baseline, make_aos_baseline, make_reference), row_of) {}

  void add_options(CLI::App& cli) override {
    GridProgram::add_options(cli);
    app::add_fraction(cli, "--fish", parameters().fish, "Fraction of the cells with a fish at the start");
    app::add_fraction(cli, "--sharks", parameters().sharks, "Fraction of the cells with a shark at the start");
    app::add_fraction(cli, "--compact-above", parameters().compact_above,
                      "After each step, agents move together if more than this fraction of their slots is free");
  }

  std::string variant_of_large_grids() const override { return "placed"; }

  void check_options(app::RunOptions& options) override {
    GridProgram::check_options(options);
    app::check_fractions("--fish", parameters().fish, "--sharks", parameters().sharks);
    if (options.baseline == "none" && options.variant == "placed" && parameters().compact_above < 1) {
      throw dynasoar::program::UsageError(
          "placed agents stay at their places: leave --compact-above out, or take --variant agents");
    }
  }

  app::Drawings drawings() const override {
    return {.chart = {"population.png", "Chart of the populations"},
            .picture = {"wa-tor.png", "The ocean at the end, by default not if it has more than 2^31 - 1 cells"}};
  }

  app::Chart chart(const std::vector<app::Row>& history) const override {
    constexpr app::Rgb kFishLine = {13, 148, 136};
    constexpr app::Rgb kSharkLine = {225, 78, 60};
    return app::history_chart(history, "Fish and sharks on Wa-Tor", size_and_seed(), "Population",
                              {{"Fish", kFishLine, app::column(0)}, {"Sharks", kSharkLine, app::column(1)}});
  }
};

}  // namespace
}  // namespace wa_tor

int main(int argc, char** argv) {
  wa_tor::WaTor program;
  return app::run_program(program, argc, argv);
}
