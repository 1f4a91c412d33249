/// @file
/// How fast memory is taken and given back over the number of threads, for a few sizes.
///
/// Source: Pham et al., ICS '22, section 5.2.2, figure 8, with up to 2^20 threads. A series ends when the threads'
/// memory would be more than half of the heap; what a full heap costs is another matter (rw_utilization.h shows when it
/// is full).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../suite.h"
#include "pieces.h"
#include "series.h"

namespace benchmarks::allocators {

template <class M>
void measure_rw_threads(const Context& context, std::uint32_t bytes) {
  const std::size_t half = heap_bytes(context) / 2;
  for (const int log : {10, 13, 16, 20}) {
    const std::size_t threads = std::size_t{1} << log;
    if (threads * bytes > half || log > context.pick(20, 10)) return;
    const double longest = pieces::measure<M>(
        context, "rw_threads", threads, {bytes, bytes},
        {{"threads", static_cast<std::int64_t>(threads)}, {"bytes", static_cast<std::int64_t>(bytes)}});
    if (longest > kLongestRun) return;
  }
}

template <class M>
void add_rw_threads(std::vector<Case>& cases) {
  if constexpr (pieces::kFits<M>) {
    cases.push_back({"rw_threads", M::kProperties.name, [](const Context& context) {
                       for (const std::uint32_t bytes : {16u, 512u, 8192u}) measure_rw_threads<M>(context, bytes);
                     }});
  }
}

}  // namespace benchmarks::allocators
