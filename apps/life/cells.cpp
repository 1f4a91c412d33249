/// @file
/// Life and Generations with cells, alive cells and candidates as objects. README.md defines the model.
///
/// A step has two halves. First, agents *act* as they have decided: some alive cells die, and some candidates come
/// alive. These loops write the numbers of alive neighbours, and no loop of this half reads them. Then, agents *look*
/// at these numbers, which no loop of this half changes, and decide what they do in the next step. All changes of a
/// number are atomic and commute, so the result does not depend on the order of threads. The work is proportional to
/// the number of agents, and does not depend on the size of the frame.
///
/// Cells have pointers to their neighbours, so the code does not use coordinates and works for any graph of cells.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <app/allocator.h>
#include <app/cell_columns.h>
#include <dynasoar/dynasoar.h>

#include "census.h"
#include "dynamics.h"
#include "lattice.h"
#include "object_life.h"
#include "simulation.h"
#include "start.h"

namespace life::cells {
inline namespace DYNASOAR_APP_ALLOCATOR {

class Cell;
class Agent;
class Alive;
class Candidate;
using AllocatorT = app::Allocator<Cell, Alive, Candidate>;

class Cell : public dynasoar::SoaBase<AllocatorT> {
 public:
  using Word = dynasoar::AtomicWord<std::uint32_t>;
  struct Neighbors {  // one value, not an array field: births and deaths use all eight pointers at once
    Cell* cells[kNeighbors];
  };
  DYNASOAR_FIELDS(Cell, (neighbors_, Neighbors),  // null where there is none
                  (alive_neighbors_, Word),       // how many of them are alive
                  (agents_, Word),                // 1 if the cell has one, else 0
                  (index_, std::uint32_t));       // row by row

  /// Cell `index`. It stores itself in the table of all cells.
  __device__ Cell(std::size_t index, Cell** table) : index_(static_cast<std::uint32_t>(index)) {
    alive_neighbors_->store(0, dynasoar::Order::relaxed);
    agents_->store(0, dynasoar::Order::relaxed);
    table[index] = this;
  }

  __device__ void connect(Lattice lattice, Cell* const* table) {
    for (std::uint32_t which = 0; which < kNeighbors; ++which) {
      const std::uint32_t neighbor = lattice.neighbor(index_, which);
      neighbors_->cells[which] = neighbor == kOutside ? nullptr : table[neighbor];
    }
  }

  /// Makes an agent for a cell that is not dead at the start.
  __device__ void populate(StartView start);

  /// Called when this cell comes alive: its neighbours count it, and those without an agent get a candidate.
  __device__ void appear();

  /// Called when this cell stops being alive.
  __device__ void disappear() {
    const Neighbors neighbors = neighbors_;
    for (Cell* const neighbor : neighbors.cells) {
      if (neighbor != nullptr) neighbor->alive_neighbors_->add(0u - 1u, dynasoar::Order::relaxed);
    }
  }

  __device__ std::uint32_t alive_neighbors() const { return alive_neighbors_->load(dynasoar::Order::relaxed); }

  /// How many agents this cell has: 0 or 1.
  __device__ std::uint32_t agents() const { return agents_->load(dynasoar::Order::relaxed); }

  /// Gives this cell an agent. @return how many it had: of simultaneous calls, only one returns 0
  __device__ std::uint32_t claim() { return agents_->exchange(1, dynasoar::Order::relaxed); }

  __device__ Cell* neighbor(std::uint32_t which) const { return neighbors_->cells[which]; }

  /// Removes this cell's agent.
  __device__ void leave() { agents_->store(0, dynasoar::Order::relaxed); }
};

/// An object for a cell that may change.
class Agent : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Agent, (cell_, Cell*), (changes_, bool));  // changes_: whether it acts in the next step

  __device__ Agent(Cell* cell, bool changes) : cell_(cell), changes_(changes) {}

  __device__ std::uint32_t index() const { return cell_->index_; }
};

/// A dead cell with alive neighbours.
class Candidate : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Candidate);

  using Agent::Agent;

  /// The i-th candidate of those that `cell` creates. @param claimed   bit w: neighbour w gets a candidate
  __device__ Candidate(std::uint32_t i, const Cell* cell, std::uint32_t claimed)
      : Agent(cell->neighbor(nth_neighbor(claimed, i)), false) {}

  __device__ void act();

  __device__ void look(Rule rule) {
    const std::uint32_t neighbors = cell_->alive_neighbors();
    changes_ = is_born(rule, neighbors);
    if (neighbors > 0) return;
    cell_->leave();
    dynasoar::destroy(this);
  }
};

/// A cell that is alive or dying.
class Alive : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Alive, (state_, std::uint16_t));

  __device__ Alive(Cell* cell, std::uint32_t state)
      : Agent(cell, state != kAlive), state_(static_cast<std::uint16_t>(state)) {}

  __device__ std::uint32_t state() const { return state_; }

  /// Called at the start, after all agents have claimed their cells.
  __device__ void appear() {
    if (state_ == kAlive) cell_->appear();
  }

  __device__ void act(Rule rule) {
    if (!changes_) return;
    if (state_ == kAlive) cell_->disappear();
    state_ = static_cast<std::uint16_t>(older(rule, state_));
  }

  __device__ void look(Rule rule) {
    if (state_ == kAlive) {
      changes_ = !survives(rule, cell_->alive_neighbors());
    } else if (state_ == kDead) {
      bury(rule);
    }
  }

 private:
  /// A dead cell has a candidate or no agent at all.
  __device__ void bury(Rule rule) {
    const std::uint32_t neighbors = cell_->alive_neighbors();
    if (neighbors > 0) {
      dynasoar::make_new<Candidate>(cell_.get(), is_born(rule, neighbors));
    } else {
      cell_->leave();
    }
    dynasoar::destroy(this);
  }
};

__device__ inline void Cell::populate(StartView start) {
  const std::uint32_t state = start.state(index_);
  if (state == kDead) return;
  claim();
  dynasoar::make_new<Alive>(this, state);
}

__device__ inline void Cell::appear() {
  // Two loops, so that all reads are in flight at the same time, and then all claims.
  const Neighbors neighbors = neighbors_;
  std::uint32_t agents[kNeighbors];
  for (std::uint32_t which = 0; which < kNeighbors; ++which) {
    Cell* const neighbor = neighbors.cells[which];
    agents[which] = neighbor == nullptr ? 1 : neighbor->agents();
  }
  for (std::uint32_t which = 0; which < kNeighbors; ++which) {
    Cell* const neighbor = neighbors.cells[which];
    if (neighbor != nullptr) neighbor->alive_neighbors_->add(1, dynasoar::Order::relaxed);
    if (agents[which] == 0) agents[which] = 2 + neighbor->claim();
  }
  std::uint32_t claimed = 0;  // bit w: neighbour w
  for (std::uint32_t which = 0; which < kNeighbors; ++which) claimed |= agents[which] == 2 ? 1u << which : 0;
  dynasoar::make_new_n<Candidate>(count_neighbors(claimed), static_cast<const Cell*>(this), claimed);
}

__device__ inline void Candidate::act() {
  if (!changes_) return;
  dynasoar::make_new<Alive>(cell_.get(), std::uint32_t{kAlive});
  cell_->appear();
  dynasoar::destroy(this);
}

/// Counts objects of class Alive. The slot, which is the handle's lowest six bits, differs between neighbouring
/// threads.
struct CountAlive {
  CensusSums sums;
  __device__ void operator()(Alive* object) const {
    Tally tally;
    count_cell(tally, object->state(), false);
    sums.add(reinterpret_cast<std::uintptr_t>(object) % 64, tally);
  }
};

struct CountCandidates {
  CensusSums sums;
  __device__ void operator()(Candidate* object) const {
    Tally tally;
    tally.of[kCandidates] = 1;
    sums.add(reinterpret_cast<std::uintptr_t>(object) % 64, tally);
  }
};

class Model {
 public:
  using Handle = dynasoar::AllocatorHandle<AllocatorT>;
  static constexpr std::size_t kKindsOfSteps = 1;

  Model(Handle& handle, Lattice lattice, Rule rule, StartView start) : handle_(handle), rule_(rule) {
    dynasoar::DeviceArray<Cell*> all(lattice.cells());
    Cell** const table = all.data();
    all.fill_bytes(0);  // null if the heap was too small for this cell
    handle_.parallel_new<Cell>(all.size(), table);
    handle_.parallel_do<&Cell::connect>(lattice, table);
    handle_.parallel_do<&Cell::populate>(start);
    handle_.parallel_do<&Alive::appear>();
    look();
    handle_.executor().synchronize();  // before the table is freed
  }

  /// A sufficient heap: every cell could have an agent, and half of the slots of the agents' blocks may be free.
  static std::size_t heap_bytes(std::size_t cells) {
    const std::size_t agents = 2 * std::size_t{cells} + app::kSlotsInFlight;
    return AllocatorT::heap_bytes_for<Cell>(cells + app::kSlotsInFlight) +
           std::max(AllocatorT::heap_bytes_for<Alive>(agents), AllocatorT::heap_bytes_for<Candidate>(agents));
  }

  static app::PhaseNames phases(const Rule&) { return {"deaths", "births", "candidates look", "alive look"}; }

  template <class F>
  void for_each_cell(const F& f, std::uint32_t) {
    handle_.parallel_do<Alive>(f);
  }

  void record(app::CensusHistory<Population>& census, std::uint32_t) {
    const CensusSums sums = census.next(handle_.executor());
    handle_.parallel_do<Alive>(CountAlive{sums});
    handle_.parallel_do<Candidate>(CountCandidates{sums});
  }

  dynasoar::Columns read_columns() {
    dynasoar::Columns alive = handle_.columns<Alive>();
    app::add_cells(alive, "cell_", handle_.columns<Cell>(), "index_");
    return alive;
  }

  void submit_step(app::PhaseClock& clock, std::uint32_t) {
    dynasoar::Executor& executor = handle_.executor();
    {
      const auto kept = handle_.keep_lists();  // no cell is created or destroyed before candidates act
      handle_.parallel_do<&Alive::act>(rule_);
      clock.end_phase(executor, 0);
      handle_.parallel_do<&Candidate::act>();
      clock.end_phase(executor, 1);
    }
    handle_.parallel_do<&Candidate::look>(rule_);
    clock.end_phase(executor, 2);
    handle_.parallel_do<&Alive::look>(rule_);
    clock.end_phase(executor, 3);
  }

 private:
  void look() {
    handle_.parallel_do<&Candidate::look>(rule_);
    handle_.parallel_do<&Alive::look>(rule_);
  }

  Handle& handle_;
  Rule rule_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<ObjectLife<Model, AllocatorT>>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace life::cells
