/// @file
/// Life and Generations with alive cells and candidates as objects; the cells themselves are a plain array. The model
/// is in README.md.
///
/// A cell's byte says how many of its neighbours are alive and whether it has an agent. A birth or a death changes the
/// bytes of the eight cells around it and nothing else, so what stays as it is costs one look at one byte per step:
/// the work is proportional to the cells that are alive or next to one, whatever the size of the frame.
///
/// A step has two halves. First agents *act* as they decided: some alive cells die, some candidates come alive. These
/// loops write counts and read none. Then agents *look* at the counts, which nobody changes now, and decide what they
/// do in the next step. All changes of a byte are atomic and commute, so nothing depends on the order in which threads
/// run.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <app/allocator.h>
#include <app/cell_columns.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/program/phase_clock.h>

#include "cell_bytes.h"
#include "dynamics.h"
#include "lattice.h"
#include "object_life.h"
#include "simulation.h"
#include "start.h"

namespace life::agents {
inline namespace DYNASOAR_APP_ALLOCATOR {

class Agent;
class Alive;
class Candidate;
using AllocatorT = app::Allocator<Alive, Candidate>;

using Cells = CellBytes;

/// Someone who looks after a cell that may change.
class Agent : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Agent, (cell_, std::uint32_t), (changes_, bool));  // changes_: whether it acts in the next step

  __device__ Agent(std::uint32_t cell, bool changes) : cell_(cell), changes_(changes) {}

  __device__ std::uint32_t index() const { return cell_; }
};

/// A dead cell with alive neighbours.
class Candidate : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Candidate);

  using Agent::Agent;

  /// The i-th of those that were claimed around a cell. @param claimed   bit w: neighbour w
  __device__ Candidate(std::uint32_t i, Lattice lattice, std::uint32_t cell, std::uint32_t claimed)
      : Agent(lattice.neighbor(cell, nth_neighbor(claimed, i)), false) {}

  __device__ void act(Cells cells);
  __device__ void look(Cells cells);
};

/// A cell that is alive or dying.
class Alive : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Alive, (state_, std::uint16_t));

  __device__ Alive(std::uint32_t cell, std::uint32_t state)
      : Agent(cell, state != kAlive), state_(static_cast<std::uint16_t>(state)) {}

  __device__ std::uint32_t state() const { return state_; }

  /// The cells around this one, which is alive from now on, have a neighbour more. Those that had no agent get one.
  __device__ static void appear(Cells cells, std::uint32_t c) {
    // All looks at the neighbours are under way at once, and then all claims.
    bool takes[kNeighbors];
    for (std::uint32_t which = 0; which < kNeighbors; ++which) {
      const std::uint32_t neighbor = cells.lattice.neighbor(c, which);
      takes[which] = neighbor != kOutside && !cells.has_agent(neighbor);
    }
    for (std::uint32_t which = 0; which < kNeighbors; ++which) {
      const std::uint32_t neighbor = cells.lattice.neighbor(c, which);
      if (neighbor != kOutside) cells.add_neighbor(neighbor);
      if (takes[which]) takes[which] = cells.claim(neighbor);
    }
    std::uint32_t claimed = 0;  // bit w: neighbour w
    for (std::uint32_t which = 0; which < kNeighbors; ++which) claimed |= takes[which] ? 1u << which : 0;
    dynasoar::make_new_n<Candidate>(count_neighbors(claimed), cells.lattice, c, claimed);
  }

  __device__ void act(Cells cells) {
    if (!changes_) return;
    if (state_ == kAlive) disappear(cells);
    state_ = static_cast<std::uint16_t>(older(cells.rule, state_));
  }

  __device__ void look(Cells cells) {
    if (state_ == kAlive) {
      changes_ = !survives(cells.rule, cells.alive_neighbors(cell_));
    } else if (state_ == kDead) {
      bury(cells);
    }
  }

 private:
  __device__ void disappear(Cells cells) const {
    for (std::uint32_t which = 0; which < kNeighbors; ++which) {
      const std::uint32_t neighbor = cells.lattice.neighbor(cell_, which);
      if (neighbor != kOutside) cells.remove_neighbor(neighbor);
    }
  }

  /// A dead cell has a candidate or no agent at all.
  __device__ void bury(Cells cells) {
    const std::uint32_t neighbors = cells.alive_neighbors(cell_);
    if (neighbors > 0) {
      dynasoar::make_new<Candidate>(index(), is_born(cells.rule, neighbors));
    } else {
      cells.leave(cell_);
    }
    dynasoar::destroy(this);
  }
};

__device__ inline void Candidate::act(Cells cells) {
  if (!changes_) return;
  dynasoar::make_new<Alive>(index(), std::uint32_t{kAlive});
  Alive::appear(cells, cell_);
  dynasoar::destroy(this);
}

__device__ inline void Candidate::look(Cells cells) {
  const std::uint32_t neighbors = cells.alive_neighbors(cell_);
  changes_ = is_born(cells.rule, neighbors);
  if (neighbors > 0) return;
  cells.leave(cell_);
  dynasoar::destroy(this);
}

/// Gives every cell that is not dead at the start its agent.
struct Populate {
  Cells cells;
  StartView start;

  __device__ void operator()(std::size_t index) const {
    const auto c = static_cast<std::uint32_t>(index);
    const std::uint32_t state = start.state(c);
    if (state == kDead) return;
    cells.claim(c);
    dynasoar::make_new<Alive>(c, state);
  }
};

/// Notes who is alive at the start, once all of them have claimed their cells.
struct Appear {
  Cells cells;
  __device__ void operator()(Alive* alive) const {
    if (alive->state() == kAlive) Alive::appear(cells, alive->index());
  }
};

class Model {
 public:
  using Handle = dynasoar::AllocatorHandle<AllocatorT>;
  using Alive = agents::Alive;
  using Candidate = agents::Candidate;

  Model(Handle& handle, Lattice lattice, Rule rule, StartView start)
      : handle_(handle), words_((std::size_t{lattice.cells()} + 3) / 4), cells_{lattice, rule, words_.data()} {
    words_.fill_bytes(0);
    handle_.parallel_for(lattice.cells(), Populate{cells_, start});
    handle_.parallel_do<Alive>(Appear{cells_});
    look();
  }

  /// A heap that is enough: every cell could have an agent, and half of the slots of their blocks may be free.
  static std::size_t heap_bytes(std::uint32_t cells) {
    const std::size_t agents = 2 * std::size_t{cells} + kSlotsInFlight;
    return std::max(AllocatorT::heap_bytes_for<Alive>(agents), AllocatorT::heap_bytes_for<Candidate>(agents));
  }

  void add_arrays(dynasoar::CheckpointItems& items) const { items.add(dynasoar::array("cells", words_)); }

  dynasoar::Columns read_columns() {
    dynasoar::Columns alive = handle_.columns<Alive>();
    app::add_cells(alive, "cell_");
    return alive;
  }

  void submit_step(app::PhaseClock& clock) {
    dynasoar::Executor& executor = handle_.executor();
    {
      const auto kept = handle_.keep_lists();  // nobody is born or goes before candidates act
      handle_.parallel_do<&Alive::act>(cells_);
      clock.end_phase(executor, 0);
      handle_.parallel_do<&Candidate::act>(cells_);
      clock.end_phase(executor, 1);
    }
    handle_.parallel_do<&Candidate::look>(cells_);
    clock.end_phase(executor, 2);
    handle_.parallel_do<&Alive::look>(cells_);
    clock.end_phase(executor, 3);
  }

 private:
  void look() {
    handle_.parallel_do<&Candidate::look>(cells_);
    handle_.parallel_do<&Alive::look>(cells_);
  }

  Handle& handle_;
  dynasoar::DeviceArray<Cells::Word> words_;
  Cells cells_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<ObjectLife<Model, AllocatorT>>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace life::agents
