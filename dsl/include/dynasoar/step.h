/// @file
/// Step: loops that belong together, such as a time step, submitted as one. Made by AllocatorHandle::record.
#pragma once

#include <optional>
#include <utility>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/recording.h>

namespace dynasoar {

/// What AllocatorHandle::record made of a function that submits loops; each call submits them again.
///
/// On a GPU they are recorded, as a CUDA graph, and the function is not called any more. On the host, and with an
/// allocator that finds misuse, where every loop has a number of its own, each call calls the function.
template <class AllocatorT, class F>
class Step {
 public:
  /// @pre the executor outlives the calls
  Step(Executor& executor, F function) : executor_(executor), function_(std::move(function)) {
    executor_.check_may_wait();
#if DYNASOAR_CUDA_BACKEND
    if constexpr (kRecords) recording_.emplace(executor_, function_);
#endif
  }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  /// Submits the loops. @throws Error if the device failed, or this is called in another step; where the function is
  ///                             called, what it throws, and Error if it waits for the device
  void operator()() {
    executor_.check_may_wait();  // a step is not a part of another one
#if DYNASOAR_CUDA_BACKEND
    if constexpr (kRecords) {
      recording_->replay();
      return;
    }
#endif
    const Executor::Unwaited unwaited(executor_);
    function_();
  }

 private:
  static constexpr bool kRecords = kCudaBackend && !AllocatorT::kFindsMisuse;

  Executor& executor_;
  F function_;
#if DYNASOAR_CUDA_BACKEND
  std::optional<detail::Recording> recording_;
#endif
};

}  // namespace dynasoar
