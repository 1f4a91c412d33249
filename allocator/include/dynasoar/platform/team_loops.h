/// @file
/// Loops of teams: threads that work on one thing together, phase by phase, with memory of their own. Used by
/// compaction.h.
///
/// On a GPU a team is a thread block. On the host it is a single thread, because there are more things than threads.
/// Like those of loops.h these loops launch kernels of this translation unit, so they have internal linkage.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

// What a loop runs has
//   Scratch                        what the members of a team share; not initialized
//   std::size_t count()            how many things there are; called on the device, so it may depend on earlier loops
//   operator()(team, scratch, i)   what a team does with thing number i
// Several of them can be run at once; then each has things of its own, and none may need what another does.

#if DYNASOAR_CUDA_BACKEND

namespace {

inline constexpr int kThreadsPerTeam = 512;

/// The calling thread's team.
struct Team {
  /// A phase: `function(i)` for 0 <= i < count. It is done when the call returns. @pre the whole team calls it
  template <class F>
  __device__ void for_each(std::uint32_t count, const F& function) const {
    for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) function(i);
    __syncthreads();
  }
};

/// The calling team's share of a loop's things. @param first   the first of them @return the first of the next loop's
template <class F>
__device__ std::size_t run_share(const F& function, void* scratch, std::size_t first) {
  const std::size_t count = function.count();
  std::size_t i = first;
  for (; i < count; i += gridDim.x) function(Team{}, *static_cast<typename F::Scratch*>(scratch), i);
  return i - count;
}

template <class A, class... F>
__global__ void __launch_bounds__(kThreadsPerTeam) team_kernel(F... functions) {
  take_turns();
  __shared__ union {
    unsigned char bytes[std::max({sizeof(typename F::Scratch)...})];
    uint4 aligned;
  } scratch;
  std::size_t first = blockIdx.x;
  ((first = run_share(functions, &scratch, first)), ...);
}

/// Calls `function(team, scratch, i)` for 0 <= i < function.count() and each of the functions, in device code that may
/// use objects of allocator type A.
///
/// @param most   teams that are worth it
template <class A, class... F>
void loop_over_teams(Executor& executor, std::size_t most, const F&... functions) {
  static_assert(((alignof(typename F::Scratch) <= alignof(uint4)) && ...));
  bring_up_to_date<A>(executor);
  static const KernelTraits traits(team_kernel<A, F...>, executor.multiprocessors());
  launch(traits, team_kernel<A, F...>, traits.grid_for(most * traits.threads), executor.stream(), functions...);
}

}  // namespace

#else

struct Team {
  template <class F>
  void for_each(std::uint32_t count, const F& function) const {
    for (std::uint32_t i = 0; i < count; ++i) function(i);
  }
};

template <class F>
void loop_over_lone_teams(Executor& executor, const F& function) {
  executor.for_each_index(function.count(), [&function](std::size_t i) {
    typename F::Scratch scratch{};  // g++ cannot tell that it is written first
    function(Team{}, scratch, i);
  });
}

template <class A, class... F>
void loop_over_teams(Executor& executor, std::size_t, const F&... functions) {
  (loop_over_lone_teams(executor, functions), ...);
}

#endif

}  // namespace dynasoar::detail
