// How long the applications' steps take with each allocator.
//
// Source: DynaSOAr (Springer and Masuhara 2019), section 7.1, figure 10; the variants are those of its table 1, all
// with cells as objects where there are cells. Smaller sizes or fewer steps than the figure: with twenty allocators
// they have to do. The variants with objects on a lattice are not in the paper.
#include "applications.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../steps.h"
#include "../workloads.h"
#include "collision/collision.h"
#include "forest_fire/simulation.h"
#include "life/simulation.h"
#include "n_body/n_body.h"
#include "schelling/simulation.h"
#include "structure/simulation.h"
#include "sugarscape/simulation.h"
#include "traffic/simulation.h"
#include "wa_tor/simulation.h"

namespace benchmarks::allocators {
namespace {

/// What is left after the last step, as one number of the application's own history.
template <class Simulation>
using Outcome = std::function<double(Simulation&)>;

template <class Simulation, class Value>
Outcome<Simulation> last_of_history(Value value) {
  return [value](Simulation& simulation) {
    simulation.record();
    return static_cast<double>(value(simulation.take_history().back()));
  };
}

/// Makes a simulation, with one of its variants.
template <class Simulation, class... Arguments>
using Maker = std::function<std::unique_ptr<Simulation>(const Arguments&...)>;

/// An application, of one size.
template <class Simulation, class Parameters>
struct Application {
  Workload<Parameters> workload;
  Maker<Simulation, Parameters> make;
  Maker<Simulation, Parameters> make_by_hand;
  Outcome<Simulation> outcome;
  double tolerance = 0;  ///< share by which outcomes may differ, because sums depend on the order of objects
};

/// The outcome of the hand-written variant without an allocator, which all others must have.
template <class Simulation, class Parameters>
double outcome_by_hand(const Application<Simulation, Parameters>& application) {
  const std::unique_ptr<Simulation> simulation = application.make_by_hand(application.workload.parameters);
  for (int step = 0; step < application.workload.steps; ++step) simulation->step();
  return application.outcome(*simulation);
}

template <class Simulation, class Parameters>
void measure(const Context& context, const std::string& experiment, const std::string& allocator,
             Application<Simulation, Parameters> application) {
  const double expected = outcome_by_hand(application);
  application.workload.parameters.allocator = allocator;
  const auto check = [&](Simulation& simulation, double) -> std::optional<double> {
    const double found = application.outcome(simulation);
    if (!(std::abs(found - expected) <= application.tolerance * expected)) {
      throw std::runtime_error(experiment + ": " + std::to_string(found) + " is left instead of " +
                               std::to_string(expected));
    }
    return std::nullopt;  // no result of its own
  };
  const Settings settings{.repetitions = std::min(context.repetitions, 3), .warm_up = 1};
  measure_steps<Simulation>(context.add, settings,
                            {experiment, allocator, application.workload.size, application.workload.steps},
                            [&] { return application.make(application.workload.parameters); }, {{"", "", check}});
}

Application<wa_tor::Simulation, wa_tor::Parameters> wa_tor_application(
    const Context& context, const Maker<wa_tor::Simulation, wa_tor::Parameters>& make) {
  return {context.smoke ? wa_tor_workload(64, 64, 10) : wa_tor_workload(1024, 1024, 100), make,
          wa_tor::make_soa_baseline, last_of_history<wa_tor::Simulation>([](const wa_tor::Population& population) {
            return population.fish + population.sharks;
          })};
}

double bodies_left(bodies::Simulation& simulation) {
  return simulation.totals().bodies;
}

Application<bodies::Simulation, bodies::Parameters> n_body_application(const Context& context) {
  return {context.smoke ? n_body_workload(100, 3) : n_body_workload(20000, 100), n_body::make_objects,
          n_body::make_soa_baseline, bodies_left};
}

Application<bodies::Simulation, bodies::Parameters> collision_application(const Context& context) {
  constexpr double kTolerance = 0.02;
  return {context.smoke ? collision_workload(100, 3) : collision_workload(40000, 50), collision::make_objects,
          collision::make_soa_baseline, bodies_left, kTolerance};
}

Outcome<life::Simulation> cells_alive() {
  return last_of_history<life::Simulation>([](const life::Population& population) { return population.alive; });
}

Application<life::Simulation, life::Parameters> game_of_life_application(
    const Context& context, const Maker<life::Simulation, life::Parameters>& make) {
  return {context.smoke ? game_of_life_workload("", 2) : game_of_life_workload(DYNASOAR_TURING_MACHINE, 100), make,
          life::make_soa_baseline, cells_alive()};
}

Application<life::Simulation, life::Parameters> generation_application(
    const Context& context, const Maker<life::Simulation, life::Parameters>& make) {
  return {context.smoke ? generation_workload(64, 10) : generation_workload(2000, 100), make, life::make_soa_baseline,
          cells_alive()};
}

Application<structure::Simulation, structure::Parameters> structure_application(const Context& context) {
  // Made once for all allocators that this process measures.
  static const structure::Network network = structure_network(context.pick(1500000u, 300u));
  using structure::Parameters;
  return {{{{"nodes", static_cast<std::int64_t>(network.nodes.size())}}, context.pick(5, 2), Parameters()},
          [](const Parameters& parameters) { return structure::make_springs(parameters, network); },
          [](const Parameters& parameters) { return structure::make_soa_baseline(parameters, network); },
          last_of_history<structure::Simulation>([](const structure::Census& census) { return census.springs; })};
}

Application<sugarscape::Simulation, sugarscape::Parameters> sugarscape_application(
    const Context& context, const Maker<sugarscape::Simulation, sugarscape::Parameters>& make) {
  return {context.smoke ? sugarscape_workload(64, 5) : sugarscape_workload(1700, 100), make,
          sugarscape::make_soa_baseline, last_of_history<sugarscape::Simulation>([](const sugarscape::Census& census) {
            return census.males + census.females;
          })};
}

Application<traffic::Simulation, traffic::Parameters> traffic_application(
    const Context& context, const Maker<traffic::Simulation, traffic::Parameters, traffic::Network>& make) {
  static const std::uint32_t intersections = context.pick(17500u, 10u);
  static const traffic::Network network = traffic_network(intersections);
  using traffic::Parameters;
  return {{{{"intersections", intersections}}, context.pick(250, 10), Parameters()},
          [make](const Parameters& parameters) { return make(parameters, network); },
          [](const Parameters& parameters) { return traffic::make_soa_baseline(parameters, network); },
          last_of_history<traffic::Simulation>([](const traffic::Census& census) { return census.cars; })};
}

Application<schelling::Simulation, schelling::Parameters> schelling_application(const Context& context) {
  return {context.smoke ? schelling_workload(64, 5) : schelling_workload(1024, 100), schelling::make_placed,
          schelling::make_soa_baseline, last_of_history<schelling::Simulation>([](const schelling::Census& census) {
            return census.red + census.blue;
          })};
}

Application<forest_fire::Simulation, forest_fire::Parameters> forest_fire_application(const Context& context) {
  return {context.smoke ? forest_fire_workload(64, 20) : forest_fire_workload(1024, 500), forest_fire::make_placed,
          forest_fire::make_soa_baseline,
          last_of_history<forest_fire::Simulation>(
              [](const forest_fire::Census& census) { return census.trees + census.fires; })};
}

/// A case for each allocator that the application has.
///
/// @param make      makes the Application
/// @param variant   of those that it takes, function that makes a simulation
template <class Make, class... Variant>
void add_application(std::vector<Case>& cases, const std::string& name, const std::string& allocators, Make make,
                     Variant... variant) {
  for (const std::string& allocator : names_in(allocators)) {
    const std::string experiment = "application_" + name;
    cases.push_back({experiment, allocator, [=](const Context& context) {
                       measure(context, experiment, allocator, make(context, variant...));
                     }});
  }
}

}  // namespace

std::vector<std::string> names_in(const std::string& list) {
  std::istringstream words(list);
  std::vector<std::string> names;
  for (std::string name; words >> name;) names.push_back(name);
  return names;
}

void add_applications(std::vector<Case>& cases) {
  add_application(cases, "wa_tor", DYNASOAR_WA_TOR_ALLOCATORS, wa_tor_application, wa_tor::make_cells);
  add_application(cases, "n_body", DYNASOAR_N_BODY_ALLOCATORS, n_body_application);
  add_application(cases, "collision", DYNASOAR_COLLISION_ALLOCATORS, collision_application);
  add_application(cases, "game_of_life", DYNASOAR_LIFE_ALLOCATORS, game_of_life_application, life::make_cells);
  add_application(cases, "generation", DYNASOAR_LIFE_ALLOCATORS, generation_application, life::make_cells);
  add_application(cases, "structure", DYNASOAR_STRUCTURE_ALLOCATORS, structure_application);
  add_application(cases, "sugarscape", DYNASOAR_SUGARSCAPE_ALLOCATORS, sugarscape_application, sugarscape::make_cells);
  add_application(cases, "traffic", DYNASOAR_TRAFFIC_ALLOCATORS, traffic_application, traffic::make_cells);
}

void add_placed_applications(std::vector<Case>& cases) {
  add_application(cases, "wa_tor_placed", DYNASOAR_WA_TOR_ALLOCATORS, wa_tor_application, wa_tor::make_placed);
  add_application(cases, "game_of_life_placed", DYNASOAR_LIFE_ALLOCATORS, game_of_life_application, life::make_placed);
  add_application(cases, "generation_placed", DYNASOAR_LIFE_ALLOCATORS, generation_application, life::make_placed);
  add_application(cases, "sugarscape_placed", DYNASOAR_SUGARSCAPE_ALLOCATORS, sugarscape_application,
                  sugarscape::make_placed);
  add_application(cases, "traffic_placed", DYNASOAR_TRAFFIC_ALLOCATORS, traffic_application, traffic::make_placed);
  add_application(cases, "schelling_placed", DYNASOAR_SCHELLING_ALLOCATORS, schelling_application);
  add_application(cases, "forest_fire_placed", DYNASOAR_FOREST_FIRE_ALLOCATORS, forest_fire_application);
}

}  // namespace benchmarks::allocators
