/// @file
/// ObjectLife: the host's side of the DSL variants, which differ only in their classes (cells.cpp, placed.cpp,
/// dense_cells.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <app/canvas.h>
#include <app/cell_columns.h>
#include <app/object_simulation.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/place.h>

#include "census.h"
#include "colors.h"
#include "dynamics.h"
#include "lattice.h"
#include "simulation.h"
#include "start.h"

namespace life {

/// Writes the states of objects that stand for cells into a frame of dead cells.
struct WriteStates {
  std::uint16_t* frame;
  template <class Cell>
  __device__ void operator()(const Cell* cell) const {
    frame[cell->index()] = static_cast<std::uint16_t>(cell->state());
  }
};

/// Paints these objects where they are, the liveliest in front.
struct ShowCell {
  app::Canvas canvas;
  app::CellGrid grid;
  int states;
  DyingColors dying;
  template <class Cell>
  __device__ void operator()(const Cell* object) const {
    const auto cell = static_cast<int>(object->index());
    const auto state = static_cast<std::uint32_t>(object->state());
    canvas.cell(grid.left + cell % grid.width, grid.top + cell / grid.width, color_of(state, states, dying),
                state < 254 ? state : 254);
  }
};

/// A simulation whose live cells are objects of allocator type A.
///
/// @tparam Model   owns what lies beside the objects and submits the loops: `Model(handle, lattice, rule, start)`,
///                 `submit_step(clock, step)` of which there are `kKindsOfSteps` that take turns, `record(census,
///                 step)`, `for_each_cell(f, step)`, which calls f with pointers to the objects of cells that are not
///                 dead, which have device functions `state()` and `index()`; `read_columns()`, `heap_bytes(cells)`,
///                 `phases(rule)`
/// @tparam A       the allocator
template <class Model, class A>
class ObjectLife final : public app::ObjectSimulation<ObjectLife<Model, A>, Simulation, A> {
 public:
  explicit ObjectLife(const Parameters& parameters)
      : Base(parameters, Model::heap_bytes(Lattice::of(parameters).cells()), "frame", Model::phases(parameters.rule)),
        options_(parameters.options.empty() ? options_of(parameters) : parameters.options),
        left_(parameters.left - parameters.margin),
        top_(parameters.top - parameters.margin),
        states_(parameters.rule.states),
        lattice_(Lattice::of(parameters)),
        start_(parameters),
        model_(handle(), lattice_, parameters.rule, start_.view()) {
    synchronize();
  }

  void step() override {
    this->begin_step();
    this->run_recorded([this] { submit_step(); }, this->steps() % Model::kKindsOfSteps);
  }

  void submit_step() override { model_.submit_step(clock(), this->steps()); }

  void record() override { model_.record(census_, this->steps()); }

  std::vector<Population> take_history() override {
    synchronize();
    return census_.take(handle().executor());
  }

  Frame frame() override {
    synchronize();
    dynasoar::DeviceArray<std::uint16_t> states(lattice_.cells());
    states.fill_bytes(0);
    model_.for_each_cell(WriteStates{states.data()}, this->steps());
    handle().synchronize();
    return {left_, top_, static_cast<int>(lattice_.width), static_cast<int>(lattice_.height), states.download()};
  }

  const app::SavedOptions& saved_options() const { return options_; }

  void add_arrays(dynasoar::CheckpointItems& items) { items.add(dynasoar::array("notes", this->notes)); }

  dynasoar::Columns read_columns() {
    dynasoar::Columns alive = model_.read_columns();
    app::add_places(alive, lattice_.width, left_, top_);
    return alive;
  }

  static constexpr app::Rgb kBackground = kDeadColor;

  void paint_on(const app::Canvas& canvas) {
    const app::CellGrid grid{static_cast<int>(lattice_.width), static_cast<int>(lattice_.height), left_, top_};
    model_.for_each_cell(ShowCell{canvas, grid, states_, kDying}, this->steps());
  }

 private:
  using Base = app::ObjectSimulation<ObjectLife, Simulation, A>;
  using Base::clock, Base::handle, Base::synchronize;

  app::SavedOptions options_;
  int left_;
  int top_;
  int states_;
  Lattice lattice_;
  Start start_;
  Model model_;
  app::CensusHistory<Population> census_;
};

}  // namespace life
