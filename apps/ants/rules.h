/// @file
/// The rules of the ants, for host and device. README.md defines them. Used by every parallel implementation; the
/// reference has its own code.
#pragma once

#include <cmath>
#include <cstdint>

#include <app/vector.h>
#include <dynasoar/identity.h>
#include <dynasoar/obstacles.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/random.h>

#include "simulation.h"

namespace ants {

using app::Vector;
using dynasoar::random::Words;
using Walls = dynasoar::ObstacleView<Vector>;

/// The purposes of random numbers.
enum class Decision : std::uint32_t { initial = 0, walk = 1, bid = 2, birth = 3 };

/// The bid of an ant that does not bid, and of a cell for which no ant bids.
inline constexpr std::uint64_t kNoBid = ~std::uint64_t{0};

/// The concentrations that an ant senses at three points ahead.
struct Sensed {
  float left, middle, right;
};

/// The position and the heading of an ant after it has walked.
struct Walk {
  Vector position;
  Vector heading;
};

/// The parameters as the device needs them.
struct Rules {
  static constexpr float kDiagonal = 0.70710678f;  ///< cosine and sine of an eighth of a turn
  static constexpr float kNestScent = 0x1p30f;     ///< stronger than any pheromone

  dynasoar::random::Seed seed;
  Disc nest;
  float sight;
  float turn;
  float wobble;
  float threshold;
  float keeping;         ///< the part of its scent that an ant keeps in a step
  std::uint64_t births;  ///< number of random words, of 2^32, that mean a birth
  std::uint32_t lifetime;

  static Rules of(const Parameters& parameters) {
    return {.seed = {parameters.seed},
            .nest = parameters.world.nest,
            .sight = parameters.sight,
            .turn = parameters.turn,
            .wobble = parameters.wobble,
            .threshold = parameters.threshold,
            .keeping = 1 - parameters.fading,
            .births = static_cast<std::uint64_t>(std::ceil(parameters.births * 0x1p32)),
            .lifetime = parameters.lifetime};
  }

  /// The random words of an ant's step: one to turn at random, one for left or right, one for a birth.
  __host__ __device__ Words words(std::uint64_t number, std::uint32_t step) const {
    return dynasoar::random::words(seed, Decision::walk, number, step);
  }

  /// What a carrier senses at a position: the nest itself, or the pheromone. @param sample   callable with a position
  template <class Sample>
  __device__ float way_home(Vector at, const Sample& sample) const {
    return is_in_nest(at) ? kNestScent : sample(at);
  }

  /// Senses the concentrations ahead. @param sample   callable with a position
  template <class Sample>
  __device__ Sensed sensed(Vector position, Vector heading, const Sample& sample) const {
    const auto at = [&](Vector direction) {
      const float concentration = sample(position + sight * direction);
      return concentration >= threshold ? concentration : 0.0f;
    };
    return {at(left_of(heading)), at(heading), at(right_of(heading))};
  }

  /// The heading of an ant that has turned towards the scent.
  __host__ __device__ Vector turned(Vector heading, const Sensed& scent, const Words& words) const {
    float tangent = wobble * (2 * dynasoar::random::unit(words[0]) - 1);
    if (scent.middle < scent.left || scent.middle < scent.right) {
      tangent = (goes_left(scent, words) ? turn : -turn) + tangent;
    }
    const Vector to{heading.x - tangent * heading.y, heading.y + tangent * heading.x};
    return (1 / std::sqrt(app::squared_length(to))) * to;
  }

  /// A step of length 1 ahead or, if a wall is in the way, to one side. If all ways are blocked, the ant turns back.
  __device__ Walk walked(Vector position, Vector heading, const Walls& walls, const Words& words) const {
    const bool left_first = words[1] % 2 == 0;
    const Vector ways[] = {heading, left_first ? left_of(heading) : right_of(heading),
                           left_first ? right_of(heading) : left_of(heading)};
    for (const Vector way : ways) {
      const Vector to = position + way;
      if (!walls.cast(position, to)) return {to, way};
    }
    return {position, {-heading.x, -heading.y}};
  }

  __host__ __device__ bool is_in_nest(Vector position) const {
    return app::squared_length(position - Vector{nest.x, nest.y}) <= nest.radius * nest.radius;
  }

  /// Whether a portion of food that arrives feeds a new ant.
  __host__ __device__ bool has_birth(const Words& words) const { return words[2] < births; }

  /// The bid of an ant for a portion. The lowest bid wins. The bids of a step differ, and no ant always has low ones.
  __host__ __device__ std::uint64_t bid(std::uint64_t number, std::uint32_t step) const {
    const Words words = dynasoar::random::words(seed, Decision::bid, 0, step);
    return number ^ (std::uint64_t{words[0]} << 32 | words[1]);
  }

  /// The heading of an ant that is born in the nest.
  __host__ __device__ Vector first_heading(std::uint64_t number) const {
    return heading_from(dynasoar::random::words(seed, Decision::birth, number, 0)[0]);
  }

  /// A direction from a nearly uniform distribution: see README.md.
  __host__ __device__ static Vector heading_from(std::uint32_t word) {
    const float u = 2 * dynasoar::random::unit(word << 2) - 1;
    const float tangent = u * (0.78539816f + 0.21460184f * (u * u));
    const float along = 1 / std::sqrt(1 + tangent * tangent);
    const float across = tangent * along;
    switch (word >> 30) {
      case 0: return {along, across};
      case 1: return {-across, along};
      case 2: return {-along, -across};
      default: return {across, -along};
    }
  }

 private:
  __host__ __device__ static Vector left_of(Vector a) { return {kDiagonal * (a.x - a.y), kDiagonal * (a.x + a.y)}; }
  __host__ __device__ static Vector right_of(Vector a) { return {kDiagonal * (a.x + a.y), kDiagonal * (a.y - a.x)}; }
  __host__ __device__ static bool goes_left(const Sensed& scent, const Words& words) {
    return scent.left > scent.right || (scent.left == scent.right && words[1] % 2 == 0);
  }
};

/// The walls of a world and its borders, which ants cannot cross.
inline dynasoar::Obstacles<Vector> walls_of(const World& world) {
  const auto side = static_cast<float>(world.side);
  dynasoar::Obstacles<Vector> walls({.lower = {0, 0}, .upper = {side, side}, .cell = 4});
  walls.add_room({0, 0}, {side, side});
  for (const Box& wall : world.walls) walls.add_box({wall.left, wall.top}, {wall.right, wall.bottom});
  return walls;
}

/// Whether an ant at a position is counted in a gate.
__host__ __device__ inline bool is_in(const Box& gate, Vector at) {
  return at.x >= gate.left && at.x < gate.right && at.y >= gate.top && at.y < gate.bottom;
}

}  // namespace ants
