/// @file
/// Recording: work that is submitted again and again; on a GPU as a CUDA graph, which is launched as a whole. Used by
/// AllocatorHandle::record.
#pragma once

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

#if DYNASOAR_CUDA_BACKEND

/// Work of an executor that can be submitted again, for much less than its parts cost to submit.
class Recording {
 public:
  /// Calls `submit`. What that submits to the executor is recorded instead of run.
  ///
  /// Meanwhile no other thread may use the default stream: CUDA would take that for a part of the recording.
  /// @throws Error if something cannot be recorded, such as waiting for the device; whatever `submit` throws
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
    static_cast<void>(cudaGetLastError());  // or the next launch would seem to have failed
    check_cuda(error, "recording a step");
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() { static_cast<void>(cudaGraphExecDestroy(graph_)); }  // running ones end first

  /// Submits the work.
  void replay() const { check_cuda(cudaGraphLaunch(graph_, stream_), "cudaGraphLaunch"); }

 private:
  cudaStream_t stream_;
  cudaGraphExec_t graph_ = nullptr;
};

#else

/// Nothing is recorded: each replay calls `submit`, which must outlive it.
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
