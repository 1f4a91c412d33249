/// @file
/// Census: the cells of the last steps by kind, counted on the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <app/count_history.h>

#include "dynamics.h"
#include "simulation.h"

namespace life {

/// Alive and dying cells and candidates.
using Tally = app::Counts<3>;
inline constexpr int kAliveCells = 0, kDyingCells = 1, kCandidates = 2;

/// Counts a cell.
__device__ inline void count_cell(Tally& tally, std::uint32_t state, bool has_alive_neighbors) {
  if (state == kDead) {
    tally.of[kCandidates] += has_alive_neighbors ? 1 : 0;
  } else {
    ++tally.of[state == kAlive ? kAliveCells : kDyingCells];
  }
}

/// Counts item i of a dense frame, a few cells.
template <class Cells>
struct CountCells {
  Cells cells;
  __device__ void operator()(std::size_t i, Tally& tally) const { cells.count(i, tally); }
};

class Census {
 public:
  using Sums = app::CountSums<3>;

  /// Sums for the present step; whatever is submitted before the next call may add to them.
  Sums next(dynasoar::Executor& executor) { return counts_.next(executor); }

  /// Submits the counting of a dense frame, see CountCells.
  template <class Cells>
  void record(dynasoar::Executor& executor, std::size_t items, Cells cells) {
    counts_.record(executor, items, CountCells<Cells>{cells});
  }

  /// Waits, and returns what was recorded since the last call.
  std::vector<Population> take(dynasoar::Executor& executor) {
    std::vector<Population> populations;
    for (const Tally& tally : counts_.take(executor)) {
      populations.push_back({tally.of[kAliveCells], tally.of[kDyingCells], tally.of[kCandidates]});
    }
    return populations;
  }

 private:
  app::CountHistory<3> counts_;
};

}  // namespace life
