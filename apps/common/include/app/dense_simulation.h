/// @file
/// DenseSimulation: the common part of all hand-written baselines. Their state is in arrays, and a step is a few loops
/// over indices. Each loop is a phase that can be timed. Steps are recorded, like those of the variants with objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <app/collect.h>
#include <app/simulation.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/recording.h>
#include <dynasoar/program/simulation.h>
#include <dynasoar/step_value.h>

namespace app {

using dynasoar::StepNumber;

/// @tparam Interface   of the model's simulations
template <class Interface>
class DenseSimulation : public Interface {
 public:
  // As in dynasoar::program::ObjectSimulation.
  void step() override {
    begin_step();
    run_recorded([this] { submit_step(); });
  }
  virtual void submit_step() {}

  void synchronize() final { executor_.synchronize(); }

  std::vector<PhaseTime> phases() final { return clock_.times(); }

 protected:
  /// @param parameters   the model's: `threads`, `profile_every`
  /// @param phases       of a step
  template <class Parameters>
  DenseSimulation(const Parameters& parameters, const PhaseNames& phases)
      : executor_(parameters.threads), clock_(parameters.profile_every, phases), now_(executor_, 0) {}

  dynasoar::Executor& executor() { return executor_; }
  PhaseClock& clock() { return clock_; }
  void end_phase(std::size_t phase) { clock_.end_phase(executor_, phase); }

  /// The executor for loops that read the state.
  dynasoar::Executor& runner() { return executor_; }

  /// The number of steps so far.
  std::uint32_t steps() const { return step_; }

  /// Begins a step. @return its number, from 1
  std::uint32_t begin_step() {
    clock_.begin_step(executor_);
    return ++step_;
  }

  // As in dynasoar::program::ObjectSimulation.
  void run_recorded(const SubmitStep& submit, std::size_t kind = 0) {
    recorded_.run(clock_, kind, submit, [this](const SubmitStep& step) { return Recorded(executor_, step); });
  }
  void count_step() { now_.add(1); }
  StepNumber now() const { return now_.view(); }

  /// Submits a loop that is a whole phase of the step.
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
  class Recorded {
   public:
    Recorded(dynasoar::Executor& executor, const SubmitStep& submit) : submit_(submit), recording_(executor, submit_) {}
    void operator()() const { recording_.replay(); }

   private:
    SubmitStep submit_;
    dynasoar::detail::Recording recording_;
  };

  std::uint32_t step_ = 0;
  dynasoar::Executor executor_;
  PhaseClock clock_;
  dynasoar::StepValue<std::uint32_t> now_;
  RecordedSteps<Recorded> recorded_;
};

}  // namespace app
