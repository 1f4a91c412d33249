/// @file
/// The model's rules and random numbers, shared by every parallel implementation. Defined in README.md.
#pragma once

#include <cstdint>

#include <app/census_history.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/random.h>
#include <dynasoar/step_value.h>

#include "network.h"
#include "simulation.h"

namespace traffic {

using dynasoar::random::below;
using dynasoar::random::Seed;

/// The purpose of a random number. It is part of the key, so no two decisions share random numbers.
enum class Decision : std::uint32_t {
  start = 0,         ///< whether a car is on a cell at the start, and its top speed
  birth = 1,         ///< whether a producer makes a car, and its top speed
  drive = 2,         ///< how a car accelerates, dawdles and turns
  intersection = 3,  ///< where an intersection is, and how many streets begin there
  street = 4,        ///< where a street ends, and its limit
  source = 5,        ///< whether a cell is a producer or a destination
};

/// Top speeds of cars are 5 to 9 cells per step.
inline constexpr std::uint32_t kLeastTopSpeed = 5;
inline constexpr std::uint32_t kTopSpeeds = kMostSpeed - kLeastTopSpeed + 1;
/// A car accelerates by 1 or 2 per step.
inline constexpr std::uint32_t kAccelerations = 2;

/// The model's probabilities as integers: an event with probability p happens if a random word is below p * 2^32.
struct Chances {
  std::uint64_t start;
  std::uint64_t birth;
  std::uint64_t dawdling;

  static Chances of(const Parameters& parameters) {
    const auto words = [](double fraction) { return static_cast<std::uint64_t>(fraction * 4294967296.0); };
    return {words(parameters.density), words(parameters.production), words(parameters.dawdling)};
  }
};

/// The data that all cells and cars use, passed to the device by value.
struct World {
  Seed seed;
  Chances chances;
  dynasoar::StepNumber step;
};

/// The top speed of the car that appears on a cell, or 0 if none does.
__device__ inline std::uint8_t new_car(const World& world, Decision decision, std::uint64_t chance,
                                       std::uint32_t cell) {
  const auto words = dynasoar::random::words(world.seed, decision, cell, world.step);
  return static_cast<std::uint8_t>(words[0] < chance ? kLeastTopSpeed + below(words[1], kTopSpeeds) : 0);
}

__device__ inline std::uint8_t car_at_start(const World& world, std::uint32_t cell) {
  return new_car(world, Decision::start, world.chances.start, cell);
}

__device__ inline std::uint8_t car_of_producer(const World& world, std::uint32_t cell) {
  return new_car(world, Decision::birth, world.chances.birth, cell);
}

/// The intention of a driver in a step.
struct Drive {
  std::uint32_t speed;  ///< the car goes at most this fast
  std::uint32_t turn;   ///< a random word that chooses the exit
  bool dawdles;         ///< whether the path loses its last cell

  __device__ Drive(const World& world, std::uint32_t cell, std::uint32_t speed_before, std::uint32_t top_speed) {
    const auto words = dynasoar::random::words(world.seed, Decision::drive, cell, world.step);
    const std::uint32_t wanted = speed_before + 1 + below(words[0], kAccelerations);
    speed = wanted < top_speed ? wanted : top_speed;
    dawdles = words[1] < world.chances.dawdling;
    turn = words[2];
  }
};

/// The speed of a car that has `cells` cells before a cell with this limit: it enters the cell at the limit, or stops
/// before it.
__host__ __device__ inline std::uint32_t limited(std::uint32_t speed, std::uint32_t cells, std::uint32_t limit) {
  if (limit >= speed) return speed;
  return limit > cells ? limit : cells;
}

/// The phase of a light that is green in this step. @pre green, phases > 0
__host__ __device__ inline std::uint32_t green_phase(std::uint32_t step, std::uint32_t green, std::uint32_t phases) {
  return step == 0 ? 0 : (step - 1) / green % phases;
}

/// The claims of cars for the right of way into a street; the least claim wins.
///
/// Claims of later steps are less than those of earlier ones, so they need not be reset.
using Claims = dynasoar::AtomicWord<std::uint64_t>;
inline constexpr std::uint64_t kNoClaim = ~std::uint64_t{0};

/// @param cells   that the car goes before it enters the street, fewer than kMostSpeed
/// @param cell    where the car is
__host__ __device__ inline std::uint64_t claim_of(std::uint32_t step, std::uint32_t cells, std::uint32_t cell) {
  return std::uint64_t{~step} << 32 | std::uint64_t{cells} << 28 | cell;
}

/// A cell that may be entered at this speed. @tparam Car   has device functions `speed()` and `top_speed()`; null: none
template <class Car>
__device__ CellState state_of(std::uint32_t limit, const Car* car) {
  CellState state;
  state.limit = static_cast<std::uint8_t>(limit);
  if (car != nullptr) {
    state.has_car = 1;
    state.speed = car->speed();
    state.top_speed = car->top_speed();
  }
  return state;
}

/// All cars, those that move, and the sum of their speeds.
using CarCounts = app::Tally<Census>;

__device__ inline void count_car(CarCounts& counts, std::uint32_t speed) {
  ++counts.of[0];
  counts.of[1] += speed > 0;
  counts.of[2] += speed;
}

}  // namespace traffic
