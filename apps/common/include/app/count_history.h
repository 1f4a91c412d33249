/// @file
/// CountHistory: numbers of cells that the device counts in each step, without making the host wait. Used for
/// Simulation::record() if cells are counted in the same way in objects and in hand-written arrays. Totals of objects
/// are in a dynasoar::StepLog.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace app {

/// Some numbers of one step.
template <int kCounts>
struct Counts {
  std::uint64_t of[kCounts] = {};
};

/// The sums of the counts of one step, in many words, so that few threads access the same word at the same time.
template <int kCounts>
struct CountSums {
  using Word = dynasoar::AtomicWord<std::uint64_t>;
  static constexpr std::uint32_t kParts = 32;
  static constexpr std::uint32_t kWords = kParts * kCounts;

  Word* words;  ///< [kWords]

  /// @param adder   any number that differs between neighbouring threads
  __device__ void add(std::size_t adder, const Counts<kCounts>& counts) const {
    // Relaxed: only the host reads the sums, after it has waited for this loop.
    for (int i = 0; i < kCounts; ++i) {
      if (counts.of[i] != 0) words[adder % kParts * kCounts + i].add(counts.of[i], dynasoar::Order::relaxed);
    }
  }
};

template <int kCounts>
struct ClearCounts {
  typename CountSums<kCounts>::Word* words;
  __device__ void operator()(std::size_t i) const { words[i].store(0, dynasoar::Order::relaxed); }
};

/// Counts every `threads`-th item.
template <int kCounts, class F>
struct CountItems {
  F count;
  CountSums<kCounts> sums;
  std::size_t items;
  std::size_t threads;

  __device__ void operator()(std::size_t thread) const {
    Counts<kCounts> counts;
    for (std::size_t i = thread; i < items; i += threads) count(i, counts);
    sums.add(thread, counts);
  }
};

/// The counts of the last steps, in device memory until they are taken.
template <int kCounts>
class CountHistory {
 public:
  CountHistory() : words_(kSteps * CountSums<kCounts>::kWords) {}

  /// Sums for the current step, initially zero. Work that is submitted before the next call may add to them.
  CountSums<kCounts> next(dynasoar::Executor& executor) {
    if (pending_ == kSteps) collect(executor);
    if (pending_ == 0) executor.for_each_index(words_.size(), ClearCounts<kCounts>{words_.data()});
    return {words_.data() + pending_++ * CountSums<kCounts>::kWords};
  }

  /// Submits the counting of items of an array.
  ///
  /// @param count   device callable: `count(i, counts)` adds item i to its thread's counts
  template <class F>
  void record(dynasoar::Executor& executor, std::size_t items, F count) {
    const std::size_t threads = std::min(items, kThreads);
    executor.for_each_index(threads, CountItems<kCounts, F>{count, next(executor), items, threads});
  }

  /// Waits, and returns the counts since the last call, oldest first.
  std::vector<Counts<kCounts>> take(dynasoar::Executor& executor) {
    collect(executor);
    return std::exchange(collected_, {});
  }

 private:
  static constexpr std::size_t kSteps = 256;
  static constexpr std::size_t kThreads = std::size_t{1} << 16;

  void collect(dynasoar::Executor& executor) {
    executor.synchronize();
    if (pending_ == 0) return;
    const std::vector<typename CountSums<kCounts>::Word> words = words_.download();
    for (std::size_t step = 0; step < pending_; ++step) {
      Counts<kCounts> counts;
      for (std::size_t w = 0; w < CountSums<kCounts>::kWords; ++w) {
        counts.of[w % kCounts] += words[step * CountSums<kCounts>::kWords + w].load(dynasoar::Order::relaxed);
      }
      collected_.push_back(counts);
    }
    pending_ = 0;
  }

  dynasoar::DeviceArray<typename CountSums<kCounts>::Word> words_;
  std::size_t pending_ = 0;
  std::vector<Counts<kCounts>> collected_;
};

}  // namespace app
