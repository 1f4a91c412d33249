/// @file
/// PeriodicCells: a square whose opposite sides are joined, divided into square cells. Used by models in a continuous
/// plane, by the baselines to find neighbours.
#pragma once

#include <cstdint>

#include <app/vector.h>
#include <dynasoar/platform/config.h>

namespace app {

/// Moves a coordinate to [0, side). @pre it is less than one side outside
__host__ __device__ inline float wrapped(float coordinate, float side) {
  if (coordinate < 0) coordinate += side;
  return coordinate < side ? coordinate : coordinate - side;
}

/// @pre the side is at least four cells and at most 2^15 cells long
struct PeriodicCells {
  float side;
  std::uint32_t width;  ///< cells along a side

  PeriodicCells(float side_of_square, float width_of_cell)
      : side(side_of_square), width(static_cast<std::uint32_t>(side_of_square / width_of_cell)) {}

  __host__ __device__ std::uint32_t cells() const { return width * width; }
  /// The column of an x coordinate, or the row of a y coordinate.
  __device__ std::uint32_t column(float coordinate) const {
    const auto cell = static_cast<std::uint32_t>(coordinate * (static_cast<float>(width) / side));
    return cell < width ? cell : width - 1;
  }
  __device__ std::uint32_t cell(Vector at) const { return column(at.y) * width + column(at.x); }
  /// The shortest of the equivalent offsets along an axis.
  __device__ float nearest(float offset) const {
    if (offset > side / 2) return offset - side;
    return offset < -side / 2 ? offset + side : offset;
  }
};

}  // namespace app
