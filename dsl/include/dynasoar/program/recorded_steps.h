/// @file
/// RecordedSteps: the steps of a simulation, recorded when they are first made. Used by ObjectSimulation and by the
/// applications' hand-written baselines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <dynasoar/program/phase_clock.h>
#include <dynasoar/step_value.h>

namespace dynasoar::program {

/// The number of a step, in the memory of the device: loops read it as a std::uint32_t, also in recorded steps.
using StepNumber = dynasoar::StepValue<std::uint32_t>::View;

/// Submits the loops of a step or part of a step. While phases are timed, it also marks where each phase ends.
using SubmitStep = std::function<void()>;

/// Records each kind of step on first use and replays it afterwards.
///
/// @tparam Recorded   the result of recording; calling it submits the loops
template <class Recorded>
class RecordedSteps {
 public:
  /// Replays the recording of this kind, making it first if needed. If the clock times this step, calls `submit`
  /// directly, because the host must wait between phases.
  ///
  /// @param kind     loops of one kind are the same, with the same arguments, whenever they are submitted
  /// @param record   `record(submit)` returns a Recorded
  template <class Record>
  void run(const PhaseClock& clock, std::size_t kind, const SubmitStep& submit, const Record& record) {
    if (clock.is_timing()) return submit();
    if (kind >= recorded_.size()) recorded_.resize(kind + 1);
    std::unique_ptr<Recorded>& recorded = recorded_[kind];
    if (recorded == nullptr) recorded.reset(new Recorded(record(submit)));  // in place: it cannot be moved
    (*recorded)();
  }

 private:
  std::vector<std::unique_ptr<Recorded>> recorded_;  // by kind
};

}  // namespace dynasoar::program
