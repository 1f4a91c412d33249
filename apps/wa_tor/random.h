/// @file
/// Wa-Tor's random numbers: one Philox4x32-10 block per decision, a pure function of seed, decision, cell and step.
/// Used by every parallel implementation; the sequential reference has code of its own. Defined in README.md.
#pragma once

#include <cstdint>

#include <Random123/philox.h>

#include <dynasoar/platform/config.h>

namespace wa_tor {

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

/// The seed of a run, passed to the device by value.
struct Seed {
  std::uint64_t value;
};

/// The block of four words that belongs to one decision of one cell in one step.
__host__ __device__ inline philox4x32_ctr_t random_block(Seed seed, Decision decision, std::uint32_t cell,
                                                         std::uint32_t step) {
  const philox4x32_ctr_t counter = {{cell, step, 0, 0}};
  const philox4x32_key_t key = {
      {static_cast<std::uint32_t>(seed.value),
       static_cast<std::uint32_t>(decision) + 0x9E3779B9u * static_cast<std::uint32_t>(seed.value >> 32)}};
  return philox4x32(counter, key);
}

/// Maps a random word to an integer in [0, n).
__host__ __device__ inline std::uint32_t scale(std::uint32_t word, std::uint32_t n) {
  return static_cast<std::uint32_t>((std::uint64_t{word} * n) >> 32);
}

/// An integer in [0, n). @pre n > 0
/// @par Cost   a Philox block, or nothing if n is 1: there is nothing to decide
__host__ __device__ inline std::uint32_t draw(Seed seed, Decision decision, std::uint32_t cell, std::uint32_t step,
                                              std::uint32_t n) {
  return n == 1 ? 0 : scale(random_block(seed, decision, cell, step).v[0], n);
}

}  // namespace wa_tor
