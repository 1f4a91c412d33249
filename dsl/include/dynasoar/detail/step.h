/// @file
/// Step: several loops that are submitted together, such as a time step. Made by AllocatorHandle::record.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/recording.h>

namespace dynasoar::detail {

/// The result of AllocatorHandle::record: a function that submits loops. Each call submits them again.
///
/// On a GPU, the loops are recorded as a CUDA graph. The function is called again only if the heap has grown since, or
/// if different lists are kept. On the host, each call calls the function. The same holds for an allocator that finds
/// misuse, because every loop then has a different number.
template <class HandleT, class F>
class Step {
 public:
  /// @pre the handle outlives the calls
  Step(HandleT& handle, F function) : handle_(handle), function_(std::move(function)) {
    handle_.executor().check_may_wait();
    if constexpr (kRecords) record();
  }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  /// Submits the loops.
  /// @throws Error if the device failed, if this is called in another step, or if the function waits for the device;
  ///         also anything that the function throws, if it is called
  void operator()() {
    handle_.executor().check_may_wait();  // a step cannot be a part of another one
    if constexpr (kRecords) {
      handle_.before_replay(pages_);
      if (!recording_ || !(basis_ == handle_.step_basis())) record();  // the last attempt may have failed
      recording_->replay();
      handle_.after_step();
    } else {
      const Executor::Unwaited unwaited(handle_.executor());
      function_();
    }
  }

 private:
  static constexpr bool kRecords = kCudaBackend && !HandleT::kFindsMisuse;

  void record() {
    // The state of the heap that kernels use is updated immediately, so no kernel may be running.
    handle_.executor().wait();
    handle_.before_recording();
    basis_ = handle_.step_basis();
    pages_ = 0;
    handle_.take_recorded_pages();  // those of a failed attempt
    recording_.emplace(handle_.executor(), function_);
    pages_ = handle_.take_recorded_pages();
  }

  std::optional<Recording> recording_;
  typename HandleT::StepBasis basis_{};  // when it was recorded
  std::uint64_t pages_ = 0;              // pages of the heap that a step asks for with parallel_new
  HandleT& handle_;
  F function_;
};

}  // namespace dynasoar::detail
