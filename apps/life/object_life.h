/// @file
/// ObjectLife: the host's side of the DSL variants, which differ only in their classes (agents.cpp, cells.cpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <app/object_heap.h>
#include <app/phase_clock.h>
#include <dynasoar/dynasoar.h>

#include "census.h"
#include "dynamics.h"
#include "lattice.h"
#include "simulation.h"
#include "start.h"

namespace life {

using app::kSlotsInFlight;

/// Counts objects of class Alive. The slot, which is the handle's lowest six bits, differs between neighbouring
/// threads.
template <class Alive>
struct CountAlive {
  Census::Sums sums;
  __device__ void operator()(Alive* object) const {
    Tally tally;
    count_cell(tally, object->state(), false);
    sums.add(reinterpret_cast<std::uintptr_t>(object) % 64, tally);
  }
};

/// Counts objects of class Candidate.
template <class Candidate>
struct CountCandidates {
  Census::Sums sums;
  __device__ void operator()(Candidate* object) const {
    Tally tally;
    tally.of[kCandidates] = 1;
    sums.add(reinterpret_cast<std::uintptr_t>(object) % 64, tally);
  }
};

/// Writes the states of objects of class Alive into a frame of dead cells.
template <class Alive>
struct PaintAlive {
  std::uint16_t* frame;
  __device__ void operator()(Alive* object) const {
    frame[object->index()] = static_cast<std::uint16_t>(object->state());
  }
};

/// A simulation whose live cells are objects of allocator type A.
///
/// @tparam Model   owns what lies beside the objects and submits the loops: `Model(handle, lattice, rule, start)`,
///                 `step(clock)`, `heap_bytes(cells)`, and names its classes `Alive` (with device functions `state()`
///                 and `index()`) and `Candidate`
/// @tparam A       the allocator
template <class Model, class A>
class ObjectLife final : public Simulation {
 public:
  explicit ObjectLife(const Parameters& parameters)
      : left_(parameters.left - parameters.margin),
        top_(parameters.top - parameters.margin),
        lattice_(Lattice::of(parameters)),
        needed_bytes_(Model::heap_bytes(lattice_.cells())),
        handle_(
            {.heap_bytes = app::heap_bytes<A>(parameters.heap_bytes, needed_bytes_), .threads = parameters.threads}),
        clock_(parameters.profile_every, {"deaths", "births", "candidates look", "alive look"}),
        start_(parameters),
        model_(handle_, lattice_, parameters.rule, start_.view()) {
    synchronize();
  }

  void step() override { model_.step(clock_); }

  void record() override {
    const Census::Sums sums = census_.next(handle_.executor());
    handle_.template parallel_do<Alive>(CountAlive<Alive>{sums});
    handle_.template parallel_do<Candidate>(CountCandidates<Candidate>{sums});
  }

  void synchronize() override { app::synchronize(handle_, needed_bytes_, "frame"); }

  std::vector<Population> take_history() override {
    synchronize();
    return census_.take(handle_.executor());
  }

  Frame frame() override {
    synchronize();
    dynasoar::DeviceArray<std::uint16_t> states(lattice_.cells());
    states.fill_bytes(0);
    handle_.template parallel_do<Alive>(PaintAlive<Alive>{states.data()});
    handle_.synchronize();
    return {left_, top_, static_cast<int>(lattice_.width), static_cast<int>(lattice_.height), states.download()};
  }

  std::vector<PhaseTime> phases() override { return clock_.times(); }

  std::optional<Usage> usage() override { return app::usage_of(handle_); }

 private:
  using Alive = typename Model::Alive;
  using Candidate = typename Model::Candidate;

  int left_;
  int top_;
  Lattice lattice_;
  std::size_t needed_bytes_;
  dynasoar::AllocatorHandle<A> handle_;
  app::PhaseClock clock_;
  Start start_;
  Model model_;
  Census census_;
};

}  // namespace life
