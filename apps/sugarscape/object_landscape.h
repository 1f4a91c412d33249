/// @file
/// ObjectLandscape: the host's side of the DSL variants, which differ only in their classes (agents.cpp, cells.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <app/phase_clock.h>
#include <dynasoar/dynasoar.h>

#include "census_history.h"
#include "grid.h"
#include "simulation.h"

namespace sugarscape {

/// Room for the blocks that the warps of a large GPU open at the same time when a population is created.
inline constexpr std::size_t kSlotsInFlight = std::size_t{1} << 20;

/// A simulation whose agents are objects of allocator type A.
///
/// @tparam Model   owns what lies beside the objects and submits the loops: `Model(handle, parameters)`,
///                 `step(step, clock)`, `view(step)` with device functions `kind(c)`, `sugar(c)` and `state(c)`,
///                 `heap_bytes(cells)`
/// @tparam A       the allocator
template <class Model, class A>
class ObjectLandscape final : public Simulation {
 public:
  explicit ObjectLandscape(const Parameters& parameters)
      : cells_(static_cast<std::uint32_t>(parameters.width) * static_cast<std::uint32_t>(parameters.height)),
        needed_bytes_(Model::heap_bytes(cells_)),
        handle_({.heap_bytes = heap_bytes(parameters, needed_bytes_), .threads = parameters.threads}),
        clock_(parameters.profile_every, {"sugar grows", "sugar spreads", "agents live", "agents ask", "agents move",
                                          "males propose", "females accept", "fathers ask", "births"}),
        model_(handle_, parameters) {
    synchronize();
  }

  void step() override { model_.step(++step_, clock_); }

  void record() override { history_.record(handle_.executor(), cells_, model_.view(step_)); }

  void synchronize() override {
    try {
      handle_.synchronize();
    } catch (const dynasoar::AllocationError&) {
      const std::size_t had = handle_.statistics().heap_bytes;
      throw HeapTooSmall("the heap of " + std::to_string(had) + " bytes is too small for this landscape",
                         needed_bytes_);
    }
  }

  std::vector<Census> take_history() override {
    synchronize();
    return history_.take(handle_.executor());
  }

  std::vector<CellState> landscape() override {
    synchronize();
    const dynasoar::DeviceArray<CellState> states(cells_);
    CellState* const out = states.data();
    const auto view = model_.view(step_);
    handle_.parallel_for(cells_, [=] __device__(std::size_t c) { out[c] = view.state(static_cast<std::uint32_t>(c)); });
    handle_.synchronize();
    return states.download();
  }

  std::vector<PhaseTime> phases() override { return clock_.times(); }

  std::optional<Usage> usage() override {
    const dynasoar::Statistics now = handle_.statistics();
    return Usage{now.created(), now.deleted(), now.heap_bytes, (now.pages - now.free_pages) * now.page_bytes,
                 now.fragmentation()};
  }

 private:
  static std::size_t heap_bytes(const Parameters& parameters, std::size_t needed_bytes) {
    if (parameters.heap_bytes == 0) return needed_bytes;
    if (parameters.heap_bytes < A::kTypes * A::pages().bytes) {
      throw HeapTooSmall("a heap of " + std::to_string(parameters.heap_bytes) + " bytes has no page for each class",
                         needed_bytes);
    }
    return parameters.heap_bytes;
  }

  std::uint32_t cells_;
  std::size_t needed_bytes_;
  std::uint32_t step_ = 0;
  dynasoar::AllocatorHandle<A> handle_;
  app::PhaseClock clock_;
  Model model_;
  CensusHistory history_;
};

}  // namespace sugarscape
