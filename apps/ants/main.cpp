/// @file
/// The program ants: the model's options and outputs.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <app/allocator_choice.h>
#include <app/program.h>
#include <dynasoar/program/format.h>
#include <dynasoar/program/options.h>

#include "pictures.h"
#include "simulation.h"

namespace ants {
namespace {

constexpr int kMostAnts = 1 << 28;
constexpr int kMostRoom = 1 << 30;
constexpr int kMostSide = 1 << 12;
constexpr const char* kBridge = "bridge";

app::Description about() {
  return {.name = "ants",
          .text =
              "Simulates ants that look for food, carry it to their nest and mark their ways with two pheromones.\n"
              "Writes numbers of ants and portions of food after every step, a chart of them and a picture.",
          .variant_help = "What is an object: the ants, and the cells of the ground",
          .allocators = app::allocator_names(),
          .steps = 1500,
          .log = {"ants.csv", "Numbers of ants and portions of food after every step"},
          .columns = {{"foragers"}, {"carriers"}, {"first gate"}, {"second gate"}, {"food"}, {"stored"}},
          .object_columns = 2};
}

app::Row row_of(const Census& census) {
  return {static_cast<double>(census.foragers),   static_cast<double>(census.carriers),
          static_cast<double>(census.first_gate), static_cast<double>(census.second_gate),
          static_cast<double>(census.food),       static_cast<double>(census.stored)};
}

class Ants final : public app::ModelProgram<Simulation, Parameters> {
 public:
  Ants()
      : ModelProgram(about(), {{"ants", "ants and cells as objects", make_colony}},
                     baselines_of(make_soa_baseline, make_aos_baseline, make_reference), row_of) {}

  void add_options(CLI::App& cli) override {
    Parameters& model = parameters();
    app::add_integer(cli, "--ants", ants_, 0, kMostAnts, "Ants at the start");
    app::add_integer(cli, "--side", side_, static_cast<int>(kLeastSide), kMostSide, "Cells along a side of the world");
    app::add_choice(cli, "--scenario", scenario_, {"garden", kBridge},
                    "The world: three sources of food and two walls, or a bridge with a short and a long branch");
    app::add_integer(cli, "--food", food_, 0, kMostFood, "Portions in each cell of a source");
    app::add_real(cli, "--sight", sight_, 0, 100, "How far ahead an ant senses");
    app::add_real(cli, "--turn", turn_, 0, 10, "Tangent of the angle by which an ant turns towards a scent");
    app::add_real(cli, "--wobble", wobble_, 0, 10, "Tangent of the greatest angle by which an ant turns at random");
    app::add_real(cli, "--threshold", threshold_, 0, 1e6, "The lowest concentration that an ant senses");
    app::add_fraction(cli, "--fading", fading_, "The part of its scent that an ant loses in a step");
    app::add_real(cli, "--diffusion", model.diffusion, 0, 0.5, "Diffusion coefficient of the pheromones");
    app::add_real(cli, "--evaporation", model.evaporation, 0, 100, "Decay rate of the pheromones");
    app::add_fraction(cli, "--births", model.births, "Probability that a portion of food in the nest feeds a new ant");
    app::add_integer(cli, "--lifetime", lifetime_, 1, std::numeric_limits<int>::max(), "Steps that an ant lives");
    app::add_integer(cli, "--room", room_, 0, kMostRoom,
                     "The greatest number of ants; 0: 4096 more than twice the number at the start");
    add_seed(cli, model.seed);
  }

  void check_options(app::RunOptions&) override {
    Parameters& model = parameters();
    if (room_ > 0 && room_ < ants_) {
      throw dynasoar::program::UsageError("--room: there is no room for the --ants at the start: choose a larger one");
    }
    model.sight = static_cast<float>(sight_);
    model.turn = static_cast<float>(turn_);
    model.wobble = static_cast<float>(wobble_);
    model.threshold = static_cast<float>(threshold_);
    model.fading = static_cast<float>(fading_);
    model.lifetime = static_cast<std::uint32_t>(lifetime_);
    model.room = static_cast<std::uint64_t>(room_);
    const auto make_world = scenario_ == kBridge ? double_bridge : garden;
    model.world = make_world(static_cast<std::uint32_t>(side_), static_cast<std::uint32_t>(food_));
    model.initial = ants_in_nest(static_cast<std::uint32_t>(ants_), model.world, model.lifetime, model.seed);
  }

  std::string size() const override {
    return fmt::format("{} in a {} of {} x {} cells", app::counted(parameters().initial.size(), "ant", "ants"),
                       scenario_, side_, side_);
  }

  app::Drawings drawings() const override {
    return {.chart = {"ants-history.png", "Chart of the ants and their food or, on a bridge, of the short branch"},
            .picture = {"ants.png", "The ants and their pheromones at the end"}};
  }

  app::Picture picture() override { return ants_picture(simulation().state(), parameters().world); }

  app::World world() const override { return {0, 0, static_cast<double>(side_), static_cast<double>(side_)}; }

  app::Chart chart(const std::vector<app::Row>& history) const override {
    const std::string subtitle =
        fmt::format("{} ants at the start, {} x {} cells, seed {}", app::grouped(parameters().initial.size()), side_,
                    side_, parameters().seed);
    return scenario_ == kBridge ? gate_chart(history, subtitle) : food_chart(history, subtitle);
  }

 private:
  static constexpr int kMostFood = 1 << 20;

  int ants_ = 1500;
  int side_ = 192;
  std::string scenario_ = "garden";
  int food_ = 8;
  double sight_ = 6;
  double turn_ = 0.5;
  double wobble_ = 0.5;
  double threshold_ = 0.05;
  double fading_ = 0.01;
  int lifetime_ = 5000;
  int room_ = 0;
};

}  // namespace
}  // namespace ants

int main(int argc, char** argv) {
  ants::Ants program;
  return app::run_program(program, argc, argv);
}
