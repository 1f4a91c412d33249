/// @file
/// NeighborCounts: adds up the neighbours of 64 cells at once. Used by models on grids whose threads handle 64 cells.
#pragma once

#include <cstdint>

#include <dynasoar/place.h>
#include <dynasoar/platform/config.h>

namespace app {

using Word = std::uint64_t;  ///< a bit for each of 64 cells

inline constexpr std::uint32_t kMostNeighbors = 8;

/// The sum of one-bit numbers of 64 cells, in words of lower and of upper bits.
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

/// For 64 cells, their neighbours of some kind: the three in the row above, from left to right, the two in the same
/// row, and the three in the row below.
struct NeighborSets {
  Word sets[kMostNeighbors];

  /// The neighbours of class T, as a loop over blocks of places sees them.
  template <class... Ts>
  [[gnu::always_inline]] __device__ static NeighborSets of(dynasoar::PlaceBlock block) {
    using dynasoar::where;
    return {{where<Ts...>(block, {-1, -1}), where<Ts...>(block, {0, -1}), where<Ts...>(block, {1, -1}),
             where<Ts...>(block, {-1, 0}), where<Ts...>(block, {1, 0}),  //
             where<Ts...>(block, {-1, 1}), where<Ts...>(block, {0, 1}), where<Ts...>(block, {1, 1})}};
  }

  /// The neighbours in `a` for the cells of a set, and those in `b` for the other cells.
  __device__ static NeighborSets choose(Word set, const NeighborSets& a, const NeighborSets& b) {
    NeighborSets chosen;
    for (std::uint32_t i = 0; i < kMostNeighbors; ++i) chosen.sets[i] = (set & a.sets[i]) | (~set & b.sets[i]);
    return chosen;
  }

  __device__ friend NeighborSets operator|(NeighborSets a, const NeighborSets& b) {
    for (std::uint32_t i = 0; i < kMostNeighbors; ++i) a.sets[i] |= b.sets[i];
    return a;
  }
};

/// For 64 cells, the number of their neighbours of some kind, bit by bit.
struct NeighborCounts {
  Word ones;
  Word twos;
  Word fours;
  Word eights;

  /// @param above, below   sums over the three neighbours in the row above and below
  /// @param beside         sum over the two in the same row
  __device__ NeighborCounts(Sum above, Sum beside, Sum below) {
    const Sum one = add(above.ones, below.ones, beside.ones);
    const Sum two = add(above.twos, below.twos, beside.twos);
    const Sum carried = add(two.ones, one.twos);
    const Sum four = add(two.twos, carried.twos);
    ones = one.ones, twos = carried.ones, fours = four.ones, eights = four.twos;
  }

  __device__ explicit NeighborCounts(const NeighborSets& of)
      : NeighborCounts(add(of.sets[0], of.sets[1], of.sets[2]), add(of.sets[3], of.sets[4]),
                       add(of.sets[5], of.sets[6], of.sets[7])) {}

  /// The cells with `n` such neighbours.
  __device__ Word equal_to(std::uint32_t n) const {
    return ((n & 1) != 0 ? ones : ~ones) & ((n & 2) != 0 ? twos : ~twos) & ((n & 4) != 0 ? fours : ~fours) &
           ((n & 8) != 0 ? eights : ~eights);
  }

  /// The cells with fewer than `n` such neighbours.
  __device__ Word less_than(std::uint32_t n) const {
    const Word digits[] = {ones, twos, fours, eights};
    Word less = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {  // a higher digit outweighs the digits before it
      const Word of_n = Word{0} - (n >> i & 1);
      less = (~digits[i] & less) | (of_n & (~digits[i] | less));
    }
    return less;
  }

  /// The cells for which the number of such neighbours is in the set.
  __device__ Word in(std::uint32_t set) const {
    Word found = 0;
    for (std::uint32_t n = 0; n <= kMostNeighbors; ++n) {
      if ((set >> n & 1) != 0) found |= equal_to(n);
    }
    return found;
  }

  __device__ Word any() const { return ones | twos | fours | eights; }
};

}  // namespace app
