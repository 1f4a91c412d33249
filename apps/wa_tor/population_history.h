/// @file
/// PopulationHistory: fish and sharks of the last steps, counted on the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <app/count_history.h>

#include "rules.h"
#include "simulation.h"

namespace wa_tor {

/// Counts the agent of a cell. @tparam KindOf   device callable: kFree, kFish or kShark for a cell number
template <class KindOf>
struct CountAgents {
  KindOf kind_of;
  __device__ void operator()(std::size_t c, app::Counts<2>& counts) const {
    const std::uint8_t kind = kind_of(static_cast<std::uint32_t>(c));
    counts.of[0] += kind == kFish;
    counts.of[1] += kind == kShark;
  }
};

class PopulationHistory {
 public:
  /// Submits the counting of the present agents, see CountAgents.
  template <class KindOf>
  void record(dynasoar::Executor& executor, std::uint32_t cells, KindOf kind_of) {
    counts_.record(executor, cells, CountAgents<KindOf>{kind_of});
  }

  /// Waits, and returns what was recorded since the last call.
  std::vector<Population> take(dynasoar::Executor& executor) {
    std::vector<Population> populations;
    for (const app::Counts<2>& counts : counts_.take(executor)) populations.push_back({counts.of[0], counts.of[1]});
    return populations;
  }

 private:
  app::CountHistory<2> counts_;
};

}  // namespace wa_tor
