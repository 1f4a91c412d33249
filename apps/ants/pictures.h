/// @file
/// The picture of the ants, and the charts of their history.
#pragma once

#include <string>
#include <vector>

#include <app/chart.h>
#include <app/program.h>

#include "simulation.h"

namespace ants {

/// Shows pheromones as a glow, food, the nest, walls, and each ant as a short line in the direction of its heading.
app::Picture ants_picture(const State& state, const World& world);

/// The numbers of ants, of ants that carry food, and of portions, over time.
///
/// @param rows   columns as in Census, a row per step
app::Chart food_chart(const std::vector<app::Row>& rows, const std::string& subtitle);

/// Of the ants in both gates, the percentage in the first one, over time. It is computed for a window of steps, with
/// the same number of steps before and after a step. If no ant is in a gate in the window, it is 50.
///
/// @param rows   columns as in Census, a row per step
app::Chart gate_chart(const std::vector<app::Row>& rows, const std::string& subtitle);

}  // namespace ants
