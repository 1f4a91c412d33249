/// @file
/// CellBytes: a byte per cell that says how many of its neighbours are alive and whether it has an agent. Used by
/// sparse_baselines.cpp, which keeps agents for the cells that may change, and nothing but this for all others.
#pragma once

#include <cstdint>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>

#include "lattice.h"
#include "rule.h"

namespace life {

/// The cells, as the device sees them.
///
/// @par Concurrency   All may be called at the same time. All changes are atomic, because four cells share a word, and
///                    they commute; relaxed, because a loop that reads what they add up to comes after the one that
///                    changes it.
struct CellBytes {
  using Word = dynasoar::AtomicWord<std::uint32_t>;

  static constexpr std::uint32_t kHasAgent = 0x80;  ///< bit of a cell's byte; the others are the number of neighbours
  static constexpr std::uint32_t kNeighborsMask = 0x0F;

  Lattice lattice;
  Rule rule;
  Word* words;  ///< [cells / 4] a byte per cell

  __device__ std::uint32_t alive_neighbors(std::uint32_t c) const { return byte(c) & kNeighborsMask; }
  __device__ bool has_agent(std::uint32_t c) const { return (byte(c) & kHasAgent) != 0; }

  /// Gives cell c an agent. @return false if it had one already: of those that come together only one is first
  __device__ bool claim(std::uint32_t c) const {
    return (words[c / 4].fetch_or(kHasAgent << shift(c), dynasoar::Order::relaxed) >> shift(c) & kHasAgent) == 0;
  }

  /// Cell c has no agent any more.
  __device__ void leave(std::uint32_t c) const {
    words[c / 4].fetch_and(~(kHasAgent << shift(c)), dynasoar::Order::relaxed);
  }

  /// One neighbour of cell c more is alive. Never more than eight are, in whatever order births and deaths are noted:
  /// the byte's bits stay apart, and apart from those of the other cells in the word.
  __device__ void add_neighbor(std::uint32_t c) const { words[c / 4].add(1u << shift(c), dynasoar::Order::relaxed); }

  /// One neighbour of cell c less is alive.
  __device__ void remove_neighbor(std::uint32_t c) const {
    words[c / 4].add(0u - (1u << shift(c)), dynasoar::Order::relaxed);
  }

 private:
  __device__ static std::uint32_t shift(std::uint32_t c) { return c % 4 * 8; }
  __device__ std::uint32_t byte(std::uint32_t c) const {
    return words[c / 4].load(dynasoar::Order::relaxed) >> shift(c);
  }
};

}  // namespace life
