/// @file
/// ObjectOcean: the host's side of the DSL variants, which differ only in their classes (agents.cpp, cells.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <app/error.h>
#include <app/object_heap.h>
#include <app/phase_clock.h>
#include <dynasoar/dynasoar.h>

#include "population_history.h"
#include "rules.h"
#include "simulation.h"

namespace wa_tor {

using app::kSlotsInFlight;

/// A simulation whose agents are objects of allocator type A.
///
/// @tparam Model   owns what lies beside the objects and submits the loops: `Model(handle, parameters)`,
///                 `step(step, clock)`, `compact(options)`, `with_arrays(f)`, which calls f with what a checkpoint
///                 needs beside the objects, `view(step)` with device functions `kind(c)` and `state(c)`,
///                 `heap_bytes(cells)`
/// @tparam A       the allocator
template <class Model, class A>
class ObjectOcean final : public Simulation {
 public:
  explicit ObjectOcean(const Parameters& parameters)
      : cells_(static_cast<std::uint32_t>(parameters.width) * static_cast<std::uint32_t>(parameters.height)),
        seed_(parameters.seed),
        needed_bytes_(Model::heap_bytes(cells_)),
        handle_(
            {.heap_bytes = app::heap_bytes<A>(parameters.heap_bytes, needed_bytes_), .threads = parameters.threads}),
        compaction_{parameters.compact_above},
        clock_(parameters.profile_every,
               {"fish ask", "cells decide", "fish move", "sharks ask", "cells decide again", "sharks move"}),
        model_(handle_, parameters) {
    synchronize();
  }

  void step() override {
    model_.step(++step_, clock_);
    if (compaction_.above < 1) model_.compact(compaction_);
  }

  void record() override {
    const auto view = model_.view(step_);
    history_.record(handle_.executor(), cells_, [=] __device__(std::uint32_t c) { return view.kind(c); });
  }

  void synchronize() override { app::synchronize(handle_, needed_bytes_, "ocean"); }

  std::vector<Population> take_history() override {
    synchronize();
    return history_.take(handle_.executor());
  }

  std::vector<CellState> ocean() override {
    synchronize();
    const dynasoar::DeviceArray<CellState> states(cells_);
    CellState* const out = states.data();
    const auto view = model_.view(step_);
    handle_.parallel_for(cells_, [=] __device__(std::size_t c) { out[c] = view.state(static_cast<std::uint32_t>(c)); });
    handle_.synchronize();
    return states.download();
  }

  bool can_be_saved() const override { return A::kSaves; }

  void save(const std::string& path) override {
    if constexpr (A::kSaves) {
      model_.with_arrays([&](const auto&... arrays) {
        handle_.save(path, dynasoar::value("step", step_), dynasoar::value("seed", seed_), arrays...);
      });
    }
  }

  int load(const std::string& path) override {
    if constexpr (A::kSaves) {
      std::uint64_t seed = 0;
      model_.with_arrays([&](const auto&... arrays) {
        handle_.load(path, dynasoar::value("step", step_), dynasoar::value("seed", seed), arrays...);
      });
      if (seed != seed_) {
        throw app::UsageError("--seed: the run in " + path + " has seed " + std::to_string(seed) + ", not " +
                              std::to_string(seed_));
      }
    }
    return static_cast<int>(step_);
  }

  std::vector<PhaseTime> phases() override { return clock_.times(); }

  std::optional<Usage> usage() override { return app::usage_of(handle_); }

 private:
  std::uint32_t cells_;
  std::uint64_t seed_;
  std::size_t needed_bytes_;
  std::uint32_t step_ = 0;
  dynasoar::AllocatorHandle<A> handle_;
  dynasoar::CompactionOptions compaction_;
  app::PhaseClock clock_;
  Model model_;
  PopulationHistory history_;
};

}  // namespace wa_tor
