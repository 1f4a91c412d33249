/// @file
/// What Sugarscape's random numbers are for. Used by every parallel implementation; defined in README.md.
#pragma once

#include <cstdint>

#include <app/random.h>

namespace sugarscape {

using app::draw;
using app::random_block;
using app::scale;
using app::Seed;

/// What a random number is for; its number is part of the key, so no two decisions share numbers.
enum class Decision : std::uint32_t {
  growth = 0,         ///< how fast sugar grows on a cell
  initial_agent = 1,  ///< who lives on a cell at the start
  move_ask = 2,       ///< which of the best free cells an agent asks for
  move_accept = 3,    ///< which of the agents that ask for a cell moves there
  birth_ask = 4,      ///< which free cell a father asks for
  birth_accept = 5,   ///< whose child a cell takes
  newborn = 6,        ///< a child's sex and how many children it may bear
};

}  // namespace sugarscape
