/// @file
/// The program tumour: the model's options and outputs.

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <app/allocator_choice.h>
#include <app/program.h>
#include <dynasoar/program/format.h>
#include <dynasoar/program/options.h>

#include "pictures.h"
#include "simulation.h"

namespace tumour {
namespace {

constexpr int kMostCells = 1 << 28;
constexpr int kMostRoom = 1 << 30;
constexpr int kMostWorld = 256;

app::Description about() {
  return {.name = "tumour",
          .text =
              "Simulates a tumour of cells in space, which push each other apart, use up oxygen, divide, starve and\n"
              "dissolve. Writes how many proliferate, are hypoxic and necrotic after every step, the radius of the\n"
              "tumour and the least oxygen, a chart of the radius, and a picture of the tumour cut in half.",
          .variant_help = "What is an object: the cells",
          .allocators = app::allocator_names(),
          .steps = 1500,
          .log = {"tumour.csv", "Numbers of cells, radius and least oxygen after every step"},
          .columns = {{"proliferating"}, {"hypoxic"}, {"necrotic"}, {"radius", false}, {"oxygen", false}},
          .object_columns = 3};
}

app::Row row_of(const Census& census) {
  return {static_cast<double>(census.proliferating), static_cast<double>(census.hypoxic),
          static_cast<double>(census.necrotic), census.radius, census.oxygen};
}

class Tumour final : public app::ModelProgram<Simulation, Parameters> {
 public:
  Tumour()
      : ModelProgram(about(), {{"cells", "cells as objects", make_cells}},
                     baselines_of(make_soa_baseline, make_aos_baseline, make_reference), row_of) {}

  void add_options(CLI::App& cli) override {
    Parameters& model = parameters();
    app::add_integer(cli, "--cells", cells_, 1, kMostCells, "Cells at the start, in a ball");
    app::add_integer(cli, "--world", model.world, 1, kMostWorld,
                     "Places along each side of the oxygen's lattice: two cells wide each");
    app::add_fraction(cli, "--mobility", model.mobility, "How far a cell moves in a step for each unit of overlap");
    app::add_real(cli, "--growth", model.growth, 1e-6, 0.1, "By how much the radius of a cell grows in a step");
    app::add_fraction(cli, "--division", model.division, "Probability that a cell of full size divides, in a step");
    app::add_fraction(cli, "--hypoxia", model.hypoxia, "Oxygen below which cells do not grow and vessels collapse");
    app::add_fraction(cli, "--necrosis", model.necrosis, "Oxygen below which cells may die");
    app::add_fraction(cli, "--death", model.death, "Probability that a cell with so little oxygen dies, in a step");
    app::add_real(cli, "--shrinking", model.shrinking, 0, 0.5,
                  "By how much the radius of a dead cell shrinks in a step");
    app::add_real(cli, "--diffusion", model.diffusion, 0, kMostDiffusion, "Diffusion coefficient of oxygen");
    app::add_fraction(cli, "--supply", model.supply, "Share of the missing oxygen that vessels replace in a step");
    app::add_fraction(cli, "--uptake", model.uptake, "Volume that a living cell empties of oxygen in a step");
    app::add_integer(cli, "--room", room_, 0, kMostRoom,
                     "The greatest number of cells; 0: 524,288 more than twice the number at the start");
    add_seed(cli, model.seed);
  }

  void check_options(app::RunOptions&) override {
    Parameters& model = parameters();
    if (room_ > 0 && room_ < cells_) {
      throw dynasoar::program::UsageError("--room: there is no room for the --cells at the start: choose a larger one");
    }
    if (model.necrosis > model.hypoxia) {
      throw dynasoar::program::UsageError(
          "--necrosis: cells die of less oxygen than they need to grow: choose at most --hypoxia");
    }
    model.room = static_cast<std::uint64_t>(room_);
    model.initial = random_spheroid(static_cast<std::uint32_t>(cells_), model.seed);
  }

  std::string size() const override {
    return fmt::format("{} in a world {:.0f} wide", app::counted(parameters().initial.size(), "cell", "cells"), side());
  }

  app::Drawings drawings() const override {
    return {.chart = {"tumour-radius.png", "Chart of the radius of the tumour"},
            .picture = {"tumour.png", "The tumour at the end, cut in half"}};
  }

  app::Picture picture() override { return tumour_picture(simulation().cells()); }

  app::World world() const override { return {-side() / 2, side() / 2, side(), side(), true}; }

  app::Chart chart(const std::vector<app::Row>& history) const override {
    return tumour_chart(history, parameters(),
                        fmt::format("{} at the start, seed {}",
                                    app::counted(parameters().initial.size(), "cell", "cells"), parameters().seed));
  }

 private:
  double side() const { return parameters().world * double{kSpacing}; }

  int cells_ = 1;
  int room_ = 0;
};

}  // namespace
}  // namespace tumour

int main(int argc, char** argv) {
  tumour::Tumour program;
  return app::run_program(program, argc, argv);
}
