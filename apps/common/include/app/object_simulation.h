/// @file
/// ObjectSimulation: a simulation whose state is objects, and which can be watched.
#pragma once

#include <app/canvas.h>
#include <app/simulation.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/program/object_simulation.h>
#include <dynasoar/step_value.h>

namespace app {

using dynasoar::StepNumber;

/// @tparam Derived     as in the library; also `kBackground` and `paint_on(canvas)`, which submits the painting
/// @tparam Interface   of the model's simulations
/// @tparam A           the allocator
template <class Derived, class Interface, class A>
class ObjectSimulation : public dynasoar::program::ObjectSimulation<Derived, Interface, A> {
 public:
  void paint(const Viewport& viewport) final {
    static_cast<Derived*>(this)->paint_on(easel_.canvas(this->handle().executor(), viewport, Derived::kBackground));
  }

  Picture painted() final {
    this->synchronize();
    return easel_.picture();
  }

 protected:
  using dynasoar::program::ObjectSimulation<Derived, Interface, A>::ObjectSimulation;

  dynasoar::Executor& executor() { return this->handle().executor(); }

  /// Of loops that look at objects.
  auto& runner() { return this->handle(); }

 private:
  Easel easel_;
};

}  // namespace app
