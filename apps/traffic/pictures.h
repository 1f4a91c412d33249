/// @file
/// How traffic and its history look: the pictures that the program traffic writes.
#pragma once

#include <string>
#include <vector>

#include <app/chart.h>
#include <app/program.h>

#include "network.h"
#include "simulation.h"

namespace traffic {

/// Writes a map of the network with the cars on it. @throws std::runtime_error if the file cannot be written
void save_map(const Network& network, const std::vector<CellState>& cells, const std::string& path);

/// Adds the columns `x` and `y`, the places of cars on the map. @param cars   has the column `cell`
void add_places(dynasoar::Columns& cars, const Network& network);

/// A chart of the cars from step 0.
///
/// @param history   rows whose first two columns are the cars and those that move
/// @param subtitle  says what was simulated
app::Chart history_chart(const std::vector<app::Row>& history, const std::string& subtitle);

}  // namespace traffic
