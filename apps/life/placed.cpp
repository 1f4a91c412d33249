/// @file
/// Life and Generations with objects that are placed on a lattice for the cells that are not dead. The model itself is
/// in README.md.
///
/// Alive cells have no fields: a step only has to know where they are. A thread takes a block of 64 places and adds up
/// the neighbours of all of them bit by bit. It sees which cells were alive when the loop began, and creates and
/// destroys for the next loop, so nothing depends on the order of threads. Dying cells, which have a state, are objects
/// of another class on a second lattice. Rules with two states do without it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <app/allocator.h>
#include <app/neighbor_counts.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

#include "census.h"
#include "dynamics.h"
#include "lattice.h"
#include "object_life.h"
#include "simulation.h"
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

  __device__ static std::uint32_t number(Place place) {
    return static_cast<std::uint32_t>(dynasoar::lattice_of<Alive>().number(place));
  }
  __device__ std::uint32_t index() const { return number(dynasoar::place_of(this)); }
  __device__ std::uint32_t state() const { return kAlive; }
};

class Dying final : public Cell {
 public:
  using BaseClass = Cell;
  DYNASOAR_FIELDS(Dying, (state_, std::uint16_t));

  __device__ explicit Dying(std::uint32_t state) : state_(static_cast<std::uint16_t>(state)) {}

  __device__ std::uint32_t index() const { return Alive::number(dynasoar::place_of(this)); }
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

/// The same where cells that do not survive are dying for some steps.
struct LiveAndBeginToDie {
  Rule rule;
  __device__ void operator()(PlaceBlock block) const {
    const NeighborCounts neighbors(NeighborSets::of<Alive>(block));
    dynasoar::create_where<Alive>(block, neighbors.in(rule.birth) & ~dynasoar::where<Dying>(block));
    const Word dead = dynasoar::destroy_where<Alive>(block, ~neighbors.in(rule.survival));
    dynasoar::create_where<Dying>(block, dead, std::uint32_t{kAlive});  // they grow older in the next loop
  }
};

/// Counts the cells of a block for the census.
struct CountBlock {
  bool has_dying;
  __device__ void operator()(std::size_t i, Tally& tally) const {
    const PlaceBlock block = dynasoar::lattice_of<Alive>().block_of(Place(64 * i));
    const Word alive = dynasoar::where<Alive>(block);
    const Word dying = has_dying ? dynasoar::where<Dying>(block) : 0;
    const Word candidates = NeighborCounts(NeighborSets::of<Alive>(block)).any() & ~alive & ~dying;
    tally.of[kAliveCells] += static_cast<std::uint64_t>(dynasoar::detail::popcount(alive));
    tally.of[kDyingCells] += static_cast<std::uint64_t>(dynasoar::detail::popcount(dying));
    tally.of[kCandidates] += static_cast<std::uint64_t>(dynasoar::detail::popcount(candidates));
  }
};

class Model {
 public:
  using Handle = dynasoar::AllocatorHandle<AllocatorT>;
  static constexpr std::size_t kKindsOfSteps = 1;

  Model(Handle& handle, Lattice frame, Rule rule, StartView start)
      : handle_(handle), rule_(rule), alive_(handle, {frame.width, frame.height}, edges(frame)) {
    if (rule.states > 2) dying_.emplace(handle, std::vector<std::size_t>{frame.width, frame.height}, edges(frame));
    alive_.parallel_for(Populate{start});
  }

  /// A heap that is enough: of a SoaAllocator, placed objects are not in it.
  static std::size_t heap_bytes(std::uint32_t cells) {
    return AllocatorT::least_heap_bytes() + AllocatorT::heap_bytes_for<Dying>(cells + app::kSlotsInFlight);
  }

  static app::PhaseNames phases(const Rule& rule) {
    return rule.states > 2 ? app::PhaseNames{"births and deaths", "dying"} : app::PhaseNames{"births and deaths"};
  }

  void submit_step(app::PhaseClock& clock, std::uint32_t) {
    if (!dying_) {
      alive_.parallel_for_blocks(Live{rule_});
      clock.end_phase(handle_.executor(), 0);
      return;
    }
    alive_.parallel_for_blocks(LiveAndBeginToDie{rule_});
    clock.end_phase(handle_.executor(), 0);
    handle_.parallel_do<&Dying::grow_older>(rule_);
    clock.end_phase(handle_.executor(), 1);
  }

  template <class F>
  void for_each_cell(const F& f, std::uint32_t) {
    handle_.parallel_do<Alive>(f);
    if (dying_) handle_.parallel_do<Dying>(f);
  }

  void record(app::CensusHistory<Population>& census, std::uint32_t) {
    handle_.device_pointer();  // the kernel that counts sees what the last loop has changed
    census.record(handle_.executor(), alive_.shape().words(), CountBlock{dying_.has_value()});
  }

  dynasoar::Columns read_columns() {
    dynasoar::Columns cells = dying_ ? handle_.all_columns<Cell>() : handle_.columns<Alive>();
    app::add_cells(cells, "place");
    return cells;
  }

 private:
  static dynasoar::LatticeOptions edges(Lattice frame) { return {.periodic = {frame.torus, frame.torus, false}}; }

  Handle& handle_;
  Rule rule_;
  dynasoar::Lattice<Alive> alive_;
  std::optional<dynasoar::Lattice<Dying>> dying_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<ObjectLife<Model, AllocatorT>>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace life::placed
