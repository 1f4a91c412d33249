/// @file
/// The interface of all implementations of flocking, and the functions that create them: the DSL variant, the
/// hand-written baselines and the sequential reference. Used by the program, the tests and the benchmark. It is plain
/// C++, so that only the implementations are compiled as CUDA.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <app/simulation.h>

namespace flocking {

/// A boid as the host sees it.
struct BoidState {
  std::uint32_t number = 0;
  float x = 0, y = 0;    ///< position
  float vx = 0, vy = 0;  ///< velocity, per step

  bool operator==(const BoidState&) const = default;
};

/// The parameters of the model.
///
/// @pre components of velocities are less than `side`: no intermediate result is then too large for single precision
struct Parameters : app::RunParameters {
  std::vector<BoidState> initial;  ///< boid i has number i; positions in [0, side)^2
  float side = 0;                  ///< of the world, a torus; at least kLeastSide
  int sort_every = 0;              ///< number of steps between sorts of the objects by cell; 0: no sorts
};

/// The least side of a world.
inline constexpr float kLeastSide = 5;

/// The side of a world in which this number of boids, at random places, have `neighbours` neighbours on average.
float side_for(std::uint32_t boids, double neighbours);

/// Random boids. README.md defines the random numbers.
std::vector<BoidState> random_boids(std::uint32_t count, float side, std::uint64_t seed);

/// Properties of a flock.
struct Totals {
  double boids = 0;
  double order = 0;  ///< length of the mean direction: 0: random directions; 1: all fly in one direction
  double speed = 0;  ///< mean, per step
};

/// The totals of some boids, added up in their order.
Totals totals_of(const std::vector<BoidState>& boids);

/// A running simulation of boids.
class Simulation : public app::Simulation {
 public:
  /// Waits for submitted work, because it adds up floating-point numbers on the host.
  ///
  /// @throws std::runtime_error if the totals are not finite any more
  void record() override;

  /// The totals noted since the last call, oldest first.
  std::vector<Totals> take_history() { return std::exchange(history_, {}); }

  /// All boids, by number. Waits.
  virtual std::vector<BoidState> boids() = 0;

 protected:
  /// The number of steps so far, for messages: all of them are recorded, and so is the start.
  virtual std::uint64_t steps_made() const { return records_; }

 private:
  std::vector<Totals> history_;
  std::uint64_t records_ = 0;
};

/// With the DSL: boids are objects.
std::unique_ptr<Simulation> make_boids(const Parameters& parameters);
/// Hand-written, sorted by cell in every step, with an array for every member of a boid.
std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters);
/// The same with a single array of boids.
std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters);
/// Sequential, on the host: every boid reads all others. The definition of the model in code.
std::unique_ptr<Simulation> make_reference(const Parameters& parameters);

}  // namespace flocking
