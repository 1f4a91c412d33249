/// @file
/// The random events of the forest, the counts of its trees, and the options in its checkpoints. Used by every parallel
/// implementation; the reference has its own code. Defined in README.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include <app/census_history.h>
#include <app/count_history.h>
#include <app/on_grid.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/random.h>

#include "simulation.h"

namespace forest_fire {

/// The purpose of a random number. It is part of the key, so no two decisions share random numbers.
enum class Decision : std::uint32_t {
  initial = 0,    ///< whether a cell holds a tree at the start
  growth = 1,     ///< whether a tree grows on empty ground
  lightning = 2,  ///< whether a tree is struck
};

/// A probability as a number of random words, in a form in which comparisons have 32 bits, which compilers vectorize
/// for CPUs.
struct Share {
  std::uint32_t greatest;  ///< the greatest word for which the event happens
  std::uint32_t any;       ///< 0 if no word does, else 1

  static Share of(double fraction) {
    const auto words = static_cast<std::uint64_t>(fraction * 4294967296.0);
    return {static_cast<std::uint32_t>(words - 1), words > 0 ? 1u : 0u};
  }

  __host__ __device__ bool has(std::uint32_t word) const {
    return static_cast<bool>((word <= greatest) & any);  // not &&, which is a branch
  }
};

/// The model's probabilities, and its random numbers.
struct Chance {
  dynasoar::random::Seed seed;
  Share trees, growth, lightning;

  static Chance of(const Parameters& parameters) {
    return {
        {parameters.seed}, Share::of(parameters.trees), Share::of(parameters.growth), Share::of(parameters.lightning)};
  }

  __device__ bool starts_with_tree(std::uint64_t c) const { return happens(trees, Decision::initial, c, 0); }
  __device__ bool grows(std::uint64_t c, std::uint32_t step) const {
    return happens(growth, Decision::growth, c, step);
  }
  __device__ bool strikes(std::uint64_t c, std::uint32_t step) const {
    return happens(lightning, Decision::lightning, c, step);
  }

  /// Whether a tree is struck, or grows in an empty cell. Both events use one draw, so that the threads of a warp do
  /// not diverge.
  __device__ bool strikes_or_grows(bool has_tree, std::uint64_t c, std::uint32_t step) const {
    const Share share = {has_tree ? lightning.greatest : growth.greatest, has_tree ? lightning.any : growth.any};
    return happens(share, has_tree ? Decision::lightning : Decision::growth, c, step);
  }

 private:
  __device__ bool happens(Share share, Decision decision, std::uint64_t c, std::uint32_t step) const {
    return share.has(dynasoar::random::words(seed, decision, c, step)[0]);
  }
};

/// The options of a run that its checkpoints contain.
inline app::SavedOptions options_of(const Parameters& parameters) {
  return parameters.saved_options()
      .add("--trees", parameters.trees)
      .add("--growth", parameters.growth)
      .add("--lightning", parameters.lightning);
}

/// Counts the tree of a cell. @tparam View   has a device function `state(c)`, the contents of a cell
template <class View>
struct CountTrees {
  View view;
  __device__ void operator()(std::size_t c, app::Tally<Census>& tally) const {
    const Ground ground = view.state(static_cast<app::CellNumber<View>>(c));
    tally.of[0] += ground == Ground::tree;
    tally.of[1] += ground == Ground::fire;
  }
};

}  // namespace forest_fire
