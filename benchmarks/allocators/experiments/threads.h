/// @file
/// How long threads take that all ask for memory once, and give it back, over their number.
///
/// Source: ScatterAlloc (Steinberger et al. 2012), section 8, figure 2. One launch allocates, the next frees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "../../measure.h"
#include "../suite.h"

namespace benchmarks::allocators {

template <class M>
struct TakeOne {
  M memory;
  void** pointers;  // [threads]
  std::size_t bytes;
  __device__ void operator()(std::size_t i) const { pointers[i] = memory.malloc(bytes); }
};

template <class M>
struct GiveOne {
  M memory;
  void** pointers;  // [threads]
  __device__ void operator()(std::size_t i) const { memory.free(pointers[i]); }
};

template <class M>
void measure_threads(const Context& context, std::size_t threads, std::size_t bytes) {
  dynasoar::Executor executor;
  const typename M::Storage storage(executor, {std::size_t{context.pick(1024u, 16u)} << 20, bytes});
  const dynasoar::DeviceArray<void*> pointers(threads);
  const auto take = [&] { executor.for_each_index(threads, TakeOne<M>{storage.view(), pointers.data(), bytes}); };
  const auto give = [&] { executor.for_each_index(threads, GiveOne<M>{storage.view(), pointers.data()}); };
  const Settings settings{.repetitions = context.repetitions, .warm_up = 1};
  bool taken = false;
  const std::vector<double> creation = measure(executor, settings, take, [&] {
    if (taken) give();
    taken = true;
  });
  const std::vector<double> deletion = measure(executor, settings, give, [&] {
    if (!taken) take();
    taken = false;
  });
  const std::map<std::string, std::int64_t> parameters = {{"threads", static_cast<std::int64_t>(threads)},
                                                          {"bytes", static_cast<std::int64_t>(bytes)}};
  const double amount = static_cast<double>(threads);
  context.add({"threads", M::kProperties.name, parameters, "allocations", "G/s", rates(creation, amount, 1e-9)});
  context.add({"threads", M::kProperties.name, parameters, "frees", "G/s", rates(deletion, amount, 1e-9)});
}

template <class M>
void add_threads(std::vector<Case>& cases) {
  if constexpr (M::kProperties.frees && !M::kProperties.collective) {
    cases.push_back({"threads", M::kProperties.name, [](const Context& context) {
                       for (int log = context.pick(10, 4); log <= context.pick(20, 10); log += 2) {
                         measure_threads<M>(context, std::size_t{1} << log, 64);
                       }
                     }});
  }
}

}  // namespace benchmarks::allocators
