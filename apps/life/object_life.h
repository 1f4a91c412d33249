/// @file
/// ObjectLife: the host part of the DSL variants, which differ only in their classes (cells.cpp, placed.cpp,
/// dense_cells.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <app/canvas.h>
#include <app/cell_columns.h>
#include <app/object_simulation.h>
#include <app/ranks.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/place.h>

#include "census.h"
#include "colors.h"
#include "dynamics.h"
#include "lattice.h"
#include "simulation.h"
#include "start.h"

namespace life {

/// Writes the states of objects that represent cells into a frame of dead cells, or into a rank's part of it.
struct WriteStates {
  std::uint16_t* frame;
  std::size_t first;  // cell of the frame
  template <class Cell>
  __device__ void operator()(const Cell* cell) const {
    frame[cell->index() - first] = static_cast<std::uint16_t>(cell->state());
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
    const auto cell = object->index();
    const auto width = static_cast<std::uint32_t>(grid.width);
    const auto state = static_cast<std::uint32_t>(object->state());
    canvas.cell(grid.left + static_cast<int>(cell % width), grid.top + static_cast<int>(cell / width),
                color_of(state, states, dying), state < 254 ? state : 254);
  }
};

/// A simulation with live cells as objects of allocator type A.
///
/// @tparam Model   owns all data except the objects, and submits the loops: `Model(handle, lattice, rule, start)`, or
///                 `Model(ranks, handle, lattice, rule, start)` with `own_cells()`, `save` and `load`,
///                 `submit_step(clock, step)` of which there are `kKindsOfSteps` that take turns, `record(census,
///                 step)`, `for_each_cell(f, step)`, which calls f with pointers to the objects of cells that are not
///                 dead, which have device functions `state()` and `index()`; `read_columns()`, `heap_bytes(cells)`,
///                 `phases(rule)`
/// @tparam A       the allocator
template <class Model, class A>
class ObjectLife final : public app::ObjectSimulation<ObjectLife<Model, A>, Simulation, A> {
 public:
  explicit ObjectLife(const Parameters& parameters)
      : Base(parameters, Model::heap_bytes(Lattice::of(parameters).number_of_cells()), "frame",
             Model::phases(parameters.rule)),
        options_(parameters.options.empty() ? options_of(parameters) : parameters.options),
        left_(parameters.left - parameters.margin),
        top_(parameters.top - parameters.margin),
        states_(parameters.rule.states),
        lattice_(Lattice::of(parameters)),
        start_(parameters),
        model_(make_model(parameters.rule)) {
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
    return app::sum_of_ranks(ranks(), census_.take(handle().executor()));
  }

  Frame frame() override {
    synchronize();
    const app::CellRange own = own_cells();
    dynasoar::DeviceArray<std::uint16_t> states(static_cast<std::size_t>(own.count));
    states.fill_bytes(0);
    model_.for_each_cell(WriteStates{states.data(), static_cast<std::size_t>(own.first)}, this->steps());
    handle().synchronize();
    return {left_, top_, static_cast<int>(lattice_.width), static_cast<int>(lattice_.height),
            app::of_all_ranks(ranks(), states.download())};
  }

  void save_objects(const std::string& path, const dynasoar::CheckpointItems& items) {
    if constexpr (kHasRanks) {
      model_.save(path, items);
    } else {
      Base::save_objects(path, items);
    }
  }
  void load_objects(const std::string& path, const dynasoar::CheckpointItems& items) {
    if constexpr (kHasRanks) {
      model_.load(path, items);
    } else {
      Base::load_objects(path, items);
    }
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
  using Base::clock, Base::handle, Base::ranks, Base::synchronize;
  static constexpr bool kHasRanks = requires(const Model& model) { model.own_cells(); };

  Model make_model(const Rule& rule) {
    if constexpr (kHasRanks) {
      return Model(ranks(), handle(), lattice_, rule, start_.view());
    } else {
      return Model(handle(), lattice_, rule, start_.view());
    }
  }

  app::CellRange own_cells() const {
    if constexpr (kHasRanks) return model_.own_cells();
    return {0, lattice_.cells()};
  }

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
