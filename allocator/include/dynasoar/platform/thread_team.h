/// @file
/// ThreadTeam: threads of the host that repeatedly run a function together. Used by Executor.
#pragma once

#include <memory>

#include <dynasoar/platform/config.h>

#if !DYNASOAR_CUDA_BACKEND

namespace dynasoar::detail {

/// Threads that are created when there is work for the first time. After each run they spin for some microseconds, so
/// that the next loop starts immediately. Then they sleep, so that other parts of the program can use the processors.
///
/// A child of fork() has only the caller's thread, so the team creates new threads there.
class ThreadTeam {
 public:
  /// @param threads   the number of threads that run the function, including the caller
  explicit ThreadTeam(int threads);
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  ~ThreadTeam();

  int threads() const { return threads_; }

  /// Calls `work(context, i)` for 0 <= i < threads() at the same time, for 0 in the calling thread, and waits for all.
  /// If the system cannot create enough threads, only the first numbers are called.
  /// @pre work does not throw. @throws Error if another thread of the host is in this function, or was in it at a
  ///      fork()
  void run(void (*work)(void* context, int thread), void* context);

 private:
  struct Members;

  void make_members();

  int threads_;
  std::unique_ptr<Members> members_;
};

}  // namespace dynasoar::detail

#endif
