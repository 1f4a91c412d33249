/// @file
/// The picture of a flock, and the chart of its history.
#pragma once

#include <string>
#include <vector>

#include <app/chart.h>
#include <app/program.h>

#include "simulation.h"

namespace flocking {

/// Every boid as a dart, in the colour of its direction.
app::Picture flock_picture(const std::vector<BoidState>& boids, float side);

/// A chart of the alignment of the boids.
///
/// @param rows   columns as in Totals
app::Chart order_chart(const std::vector<app::Row>& rows, const std::string& subtitle);

}  // namespace flocking
