/// @file
/// What the tests of all models check in the same way: that all implementations are the same simulation, that histories
/// are complete, and that a heap that is too small says which size is enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <app/picture.h>
#include <app/simulation.h>
#include <app/viewport.h>

#include "../platform/test_support.h"
#include "allocators.h"

namespace dynasoar::test {

/// Under a GPU's sanitizers a step takes a hundred times as long.
inline constexpr bool kQuick = kCudaBackend && kSlowdown > 1;

/// An implementation of a model, made from `Arguments`.
template <class Simulation, class... Arguments>
struct Implementation {
  std::string name;
  std::function<std::unique_ptr<Simulation>(const Arguments&...)> make;
};

template <class T>
std::vector<T> operator+(std::vector<T> all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// How many cells a simulation, seen with a pixel for each, paints in another colour than it should.
///
/// @param color_of   of cell c
template <class Simulation, class F>
int wrongly_painted(Simulation& simulation, int width, int height, F color_of) {
  simulation.paint(app::whole({0, 0, static_cast<double>(width), static_cast<double>(height)}, width, height));
  const app::Picture picture = simulation.painted();
  int wrong = 0;
  for (int c = 0; c < width * height; ++c) {
    wrong += picture.at(c % width, c / width) == color_of(static_cast<std::size_t>(c)) ? 0 : 1;
  }
  return wrong;
}

/// How many threads to run with: a GPU takes no notice of the number.
inline std::vector<int> thread_counts() {
  return kCudaBackend ? std::vector{1} : std::vector{1, 2, 5};
}

template <class Simulation>
void run(Simulation& simulation, int steps) {
  for (int step = 0; step < steps; ++step) simulation.step();
}

/// What `show(simulation)` returns after 0, 1, ... steps.
template <class Simulation, class Show>
auto run_of(Simulation& simulation, int steps, Show show) {
  std::vector<decltype(show(simulation))> states = {show(simulation)};
  for (int step = 0; step < steps; ++step) {
    simulation.step();
    states.push_back(show(simulation));
  }
  return states;
}

/// What is recorded at the start and after every step.
template <class Simulation>
auto history_of(Simulation& simulation, int steps) {
  simulation.record();
  for (int step = 0; step < steps; ++step) {
    simulation.step();
    simulation.record();
  }
  return simulation.take_history();
}

/// Whether two states differ, and for lists of cells the first that does, so that a message names it; -1: none.
template <class State>
std::ptrdiff_t first_difference(const State& a, const State& b) {
  if constexpr (requires { a[0]; }) {
    if (a.size() != b.size()) return 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!(a[i] == b[i])) return static_cast<std::ptrdiff_t>(i);
    }
    return -1;
  } else {
    return a == b ? -1 : 0;
  }
}

/// Checks that a run shows what is expected after 0, 1, ... steps.
template <class Simulation, class State, class Show>
void check_run(Simulation& simulation, const std::vector<State>& expected, Show show) {
  for (std::size_t step = 0; step < expected.size(); ++step) {
    CAPTURE(step);
    if (step > 0) simulation.step();
    REQUIRE(first_difference(show(simulation), expected[step]) == -1);
  }
}

/// Checks runs of all implementations, with several numbers of threads.
template <class Implementation, class Parameters, class State, class Show>
void check_runs(const std::vector<Implementation>& implementations, Parameters parameters,
                const std::vector<State>& expected, Show show, const std::vector<int>& threads = thread_counts()) {
  for (const Implementation& implementation : implementations) {
    CAPTURE(implementation.name);
    for (const int count : threads) {
      CAPTURE(count);
      parameters.threads = count;
      check_run(*implementation.make(parameters), expected, show);
    }
  }
}

/// Checks runs in which every third step is timed phase by phase, and the others are recorded.
template <class Implementation, class Parameters, class State, class Show>
void check_timed_runs(const std::vector<Implementation>& implementations, Parameters parameters,
                      const std::vector<State>& expected, Show show) {
  parameters.threads = 2;
  parameters.profile_every = 3;
  for (const Implementation& implementation : implementations) {
    CAPTURE(implementation.name);
    const auto simulation = implementation.make(parameters);
    check_run(*simulation, expected, show);
    CHECK_FALSE(simulation->phases().empty());
  }
}

/// Checks that what is recorded is what `count(simulation)` finds, and that it is taken once.
template <class Implementation, class Parameters, class Count>
void check_history(const std::vector<Implementation>& implementations, const Parameters& parameters, Count count) {
  for (const Implementation& implementation : implementations) {
    CAPTURE(implementation.name);
    const auto simulation = implementation.make(parameters);
    CHECK(simulation->take_history().empty());
    for (int step = 0; step < 10; ++step) {
      simulation->record();
      const auto expected = count(*simulation);
      simulation->step();
      const auto history = simulation->take_history();
      REQUIRE(history.size() == 1);
      CHECK((history.front() == expected));
    }
  }
}

/// Checks that a heap that is too small ends the run, and that the size which the error names is enough.
///
/// @param run   makes a simulation of parameters, and waits
template <class Parameters, class Run>
void check_too_small_heap(Parameters parameters, std::uint64_t too_small, Run run) {
  parameters.heap_bytes = too_small;
  std::uint64_t needed = 0;
  try {
    run(parameters);
  } catch (const app::HeapTooSmall& error) {
    needed = error.needed_bytes();
  }
  REQUIRE(needed > too_small);
  parameters.heap_bytes = needed;
  CHECK_NOTHROW(run(parameters));
}

}  // namespace dynasoar::test
