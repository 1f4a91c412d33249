/// @file
/// The frame's geometry: cells row by row, and the up to eight neighbours of each. Used by the DSL variants.
#pragma once

#include <cstdint>

#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>

#include "simulation.h"

namespace life {

inline constexpr std::uint32_t kNeighbors = 8;
/// Stands for no cell.
inline constexpr std::uint32_t kOutside = ~std::uint32_t{0};

/// Number `i` of the neighbours whose bits are set in `which`. @pre more than i bits are set
__host__ __device__ inline std::uint32_t nth_neighbor(std::uint32_t which, std::uint32_t i) {
  return static_cast<std::uint32_t>(dynasoar::detail::nth_set_bit(which, static_cast<int>(i)));
}

/// The number of neighbours in a set.
__host__ __device__ inline std::uint32_t count_neighbors(std::uint32_t which) {
  return static_cast<std::uint32_t>(dynasoar::detail::popcount(which));
}

/// @pre width * height < 2^31, except for number_of_cells()
struct Lattice {
  std::uint32_t width;
  std::uint32_t height;
  bool torus;

  static Lattice of(const Parameters& parameters) {
    return {static_cast<std::uint32_t>(parameters.width + 2 * parameters.margin),
            static_cast<std::uint32_t>(parameters.height + 2 * parameters.margin), parameters.edge == Edge::torus};
  }

  __host__ __device__ std::uint32_t cells() const { return width * height; }
  std::uint64_t number_of_cells() const { return std::uint64_t{width} * height; }

  /// Neighbour 0 to 7 of cell c, row by row, or kOutside. On a small torus several neighbours can be the same cell.
  __host__ __device__ std::uint32_t neighbor(std::uint32_t c, std::uint32_t which) const {
    const std::uint32_t place = which < 4 ? which : which + 1;  // in the square of nine, whose middle is c
    const std::uint32_t x = moved(c % width, place % 3, width);
    const std::uint32_t y = moved(c / width, place / 3, height);
    return x == kOutside || y == kOutside ? kOutside : y * width + x;
  }

 private:
  /// A coordinate one less (`by` 0), the same (1) or one more (2).
  __host__ __device__ std::uint32_t moved(std::uint32_t coordinate, std::uint32_t by, std::uint32_t size) const {
    if (by == 0 && coordinate == 0) return torus ? size - 1 : kOutside;
    if (by == 2 && coordinate == size - 1) return torus ? 0 : kOutside;
    return coordinate + by - 1;
  }
};

}  // namespace life
