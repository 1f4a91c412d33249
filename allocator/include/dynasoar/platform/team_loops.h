/// @file
/// Loops of teams: threads that work on one thing together, phase by phase, with memory of their own. Used by
/// compaction.h.
///
/// On a GPU a team is a thread block. On the host it is a single thread, because there are more things than threads.
/// Like those of loops.h these loops launch kernels of this translation unit, so they have internal linkage.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

// What a loop runs, `F`, has
//   Scratch                     what the members of a team share; not initialized
//   std::size_t count()         how many things there are; called on the device, so it may depend on earlier loops
//   operator()(team, scratch, i)   what a team does with thing number i

#if DYNASOAR_CUDA_BACKEND

namespace {

/// The calling thread's team.
struct Team {
  /// A phase: `function(i)` for 0 <= i < count. It is done when the call returns. @pre the whole team calls it
  template <class F>
  __device__ void for_each(std::uint32_t count, const F& function) const {
    for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) function(i);
    __syncthreads();
  }
};

template <class A, class F>
__global__ void __launch_bounds__(kThreadsPerBlock) team_kernel(F function) {
  take_turns();
  __shared__ typename F::Scratch scratch;
  const std::size_t count = function.count();
  for (std::size_t i = blockIdx.x; i < count; i += gridDim.x) function(Team{}, scratch, i);
}

/// Calls `function(team, scratch, i)` for 0 <= i < function.count(), in device code that may use objects of allocator
/// type A.
///
/// @param most   an upper bound on the count
template <class A, class F>
void loop_over_teams(Executor& executor, std::size_t most, const F& function) {
  if (most == 0) return;
  bring_up_to_date<A>(executor);
  static const KernelTraits traits(team_kernel<A, F>, executor.multiprocessors());
  launch(traits, team_kernel<A, F>, traits.grid_for(most * traits.threads), executor.stream(), function);
}

}  // namespace

#else

struct Team {
  template <class F>
  void for_each(std::uint32_t count, const F& function) const {
    for (std::uint32_t i = 0; i < count; ++i) function(i);
  }
};

template <class A, class F>
void loop_over_teams(Executor& executor, std::size_t, const F& function) {
  executor.for_each_index(function.count(), [&function](std::size_t i) {
    typename F::Scratch scratch{};  // g++ cannot tell that it is written first
    function(Team{}, scratch, i);
  });
}

#endif

}  // namespace dynasoar::detail
