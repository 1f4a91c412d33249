/// @file
/// ThreadTeam: threads of the host that run one function together, again and again. Used by Executor.
#pragma once

#include <memory>

#include <dynasoar/platform/config.h>

#if !DYNASOAR_CUDA_BACKEND

namespace dynasoar::detail {

/// Threads that are made when there is work for the first time. After each run they look for the next one for some
/// microseconds, so that loops that follow one another begin at once. Then they sleep: a program that does something
/// else meanwhile has the processors for itself.
///
/// In a child that fork() made there are no threads but the caller's, so the team makes new ones there.
class ThreadTeam {
 public:
  /// @param threads   how many run the function, the calling one included
  explicit ThreadTeam(int threads);
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  ~ThreadTeam();

  int threads() const { return threads_; }

  /// Calls `work(context, i)` for 0 <= i < threads() at the same time, for 0 in the calling thread, and waits for all.
  /// If the system has fewer threads left, only the first numbers are called.
  /// @pre work does not throw. @throws Error if another thread of the host is in here, or was when it forked
  void run(void (*work)(void* context, int thread), void* context);

 private:
  struct Members;

  void make_members();

  int threads_;
  std::unique_ptr<Members> members_;
};

}  // namespace dynasoar::detail

#endif
