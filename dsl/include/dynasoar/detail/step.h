/// @file
/// Step: loops that belong together, such as a time step, submitted as one. Made by AllocatorHandle::record.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/recording.h>

namespace dynasoar::detail {

/// What AllocatorHandle::record made of a function that submits loops; each call submits them again.
///
/// On a GPU they are recorded, as a CUDA graph, and the function is called again only when the heap has grown since, or
/// when different lists are kept. On the host, and with an allocator that finds misuse, where every loop has a number
/// of its own, each call calls the function.
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

  /// Submits the loops. @throws Error if the device failed, or this is called in another step; where the function is
  ///                             called, what it throws, and Error if it waits for the device
  void operator()() {
    handle_.executor().check_may_wait();  // a step is not a part of another one
    if constexpr (kRecords) {
      handle_.before_replay(pages_);
      if (!recording_ || !(basis_ == handle_.step_basis())) record();  // none if the last attempt has failed
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
    // What the kernels know of the heap is brought up to date at once, which nothing that runs may notice.
    handle_.executor().wait();
    handle_.before_recording();
    basis_ = handle_.step_basis();
    pages_ = 0;
    handle_.take_recorded_pages();  // of an attempt that has failed
    recording_.emplace(handle_.executor(), function_);
    pages_ = handle_.take_recorded_pages();
  }

  std::optional<Recording> recording_;
  typename HandleT::StepBasis basis_{};  // when it was recorded
  std::uint64_t pages_ = 0;              // of the heap that a step asks for with parallel_new
  HandleT& handle_;
  F function_;
};

}  // namespace dynasoar::detail
