/// @file
/// How an ocean and its history look: the pictures that the program wa-tor writes.
#pragma once

#include <string>
#include <vector>

#include "simulation.h"

namespace wa_tor {

/// Writes a picture of the ocean. @throws std::runtime_error if the file cannot be written
void save_ocean(const std::vector<CellState>& ocean, const Parameters& parameters, const std::string& path);

/// Writes a chart of the populations from step 0. @throws std::runtime_error if the file cannot be written
void save_chart(const std::vector<Population>& history, const Parameters& parameters, const std::string& path);

}  // namespace wa_tor
