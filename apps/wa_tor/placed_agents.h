/// @file
/// Fish and sharks as objects that are placed on a lattice, and the functions that their loops call. Used by placed.cpp
/// and, on several ranks, by tests. README.md defines the model.
///
/// A half of a step is two loops. Agents *ask* for a cell by storing its direction. Cells *take* one of the agents that
/// ask for them. A loop sees the state at its beginning, so a cell can move the agent itself. A loop reads values that
/// the previous loop has written, and every location has one writer in a loop. So the result does not depend on the
/// order of threads.
///
/// An agent stores the steps at which it was born and will starve. Its age and energy follow from them, so agents that
/// do not move need no store.
#pragma once

#include <cstdint>

#include <app/allocator.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>
#include <dynasoar/step_value.h>

#include "rules.h"
#include "simulation.h"
#include "torus.h"

namespace wa_tor::placed {
inline namespace DYNASOAR_APP_ALLOCATOR {

using dynasoar::Place;

class Agent;
class Fish;
class Shark;
using AllocatorT = app::Allocator<Fish, Shark>;

inline constexpr std::uint8_t kStay = kDirections;  ///< an agent's choice if it asks for no cell

/// The argument of loops.
struct Ocean {
  using CellNumber = std::uint64_t;

  Seed seed;
  dynasoar::StepNumber step;

  /// A cell's number, for random numbers.
  __device__ static std::uint64_t number(Place place) { return dynasoar::lattice_of<Fish>().number(place); }

  __device__ static Place neighbor(Place place, std::uint32_t direction) {
    return dynasoar::lattice_of<Fish>().neighbour(place, static_cast<dynasoar::Direction>(direction));
  }

  /// The directions in which `f(neighbour)` is true.
  template <class F>
  __device__ static DirectionSet directions(Place place, const F& f) {
    DirectionSet result;
    result.add_if(f(neighbor(place, 0)), 0);
    result.add_if(f(neighbor(place, 1)), 1);
    result.add_if(f(neighbor(place, 2)), 2);
    result.add_if(f(neighbor(place, 3)), 3);
    return result;
  }

  __device__ static DirectionSet free_neighbors(Place place) {
    return directions(place, [](Place next) { return dynasoar::is_free<Fish, Shark>(next); });
  }

  /// The choice of an agent.
  __device__ std::uint8_t choice(DirectionSet candidates, Decision decision, Place place) const {
    return candidates.empty() ? kStay
                              : static_cast<std::uint8_t>(choose(candidates, seed, decision, number(place), step));
  }

  /// The step of birth of an agent that is left behind.
  template <class T>
  __device__ std::uint32_t birth_of_newborn(const T* agent, Decision decision) const {
    return step - draw(seed, decision, number(dynasoar::place_of(agent)), step, kNewbornAges);
  }

  __device__ std::uint8_t kind(std::uint64_t c) const;
  __device__ CellState state(std::uint64_t c) const;
};

/// Has no fields, so that the fields of its subclasses are found faster.
class Agent : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Agent);
};

class Fish final : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Fish, (born_, std::uint32_t), (choice_, std::uint8_t));

  __device__ explicit Fish(std::uint32_t born) : born_(born), choice_(kStay) {}

  __device__ std::uint32_t age(std::uint32_t step) const { return step - born_; }

  __device__ void ask(Ocean ocean) {
    const Place here = dynasoar::place_of(this);
    choice_ = ocean.choice(Ocean::free_neighbors(here), Decision::fish_move, here);
  }

  /// Moves to a place that has taken it.
  __device__ void move(Place to, const Ocean& ocean) {
    if (age(ocean.step) > kSpawnAge) {
      dynasoar::make_new_at<Fish>(to, ocean.step);  // the newborn takes over this object
      born_ = ocean.birth_of_newborn(this, Decision::fish_birth);
    } else {
      dynasoar::move_to(this, to);
    }
  }
};

class Shark final : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Shark, (born_, std::uint32_t), (starves_, std::uint32_t), (choice_, std::uint8_t));

  __device__ Shark(std::uint32_t born, std::uint32_t starves) : born_(born), starves_(starves), choice_(kStay) {}

  __device__ std::uint32_t age(std::uint32_t step) const { return step - born_; }
  __device__ std::uint32_t energy(std::uint32_t step) const { return starves_ - step; }

  __device__ void ask(Ocean ocean) {
    if (energy(ocean.step) == 0) {
      dynasoar::destroy(this);
      return;
    }
    const Place here = dynasoar::place_of(this);
    DirectionSet candidates = Ocean::directions(here, [](Place next) { return dynasoar::at<Fish>(next) != nullptr; });
    if (candidates.empty()) candidates = Ocean::free_neighbors(here);
    choice_ = ocean.choice(candidates, Decision::shark_move, here);
  }

  /// Moves to a place that has taken it, and eats the fish there, if there is one.
  __device__ void move(Place to, const Ocean& ocean) {
    const std::uint32_t starves = starves_ + (dynasoar::destroy(dynasoar::at<Fish>(to)) ? kFishEnergy : 0);
    if (age(ocean.step) > kSpawnAge) {
      dynasoar::make_new_at<Shark>(to, ocean.step, starves);
      born_ = ocean.birth_of_newborn(this, Decision::shark_birth);
      starves_ = ocean.step + kInitialEnergy;
    } else if (Shark* const moved = dynasoar::move_to(this, to)) {
      moved->starves_ = starves;
    }
  }
};

__device__ inline std::uint8_t Ocean::kind(std::uint64_t c) const {
  const Place place = dynasoar::lattice_of<Fish>().place_of_number(c);
  if (dynasoar::at<Fish>(place) != nullptr) return kFish;
  return dynasoar::at<Shark>(place) != nullptr ? kShark : kFree;
}

__device__ inline CellState Ocean::state(std::uint64_t c) const {
  const Place place = dynasoar::lattice_of<Fish>().place_of_number(c);
  if (const Fish* const fish = dynasoar::at<Fish>(place)) return {kFish, fish->age(step), 0};
  if (const Shark* const shark = dynasoar::at<Shark>(place)) return {kShark, shark->age(step), shark->energy(step)};
  return {};
}

/// Makes a cell's first agent.
struct Populate {
  Seed seed;
  Thresholds thresholds;

  __device__ void operator()(Place place) const {
    const InitialCell initial = initial_cell(seed, thresholds, Ocean::number(place));
    if (initial.kind == kFish) dynasoar::make_new_at<Fish>(place, 0 - initial.age);
    if (initial.kind == kShark) dynasoar::make_new_at<Shark>(place, 0 - initial.age, std::uint32_t{kInitialEnergy});
  }
};

/// A cell takes one of the Ts that ask for it.
template <class T>
struct Take {
  Ocean ocean;
  Decision decision;

  __device__ void operator()(Place place, std::uint32_t askers) const {
    const auto chosen = choose(DirectionSet(askers), ocean.seed, decision, Ocean::number(place), ocean.step);
    dynasoar::at<T>(Ocean::neighbor(place, chosen))->move(place, ocean);
  }
};

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace wa_tor::placed
