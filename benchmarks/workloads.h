/// @file
/// What the applications are measured with: their models' parameters, by size. Used by both benchmark programs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "ants/simulation.h"
#include "bodies/simulation.h"
#include "collision/collision.h"
#include "epidemic/simulation.h"
#include "flocking/simulation.h"
#include "forest_fire/simulation.h"
#include "life/rle.h"
#include "life/simulation.h"
#include "n_body/n_body.h"
#include "schelling/simulation.h"
#include "structure/network.h"
#include "sugarscape/simulation.h"
#include "traffic/network.h"
#include "tumour/simulation.h"
#include "wa_tor/simulation.h"

namespace benchmarks {

/// A model of one size, and for how many steps it runs.
template <class Parameters>
struct Workload {
  std::map<std::string, std::int64_t> size;  ///< for results
  int steps;
  Parameters parameters;
};

inline Workload<wa_tor::Parameters> wa_tor_workload(int width, int height, int steps) {
  wa_tor::Parameters parameters;
  parameters.width = width;
  parameters.height = height;
  return {{{"width", width}, {"height", height}}, steps, parameters};
}

inline Workload<bodies::Parameters> n_body_workload(std::uint32_t count, int steps) {
  bodies::Parameters parameters;
  parameters.initial = bodies::random_bodies(count, 42, n_body::kLeastMass, n_body::kMostMass);
  return {{{"bodies", count}}, steps, std::move(parameters)};
}

inline Workload<bodies::Parameters> collision_workload(std::uint32_t count, int steps) {
  bodies::Parameters parameters;
  parameters.initial = bodies::random_bodies(count, 42, collision::kLeastMass, collision::kMostMass);
  return {{{"bodies", count}}, steps, std::move(parameters)};
}

/// @param pattern   file with the start; empty: random cells
inline Workload<life::Parameters> game_of_life_workload(const std::string& pattern, int steps) {
  life::Parameters parameters;
  parameters.width = parameters.height = 128;
  if (!pattern.empty()) {
    const life::Pattern read = life::read_rle(pattern);
    parameters.width = read.width;
    parameters.height = read.height;
    parameters.start = read.states();
  }
  return {{{"width", parameters.width}, {"height", parameters.height}}, steps, std::move(parameters)};
}

/// Random cells on a torus.
inline Workload<life::Parameters> life_soup_workload(int width, int steps) {
  life::Parameters parameters;
  parameters.width = parameters.height = width;
  parameters.density = 0.4;
  parameters.edge = life::Edge::torus;
  return {{{"width", width}, {"height", width}}, steps, std::move(parameters)};
}

inline Workload<life::Parameters> generation_workload(int width, int steps) {
  life::Parameters parameters;
  parameters.width = parameters.height = width;
  parameters.rule = life::parse_rule("0235678/3468/257");
  return {{{"width", width}, {"height", width}}, steps, std::move(parameters)};
}

inline structure::Network structure_network(std::uint64_t nodes) {
  structure::RandomNetwork options;
  options.nodes = nodes;
  return structure::random_network(options);
}

inline Workload<sugarscape::Parameters> sugarscape_workload(int width, int steps) {
  sugarscape::Parameters parameters;
  parameters.width = parameters.height = width;
  return {{{"width", width}, {"height", width}}, steps, parameters};
}

/// A city in which agents come and go in every step.
inline Workload<schelling::Parameters> schelling_workload(int width, int steps) {
  schelling::Parameters parameters;
  parameters.width = parameters.height = width;
  parameters.similar = 0.75;
  parameters.patience = 3;
  parameters.newcomers = 0.2;
  return {{{"width", width}, {"height", width}}, steps, parameters};
}

/// Boids of which each sees 30 others at the start.
inline Workload<flocking::Parameters> flocking_workload(std::uint32_t count, int steps) {
  flocking::Parameters parameters;
  parameters.side = flocking::side_for(count, 30);
  parameters.initial = flocking::random_boids(count, parameters.side, 42);
  return {{{"boids", count}}, steps, std::move(parameters)};
}

/// An epidemic that begins with one person in a hundred, spreads to nearly all and dies down.
inline Workload<epidemic::Parameters> epidemic_workload(std::uint32_t count, int steps) {
  epidemic::Parameters parameters;
  parameters.side = epidemic::side_for(count, 10);
  parameters.initial = epidemic::random_people(count, count / 100, parameters.side, parameters.seed);
  return {{{"people", count}}, steps, std::move(parameters)};
}

/// Ants anywhere in a garden, half of them with food, of which there is plenty.
inline Workload<ants::Parameters> ants_workload(std::uint32_t count, std::uint32_t side, int steps) {
  ants::Parameters parameters;
  parameters.world = ants::garden(side, 100);
  parameters.initial = ants::ants_anywhere(count, parameters.world, parameters.lifetime, parameters.seed);
  for (std::size_t i = 0; i < parameters.initial.size(); i += 2) parameters.initial[i].carries = true;
  return {{{"ants", count}, {"cells", side * side}}, steps, std::move(parameters)};
}

/// A ball of cells with oxygen, in a world that is twice as wide. Cells inside soon become hypoxic, and begin to die.
inline Workload<tumour::Parameters> tumour_workload(std::uint32_t count, int world, int steps) {
  tumour::Parameters parameters;
  parameters.world = world;
  parameters.initial = tumour::random_spheroid(count, parameters.seed);
  return {{{"cells", count}}, steps, std::move(parameters)};
}

inline Workload<forest_fire::Parameters> forest_fire_workload(int width, int steps) {
  forest_fire::Parameters parameters;
  parameters.width = parameters.height = width;
  return {{{"width", width}, {"height", width}}, steps, parameters};
}

inline traffic::Network traffic_network(std::uint32_t intersections) {
  constexpr std::uint32_t kGreen = 5;
  return traffic::random_network(intersections, kGreen, {});
}

}  // namespace benchmarks
