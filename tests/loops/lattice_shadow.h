/// @file
/// A lattice as the tests compute it by themselves: sizes, coordinates and neighbourhoods as plain numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/loops/lattice_shape.h>
#include <dynasoar/platform/config.h>

#include "../platform/test_support.h"

namespace lattice_test {

/// A lattice with many blocks in a row.
inline const std::vector<std::size_t> kLarge =
    dynasoar::test::kSlowdown > 1 ? std::vector<std::size_t>{129, 33} : std::vector<std::size_t>{257, 129};

/// Small lattices, whose rows begin at whole blocks, and two that are too large for that: their rows are packed.
inline const std::vector<std::vector<std::size_t>> kSizes = {
    {1, 1}, {3, 5},    {63, 2},    {64, 3},   {65, 4},    kLarge,   {1, 7},     {7, 1},    {1},          {130},
    {2, 2}, {5, 4, 3}, {64, 3, 2}, {1, 1, 4}, {33, 1, 5}, {500, 3}, {2, 3, 70}, {3, 4100}, {3, 41, 100},
};

/// A coordinate after a step, by a definition of its own: -1 beyond an edge.
inline std::int64_t stepped(std::int64_t at, std::int64_t by, std::int64_t length, bool is_periodic) {
  const std::int64_t to = at + by;
  if (to >= 0 && to < length) return to;
  return is_periodic ? ((to % length) + length) % length : -1;
}

/// The lattice as arrays of numbers, and what is next to what.
struct Shadow {
  std::vector<std::size_t> sizes;
  std::array<bool, 3> periodic;

  std::int64_t length(std::size_t axis) const {
    return axis < sizes.size() ? static_cast<std::int64_t>(sizes[axis]) : 1;
  }
  bool wraps(std::size_t axis) const { return axis < sizes.size() && periodic[axis]; }
  std::int64_t size() const { return length(0) * length(1) * length(2); }

  std::int64_t neighbour(std::int64_t number, dynasoar::LatticeVector by) const {
    const std::int64_t x = stepped(number % length(0), by.x, length(0), wraps(0));
    const std::int64_t y = stepped(number / length(0) % length(1), by.y, length(1), wraps(1));
    const std::int64_t z = stepped(number / length(0) / length(1), by.z, length(2), wraps(2));
    return x < 0 || y < 0 || z < 0 ? -1 : (z * length(1) + y) * length(0) + x;
  }

  std::vector<std::int64_t> neighbours(std::int64_t number, int radius, bool is_moore) const {
    std::vector<std::int64_t> result;
    const int rows = sizes.size() > 1 ? radius : 0;
    const int layers = sizes.size() > 2 ? radius : 0;
    for (int z = -layers; z <= layers; ++z) {
      for (int y = -rows; y <= rows; ++y) {
        for (int x = -radius; x <= radius; ++x) {
          if (x == 0 && y == 0 && z == 0) continue;
          if (!is_moore && std::abs(x) + std::abs(y) + std::abs(z) > radius) continue;
          const std::int64_t next = neighbour(number, {x, y, z});
          if (next >= 0) result.push_back(next);
        }
      }
    }
    return result;
  }
};

inline const std::array<bool, 3> kEdges[] = {
    {true, true, true}, {false, false, false}, {true, false, true}, {false, true, false}};

/// Calls `f(sizes, periodic)` for lattices of all these sizes, with several kinds of edges.
template <class F>
void for_each_lattice(const std::vector<std::vector<std::size_t>>& all_sizes, const F& f) {
  for (const auto& sizes : all_sizes) {
    for (const auto& periodic : kEdges) {
      std::string text;
      for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
        text += std::to_string(sizes[axis]) + (periodic[axis] ? " periodic " : " bounded ");
      }
      CAPTURE(text);
      f(sizes, periodic);
    }
  }
}

/// Random numbers of the tests.
__host__ __device__ inline std::uint32_t mixed(std::uint32_t value) {
  value = (value ^ value >> 16) * 0x7feb352du;
  value = (value ^ value >> 15) * 0x846ca68bu;
  return value ^ value >> 16;
}

}  // namespace lattice_test
