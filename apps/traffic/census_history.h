/// @file
/// CensusHistory: cars and their speeds of the last steps, counted on the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <app/count_history.h>

#include "simulation.h"

namespace traffic {

/// All cars, those that move, and the sum of their speeds.
using CarCounts = app::Counts<3>;

__device__ inline void count_car(CarCounts& counts, std::uint32_t speed) {
  ++counts.of[0];
  counts.of[1] += speed > 0;
  counts.of[2] += speed;
}

class CensusHistory {
 public:
  using Sums = app::CountSums<3>;

  /// Sums for the present step, for a loop that is submitted next.
  Sums next(dynasoar::Executor& executor) { return counts_.next(executor); }

  /// Submits the counting of items that lie in an array, see app::CountHistory.
  template <class F>
  void record(dynasoar::Executor& executor, std::size_t items, F count) {
    counts_.record(executor, items, count);
  }

  /// Waits, and returns what was recorded since the last call.
  std::vector<Census> take(dynasoar::Executor& executor) {
    std::vector<Census> censuses;
    for (const CarCounts& counts : counts_.take(executor)) {
      censuses.push_back({counts.of[0], counts.of[1], counts.of[2]});
    }
    return censuses;
  }

 private:
  app::CountHistory<3> counts_;
};

}  // namespace traffic
