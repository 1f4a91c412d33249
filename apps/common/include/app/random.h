/// @file
/// The models' random numbers: one Philox4x32-10 block per decision, a pure function of seed, decision, entity, step
/// and draw. Used by every parallel implementation; the sequential references have code of their own.
#pragma once

#include <cstdint>

#include <Random123/philox.h>

#include <dynasoar/platform/config.h>

namespace app {

/// The seed of a run, passed to the device by value.
struct Seed {
  std::uint64_t value;
};

/// The block of four words that belongs to one decision of one entity in one step.
///
/// @tparam Decision   the model's enumeration of what random numbers are for; its value is part of the key
/// @param entity      a stable number, such as that of a cell or a body
/// @param draw        counts the draws of one decision
template <class Decision>
__host__ __device__ inline philox4x32_ctr_t random_block(Seed seed, Decision decision, std::uint32_t entity,
                                                         std::uint32_t step, std::uint32_t draw = 0) {
  const philox4x32_ctr_t counter = {{entity, step, draw, 0}};
  const philox4x32_key_t key = {
      {static_cast<std::uint32_t>(seed.value),
       static_cast<std::uint32_t>(decision) + 0x9E3779B9u * static_cast<std::uint32_t>(seed.value >> 32)}};
  return philox4x32(counter, key);
}

/// Maps a random word to an integer in [0, n).
__host__ __device__ inline std::uint32_t scale(std::uint32_t word, std::uint32_t n) {
  return static_cast<std::uint32_t>((std::uint64_t{word} * n) >> 32);
}

/// Maps a random word to a real number in [0, 1), a multiple of 2^-24: exact in float.
__host__ __device__ inline float unit_real(std::uint32_t word) {
  return static_cast<float>(word >> 8) * 0x1p-24f;
}

/// An integer in [0, n). @pre n > 0
/// @par Cost   a Philox block, or nothing if n is 1: there is nothing to decide
template <class Decision>
__host__ __device__ inline std::uint32_t draw(Seed seed, Decision decision, std::uint32_t entity, std::uint32_t step,
                                              std::uint32_t n) {
  return n == 1 ? 0 : scale(random_block(seed, decision, entity, step).v[0], n);
}

}  // namespace app
