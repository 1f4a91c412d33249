/// @file
/// How an ocean and its history look: the pictures that the program wa-tor writes.
#pragma once

#include <string>
#include <vector>

#include <app/chart.h>
#include <app/program.h>

#include "simulation.h"

namespace wa_tor {

/// Writes a picture of the ocean. @throws std::runtime_error if the file cannot be written
void save_ocean(const std::vector<CellState>& ocean, const Parameters& parameters, const std::string& path);

/// A chart of the populations from step 0.
///
/// @param history   rows of two: fish and sharks
app::Chart population_chart(const std::vector<app::Row>& history, const Parameters& parameters);

}  // namespace wa_tor
