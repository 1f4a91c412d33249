/// @file
/// Functions for the calling thread in device code: its private memory, whether it runs a loop, a random seed, and the
/// end of the program. Used by checks, and by allocators that distribute requests randomly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/tuning.h>

#if !DYNASOAR_CUDA_BACKEND
#include <atomic>
#endif

namespace dynasoar::detail {

/// The calling thread's T, for device code in loops whose thread blocks have at most kThreadsPerBlock threads. On a GPU
/// it is in shared memory, and not initialized.
template <class T>
__device__ T& of_calling_thread() {
#if defined(__CUDA_ARCH__)
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint64_t) == 0);
  constexpr std::size_t kWords = sizeof(T) / sizeof(std::uint64_t);
  __shared__ std::uint64_t all[kThreadsPerBlock * kWords];  // a shared variable cannot have an initializer
  return reinterpret_cast<T*>(all)[threadIdx.x % kThreadsPerBlock];
#elif DYNASOAR_CUDA_BACKEND
  static T never_used;  // device code only
  return never_used;
#else
  static thread_local T value;
  return value;
#endif
}

/// Memory of the calling thread of a CPU; null on a GPU.
template <std::size_t kBytes, std::size_t kAlignment>
__device__ char* memory_of_host_thread() {
#if DYNASOAR_CUDA_BACKEND
  return nullptr;
#else
  alignas(kAlignment) static thread_local char memory[kBytes];
  return memory;
#endif
}

/// Whether the calling thread runs a loop. On a GPU it always does: nvcc does not let host code call device functions.
__device__ inline bool runs_in_loop() {
#if DYNASOAR_CUDA_BACKEND
  return true;
#else
  return is_in_loop;
#endif
}

/// A number that differs from all numbers that this lane and other lanes get. It is computed from the warp, the lane
/// and the clock; on the host, from the thread and the number of its calls. @param warp   `Warp::id()` of the calling
/// lane
__device__ inline std::uint64_t lane_seed(std::uint32_t warp) {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15u;  // 2^64 / golden ratio: multiples are evenly distributed
#if DYNASOAR_CUDA_BACKEND
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return (std::uint64_t{warp} * 32 + lane) * kGolden + static_cast<std::uint64_t>(clock64());
#else
  static std::atomic<std::uint64_t> threads{0};
  thread_local std::uint64_t asked = threads.fetch_add(1, std::memory_order_relaxed) << 32;
  return asked++ * kGolden + warp;
#endif
}

/// Prints a line and ends the program.
__device__ inline void end_program(const char* reason) {
  std::printf("dynasoar: %s\n", reason);
#if defined(__CUDA_ARCH__)
  __trap();
#elif !DYNASOAR_CUDA_BACKEND
  std::fflush(stdout);
  std::abort();
#endif
}

}  // namespace dynasoar::detail
