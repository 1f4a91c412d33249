/// @file
/// What the model's random numbers are for. Used by the networks and every parallel implementation; defined in
/// README.md.
#pragma once

#include <cstdint>

#include <app/random.h>

namespace traffic {

using app::random_block;
using app::scale;
using app::Seed;

/// What a random number is for; its number is part of the key, so no two decisions share numbers.
enum class Decision : std::uint32_t {
  start = 0,         ///< which car is on a cell at the start
  birth = 1,         ///< whether a producer makes a car, and which
  drive = 2,         ///< how a car accelerates, dawdles and turns
  intersection = 3,  ///< where an intersection is, and how many streets begin there
  street = 4,        ///< where a street ends, and its limit
  source = 5,        ///< whether a cell is a producer or a destination
};

}  // namespace traffic
