/// @file
/// How long threads take that all ask for memory once, and give it back, over their number and the size of the request.
///
/// Source: ScatterAlloc (Steinberger et al. 2012), section 8, figure 3: 16, 32, 64 and 128 bytes, up to the 15 000
/// threads that fill its GPU. Here there are up to 2^20, four times as many as an H200 has at a time, and a heap of
/// 1 GiB for them instead of 16 MB. All threads take part, where the paper's do with a probability of 0.75 (for that,
/// see generic_tests.h); one launch allocates, the next frees.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "../../measure.h"
#include "../runs.h"
#include "../suite.h"

namespace benchmarks::allocators {

template <class M>
struct TakeOne {
  M memory;
  Piece* pieces;  // [threads]
  std::uint32_t bytes;
  __device__ void operator()(std::size_t i) const { pieces[i] = {memory.malloc(bytes), bytes, 1}; }
};

/// @return the longest time of a run, in seconds
template <class M>
double measure_threads(const Context& context, std::size_t threads, std::uint32_t bytes) {
  dynasoar::Executor executor;
  Heap<M> heap(executor, {std::size_t{context.pick(1024u, 16u)} << 20, bytes});
  const dynasoar::DeviceArray<Piece> pieces(threads);
  std::vector<double> creation, deletion;
  std::size_t refused = 0;
  double longest = 0;
  for (int run = -kWarmUpRuns; run < context.repetitions; ++run) {
    heap.prepare();
    const double taking = seconds_of(executor, [&] {
      executor.for_each_index(threads, TakeOne<M>{heap.view(), pieces.data(), bytes});
    });
    const std::vector<Piece> taken = pieces.download();
    refused += refused_among(taken);
    if (context.smoke) check_disjoint(taken);
    double giving = 0;
    if constexpr (M::kProperties.frees) {
      giving = seconds_of(executor, [&] { executor.for_each_index(threads, GiveBack<M>{heap.view(), pieces.data()}); });
    }
    longest = std::max({longest, taking, giving});
    if (run < 0) continue;
    creation.push_back(taking);
    deletion.push_back(giving);
  }
  const Recorder recorder{
      context, "threads", M::kProperties.name, {{"threads", static_cast<std::int64_t>(threads)}, {"bytes", bytes}}};
  const double amount = static_cast<double>(threads);
  recorder.add("allocations", "G/s", rates(creation, amount, 1e-9));
  if constexpr (M::kProperties.frees) recorder.add("frees", "G/s", rates(deletion, amount, 1e-9));
  recorder.add_refused(refused, threads * static_cast<std::size_t>(kWarmUpRuns + context.repetitions));
  return longest;
}

/// Collective allocators take part: all threads of whole blocks ask together, for the same size.
template <class M>
void add_threads(std::vector<Case>& cases) {
  cases.push_back({"threads", M::kProperties.name, [](const Context& context) {
                     // From few threads to many: a slow allocator has figures for all sizes before its time is up.
                     for (int log = context.pick(10, 8); log <= context.pick(20, 10); log += 2) {
                       double longest = 0;
                       for (std::uint32_t bytes = 16; bytes <= context.pick(128u, 32u); bytes *= 2) {
                         longest = std::max(longest, measure_threads<M>(context, std::size_t{1} << log, bytes));
                       }
                       if (longest > kLongestRun) break;
                     }
                   }});
}

}  // namespace benchmarks::allocators
