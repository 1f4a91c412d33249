/// @file
/// The ocean's geometry: neighbours on a torus, and sets of directions to choose from.
/// Used by the DSL variants and the dense baselines.
#pragma once

#include <cstdint>

#include <dynasoar/platform/config.h>

namespace wa_tor {

/// Directions are 0 left, 1 up, 2 right, 3 down.
inline constexpr std::uint32_t kDirections = 4;

__host__ __device__ constexpr std::uint32_t opposite(std::uint32_t direction) {
  return (direction + 2) & 3;
}

/// A torus of width x height cells, numbered row by row. @pre width * height < 2^31
struct Torus {
  std::uint32_t width;
  std::uint32_t cells;

  __host__ __device__ std::uint32_t left(std::uint32_t c) const { return c % width == 0 ? c + (width - 1) : c - 1; }
  __host__ __device__ std::uint32_t right(std::uint32_t c) const {
    return (c + 1) % width == 0 ? c - (width - 1) : c + 1;
  }
  __host__ __device__ std::uint32_t up(std::uint32_t c) const { return c < width ? c + (cells - width) : c - width; }
  __host__ __device__ std::uint32_t down(std::uint32_t c) const {
    return c >= cells - width ? c - (cells - width) : c + width;
  }

  /// Without branches, for threads whose directions differ.
  __host__ __device__ std::uint32_t neighbor(std::uint32_t c, std::uint32_t direction) const {
    const std::uint32_t x = c % width;
    const std::uint32_t to_left = x == 0 ? width - 1 : ~std::uint32_t{0};  // all sums are modulo 2^32
    const std::uint32_t to_right = x == width - 1 ? 1 - width : 1;
    const std::uint32_t to_up = c < width ? cells - width : 0 - width;
    const std::uint32_t to_down = c >= cells - width ? width - cells : width;
    const std::uint32_t sideways = direction == 0 ? to_left : to_right;
    const std::uint32_t upright = direction == 1 ? to_up : to_down;
    return c + ((direction & 1) == 0 ? sideways : upright);
  }
};

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
