/// @file
/// CellBytes: a byte per cell with the number of its live neighbours, and whether it has an agent. Used by
/// sparse_baselines.cpp, which has agents for the cells that may change, and only this byte for all others.
#pragma once

#include <cstdint>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>

#include "lattice.h"
#include "rule.h"

namespace life {

/// The cells, as the device sees them.
///
/// @par Concurrency   All functions may be called at the same time. Changes are atomic, because four cells share a
///                    word. Their order is relaxed: they commute, and only later loops read the results.
struct CellBytes {
  using Word = dynasoar::AtomicWord<std::uint32_t>;

  static constexpr std::uint32_t kHasAgent = 0x80;  ///< bit of a cell's byte; the others are the number of neighbours
  static constexpr std::uint32_t kNeighborsMask = 0x0F;

  Lattice lattice;
  Rule rule;
  Word* words;  ///< [cells / 4] a byte per cell

  __device__ std::uint32_t alive_neighbors(std::uint32_t c) const { return byte(c) & kNeighborsMask; }
  __device__ bool has_agent(std::uint32_t c) const { return (byte(c) & kHasAgent) != 0; }

  /// Gives cell c an agent. @return false if it had one already; of simultaneous calls, only one returns true
  __device__ bool claim(std::uint32_t c) const {
    return (words[c / 4].fetch_or(kHasAgent << shift(c), dynasoar::Order::relaxed) >> shift(c) & kHasAgent) == 0;
  }

  /// Removes the agent of cell c.
  __device__ void leave(std::uint32_t c) const {
    words[c / 4].fetch_and(~(kHasAgent << shift(c)), dynasoar::Order::relaxed);
  }

  /// Adds a live neighbour of cell c. The number never exceeds eight, in any order of births and deaths, so it does not
  /// overflow into other bits of the byte or into other cells.
  __device__ void add_neighbor(std::uint32_t c) const { words[c / 4].add(1u << shift(c), dynasoar::Order::relaxed); }

  /// Removes a live neighbour of cell c.
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
