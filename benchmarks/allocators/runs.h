/// @file
/// What the experiments with plain memory share: an allocator's heap for repeated runs, what threads were given, and
/// how long a run took.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/timer.h>

#include "suite.h"

namespace benchmarks::allocators {

using Parameters = std::map<std::string, std::int64_t>;

/// Threads of a warp. Experiments in which one thread of each warp asks for memory have so many per request.
inline constexpr std::size_t kWarpThreads = dynasoar::kCudaBackend ? 32 : 1;

inline constexpr int kWarmUpRuns = 2;

/// A series of growing sizes ends after a run that took so many seconds.
inline constexpr double kLongestRun = 0.5;

/// An allocator with its memory. If it does not free, each run gets a heap of its own.
template <class M>
class Heap {
 public:
  /// @throws Error as M::Storage does
  Heap(dynasoar::Executor& executor, dynasoar::MallocNeeds needs) : executor_(executor), needs_(needs) { make(); }

  /// Before a run in which all memory is free.
  void prepare() {
    if constexpr (!M::kProperties.frees) {
      executor_.synchronize();
      storage_.reset();
      make();
    }
  }

  M view() const { return storage_->view(); }

 private:
  void make() { storage_ = std::make_unique<typename M::Storage>(executor_, needs_); }

  dynasoar::Executor& executor_;
  dynasoar::MallocNeeds needs_;
  std::unique_ptr<typename M::Storage> storage_;
};

/// Seconds that submitted work takes.
template <class Work>
double seconds_of(dynasoar::Executor& executor, const Work& work) {
  dynasoar::Timer timer(executor);
  executor.synchronize();
  timer.start();
  work();
  timer.stop();
  const double seconds = timer.seconds();
  executor.synchronize();  // throws if the work failed
  return seconds;
}

/// What a thread asked for and was given.
struct Piece {
  void* memory;         ///< null if it was refused, or given back
  std::uint32_t bytes;  ///< of the last request; 0 if there was none
  std::uint32_t asked;  ///< requests so far
};

/// Each piece is given back.
template <class M>
struct GiveBack {
  M memory;
  const Piece* pieces;
  __device__ void operator()(std::size_t i) const { memory.free(pieces[i].memory); }
};

/// @throws std::runtime_error if pieces share memory or are not aligned
inline void check_disjoint(std::vector<Piece> pieces) {
  std::erase_if(pieces, [](const Piece& piece) { return piece.memory == nullptr; });
  const auto address = [](const Piece& piece) { return reinterpret_cast<std::uintptr_t>(piece.memory); };
  std::sort(pieces.begin(), pieces.end(), [&](const Piece& a, const Piece& b) { return address(a) < address(b); });
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (address(pieces[i]) % dynasoar::kMallocAlignment != 0) throw std::runtime_error("memory is not aligned");
    if (i > 0 && address(pieces[i - 1]) + pieces[i - 1].bytes > address(pieces[i])) {
      throw std::runtime_error("two threads were given the same memory");
    }
  }
}

/// Of `pieces` that were asked for once each, how many were refused.
inline std::size_t refused_among(const std::vector<Piece>& pieces) {
  return static_cast<std::size_t>(std::count_if(
      pieces.begin(), pieces.end(), [](const Piece& piece) { return piece.bytes > 0 && piece.memory == nullptr; }));
}

/// Bytes that were asked for and not given back.
inline std::size_t bytes_held(const std::vector<Piece>& pieces) {
  std::size_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.memory != nullptr ? piece.bytes : 0;
  return bytes;
}

/// Adds records of one experiment with one allocator at one setting.
struct Recorder {
  const Context& context;
  std::string experiment;
  std::string allocator;
  Parameters parameters;

  void add(const std::string& metric, const std::string& unit, std::vector<double> values) const {
    context.add({experiment, allocator, parameters, metric, unit, std::move(values)});
  }

  /// Says how many requests were refused, if any were.
  void add_refused(std::uint64_t refused, std::uint64_t asked) const {
    if (refused > 0) add("refused", "%", {100.0 * static_cast<double>(refused) / static_cast<double>(asked)});
  }
};

}  // namespace benchmarks::allocators
