/// @file
/// Recording: work that is submitted repeatedly. On a GPU, it is a CUDA graph, which is launched as a whole. Used by
/// AllocatorHandle::record.
#pragma once

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

#if DYNASOAR_CUDA_BACKEND

/// Work of an executor that can be submitted again, in much less time than its parts.
class Recording {
 public:
  /// Calls `submit`. Work that it submits to the executor is recorded instead of run.
  ///
  /// Meanwhile no other thread may use the default stream, because CUDA would record this, too.
  /// @throws Error if something cannot be recorded, such as waiting for the device; anything that `submit` throws
  template <class F>
  Recording(Executor& executor, F& submit) : stream_(executor.stream()) {
    cudaGraph_t graph = nullptr;
    // relaxed: the first launch of a kernel may load its code, which allocates memory.
    check_cuda(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
    try {
      const Executor::Unwaited unwaited(executor);
      submit();
    } catch (...) {
      static_cast<void>(cudaStreamEndCapture(stream_, &graph));
      static_cast<void>(cudaGraphDestroy(graph));
      static_cast<void>(cudaGetLastError());
      throw;
    }
    cudaError_t error = cudaStreamEndCapture(stream_, &graph);
    if (error == cudaSuccess) error = cudaGraphInstantiate(&graph_, graph, 0);
    static_cast<void>(cudaGraphDestroy(graph));
    static_cast<void>(cudaGetLastError());  // otherwise the next launch would seem to have failed
    check_cuda(error, "recording a step");
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() { static_cast<void>(cudaGraphExecDestroy(graph_)); }  // running graphs end first

  /// Submits the work.
  void replay() const { check_cuda(cudaGraphLaunch(graph_, stream_), "cudaGraphLaunch"); }

 private:
  cudaStream_t stream_;
  cudaGraphExec_t graph_ = nullptr;
};

#else

/// Records nothing: each replay calls `submit`, which must outlive this object.
class Recording {
 public:
  template <class F>
  Recording(Executor&, F& submit) : submit_([](void* f) { (*static_cast<F*>(f))(); }), context_(&submit) {}
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  void replay() const { submit_(context_); }

 private:
  void (*submit_)(void*);
  void* context_;
};

#endif

}  // namespace dynasoar::detail
