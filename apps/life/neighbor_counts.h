/// @file
/// NeighborCounts: adds up the neighbours of 64 cells at once. Used by the implementations that keep 64 cells in a
/// word: placed.cpp and stencil_baseline.cpp.
#pragma once

#include <cstdint>

#include <dynasoar/platform/config.h>

#include "lattice.h"

namespace life {

using Word = std::uint64_t;  ///< a bit for each of 64 cells

/// Numbers of one bit per cell, and the sum and carry of adding them.
struct Sum {
  Word ones;
  Word twos;
};

__device__ inline Sum add(Word a, Word b) {
  return {a ^ b, a & b};
}

__device__ inline Sum add(Word a, Word b, Word c) {
  return {a ^ b ^ c, (a & b) | (c & (a ^ b))};
}

/// For 64 cells, the number of their alive neighbours, bit by bit.
struct NeighborCounts {
  Word ones;
  Word twos;
  Word fours;
  Word eights;

  /// @param above, below   the three neighbours in the row above and below
  /// @param beside         the two in the same row
  __device__ NeighborCounts(Sum above, Sum beside, Sum below) {
    const Sum one = add(above.ones, below.ones, beside.ones);
    const Sum two = add(above.twos, below.twos, beside.twos);
    const Sum carried = add(two.ones, one.twos);
    const Sum four = add(two.twos, carried.twos);
    ones = one.ones, twos = carried.ones, fours = four.ones, eights = four.twos;
  }

  /// The cells with `n` alive neighbours.
  __device__ Word equal_to(std::uint32_t n) const {
    return ((n & 1) != 0 ? ones : ~ones) & ((n & 2) != 0 ? twos : ~twos) & ((n & 4) != 0 ? fours : ~fours) &
           ((n & 8) != 0 ? eights : ~eights);
  }

  /// The cells whose number of alive neighbours is in the set.
  __device__ Word in(std::uint32_t set) const {
    Word found = 0;
    for (std::uint32_t n = 0; n <= kNeighbors; ++n) {
      if ((set >> n & 1) != 0) found |= equal_to(n);
    }
    return found;
  }

  __device__ Word any() const { return ones | twos | fours | eights; }
};

}  // namespace life
