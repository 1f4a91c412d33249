/// @file
/// What a flock looks like: its picture, and the chart of its history.
#pragma once

#include <string>
#include <vector>

#include <app/chart.h>
#include <app/program.h>

#include "simulation.h"

namespace flocking {

/// Every boid as a dart, in the colour of its direction.
app::Picture flock_picture(const std::vector<BoidState>& boids, float side);

/// How much the boids agree about where to fly.
///
/// @param rows   columns as in Totals
app::Chart order_chart(const std::vector<app::Row>& rows, const std::string& subtitle);

}  // namespace flocking
