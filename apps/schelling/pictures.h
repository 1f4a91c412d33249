/// @file
/// How a city and its history look: the pictures that the program schelling writes.
#pragma once

#include <vector>

#include <app/chart.h>
#include <app/program.h>

#include "simulation.h"

namespace schelling {

app::Picture city_picture(const std::vector<CellState>& city, const Parameters& parameters);

/// A chart, from step 0, of the share of neighbours that are of the same group, and of the agents that are unhappy.
///
/// @param history   rows of red, blue, unhappy, similar
app::Chart segregation_chart(const std::vector<app::Row>& history, const Parameters& parameters);

}  // namespace schelling
