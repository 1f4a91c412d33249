/// @file
/// ObjectTraffic: the host's side of the DSL variants, which differ only in their classes (cells.cpp, cars.cpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <app/object_heap.h>
#include <app/phase_clock.h>
#include <dynasoar/dynasoar.h>

#include "census_history.h"
#include "rules.h"
#include "simulation.h"

namespace traffic {

/// Slots for so many objects of a class. Warps of a GPU that create objects at the same time fill blocks of their own,
/// at most one for each object.
inline std::size_t slots_for(std::size_t objects) {
  return objects + std::min(64 * objects, app::kSlotsInFlight);
}

/// A simulation whose cars are objects of allocator type A.
///
/// @tparam Model   owns what lies beside the objects and submits the loops: `Model(handle, network, world)`,
///                 `step(world, clock)`, `phases()` with the names of its phases, `count_cars(sums)`,
///                 `view(world)` with a device function `state(c)`, `heap_bytes(network)`
/// @tparam A       the allocator
template <class Model, class A>
class ObjectTraffic final : public Simulation {
 public:
  ObjectTraffic(const Parameters& parameters, const Network& network)
      : cells_(checked(network).cells()),
        needed_bytes_(Model::heap_bytes(network)),
        world_{Seed{parameters.seed}, Chances::of(parameters), 0},
        handle_(
            {.heap_bytes = app::heap_bytes<A>(parameters.heap_bytes, needed_bytes_), .threads = parameters.threads}),
        clock_(parameters.profile_every, Model::phases()),
        model_(handle_, network, world_) {
    synchronize();
  }

  void step() override {
    ++world_.step;
    model_.step(world_, clock_);
  }

  void record() override { model_.count_cars(history_.next(handle_.executor())); }

  void synchronize() override { app::synchronize(handle_, needed_bytes_, "traffic"); }

  std::vector<Census> take_history() override {
    synchronize();
    return history_.take(handle_.executor());
  }

  std::vector<CellState> cells() override {
    synchronize();
    const dynasoar::DeviceArray<CellState> states(cells_);
    CellState* const out = states.data();
    const auto view = model_.view(world_);
    handle_.parallel_for(cells_, [=] __device__(std::size_t c) { out[c] = view.state(static_cast<std::uint32_t>(c)); });
    handle_.synchronize();
    return states.download();
  }

  std::vector<PhaseTime> phases() override { return clock_.times(); }

  std::optional<Usage> usage() override { return app::usage_of(handle_); }

 private:
  static const Network& checked(const Network& network) {
    check_network(network);
    return network;
  }

  std::size_t cells_;
  std::size_t needed_bytes_;
  World world_;
  dynasoar::AllocatorHandle<A> handle_;
  app::PhaseClock clock_;
  Model model_;
  CensusHistory history_;
};

}  // namespace traffic
