/// @file
/// The numbers of the model and its start, shared by every parallel implementation. Defined in README.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include <app/census_history.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/random.h>

#include "grid.h"
#include "simulation.h"

namespace sugarscape {

using dynasoar::random::below;
using dynasoar::random::draw;
using dynasoar::random::Seed;

/// The purpose of a random number. It is part of the key, so no two decisions share random numbers.
enum class Decision : std::uint32_t {
  growth = 0,         ///< how fast sugar grows on a cell
  initial_agent = 1,  ///< which agent is on a cell at the start
  move_ask = 2,       ///< which of the best free cells an agent asks for
  move_accept = 3,    ///< which of the agents that ask for a cell moves there
  birth_ask = 4,      ///< which free cell a father asks for
  birth_accept = 5,   ///< which father a cell chooses
  newborn = 6,        ///< a child's sex and how many children it may bear
};

/// The part of a cell's state that neighbours read. Females that are ready for children have a value of their own.
inline constexpr std::uint8_t kFree = 0;
inline constexpr std::uint8_t kMale = 1;
inline constexpr std::uint8_t kFemale = 2;
inline constexpr std::uint8_t kReadyFemale = 3;

__host__ __device__ constexpr bool is_female(std::uint8_t kind) {
  return kind == kFemale || kind == kReadyFemale;
}

/// The most sugar that a cell holds.
inline constexpr std::uint32_t kCapacity = 3500;

__host__ __device__ constexpr std::uint32_t limited(std::uint32_t sugar) {
  return sugar < kCapacity ? sugar : kCapacity;
}

/// The amount that a cell with this much sugar gives away.
__host__ __device__ constexpr std::uint32_t given(std::uint32_t sugar) {
  constexpr std::uint32_t kMost = 60;
  return sugar / 8 < kMost ? sugar / 8 : kMost;
}

/// The share of a gift that each cell in the window of the giver receives.
__host__ __device__ constexpr std::uint8_t share_of(std::uint32_t gift) {
  return static_cast<std::uint8_t>(gift / 8);
}

/// The sugar of a cell after growth, before diffusion.
__host__ __device__ constexpr std::uint32_t grown(std::uint32_t sugar, std::uint32_t growth) {
  return limited(sugar + growth);
}

/// The part that each cell in its window receives from a cell with this much sugar after growth (grown()).
__host__ __device__ constexpr std::uint8_t shared(std::uint32_t sugar) {
  return share_of(given(sugar));
}

/// The sugar after diffusion of a cell with this much sugar after growth (grown()).
///
/// @param shares   shared() of all cells in its window and of itself
__host__ __device__ constexpr std::uint16_t after_spread(std::uint32_t sugar, std::uint32_t shares) {
  const std::uint32_t received = shares - shared(sugar);
  return static_cast<std::uint16_t>(limited(sugar - given(sugar) + received));
}

/// The traits of an agent. Four bytes, so that they are read and written as one word.
struct alignas(4) Traits {
  std::uint8_t vision;
  std::uint8_t max_age;
  std::uint8_t endowment;
  std::uint8_t metabolism;
};

/// Copies the values that all agents have.
__device__ inline void describe_agent(CellState& state, std::uint8_t kind, Traits traits, std::uint32_t wealth,
                                      std::uint8_t age) {
  state.kind = kind;
  state.vision = traits.vision;
  state.max_age = traits.max_age;
  state.endowment = traits.endowment;
  state.metabolism = traits.metabolism;
  state.wealth = wealth;
  state.age = age;
}

/// A child's traits.
__host__ __device__ constexpr Traits mean(Traits a, Traits b) {
  return {static_cast<std::uint8_t>((a.vision + b.vision) / 2), static_cast<std::uint8_t>((a.max_age + b.max_age) / 2),
          static_cast<std::uint8_t>((a.endowment + b.endowment) / 2),
          static_cast<std::uint8_t>((a.metabolism + b.metabolism) / 2)};
}

/// The wealth that each parent pays for a child.
__host__ __device__ constexpr std::uint32_t birth_price(Traits traits) {
  return traits.endowment / 2u;
}

/// Whether an agent is old and rich enough for children.
__host__ __device__ constexpr bool is_ready(std::uint32_t age, std::uint32_t wealth, Traits traits) {
  constexpr std::uint32_t kAdult = 22;
  return age >= kAdult && 3 * wealth >= 2u * traits.endowment;
}

/// Whether an agent, already a step older, dies before this meal.
__host__ __device__ constexpr bool dies(std::uint32_t age, std::uint32_t wealth, Traits traits) {
  return age > traits.max_age || wealth <= traits.metabolism;
}

/// The start's fractions as integers. A word below `males` gives a male, and otherwise a word below `agents` a female.
struct Thresholds {
  std::uint64_t males;
  std::uint64_t agents;

  static Thresholds of(double males, double females) {
    const auto words = [](double fraction) { return static_cast<std::uint64_t>(fraction * 4294967296.0); };
    return {words(males), words(males) + words(females)};
  }
};

/// How much sugar grows on a cell in a step: 50 for 2% of the cells, 25 for 2%, 12 for 4%.
__host__ __device__ inline std::uint8_t initial_growth(Seed seed, std::uint32_t cell) {
  const std::uint32_t word = dynasoar::random::words(seed, Decision::growth, cell, 0)[0];
  return word < 85899345 ? 50 : word < 171798691 ? 25 : word < 343597383 ? 12 : 0;
}

__host__ __device__ inline std::uint8_t max_children(std::uint32_t word) {
  return static_cast<std::uint8_t>(2 + below(word, 6));
}

/// The agent on a cell at the start.
struct InitialAgent {
  std::uint8_t kind;  ///< kFree, kMale or kFemale
  Traits traits;
  std::uint8_t max_children;  ///< of a female
};

__host__ __device__ inline InitialAgent initial_agent(Seed seed, Thresholds thresholds, std::uint32_t cell) {
  const auto first = dynasoar::random::words(seed, Decision::initial_agent, cell, 0, 0);
  if (first[0] >= thresholds.agents) return {kFree, {}, 0};
  const auto second = dynasoar::random::words(seed, Decision::initial_agent, cell, 0, 1);
  const Traits traits{
      static_cast<std::uint8_t>(1 + below(first[1], 2)), static_cast<std::uint8_t>(66 + below(first[2], 33)),
      static_cast<std::uint8_t>(50 + below(first[3], 150)), static_cast<std::uint8_t>(26 + below(second[0], 53))};
  if (first[0] < thresholds.males) return {kMale, traits, 0};
  return {kFemale, traits, max_children(second[1])};
}

/// A child's sex and, of a female, the number of children.
struct Newborn {
  std::uint8_t kind;
  std::uint8_t max_children;  ///< of a female
};

__host__ __device__ inline Newborn newborn(Seed seed, std::uint32_t cell, std::uint32_t step) {
  const auto words = dynasoar::random::words(seed, Decision::newborn, cell, step);
  if (below(words[0], 2) == 0) return {kMale, 0};
  return {kFemale, max_children(words[1])};
}

/// The position that `cell` draws out of `candidates`. @pre !candidates.empty()
__host__ __device__ inline std::uint8_t choose(Positions candidates, Seed seed, Decision decision, std::uint32_t cell,
                                               std::uint32_t step) {
  return candidates[draw(seed, decision, cell, step, candidates.size())];
}

/// Finds the positions with the most sugar, all of them if there are several. Without branches, see Grid::for_each_at.
class BestPlaces {
 public:
  /// @param is_there   if it is false, nothing happens
  __host__ __device__ void consider(std::uint32_t position, bool is_there, std::uint32_t sugar) {
    const std::uint32_t value = is_there ? sugar + 1 : 0;
    positions_ = value > most_ ? Positions() : positions_;
    positions_.add_if(value >= most_, position);
    most_ = value > most_ ? value : most_;
  }

  __host__ __device__ Positions positions() const { return positions_; }

 private:
  std::uint32_t most_ = 1;  // that of a cell without sugar
  Positions positions_;
};

/// The cells of this kind in sight of c. @tparam View   has `grid`, and device functions `kind(c)` and `sugar(c)`
template <class View>
__device__ Positions in_sight(const View& view, std::uint8_t kind, std::uint32_t c, std::uint32_t vision) {
  return view.grid.where(c, view.grid.sight(c, vision), [&](std::uint32_t other) { return view.kind(other) == kind; });
}

/// The free cells in sight of c that have the most sugar.
template <class View>
__device__ Positions best_in_sight(const View& view, std::uint32_t c, std::uint32_t vision) {
  BestPlaces best;
  view.grid.for_each_at(
      c, in_sight(view, kFree, c, vision), [&](std::uint32_t other) { return view.sugar(other); },
      [&](std::uint32_t position, bool is_there, std::uint32_t sugar) { best.consider(position, is_there, sugar); });
  return best.positions();
}

/// c's agent asks for one of the candidates, if there are any. @return which one, or kNone
///
/// @tparam View   also has `seed`, `step` and `requests(c)`, an atomic word. Bit p is set if the agent at position p of
///                c's window asks for c
template <class View>
__device__ std::uint8_t ask_for(const View& view, std::uint32_t c, Positions candidates, Decision decision) {
  if (candidates.empty()) return kNone;
  const std::uint8_t position = choose(candidates, view.seed, decision, c, view.step);
  view.requests(view.grid.at(c, position)).fetch_or(1u << mirrored(position), dynasoar::Order::relaxed);
  return position;
}

/// Whether the cell at `position` chooses c's agent, which asked for it.
template <class View>
__device__ bool is_chosen(const View& view, std::uint32_t c, std::uint8_t position, Decision decision) {
  const std::uint32_t wanted = view.grid.at(c, position);
  const Positions askers(view.requests(wanted).load(dynasoar::Order::relaxed));
  return choose(askers, view.seed, decision, wanted, view.step) == mirrored(position);
}

/// Finds the agent with the most sugar; among equals, the one that is considered first.
class RichestAgent {
 public:
  /// @pre wealth > 0, like that of every living agent
  __host__ __device__ void consider(std::uint32_t position, std::uint32_t wealth) {
    if (wealth <= most_) return;
    most_ = wealth;
    position_ = static_cast<std::uint8_t>(position);
  }

  /// Where it is, or kNone.
  __host__ __device__ std::uint8_t position() const { return position_; }

 private:
  std::uint32_t most_ = 0;
  std::uint8_t position_ = kNone;
};

/// The notes of a checkpoint about the run that wrote it.
inline app::SavedOptions options_of(const Parameters& parameters) {
  return parameters.saved_options().add("--male", parameters.males).add("--female", parameters.females);
}

/// Counts a cell. @tparam View   has device functions `kind(c)` and `sugar(c)` of a cell number
template <class View>
struct TakeCensus {
  View view;
  __device__ void operator()(std::size_t index, app::Tally<Census>& tally) const {
    const auto c = static_cast<std::uint32_t>(index);
    const std::uint8_t kind = view.kind(c);
    tally.of[0] += kind == kMale;
    tally.of[1] += is_female(kind);
    tally.of[2] += view.sugar(c);
  }
};

}  // namespace sugarscape
