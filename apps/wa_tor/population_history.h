/// @file
/// PopulationHistory: counts agents on the device, step by step, without making the host wait.
/// Used by the parallel implementations of Wa-Tor for Simulation::record() and take_history().
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

namespace wa_tor {
namespace detail {

using PopulationSum = dynasoar::AtomicWord<std::uint64_t>;

inline constexpr std::uint32_t kPartialSums = 32;

struct ClearPopulations {
  PopulationSum* sums;
  __device__ void operator()(std::size_t i) const { sums[i].store(0, dynasoar::Order::relaxed); }
};

template <class KindOf>
struct CountAgents {
  KindOf kind_of;
  PopulationSum* sums;
  std::uint32_t cells;
  std::uint32_t threads;

  __device__ void operator()(std::size_t i) const {
    std::uint64_t fish = 0;
    std::uint64_t sharks = 0;
    for (std::size_t c = i; c < cells; c += threads) {
      const std::uint8_t kind = kind_of(static_cast<std::uint32_t>(c));
      fish += kind == kFish;
      sharks += kind == kShark;
    }
    // Relaxed: the sums are read by the host, after it has waited for this loop.
    sums[i % kPartialSums].fetch_add(sharks << 32 | fish, dynasoar::Order::relaxed);
  }
};

}  // namespace detail

/// The populations of the last steps, in device memory until they are taken.
///
/// A population is kept as 32 partial sums, fish in the low and sharks in the high half of a word: neighbouring threads
/// then add to different words. Once in kCapacity steps the sums are moved to the host.
class PopulationHistory {
 public:
  PopulationHistory() : sums_(kCapacity * kPartialSums) {}

  /// Submits the counting of the present agents.
  ///
  /// @param kind_of   device callable: kFree, kFish or kShark for a cell number
  template <class KindOf>
  void record(dynasoar::Executor& executor, std::uint32_t cells, KindOf kind_of) {
    if (pending_ == kCapacity) collect(executor);
    if (pending_ == 0) executor.for_each_index(sums_.size(), detail::ClearPopulations{sums_.data()});
    const std::uint32_t threads = std::min(cells, kThreads);
    executor.for_each_index(threads, detail::CountAgents<KindOf>{
                                         kind_of, sums_.data() + pending_ * std::size_t{kPartialSums}, cells, threads});
    ++pending_;
  }

  /// Waits, and returns what was recorded since the last call.
  std::vector<Population> take(dynasoar::Executor& executor) {
    collect(executor);
    return std::exchange(collected_, {});
  }

 private:
  using Sum = detail::PopulationSum;

  static constexpr std::uint32_t kPartialSums = detail::kPartialSums;
  static constexpr std::uint32_t kCapacity = 256;
  static constexpr std::uint32_t kThreads = 1 << 16;

  void collect(dynasoar::Executor& executor) {
    executor.synchronize();
    if (pending_ == 0) return;
    const std::vector<Sum> sums = sums_.download();
    for (std::uint32_t step = 0; step < pending_; ++step) {
      std::uint64_t total = 0;
      for (std::uint32_t i = 0; i < kPartialSums; ++i) {
        total += sums[std::size_t{step} * kPartialSums + i].load(dynasoar::Order::relaxed);
      }
      collected_.push_back({total & 0xFFFFFFFFu, total >> 32});
    }
    pending_ = 0;
  }

  dynasoar::DeviceArray<Sum> sums_;
  std::uint32_t pending_ = 0;
  std::vector<Population> collected_;
};

}  // namespace wa_tor
