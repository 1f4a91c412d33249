/// @file
/// The program epidemic: the model's options and outputs.

#include <algorithm>
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

namespace epidemic {
namespace {

constexpr int kMostPeople = 1 << 28;
constexpr int kMostRoom = 1 << 30;

app::Description about() {
  return {.name = "epidemic",
          .text =
              "Simulates an epidemic of people who walk about, infect each other, recover, have children and die.\n"
              "Writes how many are susceptible, infected and recovered after every step, a chart of that, with the\n"
              "solution of the equations for people who mix well, and a picture.",
          .variant_help = "What is an object: the people",
          .allocators = app::allocator_names(),
          .steps = 400,
          .log = {"epidemic.csv", "Numbers of susceptible, infected and recovered people after every step"},
          .columns = {{"susceptible"}, {"infected"}, {"recovered"}},
          .object_columns = 3};
}

app::Row row_of(const Census& census) {
  return {static_cast<double>(census.susceptible), static_cast<double>(census.infected),
          static_cast<double>(census.recovered)};
}

class Epidemic final : public app::ModelProgram<Simulation, Parameters> {
 public:
  Epidemic()
      : ModelProgram(about(), {{"people", "people as objects", make_people}},
                     baselines_of(make_soa_baseline, make_aos_baseline, make_reference), row_of) {}

  void add_options(CLI::App& cli) override {
    Parameters& model = parameters();
    app::add_integer(cli, "--people", people_, 1, kMostPeople, "People at the start");
    app::add_integer(cli, "--patients", patients_, 0, kMostPeople, "People who are infected at the start");
    app::add_real(
        cli, "--contacts", contacts_, 0.1, 1000,
        "How many others a person is in contact with at the start, on average: decides how large the world is");
    app::add_real(
        cli, "--stride", stride_, 0, 1e6,
        "How far a person walks along each axis in a step at most; half the side of the world if that is less");
    app::add_fraction(cli, "--infection", model.infection,
                      "Probability that an infected person infects a susceptible one in contact, in a step");
    app::add_fraction(cli, "--recovery", model.recovery, "Probability that an infection ends, in a step");
    app::add_fraction(cli, "--fatality", model.fatality, "Share of the infections that end in death");
    app::add_fraction(cli, "--births", model.births, "Probability that a person has a child, in a step");
    app::add_fraction(cli, "--deaths", model.deaths, "Probability that a person dies of something else, in a step");
    app::add_integer(cli, "--room", room_, 0, kMostRoom,
                     "The greatest number of people; 0: 4096 more than twice the number at the start");
    add_seed(cli, model.seed);
  }

  void check_options(app::RunOptions&) override {
    Parameters& model = parameters();
    app::check_fractions("--births", model.births, "--deaths", model.deaths);
    if (patients_ > people_) {
      throw dynasoar::program::UsageError(
          fmt::format("--patients: {} of {} cannot be infected: choose fewer --patients, or more --people",
                      app::counted(static_cast<std::uint64_t>(patients_), "person", "people"),
                      app::grouped(static_cast<std::uint64_t>(people_))));
    }
    if (room_ > 0 && room_ < people_) {
      throw dynasoar::program::UsageError(
          "--room: there is no room for the --people at the start: choose a larger one");
    }
    const auto count = static_cast<std::uint32_t>(people_);
    model.room = static_cast<std::uint64_t>(room_);
    model.side = side_for(count, contacts_);
    model.stride = std::min(static_cast<float>(stride_), model.side / 2);
    model.initial = random_people(count, static_cast<std::uint32_t>(patients_), model.side, model.seed);
  }

  std::string size() const override {
    return fmt::format("{} in a world {:.1f} wide", app::counted(parameters().initial.size(), "person", "people"),
                       parameters().side);
  }

  app::Drawings drawings() const override {
    return {.chart = {"epidemic-history.png", "Chart of the numbers of people"},
            .picture = {"epidemic.png", "The people at the end"}};
  }

  app::Picture picture() override { return epidemic_picture(simulation().people(), parameters().side); }

  app::World world() const override {
    const double side = parameters().side;
    return {0, side, side, side, true};
  }

  app::Chart chart(const std::vector<app::Row>& history) const override {
    return epidemic_chart(
        history, parameters(),
        fmt::format("{} people at the start, seed {}", app::grouped(parameters().initial.size()), parameters().seed));
  }

 private:
  int people_ = 20000;
  int patients_ = 5;
  double contacts_ = 10;
  double stride_ = 0.25;
  int room_ = 0;
};

}  // namespace
}  // namespace epidemic

int main(int argc, char** argv) {
  epidemic::Epidemic program;
  return app::run_program(program, argc, argv);
}
