/// @file
/// Life and Generations with an object at every place of a lattice: a cell, dead or not. The model itself is in
/// README.md. A program would rather place the cells that are not dead, as placed.cpp does; this is what loops over all
/// places of a lattice cost. Benchmarks compare it with dense_baseline.cpp.
///
/// A cell has its state after even and after odd steps. So a step is one loop, which reads what the loop before it
/// wrote.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

#include "census.h"
#include "dynamics.h"
#include "lattice.h"
#include "object_life.h"
#include "simulation.h"
#include "start.h"

namespace life {
namespace dense_cells {

class Cell;
using AllocatorT = dynasoar::SoaAllocator<Cell>;

class Cell final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  static constexpr bool kAtEveryPlace = true;
  using States = std::array<std::uint8_t, 2>;
  DYNASOAR_FIELDS(Cell, (states_, States));  // after even and odd steps

  __device__ Cell() { states_.fill(0); }
  __device__ void begin(StartView start) { states_.fill(static_cast<std::uint8_t>(start.state(index()))); }

  __device__ std::uint32_t index() const {
    return static_cast<std::uint32_t>(dynasoar::lattice_of<Cell>().number(dynasoar::place_of(this)));
  }
  __device__ std::uint32_t state(std::uint32_t step) const { return states_[step % 2]; }

  __device__ std::uint32_t alive_neighbors(std::uint32_t step) const {
    std::uint32_t alive = 0;
    dynasoar::for_each_neighbour<Cell>(dynasoar::place_of(this), dynasoar::Moore<>{},
                                       [&](const Cell* next) { alive += next->state(step) == kAlive ? 1 : 0; });
    return alive;
  }

  __device__ void live(Rule rule, std::uint32_t step) {
    states_[step % 2] = static_cast<std::uint8_t>(next_state(rule, state(step - 1), alive_neighbors(step - 1)));
  }
};

/// A cell after a step.
struct CellAfter {
  const Cell* cell;
  std::uint32_t step;
  __device__ std::uint32_t index() const { return cell->index(); }
  __device__ std::uint32_t state() const { return cell->state(step); }
};

/// Calls a function for a cell that is not dead.
template <class F>
struct IfNotDead {
  F function;
  std::uint32_t step;
  __device__ void operator()(const Cell* cell) const {
    const CellAfter after{cell, step};
    if (after.state() != kDead) function(&after);
  }
};

struct CountCell {
  CensusSums sums;
  std::uint32_t step;
  __device__ void operator()(const Cell* cell) const {
    Tally tally;
    count_cell(tally, cell->state(step), cell->alive_neighbors(step) > 0);
    sums.add(cell->index(), tally);
  }
};

class Model {
 public:
  using Handle = dynasoar::AllocatorHandle<AllocatorT>;
  static constexpr std::size_t kKindsOfSteps = 2;  // even and odd ones

  Model(Handle& handle, Lattice frame, Rule rule, StartView start)
      : handle_(handle),
        rule_(rule),
        cells_(handle, {frame.width, frame.height}, {.periodic = {frame.torus, frame.torus, false}}) {
    handle_.parallel_do<&Cell::begin>(start);
  }

  /// Placed objects are not in the heap.
  static std::size_t heap_bytes(std::size_t) { return AllocatorT::least_heap_bytes(); }

  static app::PhaseNames phases(const Rule&) { return {"all cells"}; }

  void submit_step(app::PhaseClock& clock, std::uint32_t step) {
    handle_.parallel_do<&Cell::live>(rule_, step);
    clock.end_phase(handle_.executor(), 0);
  }

  template <class F>
  void for_each_cell(const F& f, std::uint32_t step) {
    handle_.parallel_do<Cell>(IfNotDead<F>{f, step});
  }

  void record(app::CensusHistory<Population>& census, std::uint32_t step) {
    handle_.parallel_do<Cell>(CountCell{census.next(handle_.executor()), step});
  }

  dynasoar::Columns read_columns() {
    dynasoar::Columns cells = handle_.columns<Cell>();
    app::add_cells(cells, "place");
    return cells;
  }

 private:
  Handle& handle_;
  Rule rule_;
  dynasoar::Lattice<Cell> cells_;
};

}  // namespace dense_cells

std::unique_ptr<Simulation> make_dense_cells(const Parameters& parameters) {
  return std::make_unique<ObjectLife<dense_cells::Model, dense_cells::AllocatorT>>(parameters);
}

}  // namespace life
