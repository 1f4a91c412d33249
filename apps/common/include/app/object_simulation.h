/// @file
/// ObjectSimulation: a simulation with objects that can be watched.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <vector>

#include <app/canvas.h>
#include <app/simulation.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/program/object_simulation.h>
#include <dynasoar/step_value.h>

namespace app {

using dynasoar::StepNumber;

/// Writes the states of objects to an array, in any order.
template <class T, class State, class F>
struct WriteState {
  F state_of;
  State* states;
  dynasoar::AtomicWord<std::uint32_t>* count;

  __device__ void operator()(T* object) const {
    states[count->fetch_add(1, dynasoar::Order::relaxed)] = state_of(object);
  }
};

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

  /// The handle for loops over objects.
  auto& runner() { return this->handle(); }

  /// Creates an object `T(i, states)` for each state whose member has this value. Waits.
  template <class T, class State, class Value>
  void create(const std::vector<State>& states, Value State::*member, std::type_identity_t<Value> value) {
    std::vector<State> some;
    std::copy_if(states.begin(), states.end(), std::back_inserter(some),
                 [=](const State& state) { return state.*member == value; });
    if (some.empty()) return;
    dynasoar::DeviceArray<State> uploaded(some.size());
    uploaded.upload(some);
    this->handle().template parallel_new<T>(some.size(), static_cast<const State*>(uploaded.data()));
    this->synchronize();
  }

  /// The states of all objects of T and its subclasses, ordered by their `number`. Waits.
  ///
  /// @param state_of   device callable: the State of a T*
  template <class T, class State, class F>
  std::vector<State> states(const F& state_of) {
    const dynasoar::DeviceArray<State> written(this->handle().template count<T>());
    dynasoar::DeviceArray<dynasoar::AtomicWord<std::uint32_t>> count(1);
    count.fill_bytes(0);
    this->handle().template parallel_do<T>(WriteState<T, State, F>{state_of, written.data(), count.data()});
    this->synchronize();
    std::vector<State> states = written.download();
    std::sort(states.begin(), states.end(), [](const State& a, const State& b) { return a.number < b.number; });
    return states;
  }

 private:
  Easel easel_;
};

}  // namespace app
