/// @file
/// The program schelling: the model's options and outputs.

#include <cstdint>
#include <limits>
#include <vector>

#include <app/allocator_choice.h>
#include <app/program.h>

#include "colors.h"
#include "pictures.h"
#include "simulation.h"

namespace schelling {
namespace {

app::Description about() {
  return {
      .name = "schelling",
      .text =
          "Simulates a city whose agents move until enough of their neighbours are like them (T. C. Schelling, 1971).\n"
          "Writes how happy and how segregated they are after every step, a chart of that and a picture.",
      .variant_help = "What is an object: agents, placed on a lattice",
      .allocators = app::allocator_names(),
      .steps = 200,
      .log = {"segregation.csv", "Agents, unhappy ones, and the share of similar neighbours after every step"},
      .columns = {{"red"}, {"blue"}, {"unhappy"}, {"similar", false}},
      .object_columns = 2};
}

app::Row row_of(const Census& census) {
  return {static_cast<double>(census.red), static_cast<double>(census.blue), static_cast<double>(census.unhappy),
          census.similar()};
}

class Schelling final : public app::GridProgram<Simulation, Parameters> {
 public:
  Schelling()
      : GridProgram(about(), {{"placed", "agents placed on a lattice", make_placed}},
                    baselines_of(make_soa_baseline, make_aos_baseline, make_reference), row_of) {}

  void add_options(CLI::App& cli) override {
    GridProgram::add_options(cli);
    app::add_fraction(cli, "--red", parameters().red, "Fraction of the cells with a red agent at the start");
    app::add_fraction(cli, "--blue", parameters().blue, "Fraction of the cells with a blue agent at the start");
    app::add_fraction(cli, "--similar", parameters().similar,
                      "An agent is unhappy if a smaller share of its neighbours is of its group");
    app::add_integer(
        cli, "--patience", patience_, 0, std::numeric_limits<int>::max(),
        "An agent that is unhappy for so many steps, and finds no other cell, leaves the city; 0: none does");
    app::add_fraction(cli, "--newcomers", parameters().newcomers,
                      "Probability that somebody moves into a vacant cell, in a step");
  }

  void check_options(app::RunOptions& options) override {
    GridProgram::check_options(options);
    app::check_fractions("--red", parameters().red, "--blue", parameters().blue);
    parameters().patience = static_cast<std::uint32_t>(patience_);
  }

  app::Drawings drawings() const override {
    return {.chart = {"segregation.png", "Chart of the shares of similar neighbours and unhappy agents"},
            .picture = {"schelling.png", "The city at the end"}};
  }

  app::Chart chart(const std::vector<app::Row>& history) const override {
    return segregation_chart(history, size_and_seed());
  }

 private:
  int patience_ = 0;
};

}  // namespace
}  // namespace schelling

int main(int argc, char** argv) {
  schelling::Schelling program;
  return app::run_program(program, argc, argv);
}
