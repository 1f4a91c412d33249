/// @file
/// The program flocking: the model's options and outputs.

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

namespace flocking {
namespace {

constexpr int kMostBoids = 1 << 28;

app::Description about() {
  return {.name = "flocking",
          .text =
              "Simulates a flock of boids (C. W. Reynolds, 1987), which see their neighbours only.\n"
              "Writes how ordered the flock is after every step, a chart of that and a picture.",
          .variant_help = "What is an object: the boids",
          .allocators = app::allocator_names(),
          .steps = 500,
          .log = {"flock.csv", "Boids, order and mean speed after every step"},
          .columns = {{"boids"}, {"order", false}, {"speed", false}}};
}

app::Row row_of(const Totals& totals) {
  return {totals.boids, totals.order, totals.speed};
}

class Flocking final : public app::ModelProgram<Simulation, Parameters> {
 public:
  Flocking()
      : ModelProgram(about(), {{"boids", "boids as objects", make_boids}},
                     baselines_of(make_soa_baseline, make_aos_baseline, make_reference,
                                  "sequential reference in double precision"),
                     row_of) {}

  void add_options(CLI::App& cli) override {
    app::add_integer(cli, "--boids", count_, 1, kMostBoids, "Boids");
    app::add_real(cli, "--neighbours", neighbours_, 1, 1000,
                  "How many others a boid sees at the start, on average: decides how large the world is");
    app::add_integer(cli, "--sort-every", parameters().sort_every, 0, std::numeric_limits<int>::max(),
                     "Boids as objects are sorted by where they are before every so many steps; 0: never");
    add_seed(cli, seed_);
  }

  void check_options(app::RunOptions& options) override {
    if (options.baseline != "none" && parameters().sort_every > 0) {
      throw dynasoar::program::UsageError("only boids as objects can be sorted: leave --sort-every out, or --baseline");
    }
    const auto count = static_cast<std::uint32_t>(count_);
    parameters().side = side_for(count, neighbours_);
    parameters().initial = random_boids(count, parameters().side, seed_);
  }

  std::string size() const override {
    return fmt::format("{} in a world {:.1f} wide", app::counted(parameters().initial.size(), "boid", "boids"),
                       parameters().side);
  }

  app::Drawings drawings() const override {
    return {.chart = {"order.png", "Chart of the order"}, .picture = {"flocking.png", "The flock at the end"}};
  }

  app::Picture picture() override { return flock_picture(simulation().boids(), parameters().side); }

  app::World world() const override {
    const double side = parameters().side;
    return {0, side, side, side, true};
  }

  app::Chart chart(const std::vector<app::Row>& history) const override {
    return order_chart(history, fmt::format("{} boids, seed {}", app::grouped(parameters().initial.size()), seed_));
  }

 private:
  int count_ = 4000;
  double neighbours_ = 30;
  std::uint64_t seed_ = 42;
};

}  // namespace
}  // namespace flocking

int main(int argc, char** argv) {
  flocking::Flocking program;
  return app::run_program(program, argc, argv);
}
