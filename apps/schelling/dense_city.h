/// @file
/// DenseCity: Schelling's model as one writes it by hand, without dynamic allocation: three loops over all cells a
/// step. The algorithm of both baselines; they differ in how a cell lies in memory (soa_baseline.cpp,
/// aos_baseline.cpp).
///
/// In the loop that moves, a cell looks at what its own agent wants, not at its group, which somebody may be changing
/// who moves in: so each state has one writer and no other reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <app/phase_clock.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "census_history.h"
#include "rules.h"
#include "simulation.h"

namespace schelling {

/// Everything that a loop over the cells needs, passed to the device by value.
///
/// @tparam Layout   where a cell's state lies: `group(c)`, `wanted(c)`, `unhappy(c)` and `lot(c)` return references
template <class Layout>
struct DenseStep {
  Layout cells;
  Rules rules;
  std::uint32_t step;

  __device__ std::uint8_t group(std::uint32_t c) const { return cells.group(c); }

  __device__ void init(std::uint32_t c) const {
    move_in(c, rules.initial_group(c));
    cells.lot(c).store(kNobody, dynasoar::Order::relaxed);
  }

  __device__ void look(std::uint32_t c) const {
    const std::uint8_t group = cells.group(c);
    if (group == kVacant || !rules.is_unhappy(rules.neighbours(*this, c, group))) {
      cells.wanted(c) = kNothing;
      if (group != kVacant) cells.unhappy(c) = 0;
      return;
    }
    const Wish wish = rules.wish(*this, c, step);
    cells.wanted(c) = wish.cell;
    cells.unhappy(c) += 1;
    if (wish.cell != kWhatIsTaken) cells.lot(wish.cell).fetch_min(wish.lot, dynasoar::Order::relaxed);
  }

  __device__ void move(std::uint32_t c) const {
    const std::uint32_t to = cells.wanted(c);
    if (to == kNothing) return;
    if (to != kWhatIsTaken && is_lot_of(cells.lot(to).load(dynasoar::Order::relaxed), c)) {
      cells.group(to) = cells.group(c);
      cells.unhappy(to) = cells.unhappy(c);
      cells.group(c) = kVacant;
    } else if (rules.gives_up(cells.unhappy(c))) {
      cells.group(c) = kVacant;
    }
  }

  __device__ void settle(std::uint32_t c) const {
    cells.lot(c).store(kNobody, dynasoar::Order::relaxed);
    if (cells.group(c) != kVacant) return;
    const std::uint8_t newcomer = rules.newcomer(c, step);
    if (newcomer != kVacant) move_in(c, newcomer);
  }

  __device__ CellState state(std::uint32_t c) const {
    const std::uint8_t group = cells.group(c);
    return {group, group == kVacant ? 0 : cells.unhappy(c)};
  }

 private:
  __device__ void move_in(std::uint32_t c, std::uint8_t group) const {
    cells.group(c) = group;
    cells.unhappy(c) = 0;
  }
};

/// A simulation whose cells lie in `Storage`.
///
/// @tparam Storage   owns the cells: constructible from their number; `layout()` is the device's view, a Layout as in
///                   DenseStep
template <class Storage>
class DenseCity final : public Simulation {
 public:
  explicit DenseCity(const Parameters& parameters)
      : rules_(Rules::of(parameters)),
        executor_(parameters.threads),
        cells_(rules_.cells),
        clock_(parameters.profile_every, {"look", "move", "settle"}) {
    populate();
  }

  void step() override {
    ++step_;
    const auto now = present();
    clock_.begin_step(executor_);
    executor_.for_each_index(rules_.cells, [=] __device__(std::size_t c) { now.look(index(c)); });
    clock_.end_phase(executor_, 0);
    executor_.for_each_index(rules_.cells, [=] __device__(std::size_t c) { now.move(index(c)); });
    clock_.end_phase(executor_, 1);
    executor_.for_each_index(rules_.cells, [=] __device__(std::size_t c) { now.settle(index(c)); });
    clock_.end_phase(executor_, 2);
  }

  void record() override { history_.record(executor_, rules_, present()); }

  void synchronize() override { executor_.synchronize(); }

  std::vector<Census> take_history() override { return history_.take(executor_); }

  std::vector<CellState> city() override {
    const dynasoar::DeviceArray<CellState> states(rules_.cells);
    CellState* const out = states.data();
    const auto now = present();
    executor_.for_each_index(rules_.cells, [=] __device__(std::size_t c) { out[c] = now.state(index(c)); });
    executor_.synchronize();
    return states.download();
  }

  std::vector<app::PhaseTime> phases() override { return clock_.times(); }

  /// Makes the first agents. Public, like all that contains a device lambda: nvcc does not take it elsewhere.
  void populate() {
    const auto now = present();
    executor_.for_each_index(rules_.cells, [=] __device__(std::size_t c) { now.init(index(c)); });
  }

  /// Cell numbers have 32 bits, loop indices 64.
  __host__ __device__ static std::uint32_t index(std::size_t c) { return static_cast<std::uint32_t>(c); }

 private:
  DenseStep<typename Storage::Layout> present() const { return {cells_.layout(), rules_, step_}; }

  Rules rules_;
  std::uint32_t step_ = 0;
  dynasoar::Executor executor_;
  Storage cells_;
  CensusHistory history_;
  app::PhaseClock clock_;
};

}  // namespace schelling
