/// @file
/// What the tests of all models check in the same way, as doctest templates that each model's test invokes for a
/// struct which describes the model: that all implementations are the same simulation, that histories are complete,
/// that objects are painted where they are, and that a heap that is too small says which size is enough.
///
/// A model M is derived from Model and has what the cases that are invoked for it use:
///   `object_variants()`  the implementations with objects, on DynaSOAr's own allocator
///   `make_placed`        if there is one, function that makes the implementation with objects on a lattice
///   `implementations()`  all that must equal the reference
///   `reference`          function that makes the reference
///   `state(simulation)`  what must be equal after every step
///   `small()`            a start in which everything happens within a few steps
///   `of_size(width, height, seed)`   the same for cells
///   `count(state)`       what is recorded of a state
///   `known_run()`        a KnownRun, computed by a program in another language
///   `crowded()`          a start that needs a larger heap than kTooSmall
///   `color_of(state)`    colour of a cell
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <app/picture.h>
#include <app/simulation.h>
#include <app/viewport.h>

#include "../platform/test_support.h"
#include "allocators.h"

namespace dynasoar::test {

/// With sanitizers, a step takes five times as long on a CPU, and a hundred times on a GPU.
inline constexpr bool kQuick = kSlowdown > 1;

/// An implementation of a model.
template <class SimulationT, class... Arguments>
struct Implementation {
  using Simulation = SimulationT;
  using Start = std::tuple<Arguments...>;  ///< what a run starts from: parameters, and what else there is

  std::string name;
  std::function<std::unique_ptr<Simulation>(const Arguments&...)> make;

  std::unique_ptr<Simulation> start(const Start& start) const { return std::apply(make, start); }
};

/// A start, and what is recorded after some numbers of steps.
template <class Start, class Census>
struct KnownRun {
  Start start;
  std::vector<std::pair<std::size_t, Census>> censuses;
};

/// The parameters of a model on a grid.
template <class Parameters>
Parameters of_size(int width, int height, std::uint64_t seed = 42) {
  Parameters parameters;
  parameters.width = width;
  parameters.height = height;
  parameters.seed = seed;
  return parameters;
}

/// How many threads to run with: a GPU takes no notice of the number.
inline std::vector<int> thread_counts() {
  return kCudaBackend ? std::vector{1} : std::vector{1, 2, 5};
}

/// What its implementations are, and what a model may leave as it is.
template <class SimulationT, class... Arguments>
struct Model {
  using Implementation = test::Implementation<SimulationT, Arguments...>;
  using Implementations = std::vector<Implementation>;

  static constexpr int kSteps = kQuick ? 8 : 30;           ///< of runs from small() and of_size()
  static constexpr int kLargeSteps = kQuick ? 2 : 15;      ///< of a run from a large start
  static constexpr int kHistorySteps = kQuick ? 70 : 600;  ///< of a long run from small()
  static constexpr std::uint64_t kTooSmall = 64 << 10;     ///< bytes of a heap that crowded() does not fit in
  static constexpr int kCrowdedSteps = 0;                  ///< within which the objects of crowded() no longer fit
  static std::vector<int> threads() { return thread_counts(); }
};

template <class M>
using StartOf = typename M::Implementation::Start;

template <class M>
using SimulationOf = typename M::Implementation::Simulation;

template <class T>
std::vector<T> operator+(std::vector<T> all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// All implementations of a model, the reference included.
template <class M>
std::vector<typename M::Implementation> with_reference() {
  return M::implementations() + std::vector<typename M::Implementation>{{"reference", M::reference}};
}

template <class Simulation>
void run(Simulation& simulation, int steps) {
  for (int step = 0; step < steps; ++step) simulation.step();
}

/// The state after so many steps.
template <class M>
auto after(const typename M::Implementation& implementation, const StartOf<M>& start, int steps) {
  const std::unique_ptr<SimulationOf<M>> simulation = implementation.start(start);
  run(*simulation, steps);
  return M::state(*simulation);
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

/// Calls `check(simulation)` for each implementation, one after the other.
template <class ImplementationT, class Check>
void for_each_run(const std::vector<ImplementationT>& implementations, const typename ImplementationT::Start& start,
                  const Check& check) {
  for (const ImplementationT& implementation : implementations) {
    CAPTURE(implementation.name);
    check(*implementation.start(start));
  }
}

/// States after 0, 1, ... steps, and what was recorded of them.
template <class M>
struct Run {
  std::vector<std::decay_t<decltype(M::state(std::declval<SimulationOf<M>&>()))>> states;
  decltype(std::declval<SimulationOf<M>&>().take_history()) history;
};

template <class M>
Run<M> reference_run(const StartOf<M>& start, int steps) {
  const std::unique_ptr<SimulationOf<M>> simulation = std::apply(M::reference, start);
  Run<M> run;
  for (int step = 0; step <= steps; ++step) {
    if (step > 0) simulation->step();
    simulation->record();
    run.states.push_back(M::state(*simulation));
  }
  run.history = simulation->take_history();
  return run;
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

/// Checks that a run has the states and the history that are expected. (Sums of floating-point numbers depend on their
/// order: histories that consist of them are not compared.)
template <class M>
void check_run(SimulationOf<M>& simulation, const Run<M>& expected) {
  for (std::size_t step = 0; step < expected.states.size(); ++step) {
    CAPTURE(step);
    if (step > 0) simulation.step();
    simulation.record();
    REQUIRE(first_difference(M::state(simulation), expected.states[step]) == -1);
  }
  if constexpr (std::equality_comparable<typename decltype(expected.history)::value_type>) {
    CHECK((simulation.take_history() == expected.history));
  }
}

/// Checks that runs of implementations equal the reference, with several numbers of threads.
template <class M>
void check_all(StartOf<M> start, int steps,
               const std::vector<typename M::Implementation>& implementations = M::implementations(),
               const std::vector<int>& threads = M::threads()) {
  auto& parameters = std::get<0>(start);
  std::string size;
  if constexpr (requires { parameters.width; }) {
    size = std::to_string(parameters.width) + " x " + std::to_string(parameters.height) + " cells, seed " +
           std::to_string(parameters.seed);
  }
  CAPTURE(size);
  const Run<M> expected = reference_run<M>(start, steps);
  for (const auto& implementation : implementations) {
    CAPTURE(implementation.name);
    for (const int count : threads) {
      CAPTURE(count);
      parameters.threads = count;
      check_run<M>(*implementation.start(start), expected);
    }
  }
}

TEST_CASE_TEMPLATE_DEFINE("all implementations equal the reference, cell for cell, after every step", M,
                          model_equality) {
  const std::vector<std::uint64_t> seeds = {42, 0, 0xFEDCBA9876543210};
  for (const std::uint64_t seed : kQuick ? std::vector{seeds[2]} : seeds) {
    for (const auto& [width, height] : {std::pair(1, 1), {1, 7}, {6, 1}, {2, 2}, {3, 5}, {33, 20}}) {
      check_all<M>(M::of_size(width, height, seed), M::kSteps);
    }
  }
  check_all<M>(M::of_size(257, 129, 7), M::kLargeSteps);
}

/// The implementations with objects in the heap, if there are any.
template <class M>
std::vector<typename M::Implementation> heap_variants() {
  if constexpr (requires { M::object_variants(); }) return M::object_variants();
  return {};
}

/// The implementation with objects on a lattice, if there is one.
template <class M>
std::vector<typename M::Implementation> placed_variants() {
  if constexpr (requires { M::make_placed; }) return {{"placed", M::make_placed}};
  return {};
}

TEST_CASE_TEMPLATE_DEFINE("every allocator gives the same simulation", M, model_allocators) {
  const auto others = compiled_for_others(heap_variants<M>() + placed_variants<M>());
  if (!others.empty()) check_all<M>(M::small(), M::kSteps, others, {3});
}

TEST_CASE_TEMPLATE_DEFINE("recorded steps and steps that are timed phase by phase take turns", M, model_timed_steps) {
  StartOf<M> start = M::small();
  const Run<M> expected = reference_run<M>(start, 8);
  std::get<0>(start).threads = 2;
  std::get<0>(start).profile_every = 3;
  for_each_run(M::implementations(), start, [&](SimulationOf<M>& simulation) {
    check_run<M>(simulation, expected);
    CHECK_FALSE(simulation.phases().empty());
  });
}

TEST_CASE_TEMPLATE_DEFINE("what is recorded is what there is, and it is taken once", M, model_history) {
  for_each_run(M::implementations(), M::small(), [](SimulationOf<M>& simulation) {
    CHECK(simulation.take_history().empty());
    for (int step = 0; step < 10; ++step) {
      simulation.record();
      const auto expected = M::count(M::state(simulation));
      simulation.step();
      const auto history = simulation.take_history();
      REQUIRE(history.size() == 1);
      CHECK((history.front() == expected));
    }
  });
}

TEST_CASE_TEMPLATE_DEFINE("a history of many steps is complete", M, model_long_history) {
  const auto expected = history_of(*std::apply(M::reference, StartOf<M>(M::small())), M::kHistorySteps);
  REQUIRE(expected.size() == M::kHistorySteps + 1);
  for_each_run(M::implementations(), M::small(),
               [&](SimulationOf<M>& simulation) { CHECK((history_of(simulation, M::kHistorySteps) == expected)); });
}

TEST_CASE_TEMPLATE_DEFINE("the reference finds the numbers that the definition gives", M, model_known_run) {
  // Computed by a separate program in another language, written from the README.md of the model.
  const auto known = M::known_run();
  const auto history =
      history_of(*std::apply(M::reference, StartOf<M>(known.start)), static_cast<int>(known.censuses.back().first));
  for (const auto& at_step : known.censuses) {  // no names for its parts: clang does not let INFO capture them
    INFO("after step ", at_step.first);
    CHECK((history[at_step.first] == at_step.second));
  }
}

/// Checks that a random number that is a share exactly is not below it, for all implementations.
///
/// @param word   the random word that decides what is in a cell
/// @param kind   what is there, by an implementation, if two shares are so many of 2^32: 1 or 2, of which the first
///               share comes first, or 0
template <class M, class Kind>
void check_shares(std::uint32_t word, const Kind& kind) {
  constexpr double kWord = 1 / 4294967296.0;
  for (const auto& implementation : with_reference<M>()) {
    CAPTURE(implementation.name);
    CHECK(kind(implementation, word * kWord, 0) == 0);
    CHECK(kind(implementation, (word + 1.0) * kWord, 0) == 1);
    CHECK(kind(implementation, word * kWord, kWord) == 2);
    CHECK(kind(implementation, (word - 9.0) * kWord, 9 * kWord) == 0);
  }
}

TEST_CASE_TEMPLATE_DEFINE("objects are painted in the colours of their cells", M, model_colors) {
  StartOf<M> start = M::small();
  const int width = std::get<0>(start).width;
  const int height = std::get<0>(start).height;
  int painted = 0;
  for_each_run(M::implementations(), start, [&](SimulationOf<M>& simulation) {
    if (!simulation.why_no_objects().empty()) return;
    ++painted;
    run(simulation, 3);
    const auto states = M::state(simulation);
    simulation.paint(app::whole({0, 0, static_cast<double>(width), static_cast<double>(height)}, width, height));
    const app::Picture picture = simulation.painted();
    int wrong = 0;
    for (int c = 0; c < width * height; ++c) {
      wrong += picture.at(c % width, c / width) == M::color_of(states[static_cast<std::size_t>(c)]) ? 0 : 1;
    }
    CHECK(wrong == 0);
  });
  CHECK(painted > 0);
}

TEST_CASE_TEMPLATE_DEFINE("a heap that is too small ends the run and says which size is enough", M, model_heap) {
  // On DynaSOAr's own allocator, objects on a lattice are not in the heap.
  const auto variants = heap_variants<M>() + on_other_allocators(placed_variants<M>());
  if (variants.empty()) MESSAGE("skipped: this build has no variant whose objects are in the heap");
  for (const auto& implementation : variants) {
    CAPTURE(implementation.name);
    const auto needed_if = [&](std::uint64_t heap_bytes) -> std::uint64_t {
      StartOf<M> start = M::crowded();
      std::get<0>(start).heap_bytes = heap_bytes;
      try {
        const std::unique_ptr<SimulationOf<M>> simulation = implementation.start(start);
        run(*simulation, M::kCrowdedSteps);
        simulation->synchronize();
      } catch (const app::HeapTooSmall& error) {
        return error.needed_bytes();
      }
      return 0;
    };
    const std::uint64_t needed = needed_if(M::kTooSmall);
    CHECK(needed > M::kTooSmall);
    CHECK(needed_if(1) == needed);
    CHECK(needed_if(needed) == 0);
  }
}

/// Runs one of these cases for a model.
#define DYNASOAR_MODEL_CASE(name, M)    \
  namespace dynasoar::test {            \
  TEST_CASE_TEMPLATE_INVOKE(name, ::M); \
  }                                     \
  static_assert(std::is_class_v<M::Implementation>)

/// Runs all cases for a model of cells: `DYNASOAR_MODEL_SUITE(WaTor);`
#define DYNASOAR_MODEL_SUITE(M)               \
  DYNASOAR_MODEL_CASE(model_equality, M);     \
  DYNASOAR_MODEL_CASE(model_allocators, M);   \
  DYNASOAR_MODEL_CASE(model_timed_steps, M);  \
  DYNASOAR_MODEL_CASE(model_history, M);      \
  DYNASOAR_MODEL_CASE(model_long_history, M); \
  DYNASOAR_MODEL_CASE(model_known_run, M);    \
  DYNASOAR_MODEL_CASE(model_colors, M);       \
  DYNASOAR_MODEL_CASE(model_heap, M)

}  // namespace dynasoar::test
