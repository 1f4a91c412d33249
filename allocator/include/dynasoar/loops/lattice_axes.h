/// @file
/// The parts of a LatticeShape: its axes, the places in its words, and the numbers of places if a process has only a
/// part of the lattice.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/loops/places.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// Divides numbers below 2^31 by a number that is known only at run time, with a multiplication.
class Divider {
 public:
  Divider() = default;
  /// @pre 1 <= divisor <= 2^31
  explicit Divider(std::uint32_t divisor);

  __host__ __device__ std::uint32_t quotient(std::uint32_t number) const {
    return static_cast<std::uint32_t>(std::uint64_t{number} * multiplier_ >> 31) >> shift_;
  }
  __host__ __device__ std::uint32_t remainder(std::uint32_t number) const {
    return number - quotient(number) * divisor_;
  }
  __host__ __device__ std::uint32_t divisor() const { return divisor_; }

 private:
  std::uint32_t divisor_;
  std::uint32_t multiplier_;
  std::uint32_t shift_;
};

/// An axis of a lattice.
struct Axis {
  std::int32_t length;
  bool is_periodic;
  std::int64_t stride;                     // slots from a place to the next
  std::uint64_t before_first, after_last;  // distance of these two steps in slots, or Place::beyond_edge
  std::uint64_t two_before_first, two_after_last;
  std::uint64_t beyond;  // Place::beyond_edge
  Divider by_length;

  Axis() = default;
  Axis(int number, std::size_t places, std::size_t slots, bool is_periodic);

  /// The coordinate after a step; negative if the step leads beyond a bounded edge.
  __host__ __device__ std::int32_t moved(std::int32_t from, std::int32_t by) const {
    const std::int32_t to = from + by;
    if (static_cast<std::uint32_t>(to) < static_cast<std::uint32_t>(length)) return to;
    if (!is_periodic) return -1;
    if (to >= 0) return static_cast<std::int32_t>(by_length.remainder(static_cast<std::uint32_t>(to)));
    return length - 1 - static_cast<std::int32_t>(by_length.remainder(static_cast<std::uint32_t>(-1 - to)));
  }

  /// The distance in slots of a step to the next place, modulo 2^64.
  __host__ __device__ std::uint64_t unit_step(std::int32_t from, bool is_up) const {
    const std::uint64_t inside = static_cast<std::uint64_t>(is_up ? stride : -stride);
    return from == (is_up ? length - 1 : 0) ? (is_up ? after_last : before_first) : inside;
  }

  /// The distance in slots of a step, modulo 2^64. Has no branches if the step is a constant of at most 2.
  __host__ __device__ std::uint64_t step(std::int32_t from, std::int32_t by) const {
    if (by == 0) return 0;
    if (by == 1 || by == -1) return unit_step(from, by > 0);
    if (by == 2)
      return from == length - 1 ? two_after_last : static_cast<std::uint64_t>(stride) + unit_step(from + 1, true);
    if (by == -2) return from == 0 ? two_before_first : unit_step(from - 1, false) - static_cast<std::uint64_t>(stride);
    const std::int32_t to = moved(from, by);
    return to < 0 ? beyond : static_cast<std::uint64_t>((to - from) * stride);
  }
};

/// The layers of a lattice that one process has: rows if the lattice has two axes, planes if it has three. On both
/// sides of its own layers are ghosts, which are copies of the layers of other processes.
struct Slab {
  std::size_t first;   ///< the first own layer
  std::size_t length;  ///< the number of own layers
  std::size_t ghosts;  ///< the number of ghosts on each side; there are none beyond a bounded edge
};

/// Converts between the index of a layer or place in the memory of this process and its number in the whole lattice.
/// Memory may begin and end with ghosts, for which numbers wrap around.
///
/// @tparam Int   signed
template <class Int>
struct Numbering {
  Int first;   ///< the number of the first element in memory; negative for a ghost from the other end
  Int ghosts;  ///< number of ghosts at the beginning of memory
  Int stored;  ///< number of elements in memory
  Int all;     ///< number in the whole lattice

  __host__ __device__ Int number(Int i) const {
    Int n = first + i;
    n = n < 0 ? n + all : n;
    return n < all ? n : n - all;
  }
  /// The index in memory, preferably not of a ghost; negative if it is not in memory.
  __host__ __device__ Int index(Int number) const {
    Int i = number - first - ghosts;
    i = (i < 0 ? i + all : i) + ghosts;
    return i < stored ? i : i - all;
  }
  /// The same, but for the nearest of several copies.
  __host__ __device__ Int index_near(Int number, Int near) const {
    Int best = -1;
    for (Int i = (number - first) % all; i < stored; i += all) {
      const bool is_nearer = best < 0 || (i < near ? near - i : i - near) < (best < near ? near - best : best - near);
      if (i >= 0 && is_nearer) best = i;
    }
    return best;
  }
};

/// The slots of a word that are places: all, except in the last word of a padded row or of the lattice. A small part of
/// a LatticeShape, for kernels that need nothing else of it.
class PlacesOfWords {
 public:
  PlacesOfWords() = default;
  /// @param words    words of a padded row, or of the lattice
  /// @param places   places in these words
  PlacesOfWords(std::size_t words, std::size_t places);

  __host__ __device__ std::uint64_t operator()(std::uint64_t word) const {
    const bool is_last = in_row(static_cast<std::uint32_t>(word)) == by_words_.divisor() - 1;
    return is_last ? last_ : ~std::uint64_t{0};
  }

  /// The number of words of its row, or of the lattice, in front of a word.
  __host__ __device__ std::uint32_t in_row(std::uint32_t word) const { return by_words_.remainder(word); }

 private:
  Divider by_words_;
  std::uint64_t last_;
};

}  // namespace dynasoar::detail
