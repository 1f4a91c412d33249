/// @file
/// ObjectLandscape: the host's side of the DSL variants, which differ only in their classes (agents.cpp, cells.cpp).
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <app/census_history.h>
#include <app/collect.h>
#include <app/object_simulation.h>
#include <dynasoar/dynasoar.h>

#include "colors.h"
#include "rules.h"
#include "simulation.h"

namespace sugarscape {

using app::kSlotsInFlight;

/// A simulation whose agents are objects of allocator type A.
///
/// @tparam Objects   the simulation, which owns what lies beside the objects and submits the loops: `submit_step()`,
/// `view()`
///                   with device functions `kind(c)`, `sugar(c)` and `state(c)`, `heap_bytes(cells)`, and what
///                   app::ObjectSimulation asks for: `add_arrays(items)`, `read_columns()`
template <class Objects, class A>
class ObjectLandscape : public app::ObjectSimulation<Objects, Simulation, A> {
 public:
  void record() override { history_.record(handle().executor(), cells_, TakeCensus{objects().view()}); }

  std::vector<Census> take_history() override {
    synchronize();
    return history_.take(handle().executor());
  }

  std::vector<CellState> landscape() override {
    synchronize();
    const auto view = objects().view();
    return app::collect<CellState>(handle(), cells_, [=] __device__(std::uint32_t c) { return view.state(c); });
  }

  app::SavedOptions saved_options() const {
    return app::SavedOptions()
        .add("--width", parameters_.width)
        .add("--height", parameters_.height)
        .add("--seed", parameters_.seed)
        .add("--male", parameters_.males)
        .add("--female", parameters_.females);
  }

  static constexpr app::Rgb kBackground = {0, 0, 0};

  void paint_on(const app::Canvas& canvas) {
    const auto view = objects().view();
    app::paint_cells(handle().executor(), canvas, {parameters_.width, parameters_.height}, kBackground,
                     [=] __device__(std::uint32_t c) {
                       const CellState cell = view.state(c);
                       return color_of(cell.kind, std::sqrt(cell.sugar / kMostSugar));
                     });
  }

 protected:
  using Base = app::ObjectSimulation<Objects, Simulation, A>;
  using Base::count_step, Base::handle, Base::now, Base::synchronize;

  /// The phases of a step in which females accept in a loop of their own.
  static dynasoar::program::PhaseNames phase_names() {
    return {"sugar grows",   "sugar spreads",  "agents live", "agents ask", "agents move",
            "males propose", "females accept", "fathers ask", "births"};
  }

  explicit ObjectLandscape(const Parameters& parameters, const dynasoar::program::PhaseNames& phases = phase_names())
      : Base(parameters, Objects::heap_bytes(cells_of(parameters)), "landscape", phases),
        parameters_(parameters),
        cells_(cells_of(parameters)) {}

 private:
  Objects& objects() { return static_cast<Objects&>(*this); }

  static std::uint32_t cells_of(const Parameters& parameters) {
    return static_cast<std::uint32_t>(parameters.width) * static_cast<std::uint32_t>(parameters.height);
  }

  Parameters parameters_;
  std::uint32_t cells_;
  app::CensusHistory<Census> history_;
};

}  // namespace sugarscape
