/// @file
/// PhaseClock: how long each phase of a step takes. Times only every n-th step, because the end of a phase on the GPU
/// is only known to a host that waits for it. Used by the implementations of the models for Simulation::phases().
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <app/simulation.h>

namespace app {

/// @par Usage   begin_step(executor); submit phase 0; end_phase(executor, 0); submit phase 1; end_phase(executor, 1)
/// ...
class PhaseClock {
 public:
  /// @param every   every n-th step is timed, 0: none
  PhaseClock(int every, std::vector<std::string> names)
      : every_(every), names_(std::move(names)), seconds_(names_.size(), 0.0) {}

  template <class Executor>
  void begin_step(Executor& executor) {
    timing_ = every_ > 0 && steps_ % every_ == 0;
    ++steps_;
    if (!timing_) return;
    ++timed_steps_;
    executor.synchronize();
    mark_ = Clock::now();
  }

  template <class Executor>
  void end_phase(Executor& executor, std::size_t phase) {
    if (!timing_) return;
    executor.synchronize();
    const Clock::time_point now = Clock::now();
    seconds_[phase] += std::chrono::duration<double>(now - mark_).count();
    mark_ = now;
  }

  /// Times for all steps so far, extrapolated from the timed ones.
  std::vector<PhaseTime> times() const {
    std::vector<PhaseTime> result;
    if (timed_steps_ == 0) return result;
    const double factor = static_cast<double>(steps_) / static_cast<double>(timed_steps_);
    for (std::size_t i = 0; i < names_.size(); ++i) result.push_back({names_[i], seconds_[i] * factor});
    return result;
  }

 private:
  using Clock = std::chrono::steady_clock;

  int every_;
  std::vector<std::string> names_;
  std::vector<double> seconds_;
  bool timing_ = false;
  long long steps_ = 0;
  long long timed_steps_ = 0;
  Clock::time_point mark_;
};

}  // namespace app
