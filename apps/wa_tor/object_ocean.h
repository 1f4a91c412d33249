/// @file
/// ObjectOcean: the host's side of the DSL variants, which differ only in their classes (agents.cpp, cells.cpp,
/// placed.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <app/census_history.h>
#include <app/collect.h>
#include <app/object_simulation.h>
#include <dynasoar/dynasoar.h>

#include "colors.h"
#include "rules.h"
#include "simulation.h"

namespace wa_tor {

using app::kSlotsInFlight;

/// A simulation whose agents are objects of allocator type A.
///
/// @tparam Objects   the simulation, which owns what lies beside the objects and submits the loops. It has
///                   `submit_step()`, `view()` with device functions `kind(c)` and `state(c)`, `heap_bytes(cells)`, and
///                   what app::ObjectSimulation asks for: `add_arrays(items)`, `read_columns()`
template <class Objects, class A>
class ObjectOcean : public app::ObjectSimulation<Objects, Simulation, A> {
 public:
  void record() override { history_.record(handle().executor(), cells_, CountAgents{objects().view()}); }

  std::vector<Population> take_history() override {
    synchronize();
    return history_.take(handle().executor());
  }

  std::vector<CellState> ocean() override {
    synchronize();
    const auto view = objects().view();
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

  static constexpr app::Rgb kBackground = {0, 0, 0};

  void paint_on(const app::Canvas& canvas) {
    const auto view = objects().view();
    app::paint_cells(handle().executor(), canvas, {parameters_.width, parameters_.height}, kBackground,
                     [=] __device__(std::uint32_t c) { return color_of(view.state(c)); });
  }

 protected:
  using Base = app::ObjectSimulation<Objects, Simulation, A>;
  using Base::count_step, Base::handle, Base::now, Base::synchronize;

  explicit ObjectOcean(const Parameters& parameters,
                       const app::PhaseNames& phases = {"fish ask", "cells decide", "fish move", "sharks ask",
                                                        "cells decide again", "sharks move"})
      : Base(parameters, Objects::heap_bytes(cells_of(parameters)), "ocean", phases),
        parameters_(parameters),
        cells_(cells_of(parameters)) {}

  /// How agents are compacted after a step, if they are.
  std::optional<dynasoar::CompactionOptions> compaction() const {
    if (parameters_.compact_above >= 1) return std::nullopt;
    return dynasoar::CompactionOptions{parameters_.compact_above};
  }

 private:
  Objects& objects() { return static_cast<Objects&>(*this); }

  static std::uint32_t cells_of(const Parameters& parameters) {
    return static_cast<std::uint32_t>(parameters.width) * static_cast<std::uint32_t>(parameters.height);
  }

  Parameters parameters_;
  std::uint32_t cells_;
  app::CensusHistory<Population> history_;
};

}  // namespace wa_tor
