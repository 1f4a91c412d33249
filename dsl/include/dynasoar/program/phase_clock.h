/// @file
/// PhaseClock: how long each phase of a step takes. Times only every n-th step, because the end of a phase on the GPU
/// is only known to a host that waits for it. Used by the implementations of the models for Simulation::phases().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <dynasoar/program/simulation.h>

namespace dynasoar::program {

/// What the phases of a step are called, in their order: literals.
using PhaseNames = std::vector<const char*>;

/// @par Usage   begin_step(executor); submit phase 0; end_phase(executor, 0); submit phase 1; end_phase(executor, 1)
/// ...
class PhaseClock {
 public:
  /// @param every   every n-th step is timed, 0: none
  PhaseClock(int every, const PhaseNames& names);

  template <class Executor>
  void begin_step(Executor& executor) {
    timing_ = every_ > 0 && steps_ % every_ == 0;
    ++steps_;
    if (!timing_) return;
    ++timed_steps_;
    executor.synchronize();
    mark();
  }

  template <class Executor>
  void end_phase(Executor& executor, std::size_t phase) {
    if (!timing_) return;
    executor.synchronize();
    seconds_[phase] += mark();
  }

  /// Whether this step is timed: the host waits at the end of each phase.
  bool is_timing() const { return timing_; }

  /// Times for all steps so far, extrapolated from the timed ones.
  std::vector<PhaseTime> times() const;

 private:
  /// @return seconds since the last mark
  double mark();

  int every_;
  std::vector<std::string> names_;
  std::vector<double> seconds_;
  bool timing_ = false;
  long long steps_ = 0;
  long long timed_steps_ = 0;
  std::int64_t mark_ = 0;  // in nanoseconds
};

}  // namespace dynasoar::program
