/// @file
/// The ants and cells of the hand-written baselines in memory, as structures of arrays or arrays of structures, and
/// the diffusion of the pheromones.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>

#include "rules.h"
#include "simulation.h"

namespace ants::baselines {

using Word = dynasoar::AtomicWord<std::uint32_t>;
using LongWord = dynasoar::AtomicWord<std::uint64_t>;
constexpr auto kRelaxed = dynasoar::Order::relaxed;  // for sums and minima; the end of the loop publishes them
constexpr double kUnitsOfDeposits = 0x1p32;          // deposits are whole numbers of units, so order does not matter

/// The contents of a slot.
enum class Slot : std::uint8_t { free, forager, carrier };

struct Ant {
  std::uint64_t number;
  std::uint64_t bid;
  Vector position;
  Vector heading;
  float scent;
  std::uint32_t last_step;
  Slot slot;
};

struct Cell {
  LongWord bid;
  LongWord home_deposits;
  LongWord trail_deposits;
  float home;
  float trail;
  float home_after;  ///< after the first half of a step
  float trail_after;
  std::uint32_t food;
  Word stored;
};

/// @tparam View   of app::StructureOfArrays or app::ArrayOfStructures
template <class View>
struct Ants : View {
  template <auto member>
  __device__ auto& of(std::uint32_t i) const {
    return this->template at<member>(i);
  }

  __device__ void put(std::uint32_t i, const AntState& ant) const {
    of<&Ant::number>(i) = ant.number;
    of<&Ant::bid>(i) = kNoBid;
    of<&Ant::position>(i) = {ant.x, ant.y};
    of<&Ant::heading>(i) = {ant.heading_x, ant.heading_y};
    of<&Ant::scent>(i) = ant.scent;
    of<&Ant::last_step>(i) = ant.last_step;
    of<&Ant::slot>(i) = ant.carries ? Slot::carrier : Slot::forager;
  }

  __device__ void turn_back(std::uint32_t i, Slot slot) const {
    Vector& heading = of<&Ant::heading>(i);
    heading = {-heading.x, -heading.y};
    of<&Ant::scent>(i) = 1;
    of<&Ant::slot>(i) = slot;
  }
};

/// The cells, row by row.
template <class View>
struct Ground : View {
  std::uint32_t side;

  template <auto member>
  __device__ auto& of(std::uint32_t cell) const {
    return this->template at<member>(cell);
  }

  __device__ std::uint32_t cell(Vector at) const { return existing(at.y) * side + existing(at.x); }

  /// Interpolates linearly between the centres of cells. Positions beyond the border count as positions on it.
  template <auto member>
  __device__ float sample(Vector at) const {
    const Between x = between(at.x);
    const Between y = between(at.y);
    const float above = mean(of<member>(y.first * side + x.first), of<member>(y.first * side + x.second), x.share);
    const float below = mean(of<member>(y.second * side + x.first), of<member>(y.second * side + x.second), x.share);
    return mean(above, below, y.share);
  }

 private:
  struct Between {
    std::uint32_t first, second;
    float share;
  };

  __device__ std::uint32_t existing(float coordinate) const {
    const auto cell = static_cast<std::uint32_t>(coordinate);
    return cell < side ? cell : side - 1;
  }
  __device__ Between between(float coordinate) const {
    const auto length = static_cast<float>(side);
    const float inside = coordinate > 0 ? (coordinate < length ? coordinate : length) : 0;
    const float way = inside - 0.5f;
    const float first = std::floor(way);
    const auto cell = static_cast<std::int32_t>(first);
    return {static_cast<std::uint32_t>(cell > 0 ? cell : 0), existing(first + 1), way - first};
  }
  __device__ static float mean(float a, float b, float share) { return a + share * (b - a); }
};

/// Removes the deposits from a cell. @return their amount
__device__ inline float taken(LongWord& deposits) {
  const std::uint64_t units = deposits.load(kRelaxed);
  if (units != 0) deposits.store(0, kRelaxed);
  return static_cast<float>(static_cast<double>(units) / kUnitsOfDeposits);
}

/// Half a step of diffusion and decay of both pheromones.
template <class GroundT>
struct Diffuse {
  GroundT ground;
  float rate;
  float remaining;
  bool is_first;

  __device__ void operator()(std::uint32_t cell) const {
    if (is_first) {
      ground.template of<&Cell::home_after>(cell) =
          after<&Cell::home>(cell) + taken(ground.template of<&Cell::home_deposits>(cell));
      ground.template of<&Cell::trail_after>(cell) =
          after<&Cell::trail>(cell) + taken(ground.template of<&Cell::trail_deposits>(cell));
    } else {
      ground.template of<&Cell::home>(cell) = after<&Cell::home_after>(cell);
      ground.template of<&Cell::trail>(cell) = after<&Cell::trail_after>(cell);
    }
  }

 private:
  template <auto member>
  __device__ float after(std::uint32_t cell) const {
    const std::uint32_t x = cell % ground.side;
    const std::uint32_t last_row = ground.side * (ground.side - 1);
    const float here = ground.template of<member>(cell);
    const auto flow = [&](bool has_before, std::uint32_t before, bool has_behind, std::uint32_t behind) {
      const float one = has_before ? ground.template of<member>(before) : here;
      const float other = has_behind ? ground.template of<member>(behind) : here;
      return rate * ((one - here) + (other - here));
    };
    const float across = flow(x > 0, cell - 1, x + 1 < ground.side, cell + 1);
    const float down = flow(cell >= ground.side, cell - ground.side, cell < last_row, cell + ground.side);
    return remaining * (here + (across + down));
  }
};

/// Decay without diffusion, in a single step.
template <class GroundT>
struct Decay {
  GroundT ground;
  float remaining;

  __device__ void operator()(std::uint32_t cell) const {
    float& home = ground.template of<&Cell::home>(cell);
    float& trail = ground.template of<&Cell::trail>(cell);
    home = remaining * home + taken(ground.template of<&Cell::home_deposits>(cell));
    trail = remaining * trail + taken(ground.template of<&Cell::trail_deposits>(cell));
  }
};

}  // namespace ants::baselines
