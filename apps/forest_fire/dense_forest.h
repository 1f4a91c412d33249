/// @file
/// DenseForest: the forest as one writes it by hand for speed, without dynamic allocation: one loop over all cells a
/// step, which reads what they held before and writes what they hold now. The algorithm of both baselines; they differ
/// in how a cell's two states lie in memory (soa_baseline.cpp, aos_baseline.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <app/phase_clock.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "rules.h"
#include "simulation.h"

namespace forest_fire {

/// Everything that a loop over the cells needs, passed to the device by value.
///
/// @tparam Layout   where states lie: `ground(c, step)` returns a reference to what cell c holds after that step, or
///                  held after the one before
template <class Layout>
struct DenseStep {
  Layout cells;
  app::Torus torus;
  Chance chance;
  std::uint32_t step;

  __device__ void settle(std::uint32_t c) const {
    cells.ground(c, step) = chance.starts_with_tree(c) ? Ground::tree : Ground::empty;
  }

  __device__ void advance(std::uint32_t c) const {
    Ground next = Ground::empty;
    switch (before(c)) {
      case Ground::empty:
        if (chance.grows(c, step)) next = Ground::tree;
        break;
      case Ground::tree: next = catches_fire(c) ? Ground::fire : Ground::tree; break;
      case Ground::fire: break;
    }
    cells.ground(c, step) = next;
  }

 private:
  __device__ Ground before(std::uint32_t c) const { return cells.ground(c, step - 1); }

  __device__ bool catches_fire(std::uint32_t c) const {
    return before(torus.left(c)) == Ground::fire || before(torus.up(c)) == Ground::fire ||
           before(torus.right(c)) == Ground::fire || before(torus.down(c)) == Ground::fire || chance.strikes(c, step);
  }
};

/// What cells hold after a step.
template <class Layout>
struct DenseGround {
  Layout cells;
  std::uint32_t step;
  __device__ Ground operator()(std::uint32_t c) const { return cells.ground(c, step); }
};

/// A simulation whose cells lie in `Storage`.
///
/// @tparam Storage   owns the cells: constructible from their number; `layout()` is the device's view, a Layout as in
///                   DenseStep
template <class Storage>
class DenseForest final : public Simulation {
 public:
  explicit DenseForest(const Parameters& parameters)
      : torus_(torus_of(parameters)),
        chance_(Chance::of(parameters)),
        executor_(parameters.threads),
        cells_(torus_.cells),
        clock_(parameters.profile_every, {"grow and burn"}) {
    settle();
  }

  void step() override {
    ++step_;
    clock_.begin_step(executor_);
    executor_.for_each_index(torus_.cells, [now = present()] __device__(std::size_t c) { now.advance(index(c)); });
    clock_.end_phase(executor_, 0);
  }

  void record() override {
    using GroundOf = DenseGround<typename Storage::Layout>;
    history_.record(executor_, torus_.cells, CountTrees<GroundOf>{GroundOf{cells_.layout(), step_}});
  }

  void synchronize() override { executor_.synchronize(); }

  std::vector<Census> take_history() override { return to_censuses(history_.take(executor_)); }

  std::vector<Ground> forest() override {
    const dynasoar::DeviceArray<Ground> grounds(torus_.cells);
    executor_.for_each_index(torus_.cells, [out = grounds.data(), cells = cells_.layout(), step = step_] __device__(
                                               std::size_t c) { out[c] = cells.ground(index(c), step); });
    executor_.synchronize();
    return grounds.download();
  }

  std::vector<app::PhaseTime> phases() override { return clock_.times(); }

  /// Makes the first trees. Public, like all that contains a device lambda: nvcc does not take it elsewhere.
  void settle() {
    executor_.for_each_index(torus_.cells, [now = present()] __device__(std::size_t c) { now.settle(index(c)); });
  }

  /// Cell numbers have 32 bits, loop indices 64.
  __host__ __device__ static std::uint32_t index(std::size_t c) { return static_cast<std::uint32_t>(c); }

 private:
  DenseStep<typename Storage::Layout> present() const { return {cells_.layout(), torus_, chance_, step_}; }

  app::Torus torus_;
  Chance chance_;
  std::uint32_t step_ = 0;
  dynasoar::Executor executor_;
  Storage cells_;
  app::CountHistory<2> history_;
  app::PhaseClock clock_;
};

}  // namespace forest_fire
