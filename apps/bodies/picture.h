/// @file
/// How bodies look: points of light, wider for greater masses, from blue (slow) to white and orange (fast).
#pragma once

#include <vector>

#include <app/picture.h>

#include "simulation.h"

namespace bodies {

/// [-1, 1]^2.
app::Picture bodies_picture(const std::vector<BodyState>& bodies);

}  // namespace bodies
