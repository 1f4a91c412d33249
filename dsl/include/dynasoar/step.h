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
/// On a GPU they are recorded, as a CUDA graph, and the function is not called any more. On the host, and in checked
/// builds, where every loop has a number of its own, each call calls the function.
template <class AllocatorT, class F>
class Step {
 public:
  /// @pre the executor outlives this
  Step(Executor& executor, F function) : executor_(executor), function_(std::move(function)) {
#if DYNASOAR_CUDA_BACKEND
    if constexpr (kRecords) recording_.emplace(executor_, function_);
#endif
  }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  /// Submits the loops. @throws Error if the device failed, or the function waits for the device
  void operator()() {
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
