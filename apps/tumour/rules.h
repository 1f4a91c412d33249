/// @file
/// The rules of the tumour, for host and device. README.md defines them. Used by every parallel implementation; the
/// reference has its own code.
#pragma once

#include <cmath>
#include <cstdint>

#include <dynasoar/platform/config.h>
#include <dynasoar/random.h>

#include "simulation.h"

namespace tumour {

struct Vector {
  float x, y, z;
};

/// The data that a cell shows to others.
struct alignas(16) Sphere {
  Vector position;
  float radius;
};

/// The purposes of random numbers.
enum class Decision : std::uint32_t { initial = 0, fate = 1, direction = 2 };

/// A probability, as the number of random words for which the event happens: 2^32 if the probability is 1.
struct Chance {
  std::uint64_t words;

  static Chance of(double probability) { return {static_cast<std::uint64_t>(std::ceil(probability * 0x1p32))}; }
  __host__ __device__ bool is_met_by(std::uint32_t word) const { return word < words; }
};

__host__ __device__ inline float squared_length(Vector a) {
  return a.x * a.x + a.y * a.y + a.z * a.z;
}

/// The sum of the pushes that a cell gets. It is a sum of integers, so the order of the other cells does not matter.
struct Push {
  static constexpr float kUnits = 0x1p20f;  // per length; a push fits: mobility, overlap and direction are at most 1

  std::int64_t x = 0, y = 0, z = 0;

  /// Adds the push of another cell.
  ///
  /// @param offset    from the cell to the other
  /// @param squared   its squared length
  __host__ __device__ void add(float mobility, float radius, Vector offset, float squared, float other_radius) {
    const float distance = std::sqrt(squared);
    const float overlap = (radius + other_radius) - distance;
    if (!(overlap > 0 && distance > 0)) return;
    const float scale = kUnits * (mobility * overlap) / distance;
    x -= static_cast<std::int32_t>(scale * offset.x);
    y -= static_cast<std::int32_t>(scale * offset.y);
    z -= static_cast<std::int32_t>(scale * offset.z);
  }

  __host__ __device__ Vector moved(Vector from) const {
    return {from.x + static_cast<float>(x) * (1 / kUnits), from.y + static_cast<float>(y) * (1 / kUnits),
            from.z + static_cast<float>(z) * (1 / kUnits)};
  }
};

/// The parameters as the device needs them.
struct Rules {
  dynasoar::random::Seed seed;
  float mobility;
  float growth;
  float shrinking;
  float hypoxia;
  float necrosis;
  float uptake;
  float supply;
  Chance division;
  Chance death;

  static Rules of(const Parameters& parameters) {
    return {.seed = {parameters.seed},
            .mobility = static_cast<float>(parameters.mobility),
            .growth = static_cast<float>(parameters.growth),
            .shrinking = static_cast<float>(parameters.shrinking),
            .hypoxia = static_cast<float>(parameters.hypoxia),
            .necrosis = static_cast<float>(parameters.necrosis),
            .uptake = static_cast<float>(parameters.uptake),
            .supply = static_cast<float>(parameters.supply),
            .division = Chance::of(parameters.division),
            .death = Chance::of(parameters.death)};
  }

  /// Whether the event with this chance happens to a cell in a step.
  __host__ __device__ bool happens(Chance chance, std::uint64_t number, std::uint32_t step) const {
    return chance.is_met_by(dynasoar::random::words(seed, Decision::fate, number, step)[0]);
  }

  /// Half of the vector from a cell that divides to its daughter, in a random direction.
  __host__ __device__ Vector half_way_to_daughter(std::uint64_t number, std::uint32_t step) const {
    dynasoar::random::Stream stream(seed, Decision::direction, number, step);
    float a, b, square;
    do {
      a = 2 * dynasoar::random::unit(stream.word()) - 1;
      b = 2 * dynasoar::random::unit(stream.word()) - 1;
      square = a * a + b * b;
    } while (!(square < 1));
    const float root = 2 * std::sqrt(1 - square);
    constexpr float kLength = kDaughterRadius / 2;
    return {kLength * (root * a), kLength * (root * b), kLength * (1 - 2 * square)};
  }

  /// The oxygen of a place after its vessels have supplied it.
  __host__ __device__ float supplied(float oxygen) const { return oxygen + supply * (1 - oxygen); }
};

}  // namespace tumour
