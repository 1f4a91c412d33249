/// @file
/// What a loop does at its end: loop_over_slots, loop_over_indices and loop_over_objects take a LoopEnd. Loops on a CPU
/// ignore it.
///
/// On a GPU, all threads of the thread block of the loop's kernel that finishes last call `end(thread, threads)`, and
/// they see what the whole kernel has done. So a little work between two loops costs no launch. If a loop takes several
/// kernels, the last one gets the end.
#pragma once

#include <concepts>
#include <cstdint>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// Nothing is to be done.
struct NoLoopEnd {
  __host__ __device__ static constexpr bool is_wanted() { return false; }
};

/// `finished()` counts thread blocks, in device memory: 0 between loops. Loops may share it if they follow one another.
template <class E>
concept LoopEnd = std::same_as<E, NoLoopEnd> || requires(const E& end, std::uint32_t thread) {
  { end.is_wanted() } -> std::same_as<bool>;
  { end.finished() } -> std::same_as<AtomicWord<std::uint32_t>&>;
  { end(thread, thread) } -> std::same_as<void>;
};

}  // namespace dynasoar::detail
