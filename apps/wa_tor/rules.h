/// @file
/// The numbers of the model and its start, shared by every parallel implementation. Defined in README.md.
#pragma once

#include <cstdint>

#include <dynasoar/platform/config.h>

#include "random.h"
#include "torus.h"

namespace wa_tor {

/// What a cell holds; the values are those of CellState::kind.
inline constexpr std::uint8_t kFree = 0;
inline constexpr std::uint8_t kFish = 1;
inline constexpr std::uint8_t kShark = 2;

/// An agent that moves and is older than this leaves a newborn behind.
inline constexpr std::uint32_t kSpawnAge = 4;
/// Newborns and the first agents have ages 0 to kNewbornAges - 1.
inline constexpr std::uint32_t kNewbornAges = 4;
inline constexpr std::uint32_t kInitialEnergy = 2;
/// What a shark gains by eating a fish.
inline constexpr std::uint32_t kFishEnergy = 4;

/// The start's fractions as integers: a word below `fish` makes a fish, else below `agents` a shark.
struct Thresholds {
  std::uint64_t fish;
  std::uint64_t agents;

  static Thresholds of(double fish, double sharks) {
    const auto words = [](double fraction) { return static_cast<std::uint64_t>(fraction * 4294967296.0); };
    return {words(fish), words(fish) + words(sharks)};
  }
};

/// A cell's content at the start.
struct InitialCell {
  std::uint8_t kind;
  std::uint32_t age;
};

__host__ __device__ inline InitialCell initial_cell(Seed seed, Thresholds thresholds, std::uint32_t cell) {
  const philox4x32_ctr_t random = random_block(seed, Decision::initial, cell, 0);
  const std::uint32_t age = scale(random.v[1], kNewbornAges);
  if (random.v[0] < thresholds.fish) return {kFish, age};
  if (random.v[0] < thresholds.agents) return {kShark, age};
  return {kFree, 0};
}

/// The direction out of `candidates` that `cell` draws. @pre !candidates.empty()
__host__ __device__ inline std::uint32_t choose(DirectionSet candidates, Seed seed, Decision decision,
                                                std::uint32_t cell, std::uint32_t step) {
  return candidates[draw(seed, decision, cell, step, candidates.size())];
}

}  // namespace wa_tor
