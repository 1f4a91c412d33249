/// @file
/// Decides which bodies merge, by comparing 64-bit numbers, for every parallel implementation. Defined in README.md.
#pragma once

#include <bit>
#include <cstdint>

#include <dynasoar/platform/config.h>

#include "bodies/physics.h"

namespace collision {

/// Greater than the rank of any asker.
inline constexpr std::uint64_t kNoAsker = ~std::uint64_t{0};

/// Greater for the heavier body; of equal masses for the lower number. Masses are positive, so their bits are ordered.
__host__ __device__ inline std::uint64_t weight_rank(float mass, std::uint32_t number) {
  return std::uint64_t{std::bit_cast<std::uint32_t>(mass)} << 32 | ~number;
}

/// Lesser for the lighter body; of equal masses for the lower number.
__host__ __device__ inline std::uint64_t asker_rank(float mass, std::uint32_t number) {
  return std::uint64_t{std::bit_cast<std::uint32_t>(mass)} << 32 | number;
}

/// Position, velocity and mass of a body.
struct Motion {
  bodies::Vector position;
  bodies::Vector velocity;
  float mass;
};

/// Merges two bodies: mass and momentum add up, and the new body is at their centre of mass.
__host__ __device__ inline Motion merged(const Motion& a, const Motion& b) {
  const float mass = a.mass + b.mass;
  const float share = b.mass / mass;
  return {a.position + share * (b.position - a.position), a.velocity + share * (b.velocity - a.velocity), mass};
}

}  // namespace collision
