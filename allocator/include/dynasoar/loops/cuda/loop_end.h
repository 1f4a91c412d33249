/// @file
/// The end of a loop on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <dynasoar/loops/loop_end.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/order.h>
#include <dynasoar/tuning.h>

namespace dynasoar::detail {

/// The last thing that a kernel does that gets the end of a loop. All of its threads call it; the grid has one
/// dimension.
template <LoopEnd End>
__device__ void end_loop(const End& end) {
  if constexpr (!std::is_same_v<End, NoLoopEnd>) {
    if (!end.is_wanted()) return;
    __shared__ bool is_last;
    __syncwarp();     // lanes that have parted meet first
    __syncthreads();  // orders what the other threads have done before what thread 0 does next
    if (threadIdx.x == 0) {
      // acq_rel: release for what this thread block has done, acquire for what those have that were here before.
      is_last = end.finished().fetch_add(1, Order::acq_rel) + 1 == gridDim.x;
      if (is_last) end.finished().store(0, Order::relaxed);  // relaxed: the next kernel reads it
    }
    __syncthreads();  // and what thread 0 has seen before what the others do next
    if (is_last) end(threadIdx.x, blockDim.x);
  }
}

/// Whether a loop over places is small: those with an end are.
template <LoopEnd End>
inline constexpr bool kIsSmallLoop = !std::is_same_v<End, NoLoopEnd>;

/// Thread blocks of its kernel that a multiprocessor has room for at least: `wanted`, unless it is small.
template <LoopEnd End>
constexpr int least_resident(int wanted) {
  return kIsSmallLoop<End> ? kSmallLoopsPerMultiprocessor : wanted;
}

/// Traits of a kernel of so many threads that gets the end of a loop: its thread blocks have enough threads for it.
template <LoopEnd End>
KernelTraits traits_for(const KernelTraits& all, std::size_t threads, const Executor& executor, const End& end) {
  return all.for_threads(threads, executor.multiprocessors(), end.is_wanted() ? kLeastThreadsOfLastBlock : 32);
}

}  // namespace dynasoar::detail
