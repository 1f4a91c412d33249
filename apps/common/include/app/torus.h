/// @file
/// Torus: cells in rows, and their neighbours, with joined opposite borders. Used by the parallel implementations of
/// the models on such grids; the sequential references have their own code.
#pragma once

#include <cstdint>

#include <app/grid_simulation.h>
#include <dynasoar/platform/config.h>

namespace app {

/// A torus of width x height cells, numbered row by row. Directions are 0 left, 1 up, 2 right, 3 down.
/// @pre width * height < 2^31
struct Torus {
  std::uint32_t width;
  std::uint32_t cells;

  static Torus of(const GridParameters& parameters) {
    return {static_cast<std::uint32_t>(parameters.width), parameters.cells()};
  }

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

}  // namespace app
