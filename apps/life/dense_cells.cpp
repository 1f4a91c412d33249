/// @file
/// Life and Generations with an object at every place of a lattice: a cell, dead or not. README.md defines the model.
/// This variant is for benchmarks, which measure loops over all places of a lattice against dense_baseline.cpp. A
/// program should place only the cells that are not dead, as placed.cpp does.
///
/// A cell stores one state for even and one for odd steps. So a step is one loop, which reads the states that the
/// previous loop wrote.

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

template <class State>
class Cell;
template <class State>
using AllocatorT = dynasoar::SoaAllocator<Cell<State>>;

/// @tparam State   an unsigned type that has room for all states of the rule
template <class State>
class Cell final : public dynasoar::SoaBase<AllocatorT<State>> {
 public:
  static constexpr bool kPlaced = true;
  static constexpr bool kAtEveryPlace = true;
  using States = std::array<State, 2>;
  DYNASOAR_FIELDS(Cell, (states_, States));  // after even steps and after odd ones

  __device__ Cell() { states_.fill(0); }
  __device__ void begin(StartView start) { states_.fill(static_cast<State>(start.state(index()))); }

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
    states_[step % 2] = static_cast<State>(next_state(rule, state(step - 1), alive_neighbors(step - 1)));
  }
};

/// A cell after a step.
template <class State>
struct CellAfter {
  const Cell<State>* cell;
  std::uint32_t step;
  __device__ std::uint32_t index() const { return cell->index(); }
  __device__ std::uint32_t state() const { return cell->state(step); }
};

/// Calls a function for a cell that is not dead.
template <class F>
struct IfNotDead {
  F function;
  std::uint32_t step;
  template <class State>
  __device__ void operator()(const Cell<State>* cell) const {
    const CellAfter<State> after{cell, step};
    if (after.state() != kDead) function(&after);
  }
};

struct CountCell {
  CensusSums sums;
  std::uint32_t step;
  template <class State>
  __device__ void operator()(const Cell<State>* cell) const {
    Tally tally;
    count_cell(tally, cell->state(step), cell->alive_neighbors(step) > 0);
    sums.add(cell->index(), tally);
  }
};

template <class State>
class Model {
 public:
  using CellT = Cell<State>;
  using Handle = dynasoar::AllocatorHandle<AllocatorT<State>>;
  static constexpr std::size_t kKindsOfSteps = 2;  // even and odd ones

  Model(Handle& handle, Lattice frame, Rule rule, StartView start)
      : handle_(handle),
        rule_(rule),
        cells_(handle, {frame.width, frame.height}, {.periodic = {frame.torus, frame.torus, false}}) {
    handle_.template parallel_do<&CellT::begin>(start);
  }

  /// Placed objects are not in the heap.
  static std::size_t heap_bytes(std::size_t) { return AllocatorT<State>::least_heap_bytes(); }

  static app::PhaseNames phases(const Rule&) { return {"all cells"}; }

  void submit_step(app::PhaseClock& clock, std::uint32_t step) {
    handle_.template parallel_do<&CellT::live>(rule_, step);
    clock.end_phase(handle_.executor(), 0);
  }

  template <class F>
  void for_each_cell(const F& f, std::uint32_t step) {
    handle_.template parallel_do<CellT>(IfNotDead<F>{f, step});
  }

  void record(app::CensusHistory<Population>& census, std::uint32_t step) {
    handle_.template parallel_do<CellT>(CountCell{census.next(handle_.executor()), step});
  }

  dynasoar::Columns read_columns() {
    dynasoar::Columns cells = handle_.template columns<CellT>();
    app::add_cells(cells, "place");
    return cells;
  }

 private:
  Handle& handle_;
  Rule rule_;
  dynasoar::Lattice<CellT> cells_;
};

template <class State>
std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<ObjectLife<Model<State>, AllocatorT<State>>>(parameters);
}

}  // namespace dense_cells

std::unique_ptr<Simulation> make_dense_cells(const Parameters& parameters) {
  // A byte has room for the states 0 to 255.
  if (parameters.rule.states <= 256) return dense_cells::make<std::uint8_t>(parameters);
  return dense_cells::make<std::uint16_t>(parameters);
}

}  // namespace life
