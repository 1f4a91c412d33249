/// @file
/// The allocator benchmarks: what a case is, and how all are run. Plain C++.
///
/// A *case* is one experiment with one allocator. Cases run in child processes, one after the other: one that takes
/// longer than its time limit is killed, and the rest go on in a new process. What it had measured by then counts.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "../report.h"

namespace benchmarks::allocators {

/// What an experiment is told.
struct Context {
  bool smoke = false;   ///< sizes that only show that it works, for CI
  int repetitions = 5;  ///< counted runs of each measurement
  std::string mesh;     ///< file with triangles for the k-d tree; empty: some are made up
  std::function<void(Record)> add;

  /// Sizes of a series: the published ones, or the smoke test's.
  template <class T>
  T pick(T published, T smallest) const {
    return smoke ? smallest : published;
  }
};

struct Case {
  std::string experiment;  ///< as in Record::benchmark
  std::string allocator;   ///< as in Record::variant
  std::function<void(const Context&)> run;

  std::string name() const { return experiment + "/" + allocator; }
};

/// Runs cases. Records, and notes on those that failed or were stopped (metric "not finished", why as the unit, the
/// seconds it took as the value), go to `context.add`.
///
/// The calling process must not have used the device: the children are forks of it.
/// @return how many cases did not finish
int run_cases(const std::vector<Case>& cases, const Context& context, std::chrono::seconds time_limit);

}  // namespace benchmarks::allocators
