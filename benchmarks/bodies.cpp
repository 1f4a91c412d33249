// n-body and collision: bodies as objects against the hand-written baselines, whole simulation loops without set-up,
// all in one run.
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bodies/random_bodies.h"
#include "collision/collision.h"
#include "n_body/n_body.h"
#include "report.h"

namespace benchmarks {
namespace {

using Make = std::function<std::unique_ptr<bodies::Simulation>(const bodies::Parameters&)>;

struct Workload {
  std::uint32_t bodies;
  int steps;
};

double milliseconds_of_loop(bodies::Simulation& simulation, int steps) {
  simulation.synchronize();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < steps; ++i) simulation.step();
  simulation.synchronize();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

void run(Report& report, const Settings& settings, const std::string& benchmark, const std::string& variant,
         const Make& make, const bodies::Parameters& parameters, int steps) {
  std::vector<double> milliseconds;
  std::vector<double> left;
  for (int i = 0; i < settings.warm_up + settings.repetitions; ++i) {
    const std::unique_ptr<bodies::Simulation> simulation = make(parameters);
    const double time = milliseconds_of_loop(*simulation, steps);
    if (i < settings.warm_up) continue;
    milliseconds.push_back(time);
    left.push_back(simulation->totals().bodies);
  }
  const std::map<std::string, std::int64_t> size = {{"bodies", static_cast<std::int64_t>(parameters.initial.size())},
                                                    {"steps", steps}};
  report.add({benchmark, variant, size, "time of all steps", "ms", milliseconds});
  report.add({benchmark, variant, size, "bodies at the end", "bodies", left});
}

void run_all(Report& report, const Settings& settings, const std::string& benchmark,
             const std::vector<std::pair<std::string, Make>>& variants, const std::vector<Workload>& workloads,
             float least_mass, float most_mass) {
  for (const Workload workload : workloads) {
    bodies::Parameters parameters;
    parameters.initial = bodies::random_bodies(workload.bodies, 42, least_mass, most_mass);
    for (const auto& [variant, make] : variants) {
      run(report, settings, benchmark, variant, make, parameters, workload.steps);
    }
  }
}

}  // namespace

void run_n_body(Report& report, const Settings& settings) {
  run_all(report, settings, "n_body",
          {{"bodies as objects", n_body::make_objects},
           {"SoA by hand", n_body::make_soa_baseline},
           {"AoS by hand", n_body::make_aos_baseline}},
          settings.small ? std::vector<Workload>{{500, 5}} : std::vector<Workload>{{20000, 300}, {200000, 3}},
          n_body::kLeastMass, n_body::kMostMass);
}

void run_collision(Report& report, const Settings& settings) {
  run_all(report, settings, "collision",
          {{"bodies as objects", collision::make_objects},
           {"SoA by hand", collision::make_soa_baseline},
           {"AoS by hand", collision::make_aos_baseline}},
          settings.small ? std::vector<Workload>{{500, 5}} : std::vector<Workload>{{40000, 200}}, collision::kLeastMass,
          collision::kMostMass);
}

}  // namespace benchmarks
