// The applications: variants with objects against the hand-written baselines, whole simulation loops without set-up,
// all of an application in one run.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ants/simulation.h"
#include "collision/collision.h"
#include "epidemic/simulation.h"
#include "flocking/simulation.h"
#include "forest_fire/simulation.h"
#include "life/simulation.h"
#include "n_body/n_body.h"
#include "report.h"
#include "schelling/simulation.h"
#include "steps.h"
#include "structure/simulation.h"
#include "sugarscape/simulation.h"
#include "traffic/simulation.h"
#include "tumour/simulation.h"
#include "wa_tor/simulation.h"
#include "workloads.h"

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

/// A metric: the time of a step.
template <class Simulation>
AtEnd<Simulation> time_of_step(int steps) {
  return {"time of a step", "us",
          [steps](Simulation&, double seconds) { return std::optional<double>(seconds / steps * 1e6); }};
}

/// Implementations by name. `Input` is what their functions take beside the parameters, nothing or a network.
template <class Simulation, class Parameters, class... Input>
using Variants =
    std::vector<std::pair<std::string, std::unique_ptr<Simulation> (*)(const Parameters&, const Input&...)>>;

/// Measures each of the variants.
template <class Simulation, class Parameters, class... Input>
void measure_all(Report& report, const Settings& settings, const std::string& benchmark,
                 const std::map<std::string, std::int64_t>& size, int steps,
                 const Variants<Simulation, Parameters, Input...>& variants, std::vector<AtEnd<Simulation>> at_end,
                 const Parameters& parameters, const Input&... input) {
  at_end.insert(at_end.begin(), slots_used_at_end<Simulation>());
  const auto add = [&report](Record record) { report.add(std::move(record)); };
  for (const auto& variant : variants) {
    const auto make = variant.second;
    measure_steps<Simulation>(
        add, settings, {benchmark, variant.first, size, steps}, [&] { return make(parameters, input...); }, at_end);
  }
}

/// Measures each of the variants with a workload.
template <class Simulation, class Parameters>
void measure_workload(Report& report, const Settings& settings, const std::string& benchmark,
                      const Workload<Parameters>& workload, const Variants<Simulation, Parameters>& variants,
                      const std::vector<AtEnd<Simulation>>& at_end) {
  measure_all<Simulation, Parameters>(report, settings, benchmark, workload.size, workload.steps, variants, at_end,
                                      workload.parameters);
}

void run_bodies(Report& report, const Settings& settings, const std::string& benchmark,
                const Workload<bodies::Parameters>& workload,
                const Variants<bodies::Simulation, bodies::Parameters>& variants) {
  measure_workload(report, settings, benchmark, workload, variants,
                   {last_of_history<bodies::Simulation>("bodies at the end", "bodies",
                                                        [](const bodies::Totals& totals) { return totals.bodies; })});
}

void run_life(Report& report, const Settings& settings, const std::string& benchmark,
              const Workload<life::Parameters>& workload) {
  Variants<life::Simulation, life::Parameters> variants = {{"cells placed on a lattice", life::make_placed},
                                                           {"cells as objects, too", life::make_cells},
                                                           {kSoa, life::make_soa_baseline},
                                                           {kAos, life::make_aos_baseline}};
  if (workload.parameters.rule.states == 2) {
    variants.emplace_back("a cell placed everywhere", life::make_dense_cells);
    variants.emplace_back("dense by hand, a byte per cell", life::make_dense_baseline);
    variants.emplace_back("dense by hand, 64 cells in a word", life::make_stencil_baseline);
  } else {
    variants.emplace_back("dense by hand, two bytes per cell", life::make_dense_baseline);
  }
  measure_workload(
      report, settings, benchmark, workload, variants,
      {time_of_step<life::Simulation>(workload.steps),
       last_of_history<life::Simulation>("alive at the end", "cells",
                                         [](const life::Population& population) { return population.alive; })});
}

}  // namespace

void run_wa_tor(Report& report, const Settings& settings) {
  using Workloads = std::vector<Workload<wa_tor::Parameters>>;
  for (const auto& workload : settings.small
                                  ? Workloads{wa_tor_workload(128, 128, 20)}
                                  : Workloads{wa_tor_workload(2048, 2560, 500), wa_tor_workload(4096, 4096, 100),
                                              wa_tor_workload(1024, 1024, 100)}) {
    const AtEnd<wa_tor::Simulation> bandwidth = {
        "least traffic per time", "TB/s", [&](wa_tor::Simulation& ocean, double seconds) -> std::optional<double> {
          ocean.record();
          const auto bytes = ocean.bytes_per_step(ocean.take_history().back());
          if (!bytes) return std::nullopt;
          return static_cast<double>(*bytes) * workload.steps / seconds * 1e-12;
        }};
    measure_workload<wa_tor::Simulation>(report, settings, "wa_tor", workload,
                                         {{"agents as objects", wa_tor::make_agents},
                                          {"agents placed on a lattice", wa_tor::make_placed},
                                          {"cells and agents as objects", wa_tor::make_cells},
                                          {kSoa, wa_tor::make_soa_baseline},
                                          {kAos, wa_tor::make_aos_baseline}},
                                         {bandwidth});
  }
}

void run_wa_tor_compaction(Report& report, const Settings& settings) {
  auto workload = settings.small ? wa_tor_workload(128, 128, 20) : wa_tor_workload(2048, 2560, 500);
  for (const auto& [how, above] :
       std::vector<std::pair<std::string, double>>{{"", 1}, {", above 30 %", 0.3}, {", above 5 %", 0.05}}) {
    workload.parameters.compact_above = above;
    measure_workload<wa_tor::Simulation>(
        report, settings, "wa_tor_compaction", workload,
        {{"agents as objects" + how, wa_tor::make_agents}, {"cells and agents as objects" + how, wa_tor::make_cells}},
        {});
  }
}

void run_n_body(Report& report, const Settings& settings) {
  const std::vector<std::pair<std::uint32_t, int>> workloads =
      settings.small ? std::vector<std::pair<std::uint32_t, int>>{{500, 5}}
                     : std::vector<std::pair<std::uint32_t, int>>{{20000, 300}, {200000, 3}};
  for (const auto& [count, steps] : workloads) {
    run_bodies(report, settings, "n_body", n_body_workload(count, steps),
               {{"bodies as objects", n_body::make_objects},
                {kSoa, n_body::make_soa_baseline},
                {kAos, n_body::make_aos_baseline}});
  }
}

void run_collision(Report& report, const Settings& settings) {
  run_bodies(report, settings, "collision",
             settings.small ? collision_workload(500, 5) : collision_workload(40000, 200),
             {{"bodies as objects", collision::make_objects},
              {kSoa, collision::make_soa_baseline},
              {kAos, collision::make_aos_baseline}});
}

void run_game_of_life(Report& report, const Settings& settings) {
  run_life(report, settings, "game_of_life",
           settings.small ? game_of_life_workload("", 20) : game_of_life_workload(settings.turing_machine, 300));
}

void run_life_soups(Report& report, const Settings& settings) {
  for (const auto& workload : settings.small
                                  ? std::vector<Workload<life::Parameters>>{life_soup_workload(64, 20)}
                                  : std::vector{life_soup_workload(1000, 300), life_soup_workload(4096, 100)}) {
    run_life(report, settings, "life_soups", workload);
  }
}

void run_generation(Report& report, const Settings& settings) {
  run_life(report, settings, "generation",
           settings.small ? generation_workload(128, 20) : generation_workload(5000, 300));
}

void run_structure(Report& report, const Settings& settings) {
  const std::uint64_t nodes = settings.small ? 2000 : 1500000;
  measure_all<structure::Simulation, structure::Parameters, structure::Network>(
      report, settings, "structure", {{"nodes", static_cast<std::int64_t>(nodes)}}, settings.small ? 3 : 20,
      {{"nodes and springs as objects", structure::make_springs},
       {kSoa, structure::make_soa_baseline},
       {kAos, structure::make_aos_baseline},
       {"nodes only by hand, one loop for two", structure::make_fused_baseline}},
      {last_of_history<structure::Simulation>("springs at the end", "springs",
                                              [](const structure::Census& census) { return census.springs; })},
      structure::Parameters(), structure_network(nodes));
}

void run_sugarscape(Report& report, const Settings& settings) {
  measure_workload<sugarscape::Simulation>(
      report, settings, "sugarscape", settings.small ? sugarscape_workload(128, 20) : sugarscape_workload(1700, 300),
      {{"agents as objects", sugarscape::make_agents},
       {"cells and agents placed on a lattice", sugarscape::make_placed},
       {"cells and agents as objects", sugarscape::make_cells},
       {kSoa, sugarscape::make_soa_baseline},
       {kAos, sugarscape::make_aos_baseline}},
      {last_of_history<sugarscape::Simulation>("agents at the end", "agents", [](const sugarscape::Census& census) {
        return census.males + census.females;
      })});
}

void run_traffic(Report& report, const Settings& settings) {
  const std::uint32_t intersections = settings.small ? 50 : 17500;
  measure_all<traffic::Simulation, traffic::Parameters, traffic::Network>(
      report, settings, "traffic", {{"intersections", intersections}}, settings.small ? 20 : 1000,
      {{"cars as objects", traffic::make_cars},
       {"cells and cars placed on a lattice", traffic::make_placed},
       {"cells, streets and cars as objects", traffic::make_cells},
       {kSoa, traffic::make_soa_baseline},
       {kAos, traffic::make_aos_baseline}},
      {last_of_history<traffic::Simulation>("cars at the end", "cars",
                                            [](const traffic::Census& census) { return census.cars; })},
      traffic::Parameters(), traffic_network(intersections));
}

void run_schelling(Report& report, const Settings& settings) {
  using Workloads = std::vector<Workload<schelling::Parameters>>;
  for (const auto& workload : settings.small
                                  ? Workloads{schelling_workload(128, 20)}
                                  : Workloads{schelling_workload(2048, 500), schelling_workload(3000, 100)}) {
    measure_workload<schelling::Simulation>(
        report, settings, "schelling", workload,
        {{"agents placed on a lattice", schelling::make_placed},
         {kSoa, schelling::make_soa_baseline},
         {kAos, schelling::make_aos_baseline}},
        {last_of_history<schelling::Simulation>(
            "agents at the end", "agents", [](const schelling::Census& census) { return census.red + census.blue; })});
  }
}

void run_flocking(Report& report, const Settings& settings) {
  const std::vector<std::pair<std::uint32_t, int>> workloads =
      settings.small ? std::vector<std::pair<std::uint32_t, int>>{{4000, 20}, {100000, 3}}
                     : std::vector<std::pair<std::uint32_t, int>>{{4000, 1000}, {1000000, 20}, {4000000, 10}};
  for (const auto& [count, steps] : workloads) {
    const auto workload = flocking_workload(count, steps);
    measure_workload<flocking::Simulation>(report, settings, "flocking", workload,
                                           {{"boids as objects", flocking::make_boids},
                                            {kSoa, flocking::make_soa_baseline},
                                            {kAos, flocking::make_aos_baseline}},
                                           {time_of_step<flocking::Simulation>(steps)});
    auto sorted = workload;
    sorted.parameters.sort_every = 10;
    measure_workload<flocking::Simulation>(report, settings, "flocking", sorted,
                                           {{"boids as objects, sorted every 10 steps", flocking::make_boids}},
                                           {time_of_step<flocking::Simulation>(steps)});
  }
}

void run_epidemic(Report& report, const Settings& settings) {
  using Workloads = std::vector<Workload<epidemic::Parameters>>;
  for (const auto& workload : settings.small
                                  ? Workloads{epidemic_workload(4000, 20)}
                                  : Workloads{epidemic_workload(4000, 1000), epidemic_workload(1000000, 100)}) {
    measure_workload<epidemic::Simulation>(
        report, settings, "epidemic", workload,
        {{"people as objects", epidemic::make_people},
         {kSoa, epidemic::make_soa_baseline},
         {kAos, epidemic::make_aos_baseline}},
        {time_of_step<epidemic::Simulation>(workload.steps),
         last_of_history<epidemic::Simulation>("people at the end", "people",
                                               [](const epidemic::Census& census) { return census.people(); })});
  }
}

void run_ants(Report& report, const Settings& settings) {
  using Workloads = std::vector<Workload<ants::Parameters>>;
  for (const auto& workload : settings.small
                                  ? Workloads{ants_workload(4000, 128, 20)}
                                  : Workloads{ants_workload(4000, 128, 1000), ants_workload(1000000, 2048, 100)}) {
    measure_workload<ants::Simulation>(
        report, settings, "ants", workload,
        {{"ants and cells as objects", ants::make_colony},
         {kSoa, ants::make_soa_baseline},
         {kAos, ants::make_aos_baseline}},
        {time_of_step<ants::Simulation>(workload.steps),
         last_of_history<ants::Simulation>("ants at the end", "ants",
                                           [](const ants::Census& census) { return census.ants(); })});
  }
}

void run_tumour(Report& report, const Settings& settings) {
  using Workloads = std::vector<Workload<tumour::Parameters>>;
  for (const auto& workload : settings.small
                                  ? Workloads{tumour_workload(4000, 16, 10)}
                                  : Workloads{tumour_workload(4000, 16, 500), tumour_workload(1000000, 64, 50)}) {
    measure_workload<tumour::Simulation>(
        report, settings, "tumour", workload,
        {{"cells as objects", tumour::make_cells},
         {kSoa, tumour::make_soa_baseline},
         {kAos, tumour::make_aos_baseline}},
        {time_of_step<tumour::Simulation>(workload.steps),
         last_of_history<tumour::Simulation>("cells at the end", "cells",
                                             [](const tumour::Census& census) { return census.cells(); })});
  }
}

void run_forest_fire(Report& report, const Settings& settings) {
  using Workloads = std::vector<Workload<forest_fire::Parameters>>;
  for (const auto& workload : settings.small
                                  ? Workloads{forest_fire_workload(128, 20)}
                                  : Workloads{forest_fire_workload(2048, 500), forest_fire_workload(4096, 100)}) {
    measure_workload<forest_fire::Simulation>(
        report, settings, "forest_fire", workload,
        {{"trees placed on a lattice", forest_fire::make_placed},
         {kSoa, forest_fire::make_soa_baseline},
         {kAos, forest_fire::make_aos_baseline}},
        {last_of_history<forest_fire::Simulation>("trees at the end", "trees", [](const forest_fire::Census& census) {
          return census.trees + census.fires;
        })});
  }
}

void run_small_models(Report& report, const Settings& settings) {
  const int steps = settings.small ? 20 : 1000;
  const auto measure = [&]<class Simulation, class Parameters>(const std::string& model,
                                                               const Workload<Parameters>& workload,
                                                               Variants<Simulation, Parameters> variants) {
    for (auto& variant : variants) variant.first = model + ", " + variant.first;
    measure_workload<Simulation>(report, settings, "small_models", workload, variants,
                                 {time_of_step<Simulation>(steps)});
  };
  measure("Wa-Tor", wa_tor_workload(300, 200, steps),
          Variants<wa_tor::Simulation, wa_tor::Parameters>{{"agents as objects", wa_tor::make_agents},
                                                           {"agents placed on a lattice", wa_tor::make_placed},
                                                           {"cells and agents as objects", wa_tor::make_cells},
                                                           {kSoa, wa_tor::make_soa_baseline}});
  measure("n-body", n_body_workload(1000, steps),
          Variants<bodies::Simulation, bodies::Parameters>{{"bodies as objects", n_body::make_objects},
                                                           {kSoa, n_body::make_soa_baseline}});
  measure("flocking", flocking_workload(4000, steps),
          Variants<flocking::Simulation, flocking::Parameters>{{"boids as objects", flocking::make_boids},
                                                               {kSoa, flocking::make_soa_baseline}});
  measure("Sugarscape", sugarscape_workload(200, steps),
          Variants<sugarscape::Simulation, sugarscape::Parameters>{
              {"agents as objects", sugarscape::make_agents},
              {"cells and agents placed on a lattice", sugarscape::make_placed},
              {kSoa, sugarscape::make_soa_baseline}});
  measure("Schelling", schelling_workload(200, steps),
          Variants<schelling::Simulation, schelling::Parameters>{{"agents placed on a lattice", schelling::make_placed},
                                                                 {kSoa, schelling::make_soa_baseline}});
  measure("forest fire", forest_fire_workload(200, steps),
          Variants<forest_fire::Simulation, forest_fire::Parameters>{
              {"trees placed on a lattice", forest_fire::make_placed}, {kSoa, forest_fire::make_soa_baseline}});
}

void run_picture(Report& report, const Settings& settings) {
  const int side = settings.small ? 64 : 2048;
  const auto cells = static_cast<double>(side);
  const auto measure_picture = [&](const std::string& variant, app::Simulation& simulation, const app::World& world) {
    using Clock = std::chrono::steady_clock;
    for (int step = 0; step < 20; ++step) simulation.step();
    const app::Viewport viewport = app::whole(world, side, side);
    Record made{"picture", variant, {{"width", side}, {"height", side}}, "made on the device", "ms", {}};
    Record copied = made;
    copied.metric = "made and copied to the host";
    for (int i = 0; i < settings.warm_up + settings.repetitions; ++i) {
      simulation.synchronize();
      const auto begin = Clock::now();
      simulation.paint(viewport);
      simulation.synchronize();
      const auto end = Clock::now();
      simulation.painted();
      if (i < settings.warm_up) continue;
      made.values.push_back(1e3 * std::chrono::duration<double>(end - begin).count());
      copied.values.push_back(1e3 * std::chrono::duration<double>(Clock::now() - begin).count());
    }
    report.add(made);
    report.add(copied);
  };
  auto ocean = wa_tor_workload(side, side, 0).parameters;
  measure_picture("Wa-Tor, agents as objects", *wa_tor::make_agents(ocean), {0, 0, cells, cells});
  measure_picture("Wa-Tor, cells and agents as objects", *wa_tor::make_cells(ocean), {0, 0, cells, cells});
  measure_picture("Sugarscape, agents as objects", *sugarscape::make_agents(sugarscape_workload(side, 0).parameters),
                  {0, 0, cells, cells});
  const auto flock = flocking_workload(settings.small ? 1000 : 1000000, 0).parameters;
  measure_picture("a million boids", *flocking::make_boids(flock), {0, flock.side, flock.side, flock.side, true});
}

}  // namespace benchmarks
