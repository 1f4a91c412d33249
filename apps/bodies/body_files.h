/// @file
/// Bodies in CSV files. Plain C++.
#pragma once

#include <string>
#include <vector>

#include "simulation.h"

namespace bodies {

/// Reads bodies: a header line with the columns x, y, vx, vy, mass in any order, then a line for each body.
///
/// @throws app::UsageError with file, line and column for what is not that, and for numbers out of the ranges in
///         simulation.h
std::vector<BodyState> read_bodies(const std::string& path);

/// Writes bodies so that read_bodies gets the same numbers. @throws std::runtime_error if the file cannot be written
void write_bodies(const std::vector<BodyState>& bodies, const std::string& path);

}  // namespace bodies
