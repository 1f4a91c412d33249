/// @file
/// Loops of teams: threads that work on one thing together, phase by phase, with memory of their own. Used by
/// compaction.cpp.
///
/// On a GPU a team is a thread block. On the host it is a single thread, because there are more things than threads.
/// Like those of loops.h these loops launch kernels of this translation unit, so they have internal linkage.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

// What a loop runs has
//   Scratch                              what the members of a team share; not initialized
//   int parts()                          how many parts the loop has, none of which may need what another does
//   std::size_t count(part)              how many things there are in a part
//   operator()(team, scratch, part, i)   what a team does with thing number i of a part
// Both numbers are asked for on the device, so they may depend on earlier loops.

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

template <class F>
__global__ void __launch_bounds__(kThreadsPerTeam) team_kernel(const __grid_constant__ F function) {
  take_turns();
  __shared__ union {
    unsigned char bytes[sizeof(typename F::Scratch)];
    uint4 aligned;
  } scratch;
  static_assert(alignof(typename F::Scratch) <= alignof(uint4));
  std::size_t i = blockIdx.x;  // of this part or, if that has fewer, of one that follows
  const int parts = function.parts();
  for (int part = 0; part < parts; ++part) {
    const std::size_t count = function.count(part);
    for (; i < count; i += gridDim.x) function(Team{}, *reinterpret_cast<typename F::Scratch*>(&scratch), part, i);
    i -= count;
  }
}

/// Calls `function(team, scratch, part, i)` for all parts and all their things.
///
/// @param most   teams that are worth it
template <class F>
void loop_over_teams(Executor& executor, std::size_t most, const F& function) {
  static const KernelTraits traits(team_kernel<F>, executor.multiprocessors());
  launch(traits, team_kernel<F>, traits.grid_for(most * traits.threads), executor.stream(), function);
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
void loop_over_teams(Executor& executor, std::size_t, const F& function) {
  const int parts = function.parts();
  for (int part = 0; part < parts; ++part) {
    executor.for_each_index(function.count(part), [&function, part](std::size_t i) {
      typename F::Scratch scratch{};  // g++ cannot tell that it is written first
      function(Team{}, scratch, part, i);
    });
  }
}

#endif

}  // namespace dynasoar::detail
