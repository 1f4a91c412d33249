/// @file
/// DenseOcean: Wa-Tor as one writes it by hand for speed, without dynamic allocation: four loops over all cells a step.
/// The algorithm of both baselines; they differ in how a cell lies in memory (soa_baseline.cpp, aos_baseline.cpp).
///
/// No loop needs atomics: in the first loop of a half every cell writes one byte of its own, which says what an agent
/// asks for or that the cell can be asked for. In the second, a cell that can be asked for looks at its neighbours'
/// bytes, and if it gives itself away it writes its own state and that of the origin. An agent asks for one cell only,
/// so each state has at most one writer; and the loop that writes states reads none but the winner's.
///
/// Time passes without memory traffic: a cell keeps the steps at which its agent was born and will starve, from which
/// age and energy follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <app/phase_clock.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "population_history.h"
#include "rules.h"
#include "simulation.h"

namespace wa_tor {

/// What a cell says in the first loop of a half: values below kDirections ask for the neighbour in that direction.
inline constexpr std::uint8_t kAsksNothing = 4;
inline constexpr std::uint8_t kOffersWater = 5;
inline constexpr std::uint8_t kOffersFish = 6;
inline constexpr std::uint8_t kDies = 7;

/// Everything that a loop over the cells needs, passed to the device by value.
///
/// @tparam Layout   where a cell's state lies: `kind(c)`, `request(c)`, `born(c)` and `starves(c)` return references
template <class Layout>
struct DenseStep {
  Layout cells;
  Torus torus;
  Seed seed;
  std::uint32_t step;

  __device__ void init(std::uint32_t c, Thresholds thresholds) const {
    const InitialCell initial = initial_cell(seed, thresholds, c);
    cells.kind(c) = initial.kind;
    cells.born(c) = step - initial.age;
    cells.starves(c) = step + kInitialEnergy;
  }

  __device__ void fish_ask(std::uint32_t c) const {
    const std::uint8_t kind = cells.kind(c);
    std::uint8_t request = kind == kFree ? kOffersWater : kAsksNothing;
    if (kind == kFish) {
      const DirectionSet candidates = neighbors_of_kind(c, kFree);
      if (!candidates.empty()) request = asked(candidates, Decision::fish_move, c);
    }
    cells.request(c) = request;
  }

  __device__ void fish_move(std::uint32_t c) const {
    if (cells.request(c) != kOffersWater) return;
    const DirectionSet askers = neighbors_asking_for(c);
    if (askers.empty()) return;
    const std::uint32_t origin = torus.neighbor(c, choose(askers, seed, Decision::fish_accept, c, step));
    const std::uint32_t born = cells.born(origin);
    const bool spawns = step - born > kSpawnAge;
    cells.kind(c) = kFish;
    cells.born(c) = spawns ? step : born;
    if (spawns) {
      cells.born(origin) = step - draw(seed, Decision::fish_birth, origin, step, kNewbornAges);
    } else {
      cells.kind(origin) = kFree;
    }
  }

  __device__ void shark_ask(std::uint32_t c) const {
    const std::uint8_t kind = cells.kind(c);
    std::uint8_t request = kind == kFree ? kOffersWater : kOffersFish;
    if (kind == kShark) request = cells.starves(c) == step ? kDies : shark_request(c);
    cells.request(c) = request;
  }

  __device__ void shark_move(std::uint32_t c) const {
    const std::uint8_t own = cells.request(c);
    if (own == kDies) cells.kind(c) = kFree;
    if (own != kOffersWater && own != kOffersFish) return;
    const DirectionSet askers = neighbors_asking_for(c);
    if (askers.empty()) return;
    const std::uint32_t origin = torus.neighbor(c, choose(askers, seed, Decision::shark_accept, c, step));
    const std::uint32_t born = cells.born(origin);
    const bool spawns = step - born > kSpawnAge;
    cells.kind(c) = kShark;
    cells.born(c) = spawns ? step : born;
    cells.starves(c) = cells.starves(origin) + (own == kOffersFish ? kFishEnergy : 0);
    if (spawns) {
      cells.born(origin) = step - draw(seed, Decision::shark_birth, origin, step, kNewbornAges);
      cells.starves(origin) = step + kInitialEnergy;
    } else {
      cells.kind(origin) = kFree;
    }
  }

  __device__ CellState state(std::uint32_t c) const {
    const std::uint8_t kind = cells.kind(c);
    if (kind == kFree) return {};
    return {kind, step - cells.born(c), kind == kShark ? cells.starves(c) - step : 0};
  }

 private:
  __device__ std::uint8_t shark_request(std::uint32_t c) const {
    DirectionSet candidates = neighbors_of_kind(c, kFish);
    if (candidates.empty()) candidates = neighbors_of_kind(c, kFree);
    return candidates.empty() ? kAsksNothing : asked(candidates, Decision::shark_move, c);
  }

  __device__ std::uint8_t asked(DirectionSet candidates, Decision decision, std::uint32_t c) const {
    return static_cast<std::uint8_t>(choose(candidates, seed, decision, c, step));
  }

  __device__ DirectionSet neighbors_of_kind(std::uint32_t c, std::uint8_t kind) const {
    DirectionSet directions;
    directions.add_if(cells.kind(torus.left(c)) == kind, 0);
    directions.add_if(cells.kind(torus.up(c)) == kind, 1);
    directions.add_if(cells.kind(torus.right(c)) == kind, 2);
    directions.add_if(cells.kind(torus.down(c)) == kind, 3);
    return directions;
  }

  __device__ DirectionSet neighbors_asking_for(std::uint32_t c) const {
    DirectionSet directions;
    directions.add_if(cells.request(torus.left(c)) == opposite(0), 0);
    directions.add_if(cells.request(torus.up(c)) == opposite(1), 1);
    directions.add_if(cells.request(torus.right(c)) == opposite(2), 2);
    directions.add_if(cells.request(torus.down(c)) == opposite(3), 3);
    return directions;
  }
};

/// A simulation whose cells lie in `Storage`.
///
/// @tparam Storage   owns the cells: constructible from their number; `layout()` is the device's view, a Layout as in
///                   DenseStep; `kBytesPerCell`, `kBytesPerShark` are what a step moves at least, per cell and per
///                   shark
template <class Storage>
class DenseOcean final : public Simulation {
 public:
  explicit DenseOcean(const Parameters& parameters)
      : torus_{static_cast<std::uint32_t>(parameters.width),
               static_cast<std::uint32_t>(parameters.width) * static_cast<std::uint32_t>(parameters.height)},
        seed_{parameters.seed},
        executor_(parameters.threads),
        cells_(torus_.cells),
        clock_(parameters.profile_every, {"fish ask", "fish move", "sharks ask", "sharks move"}) {
    populate(Thresholds::of(parameters.fish, parameters.sharks));
  }

  void step() override {
    ++step_;
    const auto now = present();
    clock_.begin_step(executor_);
    executor_.for_each_index(torus_.cells, [=] __device__(std::size_t c) { now.fish_ask(index(c)); });
    clock_.end_phase(executor_, 0);
    executor_.for_each_index(torus_.cells, [=] __device__(std::size_t c) { now.fish_move(index(c)); });
    clock_.end_phase(executor_, 1);
    executor_.for_each_index(torus_.cells, [=] __device__(std::size_t c) { now.shark_ask(index(c)); });
    clock_.end_phase(executor_, 2);
    executor_.for_each_index(torus_.cells, [=] __device__(std::size_t c) { now.shark_move(index(c)); });
    clock_.end_phase(executor_, 3);
  }

  void record() override {
    const auto cells = cells_.layout();
    history_.record(executor_, torus_.cells, [=] __device__(std::uint32_t c) { return cells.kind(c); });
  }

  void synchronize() override { executor_.synchronize(); }

  std::vector<Population> take_history() override { return history_.take(executor_); }

  std::vector<CellState> ocean() override {
    const dynasoar::DeviceArray<CellState> states(torus_.cells);
    CellState* const out = states.data();
    const auto now = present();
    executor_.for_each_index(torus_.cells, [=] __device__(std::size_t c) { out[c] = now.state(index(c)); });
    executor_.synchronize();
    return states.download();
  }

  std::vector<PhaseTime> phases() override { return clock_.times(); }

  std::optional<std::uint64_t> bytes_per_step(const Population& population) const override {
    return torus_.cells * std::uint64_t{Storage::kBytesPerCell} + population.sharks * Storage::kBytesPerShark;
  }

  /// Makes the first agents. Public, like all that contains a device lambda: nvcc does not take it elsewhere.
  void populate(Thresholds thresholds) {
    const auto now = present();
    executor_.for_each_index(torus_.cells, [=] __device__(std::size_t c) { now.init(index(c), thresholds); });
  }

  /// Cell numbers have 32 bits, loop indices 64.
  __host__ __device__ static std::uint32_t index(std::size_t c) { return static_cast<std::uint32_t>(c); }

 private:
  DenseStep<typename Storage::Layout> present() const { return {cells_.layout(), torus_, seed_, step_}; }

  Torus torus_;
  Seed seed_;
  std::uint32_t step_ = 0;
  dynasoar::Executor executor_;
  Storage cells_;
  PopulationHistory history_;
  app::PhaseClock clock_;
};

}  // namespace wa_tor
