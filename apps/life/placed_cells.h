/// @file
/// Cells that are not dead as objects that are placed on a lattice, and the functions that their loops call. Used by
/// placed.cpp and, on several ranks, by tests. README.md defines the model.
///
/// Alive cells have no fields, because a step needs only their places. A thread processes a block of 64 places, and
/// adds up the neighbours of all of them bit by bit. It sees the cells that were alive when the loop began, and only
/// later loops see its changes. So the result does not depend on the order of threads. Dying cells have a state, and
/// are objects of another class on a second lattice. Rules with two states do not need it.
#pragma once

#include <cstdint>

#include <app/allocator.h>
#include <app/neighbor_counts.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

#include "dynamics.h"
#include "rule.h"
#include "start.h"

namespace life::placed {
inline namespace DYNASOAR_APP_ALLOCATOR {

using app::NeighborCounts;
using app::NeighborSets;
using app::Word;
using dynasoar::Place;
using dynasoar::PlaceBlock;

class Cell;
class Alive;
class Dying;
using AllocatorT = app::Allocator<Alive, Dying>;

/// A cell that is not dead.
class Cell : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Cell);
};

class Alive final : public Cell {
 public:
  using BaseClass = Cell;
  DYNASOAR_FIELDS(Alive);

  __device__ static std::uint64_t number(Place place) { return dynasoar::lattice_of<Alive>().number(place); }
  __device__ std::uint64_t index() const { return number(dynasoar::place_of(this)); }
  __device__ std::uint32_t state() const { return kAlive; }
};

class Dying final : public Cell {
 public:
  using BaseClass = Cell;
  DYNASOAR_FIELDS(Dying, (state_, std::uint16_t));

  __device__ explicit Dying(std::uint32_t state) : state_(static_cast<std::uint16_t>(state)) {}

  __device__ std::uint64_t index() const { return Alive::number(dynasoar::place_of(this)); }
  __device__ std::uint32_t state() const { return state_; }

  __device__ void grow_older(Rule rule) {
    const std::uint32_t next = older(rule, state_);
    if (next == kDead) {
      dynasoar::destroy(this);
    } else {
      state_ = static_cast<std::uint16_t>(next);
    }
  }
};

/// Makes a cell's object at the start.
struct Populate {
  StartView start;
  __device__ void operator()(Place place) const {
    const std::uint32_t state = start.state(Alive::number(place));
    if (state == kAlive) {
      dynasoar::make_new_at<Alive>(place);
    } else if (state != kDead) {
      dynasoar::make_new_at<Dying>(place, state);
    }
  }
};

/// A step of 64 cells, under a rule with two states.
struct Live {
  Rule rule;
  __device__ void operator()(PlaceBlock block) const {
    const NeighborCounts neighbors(NeighborSets::of<Alive>(block));
    dynasoar::create_where<Alive>(block, neighbors.in(rule.birth));
    dynasoar::destroy_where<Alive>(block, ~neighbors.in(rule.survival));
  }
};

/// The same under a rule in which cells that do not survive are dying for some steps.
struct LiveAndBeginToDie {
  Rule rule;
  __device__ void operator()(PlaceBlock block) const {
    const NeighborCounts neighbors(NeighborSets::of<Alive>(block));
    dynasoar::create_where<Alive>(block, neighbors.in(rule.birth) & ~dynasoar::where<Dying>(block));
    const Word dead = dynasoar::destroy_where<Alive>(block, ~neighbors.in(rule.survival));
    dynasoar::create_where<Dying>(block, dead, std::uint32_t{kAlive});  // they grow older in the next loop
  }
};

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace life::placed
