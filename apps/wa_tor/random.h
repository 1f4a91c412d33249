/// @file
/// What Wa-Tor's random numbers are for. Used by every parallel implementation; defined in README.md.
#pragma once

#include <cstdint>

#include <app/random.h>

namespace wa_tor {

using app::draw;
using app::random_block;
using app::scale;
using app::Seed;

/// What a random number is for; its number is part of the key, so no two decisions share numbers.
enum class Decision : std::uint32_t {
  initial = 0,       ///< what a cell holds at the start
  fish_move = 1,     ///< which candidate a fish asks for
  fish_accept = 2,   ///< which fish a cell gives itself to
  fish_birth = 3,    ///< a newborn fish's age
  shark_move = 4,    ///< which candidate a shark asks for
  shark_accept = 5,  ///< which shark a cell gives itself to
  shark_birth = 6,   ///< a newborn shark's age
};

}  // namespace wa_tor
