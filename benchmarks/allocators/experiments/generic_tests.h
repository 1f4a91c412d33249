/// @file
/// Alloc Dealloc, Alloc Cycle Dealloc and Probability: three tests in which one thread of each warp asks for memory.
///
/// Source: Vinkler and Havran, "Register Efficient Dynamic Memory Allocator for GPUs" (2015), sections 6 and 7, table
/// 2, figures 3(a) to 3(d) and 4, the last with the allocators' own page sizes. There, 120 blocks of 256 threads fill
/// the GPU; an H200 needs 1056. Payloads of Alloc Cycle Dealloc end at 16 KiB, since 128 KiB for so many warps would be
/// more than the heap; and pools begin at 32 MiB, with which all allocators can be made for so many multiprocessors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "../runs.h"
#include "../suite.h"
#include "random_steps.h"

namespace benchmarks::allocators {

/// What warps do with their memory in the published tests: nothing.
struct Untouched {
  __device__ void begin(void*, std::uint32_t) const {}
  __device__ void end(const void*, std::uint32_t) const {}
};

/// What they do in smoke tests: sign it, and see whether the signature is still there at the end.
struct Signed {
  dynasoar::AtomicWord<std::uint32_t>* damaged;

  __device__ void begin(void* memory, std::uint32_t owner) const {
    word(memory).store(owner, dynasoar::Order::relaxed);
  }
  __device__ void end(void* memory, std::uint32_t owner) const {
    if (word(memory).load(dynasoar::Order::relaxed) != owner) damaged->fetch_add(1, dynasoar::Order::relaxed);
  }

 private:
  __device__ static dynasoar::AtomicWord<std::uint32_t>& word(void* memory) {
    return *static_cast<dynasoar::AtomicWord<std::uint32_t>*>(memory);
  }
};

/// The first thread of each warp takes memory `count` times, then gives all of it back.
template <class M, class Use>
struct TakeAndGiveBack {
  M memory;
  void** pieces;  // [warps * count] what the warps have; in global memory, as there may be many
  dynasoar::AtomicWord<std::uint32_t>* refused;
  std::uint32_t count;
  std::uint32_t bytes;
  Use use;

  __device__ void operator()(std::size_t thread) const {
    if (thread % kWarpThreads != 0) return;
    const std::size_t first = thread / kWarpThreads * count;
    for (std::size_t i = first; i < first + count; ++i) {
      pieces[i] = memory.malloc(bytes);
      if (pieces[i] != nullptr) {
        use.begin(pieces[i], static_cast<std::uint32_t>(i));
      } else {
        refused->fetch_add(1, dynasoar::Order::relaxed);
      }
    }
    for (std::size_t i = first; i < first + count; ++i) {
      if (pieces[i] == nullptr) continue;
      use.end(pieces[i], static_cast<std::uint32_t>(i));
      memory.free(pieces[i]);
    }
  }
};

/// A row of table 2.
struct GenericTest {
  std::uint32_t blocks;  ///< of 256 threads
  std::uint32_t iterations;
  std::size_t pool_bytes;
  std::uint32_t payload;

  std::size_t warps() const { return std::size_t{blocks} * 8; }
  Parameters parameters() const {
    return {{"blocks", blocks}, {"iterations", iterations}, {"pool MiB", pool_bytes >> 20}, {"bytes", payload}};
  }
};

/// Launches the kernel of Alloc (Cycle) Dealloc.
template <class M>
class TakeAndGiveBackRuns {
 public:
  TakeAndGiveBackRuns(dynasoar::Executor& executor, const GenericTest& test)
      : executor_(executor),
        test_(test),
        heap_(executor, {test.pool_bytes, test.payload}),
        pieces_(test.warps() * test.iterations),
        counts_(2) {
    counts_.fill_bytes(0);
  }

  template <class Use>
  double seconds(const Use& use) {
    heap_.prepare();
    return seconds_of(executor_, [&] {
      executor_.for_each_index(
          test_.warps() * kWarpThreads,
          TakeAndGiveBack<M, Use>{heap_.view(), pieces_.data(), count(0), test_.iterations, test_.payload, use});
    });
  }

  /// @throws std::runtime_error if warps were given the same memory
  void check() {
    static_cast<void>(seconds(Signed{count(1)}));
    if (counts_.download()[1] != 0) throw std::runtime_error("two warps were given the same memory");
  }

  std::uint64_t refused() const { return counts_.download()[0]; }

 private:
  dynasoar::AtomicWord<std::uint32_t>* count(std::size_t which) const {
    return reinterpret_cast<dynasoar::AtomicWord<std::uint32_t>*>(counts_.data() + which);
  }

  dynasoar::Executor& executor_;
  GenericTest test_;
  Heap<M> heap_;
  dynasoar::DeviceArray<void*> pieces_;
  dynasoar::DeviceArray<std::uint32_t> counts_;
};

/// @return the longest time of a run, in seconds
template <class M>
double measure_take_and_give_back(const Context& context, const std::string& experiment, const GenericTest& test) {
  dynasoar::Executor executor;
  TakeAndGiveBackRuns<M> runs(executor, test);
  if (context.smoke) runs.check();
  std::vector<double> milliseconds;
  double longest = 0;
  for (int run = -kWarmUpRuns; run < context.repetitions; ++run) {
    const double seconds = runs.seconds(Untouched{});
    longest = std::max(longest, seconds);
    if (run >= 0) milliseconds.push_back(seconds * 1e3);
  }
  const Recorder recorder{context, experiment, M::kProperties.name, test.parameters()};
  recorder.add("time", "ms", milliseconds);
  const auto launches = static_cast<std::uint64_t>(kWarmUpRuns + context.repetitions + (context.smoke ? 1 : 0));
  recorder.add_refused(runs.refused(), launches * test.warps() * test.iterations);
  return longest;
}

inline GenericTest full_device(const Context& context, std::uint32_t iterations) {
  return {context.pick(1056u, 4u), iterations, std::size_t{context.pick(2048u, 32u)} << 20, 4};
}

/// Measures a series, until a run takes too long.
template <class M>
void measure_series(const Context& context, const std::string& experiment, const std::vector<GenericTest>& series) {
  for (const GenericTest& test : series) {
    if (measure_take_and_give_back<M>(context, experiment, test) > kLongestRun) break;
  }
}

/// `test` with each of the values as one of its members.
template <class T>
std::vector<GenericTest> varied(GenericTest test, T GenericTest::*member, const std::vector<T>& values) {
  std::vector<GenericTest> series;
  for (const T value : values) {
    test.*member = value;
    series.push_back(test);
  }
  return series;
}

/// Figure 3(a): over the payload.
template <class M>
void run_alloc_dealloc(const Context& context) {
  const std::vector<std::uint32_t> payloads{4, 16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 128 << 10};
  const std::vector<std::uint32_t> few{4, 64};
  measure_series<M>(context, "alloc_dealloc",
                    varied(full_device(context, 1), &GenericTest::payload, context.pick(payloads, few)));
}

/// Figures 4, 3(b) and 3(c): over the payload, the pool's size, and the number of requests.
template <class M>
void run_alloc_cycle_dealloc(const Context& context) {
  constexpr std::size_t kMiB = 1 << 20;
  const GenericTest usual = full_device(context, 10);
  const std::vector<std::uint32_t> payloads{4, 16, 64, 256, 1 << 10, 4 << 10, 16 << 10};
  const std::vector<std::size_t> pools{32 * kMiB, 128 * kMiB, 512 * kMiB};  // the largest is the usual one
  const std::vector<std::uint32_t> iterations{20, 50, 100};
  const auto measure_all = [&](const std::vector<GenericTest>& series) {
    measure_series<M>(context, "alloc_cycle_dealloc", series);
  };
  if (context.smoke) return measure_all(varied(usual, &GenericTest::iterations, {10, 20}));
  measure_all(varied(usual, &GenericTest::payload, payloads));
  measure_all(varied(usual, &GenericTest::pool_bytes, pools));
  measure_all(varied(usual, &GenericTest::iterations, iterations));
}

/// One run of Probability: ten launches. @return its time in seconds
template <class M>
double run_launches(dynasoar::Executor& executor, Heap<M>& heap, RandomWorkers& workers, std::uint32_t launches) {
  heap.prepare();
  workers.reset();
  return seconds_of(executor, [&] {
    for (std::uint32_t launch = 0; launch < launches; ++launch) {
      executor.for_each_index(workers.size() * kWarpThreads, RandomStep<M>{heap.view(),
                                                                           workers.pieces(),
                                                                           workers.refused_word(),
                                                                           {75, 75},
                                                                           {4, 4},
                                                                           static_cast<std::uint32_t>(kWarpThreads),
                                                                           launch});
    }
  });
}

/// @return the longest time of a run, in seconds
template <class M>
double measure_probability(const Context& context, const GenericTest& test) {
  dynasoar::Executor executor;
  Heap<M> heap(executor, {test.pool_bytes, test.payload});
  RandomWorkers workers(test.warps());
  std::vector<double> milliseconds;
  double longest = 0;
  for (int run = -kWarmUpRuns; run < context.repetitions; ++run) {
    const double seconds = run_launches<M>(executor, heap, workers, test.iterations);
    if (context.smoke) check_disjoint(workers.download());
    executor.for_each_index(workers.size(), GiveBack<M>{heap.view(), workers.pieces()});
    longest = std::max(longest, seconds);
    if (run >= 0) milliseconds.push_back(seconds * 1e3);
  }
  const Recorder recorder{context, "probability", M::kProperties.name, test.parameters()};
  recorder.add("time", "ms", milliseconds);
  recorder.add_refused(workers.refused(), workers.asked());
  return longest;
}

/// Figure 3(d): over the number of threads that allocate.
template <class M>
void run_probability(const Context& context) {
  const std::vector<std::uint32_t> blocks{1, 4, 16, 66, 264, 528, 1056};
  const std::vector<std::uint32_t> few{1, 4};
  for (const GenericTest& test : varied(full_device(context, 10), &GenericTest::blocks, context.pick(blocks, few))) {
    if (measure_probability<M>(context, test) > kLongestRun) break;
  }
}

/// With all allocators but those that all threads of a warp have to call. Those that do not free are lower bounds.
template <class M>
void add_generic_tests(std::vector<Case>& cases) {
  if constexpr (!M::kProperties.collective) {
    cases.push_back({"alloc_dealloc", M::kProperties.name, run_alloc_dealloc<M>});
    cases.push_back({"alloc_cycle_dealloc", M::kProperties.name, run_alloc_cycle_dealloc<M>});
    cases.push_back({"probability", M::kProperties.name, run_probability<M>});
  }
}

}  // namespace benchmarks::allocators
