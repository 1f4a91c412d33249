/// @file
/// The interface of all implementations of n-body and collision. Plain C++.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <app/simulation.h>

namespace bodies {

/// A body as the host sees it.
struct BodyState {
  std::uint32_t number = 0;  ///< its index in the initial bodies, which never changes
  float x = 0, y = 0;        ///< position
  float vx = 0, vy = 0;      ///< velocity
  float mass = 0;

  bool operator==(const BodyState&) const = default;
};

struct Parameters : app::RunParameters {
  std::vector<BodyState> initial;  ///< body i has number i
  float cut_off = 0;               ///< n-body: bodies farther away do not attract; 0: all do
};

// Within these ranges, no intermediate result of a step is too large for single precision. The greatest ones are the
// sixth power of a distance of up to 2.6e6, in the force, and a mass times 1e15, at distance 0.
inline constexpr float kFarthestAtStart = 1e5f;  ///< greatest coordinate at the start
inline constexpr float kFastestAtStart = 1e6f;   ///< greatest component of a velocity at the start
inline constexpr float kLightest = 1e-30f;
inline constexpr float kHeaviest = 1e14f;  ///< at the start; 2^31 of these may merge
inline constexpr double kReach = 9e5;      ///< greatest coordinate during the run

/// Random bodies: positions uniform in [-1, 1)^2, components of velocities in [-0.0005, 0.0005), masses uniform in
/// [least_mass, most_mass] and multiples of 2^-9, so that their sums are exact. apps/n_body/README.md defines the
/// random numbers.
std::vector<BodyState> random_bodies(std::uint32_t count, std::uint64_t seed, float least_mass, float most_mass);

/// Sums over all bodies.
struct Totals {
  double bodies = 0;
  double mass = 0;
  double kinetic_energy = 0;
  double momentum_x = 0, momentum_y = 0;
  double reach = 0;  ///< the greatest of all coordinates, without signs
};

/// The totals of some bodies.
Totals totals_of(const std::vector<BodyState>& bodies);

/// A running simulation of bodies.
class Simulation : public app::Simulation {
 public:
  /// Waits for submitted work, because it adds up floating-point numbers on the host.
  ///
  /// @throws std::runtime_error if the totals are not finite any more, or a body has left the range of the arithmetic
  void record() override;

  /// The totals noted since the last call, oldest first.
  std::vector<Totals> take_history() { return std::exchange(history_, {}); }

  /// All bodies, by number. Waits.
  virtual std::vector<BodyState> bodies() = 0;

  /// Waits.
  virtual Totals totals() { return totals_of(bodies()); }

 protected:
  /// The number of steps so far, for messages: all of them are recorded, and so is the start.
  virtual std::uint64_t steps_made() const { return records_; }

 private:
  std::vector<Totals> history_;
  std::uint64_t records_ = 0;
};

}  // namespace bodies
