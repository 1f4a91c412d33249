/// @file
/// Loops of teams on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/executor.h>
#include <dynasoar/tuning.h>

namespace dynasoar::detail {

namespace {

/// The calling thread's team.
struct Team {
  /// A phase: calls `function(i)` for 0 <= i < count. It has ended when the call returns. @pre the whole team calls it
  template <class F>
  __device__ void for_each(std::uint32_t count, const F& function) const {
    for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) function(i);
    __syncthreads();
  }

  /// A phase that returns whether `function(i)` was true for any i. @pre the whole team calls it
  template <class F>
  __device__ bool any(std::uint32_t count, const F& function) const {
    bool found = false;
    for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) found = function(i) || found;
    return __syncthreads_or(found ? 1 : 0) != 0;
  }
};

template <class F>
__global__ void __launch_bounds__(kThreadsPerTeam) team_kernel(const __grid_constant__ F function) {
  take_turns();
  __shared__ union {
    unsigned char bytes[sizeof(typename F::Scratch)];
    uint4 aligned;
  } scratch;
  static_assert(alignof(typename F::Scratch) <= alignof(uint4));
  std::size_t i = blockIdx.x;  // of this part or, if it has fewer, of a later part
  const int parts = function.parts();
  for (int part = 0; part < parts; ++part) {
    const std::size_t count = function.count(part);
    for (; i < count; i += gridDim.x) function(Team{}, *reinterpret_cast<typename F::Scratch*>(&scratch), part, i);
    i -= count;
  }
}

/// Loads the kernel, too.
template <class F>
const KernelTraits& team_kernel_traits(Executor& executor) {
  static const KernelTraits traits(team_kernel<F>, executor.multiprocessors());
  return traits;
}

template <class F>
void load_team_loop(Executor& executor) {
  team_kernel_traits<F>(executor);
}

template <class F>
void loop_over_teams(Executor& executor, std::size_t most, const F& function) {
  const KernelTraits& traits = team_kernel_traits<F>(executor);
  launch(traits, team_kernel<F>, traits.grid_for(most * traits.threads), executor.stream(), function);
}

}  // namespace

}  // namespace dynasoar::detail
