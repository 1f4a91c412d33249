/// @file
/// How bodies look: points of light, wider for greater masses, from blue (slow) to white and orange (fast).
#pragma once

#include <string>
#include <vector>

#include "simulation.h"

namespace bodies {

/// Writes a picture of [-1, 1]^2. @throws std::runtime_error if the file cannot be written
void save_bodies(const std::vector<BodyState>& bodies, const std::string& path);

}  // namespace bodies
