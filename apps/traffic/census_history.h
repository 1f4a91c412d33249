/// @file
/// CensusHistory: counts cars and their speeds on the device, step by step, without making the host wait.
/// Used by the parallel implementations for Simulation::record() and take_history().
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "simulation.h"

namespace traffic {

/// Part of a census, which many threads add to; fewer than 2^28 cars fit in half a word.
struct PartialCensus {
  dynasoar::AtomicWord<std::uint64_t> cars;  ///< all in the low half, moving ones in the high half
  dynasoar::AtomicWord<std::uint64_t> speeds;

  // Relaxed: the sums are read by the host, after it has waited for the loop that adds to them.
  __device__ void add(std::uint64_t all, std::uint64_t moving, std::uint64_t sum) {
    cars.add(moving << 32 | all, dynasoar::Order::relaxed);
    speeds.add(sum, dynasoar::Order::relaxed);
  }
};

struct ClearCensus {
  PartialCensus* parts;
  __device__ void operator()(std::size_t i) const {
    parts[i].cars.store(0, dynasoar::Order::relaxed);
    parts[i].speeds.store(0, dynasoar::Order::relaxed);
  }
};

/// The censuses of the last steps, in device memory until they are taken.
///
/// A census is kept as kParts partial sums, so that not all threads add to the same words. Once in kSteps steps the
/// sums are moved to the host.
class CensusHistory {
 public:
  static constexpr std::uint32_t kParts = 64;

  CensusHistory() : parts_(kSteps * std::size_t{kParts}) {}

  /// Begins a census. @return its parts, [kParts], for a loop that is submitted next
  PartialCensus* begin(dynasoar::Executor& executor) {
    if (pending_ == kSteps) collect(executor);
    if (pending_ == 0) executor.for_each_index(parts_.size(), ClearCensus{parts_.data()});
    return parts_.data() + pending_++ * std::size_t{kParts};
  }

  /// Waits, and returns what was recorded since the last call.
  std::vector<Census> take(dynasoar::Executor& executor) {
    collect(executor);
    return std::exchange(collected_, {});
  }

 private:
  static constexpr std::uint32_t kSteps = 256;

  void collect(dynasoar::Executor& executor) {
    executor.synchronize();
    if (pending_ == 0) return;
    const std::vector<PartialCensus> parts = parts_.download();
    for (std::uint32_t step = 0; step < pending_; ++step) {
      std::uint64_t cars = 0;
      std::uint64_t speeds = 0;
      for (std::uint32_t i = 0; i < kParts; ++i) {
        const PartialCensus& part = parts[step * std::size_t{kParts} + i];
        cars += part.cars.load(dynasoar::Order::relaxed);
        speeds += part.speeds.load(dynasoar::Order::relaxed);
      }
      collected_.push_back({cars & 0xFFFFFFFFu, cars >> 32, speeds});
    }
    pending_ = 0;
  }

  dynasoar::DeviceArray<PartialCensus> parts_;
  std::uint32_t pending_ = 0;
  std::vector<Census> collected_;
};

}  // namespace traffic
