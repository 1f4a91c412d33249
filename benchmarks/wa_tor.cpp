// Wa-Tor: the DSL variants against the hand-written baselines, whole simulation loops without set-up, all in one run.
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "report.h"
#include "simulation.h"

namespace benchmarks {
namespace {

using Make = std::function<std::unique_ptr<wa_tor::Simulation>(const wa_tor::Parameters&)>;

struct Workload {
  int width;
  int height;
  int steps;
};

double seconds_of_loop(wa_tor::Simulation& ocean, int steps) {
  ocean.synchronize();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < steps; ++i) ocean.step();
  ocean.synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void run(Report& report, const Settings& settings, const std::string& variant, const Make& make, Workload workload) {
  wa_tor::Parameters parameters;
  parameters.width = workload.width;
  parameters.height = workload.height;
  std::vector<double> milliseconds;
  std::vector<double> used;
  std::vector<double> bandwidth;
  for (int i = 0; i < settings.warm_up + settings.repetitions; ++i) {
    const std::unique_ptr<wa_tor::Simulation> ocean = make(parameters);
    const double seconds = seconds_of_loop(*ocean, workload.steps);
    if (i < settings.warm_up) continue;
    milliseconds.push_back(seconds * 1e3);
    if (const auto usage = ocean->usage()) used.push_back(100 * (1 - usage->fragmentation));
    ocean->record();
    if (const auto bytes = ocean->bytes_per_step(ocean->take_history().back())) {
      bandwidth.push_back(static_cast<double>(*bytes) * workload.steps / seconds * 1e-12);
    }
  }
  const std::map<std::string, std::int64_t> size = {
      {"width", workload.width}, {"height", workload.height}, {"steps", workload.steps}};
  report.add({"wa_tor", variant, size, "time of all steps", "ms", milliseconds});
  if (!used.empty()) report.add({"wa_tor", variant, size, "slots used at the end", "%", used});
  if (!bandwidth.empty()) report.add({"wa_tor", variant, size, "least traffic per time", "TB/s", bandwidth});
}

}  // namespace

void run_wa_tor(Report& report, const Settings& settings) {
  const std::vector<std::pair<std::string, Make>> variants = {{"agents as objects", wa_tor::make_agents},
                                                              {"cells and agents as objects", wa_tor::make_cells},
                                                              {"SoA by hand", wa_tor::make_soa_baseline},
                                                              {"AoS by hand", wa_tor::make_aos_baseline}};
  const std::vector<Workload> workloads = settings.small ? std::vector<Workload>{{128, 128, 20}}
                                                         : std::vector<Workload>{{2048, 2560, 500}, {1024, 1024, 100}};
  for (const Workload workload : workloads) {
    for (const auto& [variant, make] : variants) run(report, settings, variant, make, workload);
  }
}

}  // namespace benchmarks
