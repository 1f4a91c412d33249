/// @file
/// What ants look like: their picture, and the chart of a history.
#pragma once

#include <string>
#include <vector>

#include <app/chart.h>
#include <app/program.h>

#include "simulation.h"

namespace ants {

/// The pheromones as a glow, food, the nest and walls, and each ant as a short line in the direction where it looks.
app::Picture ants_picture(const State& state, const World& world);

/// How the numbers of ants, of those that carry food, and of portions change.
///
/// @param rows   columns as in Census, a row per step
app::Chart food_chart(const std::vector<app::Row>& rows, const std::string& subtitle);

/// The share of the ants in the two gates that are in the first one, in per cent, as a mean over the steps of a window:
/// as many before a step as after it. Until an ant is in a gate, 50.
///
/// @param rows   columns as in Census, a row per step
app::Chart gate_chart(const std::vector<app::Row>& rows, const std::string& subtitle);

}  // namespace ants
