/// @file
/// ObjectOcean: the host's side of the DSL variants, which differ only in their classes (agents.cpp, cells.cpp).
#pragma once

#include <cstdint>
#include <vector>

#include <app/census_history.h>
#include <app/collect.h>
#include <app/object_simulation.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/program/object_heap.h>
#include <dynasoar/program/saved_options.h>

#include "colors.h"
#include "rules.h"
#include "simulation.h"

namespace wa_tor {

using app::kSlotsInFlight;

/// A simulation whose agents are objects of allocator type A.
///
/// @tparam Model   owns what lies beside the objects and submits the loops: `Model(handle, parameters)`,
///                 `step(step, clock)`, `compact(options)`, `add_arrays(items)`, which adds what a checkpoint
///                 needs beside the objects, `read_columns()`, `view(step)` with device functions `kind(c)` and
///                 `state(c)`, `heap_bytes(cells)`
/// @tparam A       the allocator
template <class Model, class A>
class ObjectOcean final : public app::ObjectSimulation<ObjectOcean<Model, A>, Simulation, A> {
 public:
  explicit ObjectOcean(const Parameters& parameters)
      : Base(parameters, Model::heap_bytes(cells_of(parameters)), "ocean",
             {"fish ask", "cells decide", "fish move", "sharks ask", "cells decide again", "sharks move"}),
        parameters_(parameters),
        cells_(cells_of(parameters)),
        compaction_{parameters.compact_above},
        model_(handle(), parameters) {
    synchronize();
  }

  void step() override {
    model_.step(begin_step(), clock());
    if (compaction_.above < 1) model_.compact(compaction_);
  }

  void record() override { history_.record(handle().executor(), cells_, CountAgents{model_.view(steps())}); }

  std::vector<Population> take_history() override {
    synchronize();
    return history_.take(handle().executor());
  }

  std::vector<CellState> ocean() override {
    synchronize();
    const auto view = model_.view(steps());
    return app::collect<CellState>(handle(), cells_, [=] __device__(std::uint32_t c) { return view.state(c); });
  }

  app::SavedOptions saved_options() const {
    return app::SavedOptions()
        .add("--width", parameters_.width)
        .add("--height", parameters_.height)
        .add("--seed", parameters_.seed)
        .add("--fish", parameters_.fish)
        .add("--sharks", parameters_.sharks);
  }

  void add_arrays(dynasoar::CheckpointItems& items) const { model_.add_arrays(items); }

  dynasoar::Columns read_columns() { return model_.read_columns(); }

  static constexpr app::Rgb kBackground = {0, 0, 0};

  void paint_on(const app::Canvas& canvas) {
    const auto view = model_.view(steps());
    app::paint_cells(handle().executor(), canvas, {parameters_.width, parameters_.height}, kBackground,
                     [=] __device__(std::uint32_t c) { return color_of(view.state(c)); });
  }

 private:
  using Base = app::ObjectSimulation<ObjectOcean, Simulation, A>;
  using Base::begin_step, Base::clock, Base::handle, Base::steps, Base::synchronize;

  static std::uint32_t cells_of(const Parameters& parameters) {
    return static_cast<std::uint32_t>(parameters.width) * static_cast<std::uint32_t>(parameters.height);
  }

  Parameters parameters_;
  std::uint32_t cells_;
  dynasoar::CompactionOptions compaction_;
  Model model_;
  app::CensusHistory<Population> history_;
};

}  // namespace wa_tor
