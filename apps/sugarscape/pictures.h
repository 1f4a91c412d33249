/// @file
/// How a landscape and its history look: the pictures that the program sugarscape writes.
#pragma once

#include <string>
#include <vector>

#include <app/chart.h>
#include <app/program.h>

#include "simulation.h"

namespace sugarscape {

/// Writes a picture of the landscape. @throws std::runtime_error if the file cannot be written
void save_landscape(const std::vector<CellState>& landscape, const Parameters& parameters, const std::string& path);

/// A chart of the populations from step 0.
///
/// @param history   rows of four: agents, males, females and sugar
app::Chart population_chart(const std::vector<app::Row>& history, const Parameters& parameters);

}  // namespace sugarscape
