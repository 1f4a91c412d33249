/// @file
/// measure_steps: whole simulation loops of the applications, without set-up.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "report.h"

namespace benchmarks {

/// What is measured: an implementation of a model, of one size.
struct StepsRun {
  std::string benchmark;
  std::string variant;
  std::map<std::string, std::int64_t> size;
  int steps;
};

/// Something to be known about a simulation after its steps, which took `seconds`.
template <class Simulation>
struct AtEnd {
  std::string metric;
  std::string unit;
  std::function<std::optional<double>(Simulation&, double seconds)> value;
};

/// How many slots of occupied blocks, and places of lattices, hold objects, where there is an allocator.
template <class Simulation>
AtEnd<Simulation> slots_used_at_end() {
  return {"slots used at the end", "%", [](Simulation& simulation, double) {
            const auto usage = simulation.usage();
            return usage ? std::optional(100 * usage->slots_used) : std::nullopt;
          }};
}

/// Makes a new simulation for each repetition, and times its steps until the device is done with them. Adds records of
/// this time and of `at_end`.
template <class Simulation>
void measure_steps(const std::function<void(Record)>& add, const Settings& settings, StepsRun run,
                   const std::function<std::unique_ptr<Simulation>()>& make,
                   const std::vector<AtEnd<Simulation>>& at_end = {}) {
  using Clock = std::chrono::steady_clock;
  run.size["steps"] = run.steps;
  std::vector<double> milliseconds;
  std::vector<std::vector<double>> ends(at_end.size());
  for (int i = 0; i < settings.warm_up + settings.repetitions; ++i) {
    const std::unique_ptr<Simulation> simulation = make();
    simulation->synchronize();
    const auto begin = Clock::now();
    for (int step = 0; step < run.steps; ++step) simulation->step();
    simulation->synchronize();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (i < settings.warm_up) continue;
    milliseconds.push_back(seconds * 1e3);
    for (std::size_t end = 0; end < at_end.size(); ++end) {
      if (const auto value = at_end[end].value(*simulation, seconds)) ends[end].push_back(*value);
    }
  }
  add({run.benchmark, run.variant, run.size, "time of all steps", "ms", milliseconds});
  for (std::size_t end = 0; end < at_end.size(); ++end) {
    if (ends[end].empty()) continue;
    add({run.benchmark, run.variant, run.size, at_end[end].metric, at_end[end].unit, ends[end]});
  }
}

}  // namespace benchmarks
