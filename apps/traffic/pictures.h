/// @file
/// The pictures of traffic and its history that the program traffic writes.
#pragma once

#include <string>
#include <vector>

#include <app/chart.h>
#include <app/program.h>

#include "network.h"
#include "simulation.h"

namespace traffic {

/// A map of the network with the cars on it.
app::Picture map_picture(const Network& network, const std::vector<CellState>& cells);

/// The position of each cell on the map.
std::vector<Point> places_of_cells(const Network& network);

/// Adds the columns `x` and `y`, the places of cars on the map. @param cars   has the column `cell`
void add_places(dynasoar::Columns& cars, const std::vector<Point>& places);

/// The map.
app::World world_of(const Network& network);

/// A chart of the cars from step 0.
///
/// @param history   rows whose first two columns are the cars and those that move
/// @param subtitle  says what was simulated
app::Chart history_chart(const std::vector<app::Row>& history, const std::string& subtitle);

}  // namespace traffic
