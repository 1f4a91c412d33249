/// @file
/// Census: counts cells on the device, step by step, without making the host wait.
/// Used by the parallel implementations for Simulation::record() and take_history().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "dynamics.h"
#include "simulation.h"

namespace life {

/// What one thread has counted.
struct Tally {
  std::uint32_t alive = 0;
  std::uint32_t dying = 0;
  std::uint32_t candidates = 0;

  /// Counts a cell.
  __device__ void add(std::uint32_t state, bool has_alive_neighbors) {
    if (state == kDead) {
      candidates += has_alive_neighbors ? 1 : 0;
    } else if (state == kAlive) {
      ++alive;
    } else {
      ++dying;
    }
  }
};

/// Where the device adds up the population of one step: in many words, so that threads seldom meet at one.
struct CensusSums {
  using Word = dynasoar::AtomicWord<std::uint64_t>;
  static constexpr std::uint32_t kParts = 32;
  static constexpr std::uint32_t kWords = 2 * kParts;

  Word* words;  ///< [kWords] per part: alive and dying cells in the halves of a word, then candidates

  /// @param adder   any number that differs between neighbouring threads
  __device__ void add(std::size_t adder, const Tally& tally) const {
    // Relaxed: the sums are read by the host, after it has waited for this loop.
    Word* const part = words + adder % kParts * 2;
    const std::uint64_t occupied = std::uint64_t{tally.alive} << 32 | tally.dying;
    if (occupied != 0) part[0].add(occupied, dynasoar::Order::relaxed);
    if (tally.candidates != 0) part[1].add(tally.candidates, dynasoar::Order::relaxed);
  }
};

/// Sets the sums to zero.
struct ClearCensus {
  CensusSums::Word* words;
  __device__ void operator()(std::size_t i) const { words[i].store(0, dynasoar::Order::relaxed); }
};

/// Counts every `threads`-th item of a dense frame. `cells.count(i, tally)` counts item i, a few cells.
template <class Cells>
struct CountItems {
  Cells cells;
  CensusSums sums;
  std::size_t items;
  std::size_t threads;

  __device__ void operator()(std::size_t thread) const {
    Tally tally;
    for (std::size_t i = thread; i < items; i += threads) cells.count(i, tally);
    sums.add(thread, tally);
  }
};

/// The populations of the last steps, in device memory until they are taken.
class Census {
 public:
  Census() : words_(kCapacity * CensusSums::kWords) {}

  /// Sums for the present step, zero at first; whatever is submitted before the next call may add to them.
  CensusSums next(dynasoar::Executor& executor) {
    if (pending_ == kCapacity) collect(executor);
    if (pending_ == 0) executor.for_each_index(words_.size(), ClearCensus{words_.data()});
    return {words_.data() + pending_++ * CensusSums::kWords};
  }

  /// Submits the counting of a dense frame, see CountItems.
  template <class Cells>
  void record(dynasoar::Executor& executor, std::size_t items, Cells cells) {
    const std::size_t threads = std::min(items, kThreads);
    executor.for_each_index(threads, CountItems<Cells>{cells, next(executor), items, threads});
  }

  /// Waits, and returns what was recorded since the last call.
  std::vector<Population> take(dynasoar::Executor& executor) {
    collect(executor);
    return std::exchange(collected_, {});
  }

 private:
  static constexpr std::size_t kCapacity = 256;
  static constexpr std::size_t kThreads = std::size_t{1} << 16;

  void collect(dynasoar::Executor& executor) {
    executor.synchronize();
    if (pending_ == 0) return;
    const std::vector<CensusSums::Word> words = words_.download();
    for (std::size_t step = 0; step < pending_; ++step) {
      Population population;
      for (std::size_t part = 0; part < CensusSums::kParts; ++part) {
        const std::size_t first = step * CensusSums::kWords + 2 * part;
        const std::uint64_t occupied = words[first].load(dynasoar::Order::relaxed);
        population.alive += occupied >> 32;
        population.dying += occupied & 0xFFFFFFFFu;
        population.candidates += words[first + 1].load(dynasoar::Order::relaxed);
      }
      collected_.push_back(population);
    }
    pending_ = 0;
  }

  dynasoar::DeviceArray<CensusSums::Word> words_;
  std::size_t pending_ = 0;
  std::vector<Population> collected_;
};

}  // namespace life
