/// @file
/// ObjectLandscape: the host's side of the DSL variants, which differ only in their classes (agents.cpp, cells.cpp).
#pragma once

#include <vector>

#include <app/object_simulation.h>
#include <app/on_grid.h>
#include <dynasoar/dynasoar.h>

#include "colors.h"
#include "rules.h"
#include "simulation.h"

namespace sugarscape {

using app::kSlotsInFlight;

/// A simulation whose agents are objects of allocator type A.
///
/// @tparam Objects   the simulation, which owns all data except the objects, and submits the loops. It has
///                   `submit_step()`, `view()` with device functions `kind(c)`, `sugar(c)` and `state(c)`,
///                   `heap_bytes(cells)`, and the functions that app::ObjectSimulation requires: `add_arrays(items)`,
///                   `read_columns()`
template <class Objects, class A>
class ObjectLandscape : public app::OnGrid<app::ObjectSimulation<Objects, Simulation, A>> {
 public:
  void record() override { this->count_cells(TakeCensus{objects().view()}); }

  std::vector<CellState> cells() override { return this->states_of(objects().view()); }

  void paint_on(const app::Canvas& canvas) { this->paint_cells_of(canvas, objects().view()); }

 protected:
  /// @param phases   of a step. The default is for variants in which females accept in a loop of their own
  explicit ObjectLandscape(const Parameters& parameters,
                           const app::PhaseNames& phases = {"sugar grows", "sugar spreads", "agents live", "agents ask",
                                                            "agents move", "males propose", "females accept",
                                                            "fathers ask", "births"})
      : app::OnGrid<app::ObjectSimulation<Objects, Simulation, A>>(parameters, Objects::heap_bytes(parameters.cells()),
                                                                   "landscape", phases) {}

 private:
  Objects& objects() { return static_cast<Objects&>(*this); }
};

}  // namespace sugarscape
