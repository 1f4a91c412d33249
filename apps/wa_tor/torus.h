/// @file
/// Sets of directions on a torus, to choose from. Used by the DSL variants and the dense baselines.
#pragma once

#include <cstdint>

#include <app/torus.h>
#include <dynasoar/platform/config.h>

namespace wa_tor {

using app::Torus;

/// Directions are 0 left, 1 up, 2 right, 3 down.
inline constexpr std::uint32_t kDirections = 4;

__host__ __device__ constexpr std::uint32_t opposite(std::uint32_t direction) {
  return (direction + 2) & 3;
}

/// A set of directions, ordered left, up, right, down.
class DirectionSet {
 public:
  DirectionSet() = default;

  /// Direction d is in the set if bit d is set.
  __host__ __device__ explicit constexpr DirectionSet(std::uint32_t bits) : bits_(bits) {}

  /// Adds `direction` if `condition` holds.
  __host__ __device__ constexpr void add_if(bool condition, std::uint32_t direction) {
    bits_ |= static_cast<std::uint32_t>(condition) << direction;
  }

  __host__ __device__ constexpr bool empty() const { return bits_ == 0; }
  __host__ __device__ explicit constexpr operator bool() const { return !empty(); }

  __host__ __device__ constexpr std::uint32_t size() const {
    return (bits_ & 1) + (bits_ >> 1 & 1) + (bits_ >> 2 & 1) + (bits_ >> 3);
  }

  /// The n-th direction in the set, counted from 0. @pre n < size()
  __host__ __device__ constexpr std::uint32_t operator[](std::uint32_t n) const {
    std::uint32_t rest = bits_;  // without branches, for threads whose sets differ
    rest = n > 0 ? rest & (rest - 1) : rest;
    rest = n > 1 ? rest & (rest - 1) : rest;
    rest = n > 2 ? rest & (rest - 1) : rest;
    return (rest & 1) != 0 ? 0 : (rest & 2) != 0 ? 1 : (rest & 4) != 0 ? 2 : 3;
  }

 private:
  std::uint32_t bits_ = 0;
};

}  // namespace wa_tor
