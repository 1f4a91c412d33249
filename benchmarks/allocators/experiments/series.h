/// @file
/// What the experiments of Pham et al. and Blach et al. have in common: their heap, and when a series of sizes ends.
#pragma once

#include <cstddef>

#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/timer.h>

#include "../suite.h"

namespace benchmarks::allocators {

/// Of all experiments.
inline std::size_t heap_bytes(const Context& context) {
  return std::size_t{context.pick(1024u, 16u)} << 20;
}

/// A series of growing sizes ends with the one of which a launch takes longer, in seconds.
inline constexpr double kTooLong = 0.5;

/// Allocators of pages of one size, which the experiments with other sizes leave out.
template <class M>
concept HasPages = requires(const M& memory) {
  memory.page_count();
};

/// Seconds of what `work()` submits.
template <class Work>
double seconds_of(dynasoar::Executor& executor, const Work& work) {
  dynasoar::Timer timer(executor);
  executor.synchronize();
  timer.start();
  work();
  timer.stop();
  return timer.seconds();
}

}  // namespace benchmarks::allocators
