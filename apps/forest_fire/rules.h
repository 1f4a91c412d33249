/// @file
/// Chance in the forest, how its trees are counted, and what checkpoints say of it. Used by every parallel
/// implementation; the reference has code of its own. Defined in README.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include <app/census_history.h>
#include <app/torus.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/program/count_history.h>
#include <dynasoar/program/saved_options.h>
#include <dynasoar/random.h>

#include "simulation.h"

namespace forest_fire {

/// What a random number is for; its number is part of the key, so no two decisions share numbers.
enum class Decision : std::uint32_t {
  initial = 0,    ///< whether a cell holds a tree at the start
  growth = 1,     ///< whether a tree grows on empty ground
  lightning = 2,  ///< whether a tree is struck
};

/// The model's probabilities, and its dice.
struct Chance {
  dynasoar::random::Seed seed;
  std::uint64_t trees, growth, lightning;  ///< of 2^32 words, so many mean yes

  static Chance of(const Parameters& parameters) {
    const auto words = [](double fraction) { return static_cast<std::uint64_t>(fraction * 4294967296.0); };
    return {{parameters.seed}, words(parameters.trees), words(parameters.growth), words(parameters.lightning)};
  }

  __device__ bool starts_with_tree(std::uint32_t c) const { return happens(trees, Decision::initial, c, 0); }
  __device__ bool grows(std::uint32_t c, std::uint32_t step) const {
    return happens(growth, Decision::growth, c, step);
  }
  __device__ bool strikes(std::uint32_t c, std::uint32_t step) const {
    return happens(lightning, Decision::lightning, c, step);
  }

  /// Whether a tree is struck, or one grows where there is none: one draw for both, so that threads at trees and
  /// threads at empty ground draw together.
  __device__ bool strikes_or_grows(bool has_tree, std::uint32_t c, std::uint32_t step) const {
    return happens(has_tree ? lightning : growth, has_tree ? Decision::lightning : Decision::growth, c, step);
  }

 private:
  __device__ bool happens(std::uint64_t words, Decision decision, std::uint32_t c, std::uint32_t step) const {
    return dynasoar::random::words(seed, decision, c, step)[0] < words;
  }
};

/// What a checkpoint says of the run that wrote it.
inline app::SavedOptions options_of(const Parameters& parameters) {
  return app::SavedOptions()
      .add("--width", parameters.width)
      .add("--height", parameters.height)
      .add("--seed", parameters.seed)
      .add("--trees", parameters.trees)
      .add("--growth", parameters.growth)
      .add("--lightning", parameters.lightning);
}

/// A torus of the size that the parameters say.
inline app::Torus torus_of(const Parameters& parameters) {
  const auto width = static_cast<std::uint32_t>(parameters.width);
  return {width, width * static_cast<std::uint32_t>(parameters.height)};
}

/// Counts the tree of a cell. @tparam GroundOf   device callable: what a cell holds, by its number
template <class GroundOf>
struct CountTrees {
  GroundOf ground_of;
  __device__ void operator()(std::size_t c, app::Tally<Census>& tally) const {
    const Ground ground = ground_of(static_cast<std::uint32_t>(c));
    tally.of[0] += ground == Ground::tree;
    tally.of[1] += ground == Ground::fire;
  }
};

}  // namespace forest_fire
