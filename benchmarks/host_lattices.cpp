// Objects on lattices on a CPU, against hand-written OpenMP loops over plain arrays with as many threads. The variants
// of a comparison take turns, a few steps each, so that a busy machine slows all of them, and are in the same state
// meanwhile.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/platform/host_threads.h>

#include "forest_fire/simulation.h"
#include "life/simulation.h"
#include "report.h"
#include "wa_tor/simulation.h"
#include "workloads.h"

namespace benchmarks {

#ifndef APP_OPENMP_BASELINE

void run_host_lattices(Report&, const Settings&) {
  std::puts(
      "host_lattices: not measured, this build is without the OpenMP baselines: it is a CUDA build, or CMake has found "
      "no "
      "OpenMP for the compiler");
}

#else

namespace {

constexpr const char* kByHand = "by hand";

/// Seconds of a turn of so many steps.
double turn(app::Simulation& simulation, int steps) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  for (int step = 0; step < steps; ++step) simulation.step();
  simulation.synchronize();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// @param variants   by name; the last one is the baseline
template <class Simulation, class Parameters>
void compare(Report& report, const Settings& settings, const std::string& model, Workload<Parameters> workload,
             const std::vector<std::pair<std::string, std::unique_ptr<Simulation> (*)(const Parameters&)>>& variants) {
  workload.parameters.threads = dynasoar::detail::usable_processors();
  std::vector<std::unique_ptr<Simulation>> simulations;
  for (const auto& variant : variants) simulations.push_back(variant.second(workload.parameters));
  std::vector<std::vector<double>> microseconds(variants.size()), ratios(variants.size());
  for (int i = -settings.warm_up; i < settings.repetitions; ++i) {
    std::vector<double> seconds;
    for (const auto& simulation : simulations) seconds.push_back(turn(*simulation, workload.steps));
    for (std::size_t v = 0; i >= 0 && v < variants.size(); ++v) {
      microseconds[v].push_back(1e6 * seconds[v] / workload.steps);
      ratios[v].push_back(seconds.back() / seconds[v]);
    }
  }
  workload.size["threads"] = workload.parameters.threads;
  workload.size["steps"] = workload.steps;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    const std::string name = model + ", " + variants[v].first;
    report.add({"host_lattices", name, workload.size, "time of a step", "us", microseconds[v]});
    if (v + 1 < variants.size()) {
      report.add({"host_lattices", name, workload.size, "times as fast as by hand", "", ratios[v]});
    }
  }
}

}  // namespace

void run_host_lattices(Report& report, const Settings& settings) {
  const auto for_sizes = [&](const auto& measure, auto small, auto... sizes) {
    if (settings.small) {
      measure(small);
    } else {
      (measure(sizes), ...);
    }
  };
  for_sizes(
      [&](const Workload<wa_tor::Parameters>& workload) {
        compare<wa_tor::Simulation>(
            report, settings, "Wa-Tor", workload,
            {{"agents placed on a lattice", wa_tor::make_placed}, {kByHand, wa_tor::make_openmp_baseline}});
      },
      wa_tor_workload(128, 128, 20), wa_tor_workload(2048, 2560, 20), wa_tor_workload(300, 200, 500));
  for_sizes(
      [&](const Workload<forest_fire::Parameters>& workload) {
        compare<forest_fire::Simulation>(
            report, settings, "forest fire", workload,
            {{"trees placed on a lattice", forest_fire::make_placed}, {kByHand, forest_fire::make_openmp_baseline}});
      },
      forest_fire_workload(128, 20), forest_fire_workload(2048, 20), forest_fire_workload(200, 500));
  for_sizes(
      [&](const Workload<life::Parameters>& workload) {
        compare<life::Simulation>(report, settings, "life", workload,
                                  {{"cells placed on a lattice", life::make_placed},
                                   {"a cell placed everywhere", life::make_dense_cells},
                                   {kByHand, life::make_openmp_baseline}});
      },
      life_soup_workload(128, 20), life_soup_workload(4096, 20), life_soup_workload(200, 500));
}

#endif

}  // namespace benchmarks
