/// @file
/// Threads of the host, for either backend: usable_processors, and for_each_on_host, which calls a function for a few
/// large tasks. Used by Executor and for checkpoints.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <future>
#include <vector>

namespace dynasoar::detail {

/// The number of processors on which the calling thread may run, at least 1. It is less than that of the machine if the
/// program was started with `taskset`, or in a container with a part of the machine.
int usable_processors();

/// The number of processors for a process that shares its host with other processes of the same model. If a launcher
/// has bound it to some processors, these are all of them; otherwise an equal part, at least 1.
///
/// @param processes   the number of processes on this host, including this one
int processors_of_rank(int processes);

/// Calls `function(i)` for 0 <= i < count; the calling thread works, too.
///
/// @throws anything that `function` throws, once all threads have stopped
/// @par Cost   creates a thread for each task except one, or for each processor; tasks should take 100 us or more
template <class F>
void for_each_on_host(std::size_t count, const F& function) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) function(i);
  };
  const auto processors = static_cast<std::size_t>(usable_processors());
  std::vector<std::future<void>> helpers;
  for (std::size_t i = 1; i < std::min(count, processors); ++i) {
    helpers.push_back(std::async(std::launch::async, work));
  }
  work();
  for (auto& helper : helpers) helper.get();  // if one throws, the destructors of the others wait
}

}  // namespace dynasoar::detail
