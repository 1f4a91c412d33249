/// @file
/// CensusHistory: what the city was like in the last steps, counted on the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <app/count_history.h>

#include "rules.h"
#include "simulation.h"

namespace schelling {

/// Counts the agent of a cell. @tparam View   as in Rules
template <class View>
struct TakeCensus {
  Rules rules;
  View view;

  __device__ void operator()(std::size_t index, app::Counts<5>& counts) const {
    const auto c = static_cast<std::uint32_t>(index);
    const std::uint8_t group = view.group(c);
    if (group == kVacant) return;
    const Neighbours neighbours = rules.neighbours(view, c, group);
    counts.of[0] += group == kRed;
    counts.of[1] += group == kBlue;
    counts.of[2] += rules.is_unhappy(neighbours);
    counts.of[3] += neighbours.own;
    counts.of[4] += neighbours.all;
  }
};

class CensusHistory {
 public:
  /// Submits the counting, see TakeCensus.
  template <class View>
  void record(dynasoar::Executor& executor, const Rules& rules, View view) {
    counts_.record(executor, rules.cells, TakeCensus<View>{rules, view});
  }

  /// Waits, and returns what was recorded since the last call.
  std::vector<Census> take(dynasoar::Executor& executor) {
    std::vector<Census> censuses;
    for (const app::Counts<5>& counts : counts_.take(executor)) {
      censuses.push_back({counts.of[0], counts.of[1], counts.of[2], counts.of[3], counts.of[4]});
    }
    return censuses;
  }

 private:
  app::CountHistory<5> counts_;
};

}  // namespace schelling
