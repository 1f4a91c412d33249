/// @file
/// Bodies at random, for n-body and collision.
#pragma once

#include <cstdint>
#include <vector>

#include "simulation.h"

namespace bodies {

/// Bodies at random: positions uniform in [-1, 1)^2, components of velocities in [-0.0005, 0.0005), masses
/// uniform in [least_mass, most_mass] and multiples of 2^-9, so that their sums are exact.
/// Which random numbers: apps/n_body/README.md.
std::vector<BodyState> random_bodies(std::uint32_t count, std::uint64_t seed, float least_mass, float most_mass);

}  // namespace bodies
