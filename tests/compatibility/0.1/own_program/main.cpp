/// @file
/// A whole program: rabbits that are born and die at random, with a command line, a log, checkpoints and exports.
/// docs/how-to/own-program.md explains it.
#include <cstddef>
#include <cstdint>
#include <string>

#include <dynasoar/dynasoar.h>
#include <dynasoar/program/object_simulation.h>
#include <dynasoar/program/program.h>
#include <dynasoar/random.h>
#include <dynasoar/step_log.h>

namespace program = dynasoar::program;
namespace totals = dynasoar::totals;

// The model.

class Rabbit;
using AllocatorT = dynasoar::SoaAllocator<Rabbit>;

class Rabbit : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Rabbit, (number_, std::uint64_t), (age_, int));

  __device__ explicit Rabbit(std::uint64_t number) : number_(number), age_(0) {}

  // Random numbers belong to the rabbit and the step, so that the result does not depend on threads.
  __device__ void live(float births, float deaths, dynasoar::random::Seed seed, std::uint32_t step) {
    age_ += 1;
    const dynasoar::random::Words words = dynasoar::random::words(seed, 0, number_, step);
    if (dynasoar::random::unit(words[0]) < births) {
      dynasoar::make_new<Rabbit>(std::uint64_t{words[2]} << 32 | words[3]);  // a number that no other rabbit has
    }
    if (dynasoar::random::unit(words[1]) < deaths) dynasoar::destroy(this);
  }
  __device__ bool is_newborn() { return age_ == 0; }
};

// What the program's options say.
struct Parameters : program::RunParameters {
  int rabbits = 1000;
  double births = 0.03;
  double deaths = 0.02;
  std::uint64_t seed = 42;
};

// A run.
class Warren final : public program::ObjectSimulation<Warren, program::Simulation, AllocatorT> {
 public:
  explicit Warren(const Parameters& parameters)
      : ObjectSimulation(parameters, std::size_t{64} << 20, "warren"), parameters_(parameters) {
    handle().parallel_new<Rabbit>(static_cast<std::size_t>(parameters.rabbits));
    log().add<Rabbit>(totals::count("rabbits"), totals::count_if<&Rabbit::is_newborn>("newborn"),
                      totals::mean<&Rabbit::age_>("mean age"));
  }

  void submit_step() override {
    count_step();
    handle().parallel_do<&Rabbit::live>(static_cast<float>(parameters_.births), static_cast<float>(parameters_.deaths),
                                        dynasoar::random::Seed{parameters_.seed}, now());
  }

  dynasoar::Columns read_columns() { return handle().columns<Rabbit>(); }

 private:
  Parameters parameters_;
};

// The program.
class Rabbits final : public program::ModelProgram<Warren, Parameters> {
 public:
  Rabbits()
      : ModelProgram({.name = "rabbits",
                      .text = "Simulates rabbits that are born and die at random.",
                      .log = {"rabbits.csv", "Rabbits, those born in the step, and their mean age"}}) {}

  void add_options(CLI::App& cli) override {
    program::add_integer(cli, "--rabbits", parameters().rabbits, 0, 1 << 20, "Rabbits at the start");
    program::add_fraction(cli, "--births", parameters().births, "Probability that a rabbit has a child in a step");
    program::add_fraction(cli, "--deaths", parameters().deaths, "Probability that a rabbit dies in a step");
    add_seed(cli, parameters().seed);
  }

  std::string size() const override { return std::to_string(parameters().rabbits) + " at the start"; }
};

int main(int argc, char** argv) {
  Rabbits rabbits;
  return program::run_program(rabbits, argc, argv);
}
