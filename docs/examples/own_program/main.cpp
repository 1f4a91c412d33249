/// @file
/// A whole program: rabbits that are born and die at random, with a command line, a log, checkpoints and exports.
/// docs/how-to/own-program.md explains it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <dynasoar/dynasoar.h>
#include <dynasoar/program/count_history.h>
#include <dynasoar/program/model_program.h>
#include <dynasoar/program/object_simulation.h>
#include <dynasoar/program/options.h>

namespace program = dynasoar::program;

// The model.

class Rabbit;
using AllocatorT = dynasoar::SoaAllocator<Rabbit>;

class Rabbit : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Rabbit, (chance_, std::uint64_t), (age_, int));

  __device__ Rabbit(std::size_t index, std::uint64_t seed) : chance_(seed << 32 ^ index), age_(0) {}

  __device__ void live(float births, float deaths) {
    age_ += 1;
    if (random() < births) dynasoar::make_new<Rabbit>(std::size_t{next()}, chance_);
    if (random() < deaths) dynasoar::destroy(this);
  }
  // A row of the log: how many there are, and how many of them are new.
  __device__ void count(program::CountSums<2> sums) { sums.add(chance_, {{1, age_ == 0 ? 1u : 0u}}); }

 private:
  // SplitMix64: the state belongs to the rabbit, so that the result does not depend on threads.
  __device__ std::uint32_t next() {
    chance_ += 0x9E3779B97F4A7C15;
    std::uint64_t bits = (chance_ ^ chance_ >> 30) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB;
    return static_cast<std::uint32_t>((bits ^ bits >> 31) >> 32);
  }
  __device__ float random() { return static_cast<float>(next() >> 8) * 0x1p-24f; }  // from 0 to 1
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
    handle().parallel_new<Rabbit>(static_cast<std::size_t>(parameters.rabbits), parameters.seed);
  }

  void submit_step() override {
    handle().parallel_do<&Rabbit::live>(static_cast<float>(parameters_.births), static_cast<float>(parameters_.deaths));
  }

  void record() override { handle().parallel_do<&Rabbit::count>(counts_.next(handle().executor())); }
  std::vector<program::Counts<2>> take_history() { return counts_.take(handle().executor()); }

  dynasoar::Columns read_columns() { return handle().columns<Rabbit>(); }

 private:
  Parameters parameters_;
  program::CountHistory<2> counts_;
};

// The program.
class Rabbits final : public program::ModelProgram<Warren, Parameters> {
 public:
  Rabbits()
      : ModelProgram({.name = "rabbits",
                      .text = "Simulates rabbits that are born and die at random.",
                      .log = {"rabbits.csv", "Rabbits, and those born in the step, after every step"},
                      .columns = {{"rabbits"}, {"newborn"}}}) {}

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
