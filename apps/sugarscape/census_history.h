/// @file
/// CensusHistory: agents and sugar of the last steps, counted on the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <app/count_history.h>

#include "rules.h"
#include "simulation.h"

namespace sugarscape {

/// Counts a cell. @tparam View   has device functions `kind(c)` and `sugar(c)` of a cell number
template <class View>
struct TakeCensus {
  View view;
  __device__ void operator()(std::size_t index, app::Counts<3>& counts) const {
    const auto c = static_cast<std::uint32_t>(index);
    const std::uint8_t kind = view.kind(c);
    counts.of[0] += kind == kMale;
    counts.of[1] += is_female(kind);
    counts.of[2] += view.sugar(c);
  }
};

class CensusHistory {
 public:
  /// Submits the counting, see TakeCensus.
  template <class View>
  void record(dynasoar::Executor& executor, std::uint32_t cells, View view) {
    counts_.record(executor, cells, TakeCensus<View>{view});
  }

  /// Waits, and returns what was recorded since the last call.
  std::vector<Census> take(dynasoar::Executor& executor) {
    std::vector<Census> censuses;
    for (const app::Counts<3>& counts : counts_.take(executor)) {
      censuses.push_back({counts.of[0], counts.of[1], counts.of[2]});
    }
    return censuses;
  }

 private:
  app::CountHistory<3> counts_;
};

}  // namespace sugarscape
