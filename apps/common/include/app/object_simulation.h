/// @file
/// ObjectSimulation: what the simulations have in common whose state is objects: their heap and what can be done with
/// it as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <app/canvas.h>
#include <app/object_heap.h>
#include <app/phase_clock.h>
#include <app/saved_options.h>
#include <app/simulation.h>
#include <dynasoar/dynasoar.h>

namespace app {

/// @tparam Derived     the simulation. `saved_options()`: what a checkpoint must have been written with;
/// `add_arrays(items)`:
///                     adds what it needs beside the objects; `read_columns()`: what is exported;
///                     `kBackground` and `paint_on(canvas)`, which submits the painting of a picture
/// @tparam Interface   of the model's simulations
/// @tparam A           the allocator
template <class Derived, class Interface, class A>
class ObjectSimulation : public Interface {
 public:
  void synchronize() final { app::synchronize(handle_, needed_bytes_, model_); }

  std::vector<PhaseTime> phases() final { return clock_.times(); }

  std::optional<Usage> usage() final { return usage_of(handle_.statistics()); }

  std::string why_not_saved() const final { return A::kSaves ? std::string() : Simulation::why_not_saved(); }

  void save(const std::string& path) final {
    if constexpr (A::kSaves) {
      SavedRun run(derived().saved_options(), step_);
      derived().add_arrays(run.items());
      handle_.save(path, run.items());
    }
  }

  int load(const std::string& path) final {
    if constexpr (A::kSaves) {
      SavedRun run(derived().saved_options(), step_);
      run.check(path);
      derived().add_arrays(run.items());
      handle_.load(path, run.items());
    }
    return static_cast<int>(step_);
  }

  std::string why_no_objects() const final { return {}; }

  dynasoar::Columns columns() final { return derived().read_columns(); }

  void paint(const Viewport& viewport) final {
    derived().paint_on(easel_.canvas(handle_.executor(), viewport, Derived::kBackground));
  }

  Picture painted() final {
    synchronize();
    return easel_.picture();
  }

 protected:
  using Handle = dynasoar::AllocatorHandle<A>;

  /// @param parameters     the model's: `heap_bytes`, `threads`, `profile_every`
  /// @param needed_bytes   a heap that is enough
  /// @param model          what the heap may be too small for, a literal: "ocean"
  /// @param phases         of a step
  template <class Parameters>
  ObjectSimulation(const Parameters& parameters, std::size_t needed_bytes, const char* model, const PhaseNames& phases)
      : needed_bytes_(needed_bytes),
        model_(model),
        handle_({.heap_bytes = heap_bytes(parameters.heap_bytes, needed_bytes, A::least_heap_bytes()),
                 .threads = parameters.threads}),
        clock_(parameters.profile_every, phases) {}

  Handle& handle() { return handle_; }
  PhaseClock& clock() { return clock_; }

  /// Steps that were made.
  std::uint32_t steps() const { return step_; }

  /// A step begins. @return its number, from 1
  std::uint32_t begin_step() { return ++step_; }

 private:
  Derived& derived() { return static_cast<Derived&>(*this); }

  std::size_t needed_bytes_;
  const char* model_;
  std::uint32_t step_ = 0;
  Handle handle_;
  PhaseClock clock_;
  Easel easel_;
};

}  // namespace app
