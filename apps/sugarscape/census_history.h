/// @file
/// CensusHistory: counts agents and sugar on the device, step by step, without making the host wait.
/// Used by the parallel implementations of Sugarscape for Simulation::record() and take_history().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "rules.h"
#include "simulation.h"

namespace sugarscape {
namespace detail {

using Sum = dynasoar::AtomicWord<std::uint64_t>;

/// A census in two words; fewer than 2^31 agents fit in half of one.
struct CensusSums {
  Sum agents;  ///< males in the low half, females in the high half
  Sum sugar;
};

inline constexpr std::uint32_t kPartialSums = 32;

struct ClearCensus {
  CensusSums* sums;
  __device__ void operator()(std::size_t i) const {
    sums[i].agents.store(0, dynasoar::Order::relaxed);
    sums[i].sugar.store(0, dynasoar::Order::relaxed);
  }
};

/// Adds up every `threads`-th cell.
template <class View>
struct TakeCensus {
  View view;
  CensusSums* sums;
  std::uint32_t cells;
  std::uint32_t threads;

  __device__ void operator()(std::size_t i) const {
    std::uint64_t males = 0;
    std::uint64_t females = 0;
    std::uint64_t sugar = 0;
    for (std::size_t index = i; index < cells; index += threads) {
      const auto c = static_cast<std::uint32_t>(index);
      const std::uint8_t kind = view.kind(c);
      males += kind == kMale;
      females += is_female(kind);
      sugar += view.sugar(c);
    }
    // Relaxed: the sums are read by the host, after it has waited for this loop.
    sums[i % kPartialSums].agents.add(females << 32 | males, dynasoar::Order::relaxed);
    sums[i % kPartialSums].sugar.add(sugar, dynasoar::Order::relaxed);
  }
};

}  // namespace detail

/// The censuses of the last steps, in device memory until they are taken.
///
/// A census is kept as 32 partial sums: neighbouring threads then add to different words. Once in kSteps steps the
/// sums are moved to the host.
class CensusHistory {
 public:
  CensusHistory() : sums_(kSteps * kPartialSums) {}

  /// Submits the counting.
  ///
  /// @param view   with device functions `kind(c)` and `sugar(c)` of a cell number
  template <class View>
  void record(dynasoar::Executor& executor, std::uint32_t cells, View view) {
    if (pending_ == kSteps) collect(executor);
    if (pending_ == 0) executor.for_each_index(sums_.size(), detail::ClearCensus{sums_.data()});
    const std::uint32_t threads = std::min(cells, std::uint32_t{kThreads});
    executor.for_each_index(
        threads, detail::TakeCensus<View>{view, sums_.data() + pending_ * std::size_t{kPartialSums}, cells, threads});
    ++pending_;
  }

  /// Waits, and returns what was recorded since the last call.
  std::vector<Census> take(dynasoar::Executor& executor) {
    collect(executor);
    return std::exchange(collected_, {});
  }

 private:
  static constexpr std::uint32_t kPartialSums = detail::kPartialSums;
  static constexpr std::uint32_t kSteps = 256;
  static constexpr std::uint32_t kThreads = 1 << 16;

  void collect(dynasoar::Executor& executor) {
    executor.synchronize();
    if (pending_ == 0) return;
    const std::vector<detail::CensusSums> sums = sums_.download();
    for (std::uint32_t step = 0; step < pending_; ++step) {
      std::uint64_t agents = 0;
      std::uint64_t sugar = 0;
      for (std::uint32_t i = 0; i < kPartialSums; ++i) {
        const detail::CensusSums& sum = sums[std::size_t{step} * kPartialSums + i];
        agents += sum.agents.load(dynasoar::Order::relaxed);
        sugar += sum.sugar.load(dynasoar::Order::relaxed);
      }
      collected_.push_back({agents & 0xFFFFFFFFu, agents >> 32, sugar});
    }
    pending_ = 0;
  }

  dynasoar::DeviceArray<detail::CensusSums> sums_;
  std::uint32_t pending_ = 0;
  std::vector<Census> collected_;
};

}  // namespace sugarscape
