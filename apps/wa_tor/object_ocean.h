/// @file
/// ObjectOcean: the host part of the DSL variants, which differ only in their classes (agents.cpp, cells.cpp,
/// placed.cpp).
#pragma once

#include <optional>
#include <vector>

#include <app/object_simulation.h>
#include <app/on_grid.h>
#include <dynasoar/dynasoar.h>

#include "colors.h"
#include "rules.h"
#include "simulation.h"

namespace wa_tor {

using app::kSlotsInFlight;

/// A simulation with agents as objects of allocator type A.
///
/// @tparam Objects   the simulation, which owns all data except the objects, and submits the loops. It has
///                   `submit_step()`, `view()` with device functions `kind(c)` and `state(c)`, `heap_bytes(cells)`, and
///                   the functions that app::ObjectSimulation requires: `add_arrays(items)`, `read_columns()`
template <class Objects, class A>
class ObjectOcean : public app::OnGrid<app::ObjectSimulation<Objects, Simulation, A>> {
 public:
  void record() override { this->count_cells(CountAgents{objects().view()}); }

  std::vector<CellState> cells() override { return this->states_of(objects().view()); }

  void paint_on(const app::Canvas& canvas) { this->paint_cells_of(canvas, objects().view()); }

 protected:
  explicit ObjectOcean(const Parameters& parameters,
                       const app::PhaseNames& phases = {"fish ask", "cells decide", "fish move", "sharks ask",
                                                        "cells decide again", "sharks move"})
      : app::OnGrid<app::ObjectSimulation<Objects, Simulation, A>>(
            parameters, Objects::heap_bytes(parameters.number_of_cells()), "ocean", phases) {}

  /// How agents are compacted after a step, if they are.
  std::optional<dynasoar::CompactionOptions> compaction() const {
    if (this->parameters().compact_above >= 1) return std::nullopt;
    return dynasoar::CompactionOptions{this->parameters().compact_above};
  }

 private:
  Objects& objects() { return static_cast<Objects&>(*this); }
};

}  // namespace wa_tor
