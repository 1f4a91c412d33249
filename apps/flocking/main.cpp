/// @file
/// The program flocking: the model's options, and what its results look like.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <app/allocator_choice.h>
#include <app/format.h>
#include <app/options.h>
#include <app/program.h>

#include "pictures.h"
#include "simulation.h"

namespace flocking {
namespace {

constexpr int kMostBoids = 1 << 28;

app::ProgramTexts program_texts() {
  return {.name = "flocking",
          .description =
              "Simulates a flock of boids (C. W. Reynolds, 1987), which see their neighbours only.\n"
              "Writes how ordered the flock is after every step, a chart of that and a picture.",
          .variants = {"boids"},
          .variant_help = "What is an object: the boids",
          .allocators = app::allocator_names(),
          .baselines = {"none", "soa", "aos", "reference"},
          .log_help = "Boids, order and mean speed after every step",
          .chart_help = "Chart of the order",
          .picture_help = "The flock at the end"};
}

app::RunOptions default_options() {
  app::RunOptions options;
  options.steps = 500;
  options.variant = "boids";
  options.log = "flock.csv";
  options.chart = "order.png";
  options.picture = "flocking.png";
  return options;
}

class Flocking final : public app::Program {
 public:
  Flocking() : Program(program_texts(), default_options()) {}

  void add_options(CLI::App& cli) override {
    app::add_integer(cli, "--boids", count_, 1, kMostBoids, "Boids");
    app::add_real(cli, "--neighbours", neighbours_, 1, 1000,
                  "How many others a boid sees at the start, on average: decides how large the world is");
    app::add_unsigned(cli, "--seed", seed_, "Seed of all random numbers: the same seed, the same run");
  }

  void check_options(app::RunOptions&) override {
    const auto count = static_cast<std::uint32_t>(count_);
    parameters_.side = side_for(count, neighbours_);
    parameters_.initial = random_boids(count, parameters_.side, seed_);
  }

  std::string describe(const app::RunOptions& options) const override {
    return fmt::format("{}, {} in a world {:.1f} wide", implementation(options),
                       app::counted(parameters_.initial.size(), "boid", "boids"), parameters_.side);
  }

  std::vector<app::Column> columns() const override { return {{"boids"}, {"order", false}, {"speed", false}}; }

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
    for (const Totals& totals : simulation_->take_history()) rows.push_back({totals.boids, totals.order, totals.speed});
    return rows;
  }

  app::Picture picture() override { return flock_picture(simulation_->boids(), parameters_.side); }

  app::World world() const override {
    const double side = parameters_.side;
    return {0, side, side, side, true};
  }

  std::uint64_t seed() const override { return seed_; }

  app::Chart chart(const std::vector<app::Row>& history) const override {
    return order_chart(history, fmt::format("{} boids, seed {}", app::grouped(parameters_.initial.size()), seed_));
  }

 private:
  static std::string implementation(const app::RunOptions& options) {
    if (options.baseline == "soa") return "structure-of-arrays baseline";
    if (options.baseline == "aos") return "array-of-structures baseline";
    return options.baseline == "reference" ? "sequential reference in double precision" : "boids as objects";
  }

  std::unique_ptr<Simulation> make(const app::RunOptions& options) const {
    if (options.baseline == "soa") return make_soa_baseline(parameters_);
    if (options.baseline == "aos") return make_aos_baseline(parameters_);
    return options.baseline == "reference" ? make_reference(parameters_) : make_boids(parameters_);
  }

  int count_ = 4000;
  double neighbours_ = 30;
  std::uint64_t seed_ = 42;
  Parameters parameters_;
  std::unique_ptr<Simulation> simulation_;
};

}  // namespace
}  // namespace flocking

int main(int argc, char** argv) {
  flocking::Flocking program;
  return app::run_program(program, argc, argv);
}
