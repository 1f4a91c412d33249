// The applications: variants with objects against the hand-written baselines, whole simulation loops without set-up,
// all of an application in one run.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bodies/random_bodies.h"
#include "collision/collision.h"
#include "life/rle.h"
#include "life/simulation.h"
#include "n_body/n_body.h"
#include "report.h"
#include "steps.h"
#include "structure/network.h"
#include "structure/simulation.h"
#include "sugarscape/simulation.h"
#include "traffic/network.h"
#include "traffic/simulation.h"
#include "wa_tor/simulation.h"

namespace benchmarks {
namespace {

constexpr const char* kSoa = "SoA by hand";
constexpr const char* kAos = "AoS by hand";

/// A metric: a sum that the application's own history has, of what is there after the last step.
template <class Simulation, class Value>
AtEnd<Simulation> last_of_history(const std::string& metric, const std::string& unit, Value value) {
  return {metric, unit, [value](Simulation& simulation, double) {
            simulation.record();
            return std::optional<double>(static_cast<double>(value(simulation.take_history().back())));
          }};
}

/// Implementations by name. `Input` is what their functions take beside the parameters, nothing or a network.
template <class Simulation, class Parameters, class... Input>
using Variants =
    std::vector<std::pair<std::string, std::unique_ptr<Simulation> (*)(const Parameters&, const Input&...)>>;

/// Measures each of the variants.
template <class Simulation, class Parameters, class... Input>
void measure_all(Report& report, const Settings& settings, const std::string& benchmark,
                 const std::map<std::string, std::int64_t>& size, int steps,
                 const Variants<Simulation, Parameters, Input...>& variants,
                 const std::vector<AtEnd<Simulation>>& at_end, const Parameters& parameters, const Input&... input) {
  for (const auto& variant : variants) {
    const auto make = variant.second;
    measure_steps<Simulation>(
        report, settings, {benchmark, variant.first, size, steps}, [&] { return make(parameters, input...); }, at_end);
  }
}

void run_bodies(Report& report, const Settings& settings, const std::string& benchmark,
                const Variants<bodies::Simulation, bodies::Parameters>& variants, std::uint32_t count, int steps,
                float least_mass, float most_mass) {
  bodies::Parameters parameters;
  parameters.initial = bodies::random_bodies(count, 42, least_mass, most_mass);
  measure_all(report, settings, benchmark, {{"bodies", count}}, steps, variants,
              {last_of_history<bodies::Simulation>("bodies at the end", "bodies",
                                                   [](const bodies::Totals& totals) { return totals.bodies; })},
              parameters);
}

std::map<std::string, std::int64_t> size_of(const life::Parameters& parameters) {
  return {{"width", parameters.width + 2 * parameters.margin}, {"height", parameters.height + 2 * parameters.margin}};
}

void run_life(Report& report, const Settings& settings, const std::string& benchmark,
              const life::Parameters& parameters, int steps) {
  Variants<life::Simulation, life::Parameters> variants = {{"alive cells and candidates as objects", life::make_agents},
                                                           {"cells as objects, too", life::make_cells},
                                                           {kSoa, life::make_soa_baseline},
                                                           {kAos, life::make_aos_baseline}};
  if (parameters.rule.states == 2) {
    variants.emplace_back("dense by hand, a byte per cell", life::make_dense_baseline);
    variants.emplace_back("dense by hand, 64 cells in a word", life::make_stencil_baseline);
  } else {
    variants.emplace_back("dense by hand, two bytes per cell", life::make_dense_baseline);
  }
  measure_all(report, settings, benchmark, size_of(parameters), steps, variants,
              {last_of_history<life::Simulation>("alive at the end", "cells",
                                                 [](const life::Population& population) { return population.alive; })},
              parameters);
}

}  // namespace

void run_wa_tor(Report& report, const Settings& settings) {
  struct Workload {
    int width;
    int height;
    int steps;
  };
  const std::vector<Workload> workloads = settings.small ? std::vector<Workload>{{128, 128, 20}}
                                                         : std::vector<Workload>{{2048, 2560, 500}, {1024, 1024, 100}};
  for (const Workload workload : workloads) {
    wa_tor::Parameters parameters;
    parameters.width = workload.width;
    parameters.height = workload.height;
    const AtEnd<wa_tor::Simulation> bandwidth = {
        "least traffic per time", "TB/s", [&](wa_tor::Simulation& ocean, double seconds) -> std::optional<double> {
          ocean.record();
          const auto bytes = ocean.bytes_per_step(ocean.take_history().back());
          if (!bytes) return std::nullopt;
          return static_cast<double>(*bytes) * workload.steps / seconds * 1e-12;
        }};
    measure_all<wa_tor::Simulation, wa_tor::Parameters>(
        report, settings, "wa_tor", {{"width", workload.width}, {"height", workload.height}}, workload.steps,
        {{"agents as objects", wa_tor::make_agents},
         {"cells and agents as objects", wa_tor::make_cells},
         {kSoa, wa_tor::make_soa_baseline},
         {kAos, wa_tor::make_aos_baseline}},
        {bandwidth}, parameters);
  }
}

void run_n_body(Report& report, const Settings& settings) {
  const std::vector<std::pair<std::uint32_t, int>> workloads =
      settings.small ? std::vector<std::pair<std::uint32_t, int>>{{500, 5}}
                     : std::vector<std::pair<std::uint32_t, int>>{{20000, 300}, {200000, 3}};
  for (const auto& [count, steps] : workloads) {
    run_bodies(report, settings, "n_body",
               {{"bodies as objects", n_body::make_objects},
                {kSoa, n_body::make_soa_baseline},
                {kAos, n_body::make_aos_baseline}},
               count, steps, n_body::kLeastMass, n_body::kMostMass);
  }
}

void run_collision(Report& report, const Settings& settings) {
  run_bodies(report, settings, "collision",
             {{"bodies as objects", collision::make_objects},
              {kSoa, collision::make_soa_baseline},
              {kAos, collision::make_aos_baseline}},
             settings.small ? 500 : 40000, settings.small ? 5 : 200, collision::kLeastMass, collision::kMostMass);
}

void run_game_of_life(Report& report, const Settings& settings) {
  life::Parameters parameters;
  if (settings.small) {
    parameters.width = parameters.height = 128;
  } else {
    life::Pattern pattern = life::read_rle(settings.turing_machine);
    parameters.width = pattern.width;
    parameters.height = pattern.height;
    parameters.start = std::move(pattern.states);
  }
  run_life(report, settings, "game_of_life", parameters, settings.small ? 20 : 300);
}

void run_generation(Report& report, const Settings& settings) {
  life::Parameters parameters;
  parameters.width = parameters.height = settings.small ? 128 : 5000;
  parameters.rule = life::parse_rule("0235678/3468/257");
  run_life(report, settings, "generation", parameters, settings.small ? 20 : 300);
}

void run_structure(Report& report, const Settings& settings) {
  structure::RandomNetwork options;
  options.nodes = settings.small ? 2000 : 1500000;
  const structure::Network network = structure::random_network(options);
  measure_all<structure::Simulation, structure::Parameters, structure::Network>(
      report, settings, "structure", {{"nodes", static_cast<std::int64_t>(options.nodes)}}, settings.small ? 3 : 20,
      {{"nodes and springs as objects", structure::make_springs},
       {kSoa, structure::make_soa_baseline},
       {kAos, structure::make_aos_baseline},
       {"nodes only by hand, one loop for two", structure::make_fused_baseline}},
      {last_of_history<structure::Simulation>("springs at the end", "springs",
                                              [](const structure::Census& census) { return census.springs; })},
      structure::Parameters(), network);
}

void run_sugarscape(Report& report, const Settings& settings) {
  sugarscape::Parameters parameters;
  parameters.width = parameters.height = settings.small ? 128 : 1700;
  measure_all<sugarscape::Simulation, sugarscape::Parameters>(
      report, settings, "sugarscape", {{"width", parameters.width}, {"height", parameters.height}},
      settings.small ? 20 : 300,
      {{"agents as objects", sugarscape::make_agents},
       {"cells and agents as objects", sugarscape::make_cells},
       {kSoa, sugarscape::make_soa_baseline},
       {kAos, sugarscape::make_aos_baseline}},
      {last_of_history<sugarscape::Simulation>(
          "agents at the end", "agents",
          [](const sugarscape::Census& census) { return census.males + census.females; })},
      parameters);
}

void run_traffic(Report& report, const Settings& settings) {
  const std::uint32_t intersections = settings.small ? 50 : 17500;
  constexpr std::uint32_t kGreen = 5;
  const traffic::Network network = traffic::random_network(intersections, kGreen, {});
  measure_all<traffic::Simulation, traffic::Parameters, traffic::Network>(
      report, settings, "traffic", {{"intersections", intersections}}, settings.small ? 20 : 1000,
      {{"cars as objects", traffic::make_cars},
       {"cells, streets and cars as objects", traffic::make_cells},
       {kSoa, traffic::make_soa_baseline},
       {kAos, traffic::make_aos_baseline}},
      {last_of_history<traffic::Simulation>("cars at the end", "cars",
                                            [](const traffic::Census& census) { return census.cars; })},
      traffic::Parameters(), network);
}

}  // namespace benchmarks
