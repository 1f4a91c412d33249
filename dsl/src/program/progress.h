/// @file
/// Progress: one line on stderr with the progress of a run. On a terminal it is redrawn in place, at most ten times a
/// second. Otherwise a line is printed at every tenth of the run. Used by Run.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dynasoar::program {

class Progress {
 public:
  using Columns = std::vector<std::pair<std::string, std::uint64_t>>;

  /// @param steps     in the whole run
  /// @param enabled   false: prints nothing
  Progress(std::uint64_t steps, bool enabled);

  /// Clears the line, in case an exception ends the run.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// True if show() would print now. Its arguments may be expensive to compute.
  bool due(std::uint64_t step) const;

  /// Shows the state after `step`.
  ///
  /// @param columns   names and counts, such as fish and sharks
  /// @param objects   processed since the start, over all steps
  void show(std::uint64_t step, const Columns& columns, std::uint64_t objects);

  /// Clears the line, so that other output can follow.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  std::string line(std::uint64_t step, const Columns& columns, std::uint64_t objects) const;
  std::uint64_t tenth(std::uint64_t step) const { return step * 10 / (steps_ > 0 ? steps_ : 1); }

  std::uint64_t steps_;
  bool enabled_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point start_;
  Clock::time_point last_;
  std::uint64_t last_step_ = 0;
};

}  // namespace dynasoar::program
