/// @file
/// The numbers of the model and its start, shared by every parallel implementation. Defined in README.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include <app/census_history.h>
#include <app/on_grid.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/random.h>

#include "simulation.h"
#include "torus.h"

namespace wa_tor {

using dynasoar::random::below;
using dynasoar::random::draw;
using dynasoar::random::Seed;

/// The purpose of a random number. It is part of the key, so no two decisions share random numbers.
enum class Decision : std::uint32_t {
  initial = 0,       ///< what a cell holds at the start
  fish_move = 1,     ///< which candidate a fish asks for
  fish_accept = 2,   ///< which fish a cell chooses
  fish_birth = 3,    ///< a newborn fish's age
  shark_move = 4,    ///< which candidate a shark asks for
  shark_accept = 5,  ///< which shark a cell chooses
  shark_birth = 6,   ///< a newborn shark's age
};

/// The contents of a cell; the values are those of CellState::kind.
inline constexpr std::uint8_t kFree = 0;
inline constexpr std::uint8_t kFish = 1;
inline constexpr std::uint8_t kShark = 2;

/// An agent that moves and is older than this leaves a newborn behind.
inline constexpr std::uint32_t kSpawnAge = 4;
/// Newborns and the first agents have ages 0 to kNewbornAges - 1.
inline constexpr std::uint32_t kNewbornAges = 4;
inline constexpr std::uint32_t kInitialEnergy = 2;
/// The energy that a shark gains by eating a fish.
inline constexpr std::uint32_t kFishEnergy = 4;

/// The start's fractions as integers. A word below `fish` gives a fish, and otherwise a word below `agents` a shark.
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

__host__ __device__ inline InitialCell initial_cell(Seed seed, Thresholds thresholds, std::uint64_t cell) {
  const auto words = dynasoar::random::words(seed, Decision::initial, cell, 0);
  const std::uint32_t age = below(words[1], kNewbornAges);
  if (words[0] < thresholds.fish) return {kFish, age};
  if (words[0] < thresholds.agents) return {kShark, age};
  return {kFree, 0};
}

/// A random direction of `candidates`, drawn for `cell`. @pre !candidates.empty()
__host__ __device__ inline std::uint32_t choose(DirectionSet candidates, Seed seed, Decision decision,
                                                std::uint64_t cell, std::uint32_t step) {
  return candidates[draw(seed, decision, cell, step, candidates.size())];
}

/// The options of a run that its checkpoints contain.
inline app::SavedOptions options_of(const Parameters& parameters) {
  return parameters.saved_options().add("--fish", parameters.fish).add("--sharks", parameters.sharks);
}

/// Counts the agent of a cell. @tparam View   has a device function `kind(c)`
template <class View>
struct CountAgents {
  View view;
  __device__ void operator()(std::size_t c, app::Tally<Population>& tally) const {
    const std::uint8_t kind = view.kind(static_cast<app::CellNumber<View>>(c));
    tally.of[0] += kind == kFish;
    tally.of[1] += kind == kShark;
  }
};

}  // namespace wa_tor
