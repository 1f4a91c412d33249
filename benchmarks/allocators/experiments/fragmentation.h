/// @file
/// How much of a heap is lost, and how fast memory is accessed, after threads have taken and given back memory of
/// different sizes for a while.
///
/// Source: ScatterAlloc (Steinberger et al. 2012), sections 3 and 8, figure 4: 1024 and 4096 threads, a heap of 16 MB,
/// p_alloc = p_free = 0.6, sizes of 512 bytes on average, from a range that is up to 896 bytes wide. Here also 16384
/// threads.
///
/// The paper looks inside the allocators. Here everything is measured from outside, in the same way for all:
/// - external fragmentation: 1 - (largest request that is served) / (bytes that are in no thread's memory). It is near
///   100 % for an allocator that serves no requests above a page: it need serve only the sizes of the range.
/// - unusable: bytes that are in no thread's memory after further requests of the range were made until they were
///   refused, as a share of the heap. It consists of internal fragmentation and of free memory that fits no request.
/// - accessed: 4-byte words that threads read and write, all those of their own memory in order, several times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "../runs.h"
#include "../suite.h"
#include "random_steps.h"

namespace benchmarks::allocators {

/// Each thread changes all words of its memory.
struct AccessOwn {
  static constexpr std::uint32_t kRounds = 16;

  const Piece* pieces;

  __device__ void operator()(std::size_t worker) const {
    const Piece mine = pieces[worker];
    if (mine.memory == nullptr) return;
    auto* const words = static_cast<std::uint32_t*>(mine.memory);
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      for (std::uint32_t i = 0; i < mine.bytes / 4; ++i) words[i] = words[i] * 3 + round;
    }
  }
};

/// One thread finds out how large a request may be.
template <class M>
struct ProbeLargest {
  M memory;
  std::size_t* largest;
  std::size_t heap_bytes;

  __device__ void operator()(std::size_t) const {
    std::size_t served = 0;
    std::size_t refused = (memory.largest() < heap_bytes ? memory.largest() : heap_bytes) + 1;
    while (refused - served > dynasoar::kMallocAlignment) {
      const std::size_t bytes = served + (refused - served) / 2;
      void* const probe = memory.malloc(bytes);
      memory.free(probe);
      (probe != nullptr ? served : refused) = bytes;
    }
    *largest = served;
  }
};

/// Threads ask until they are refused, or have their share.
template <class M>
struct FillUp {
  M memory;
  Piece* pieces;  // [threads * share]
  std::uint32_t share;
  SizeRange sizes;

  __device__ void operator()(std::size_t worker) const {
    for (std::uint32_t i = 0; i < share; ++i) {
      Piece& piece = pieces[worker * share + i];
      piece.bytes =
          sizes.least + dynasoar::random::draw(dynasoar::random::Seed{2}, Draw::size,
                                               static_cast<std::uint32_t>(worker), i, sizes.most - sizes.least + 1);
      piece.memory = memory.malloc(piece.bytes);
      if (piece.memory == nullptr) return;
    }
  }
};

/// What one run found.
struct FragmentationResult {
  double external_percent;
  double unusable_percent;
  double gigawords_per_second;
};

/// One run with one allocator, from an empty heap.
template <class M>
class FragmentationRun {
 public:
  FragmentationRun(std::size_t threads, SizeRange sizes)
      : sizes_(sizes),
        storage_(executor_, {kHeapBytes, sizes.most}),
        workers_(threads),
        share_(static_cast<std::uint32_t>(2 * kHeapBytes / threads / kMeanBytes + 1)),
        rest_(threads * share_) {
    rest_.fill_bytes(0);
    for (std::uint32_t step = 0; step < kSteps; ++step) {
      executor_.for_each_index(
          threads,
          RandomStep<M>{storage_.view(), workers_.pieces(), workers_.refused_word(), {60, 60}, sizes, 1, step});
    }
    executor_.synchronize();
  }

  /// @param checks   whether to throw std::runtime_error if threads share memory
  FragmentationResult result(bool checks) {
    const std::size_t heap_bytes = storage_.heap_bytes();
    const std::vector<Piece> held = workers_.download();
    const double words = static_cast<double>(bytes_held(held) / 4) * AccessOwn::kRounds;
    const auto access = [&] { executor_.for_each_index(workers_.size(), AccessOwn{workers_.pieces()}); };
    access();  // brings the memory into caches, and on the host into being
    const double seconds = seconds_of(executor_, access);
    const double external = 1 - static_cast<double>(largest()) / static_cast<double>(heap_bytes - bytes_held(held));
    const std::vector<Piece> more = fill_up();
    const double used = static_cast<double>(bytes_held(held) + bytes_held(more)) / static_cast<double>(heap_bytes);
    if (checks) check(held, more);
    give_back();
    return {100 * external, 100 * (1 - used), words / seconds * 1e-9};
  }

 private:
  static constexpr std::size_t kHeapBytes = 16 << 20;
  static constexpr std::size_t kMeanBytes = 512;
  static constexpr std::uint32_t kSteps = 20;  // the share of threads that have memory converges as 0.2^step

  std::size_t largest() {
    const dynasoar::DeviceArray<std::size_t> found(1);
    executor_.for_each_index(1, ProbeLargest<M>{storage_.view(), found.data(), storage_.heap_bytes()});
    executor_.synchronize();
    return found.download()[0];
  }

  std::vector<Piece> fill_up() {
    executor_.for_each_index(workers_.size(), FillUp<M>{storage_.view(), rest_.data(), share_, sizes_});
    executor_.synchronize();
    return rest_.download();
  }

  void give_back() {
    executor_.for_each_index(rest_.size(), GiveBack<M>{storage_.view(), rest_.data()});
    executor_.for_each_index(workers_.size(), GiveBack<M>{storage_.view(), workers_.pieces()});
    executor_.synchronize();
  }

  static void check(std::vector<Piece> held, const std::vector<Piece>& more) {
    held.insert(held.end(), more.begin(), more.end());
    check_disjoint(held);
    if (refused_among(more) == 0) throw std::runtime_error("a heap of 16 MB does not become full");
  }

  dynasoar::Executor executor_;
  SizeRange sizes_;
  typename M::Storage storage_;
  RandomWorkers workers_;
  std::uint32_t share_;
  dynasoar::DeviceArray<Piece> rest_;
};

template <class M>
void measure_fragmentation(const Context& context, std::size_t threads, std::uint32_t width) {
  std::vector<double> external, unusable, accessed;
  for (int run = -1; run < context.repetitions; ++run) {
    FragmentationRun<M> one(threads, {512 - width / 2, 512 + width / 2});
    const FragmentationResult result = one.result(context.smoke);
    if (run < 0) continue;
    external.push_back(result.external_percent);
    unusable.push_back(result.unusable_percent);
    accessed.push_back(result.gigawords_per_second);
  }
  const Recorder recorder{context,
                          "fragmentation",
                          M::kProperties.name,
                          {{"threads", static_cast<std::int64_t>(threads)}, {"width", width}}};
  recorder.add("external fragmentation", "%", external);
  recorder.add("unusable", "%", unusable);
  recorder.add("accessed", "G words/s", accessed);
}

template <class M>
void run_fragmentation(const Context& context) {
  for (const std::size_t threads : context.pick<std::vector<std::size_t>>({1024, 4096, 16384}, {256})) {
    for (const std::uint32_t width : context.pick<std::vector<std::uint32_t>>({0, 256, 512, 896}, {896}))
      measure_fragmentation<M>(context, threads, width);
  }
}

template <class M>
void add_fragmentation(std::vector<Case>& cases) {
  if constexpr (M::kProperties.frees && !M::kProperties.collective) {
    cases.push_back({"fragmentation", M::kProperties.name, run_fragmentation<M>});
  }
}

}  // namespace benchmarks::allocators
