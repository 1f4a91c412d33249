/// @file
/// Timer: measures how long submitted work runs. nanoseconds(): a clock for device code. Used by the benchmarks.
#pragma once

#include <cstdint>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>

#if !DYNASOAR_CUDA_BACKEND
#include <chrono>
#endif

namespace dynasoar {

/// Nanoseconds since some moment, in device code. On an NVIDIA GPU it advances in steps, 32 ns long on Hopper.
__device__ inline std::uint64_t nanoseconds() {
#if defined(__CUDA_ARCH__)
  std::uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time)::"memory");
  return time;
#elif DYNASOAR_CUDA_BACKEND
  return 0;  // device code only
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
#endif
}

#if DYNASOAR_CUDA_BACKEND

/// Measures on the device, between two points in the executor's order of work.
class Timer {
 public:
  explicit Timer(Executor& executor) : executor_(executor) {
    detail::check_cuda(cudaEventCreate(&begin_), "cudaEventCreate");
    detail::check_cuda(cudaEventCreate(&end_), "cudaEventCreate");
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() {
    static_cast<void>(cudaEventDestroy(begin_));
    static_cast<void>(cudaEventDestroy(end_));
  }

  void start() { detail::check_cuda(cudaEventRecord(begin_, executor_.stream()), "cudaEventRecord"); }
  void stop() { detail::check_cuda(cudaEventRecord(end_, executor_.stream()), "cudaEventRecord"); }

  /// Waits until the device reaches `stop()`. @return seconds from `start()` to `stop()`
  double seconds() const {
    float milliseconds = 0;
    detail::check_cuda(cudaEventSynchronize(end_), "cudaEventSynchronize");
    detail::check_cuda(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
    return milliseconds * 1e-3;
  }

 private:
  Executor& executor_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

#else

/// Measures on the host, where loops have finished when they return.
class Timer {
 public:
  explicit Timer(Executor&) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void start() { begin_ = Clock::now(); }
  void stop() { end_ = Clock::now(); }

  /// Seconds from `start()` to `stop()`.
  double seconds() const { return std::chrono::duration<double>(end_ - begin_).count(); }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point begin_;
  Clock::time_point end_;
};

#endif

}  // namespace dynasoar
