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

/// How many processors the calling thread may run on, at least 1. These are fewer than the machine has if the program
/// was started with `taskset`, or in a container that has a part of the machine.
int usable_processors();

/// How many processors a process may use that shares its host with others which run the same model: all, if a launcher
/// has bound it to some, and else an equal part of them, at least 1.
///
/// @param processes   of this host, this one among them
int processors_of_rank(int processes);

/// Calls `function(i)` for 0 <= i < count; the calling thread works, too.
///
/// @throws what `function` throws, once all threads have stopped
/// @par Cost   a thread is made for each task but one, or for each processor: tasks should take 100 us or more
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
