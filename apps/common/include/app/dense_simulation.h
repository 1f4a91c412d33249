/// @file
/// DenseSimulation: the parts that all hand-written baselines have in common. Their state lies in arrays, and a step is
/// a few loops over indices, each of them a phase that can be timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <app/collect.h>
#include <app/simulation.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/program/phase_clock.h>

namespace app {

/// @tparam Interface   of the model's simulations
template <class Interface>
class DenseSimulation : public Interface {
 public:
  void synchronize() final { executor_.synchronize(); }

  std::vector<PhaseTime> phases() final { return clock_.times(); }

 protected:
  /// @param parameters   the model's: `threads`, `profile_every`
  /// @param phases       of a step
  template <class Parameters>
  DenseSimulation(const Parameters& parameters, const PhaseNames& phases)
      : executor_(parameters.threads), clock_(parameters.profile_every, phases) {}

  dynasoar::Executor& executor() { return executor_; }
  PhaseClock& clock() { return clock_; }

  /// Steps that were made.
  std::uint32_t steps() const { return step_; }

  /// A step begins. @return its number, from 1
  std::uint32_t begin_step() {
    clock_.begin_step(executor_);
    return ++step_;
  }

  /// Submits a loop, which is all that a phase of the step does.
  ///
  /// @param function   device callable with a 32-bit index
  template <class F>
  void run_phase(std::size_t phase, std::size_t count, const F& function) {
    for_each(count, function);
    clock_.end_phase(executor_, phase);
  }

  /// Submits a loop. @param function   device callable with a 32-bit index
  template <class F>
  void for_each(std::size_t count, const F& function) {
    executor_.for_each_index(count, With32Bits<F>{function});
  }

 private:
  std::uint32_t step_ = 0;
  dynasoar::Executor executor_;
  PhaseClock clock_;
};

}  // namespace app
