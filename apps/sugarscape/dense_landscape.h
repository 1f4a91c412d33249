/// @file
/// DenseLandscape: Sugarscape as one writes it by hand for speed, without dynamic allocation: eight loops over all
/// cells a step. The algorithm of both baselines; they differ in how a cell lies in memory (soa_baseline.cpp,
/// aos_baseline.cpp).
///
/// Whoever wants a cell sets a bit in it that says from which side; in the next loop each of the askers finds out for
/// itself whom the cell chose. A cell that was asked for is inhabited afterwards, and the question is forgotten in the
/// next step, when its inhabitant grows older.
///
/// In the loops in which agents move or are born, a thread looks at what its own cell has noted before (`choice`,
/// `partner`), never at its kind: that may be changing, when somebody comes in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <app/phase_clock.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "census_history.h"
#include "rules.h"
#include "simulation.h"

namespace sugarscape {

/// The choice of a free cell, so that it is told apart from an agent that stays (kNone).
inline constexpr std::uint8_t kNoAgent = 26;

/// Everything that a loop over the cells needs, passed to the device by value.
///
/// @tparam Layout   where a cell's state lies: functions of a cell number that return references, such as `kind(c)`
template <class Layout>
struct DenseStep {
  Layout cells;
  Grid grid;
  Seed seed;
  std::uint32_t step;

  __device__ void init(std::uint32_t c, Thresholds thresholds) const {
    const InitialAgent agent = initial_agent(seed, thresholds, c);
    cells.kind(c) = agent.kind;
    cells.traits(c) = agent.traits;
    cells.wealth(c) = agent.traits.endowment;
    cells.age(c) = 0;
    cells.children(c) = 0;
    cells.max_children(c) = agent.max_children;
    cells.sugar(c) = 0;
    cells.growth(c) = initial_growth(seed, c);
    cells.asked(c).store(0, dynasoar::Order::relaxed);
    cells.proposals(c).store(0, dynasoar::Order::relaxed);
  }

  /// Sugar grows and is given away; the agent grows older and eats, or dies.
  __device__ void live(std::uint32_t c) const {
    const std::uint32_t grown = limited(std::uint32_t{cells.sugar(c)} + cells.growth(c));
    const std::uint32_t gift = given(grown);
    cells.sugar(c) = static_cast<std::uint16_t>(grown - gift);
    cells.share(c) = share_of(gift);
    if (cells.kind(c) == kFree) return;
    cells.asked(c).store(0, dynasoar::Order::relaxed);
    const auto age = static_cast<std::uint8_t>(cells.age(c) + 1);
    const std::uint32_t wealth = cells.wealth(c);
    const Traits traits = cells.traits(c);
    cells.age(c) = age;
    cells.wealth(c) = wealth - traits.metabolism;
    if (dies(age, wealth, traits)) cells.kind(c) = kFree;
  }

  __device__ void receive(std::uint32_t c) const {
    std::uint32_t received = 0;
    grid.for_each_at(
        c, grid.sight(c, 2), [this](std::uint32_t giver) { return cells.share(giver); },
        [&](std::uint32_t, bool is_there, std::uint32_t share) { received += is_there ? share : 0; });
    if (received > 0) cells.sugar(c) = static_cast<std::uint16_t>(limited(cells.sugar(c) + received));
  }

  __device__ void ask(std::uint32_t c) const {
    if (cells.kind(c) == kFree) {
      cells.choice(c) = kNoAgent;
      return;
    }
    BestPlaces best;
    grid.for_each_at(
        c, in_sight(kFree, c, cells.traits(c).vision), [this](std::uint32_t other) { return cells.sugar(other); },
        [&](std::uint32_t position, bool is_there, std::uint32_t sugar) { best.consider(position, is_there, sugar); });
    cells.choice(c) = ask_for(c, best.positions(), Decision::move_ask);
  }

  __device__ void move(std::uint32_t c) const {
    const std::uint8_t choice = cells.choice(c);
    if (choice == kNoAgent) return;
    const bool moves = choice != kNone && accepts(c, choice, Decision::move_accept);
    const std::uint32_t to = moves ? grid.at(c, choice) : c;
    const Traits traits = cells.traits(c);
    const std::uint32_t wealth = cells.wealth(c) + cells.sugar(to);
    const std::uint8_t age = cells.age(c);
    cells.sugar(to) = 0;
    cells.wealth(to) = wealth;
    std::uint8_t kind = cells.kind(c);
    if (kind != kMale) kind = is_ready(age, wealth, traits) ? kReadyFemale : kFemale;
    if (moves) {
      cells.traits(to) = traits;
      cells.age(to) = age;
      if (kind != kMale) {
        cells.children(to) = cells.children(c);
        cells.max_children(to) = cells.max_children(c);
      }
      cells.kind(c) = kFree;
    }
    cells.kind(to) = kind;
  }

  __device__ void propose(std::uint32_t c) const {
    RichestAgent richest;
    if (cells.kind(c) == kMale) {
      const Traits traits = cells.traits(c);
      if (is_ready(cells.age(c), cells.wealth(c), traits)) {
        in_sight(kReadyFemale, c, traits.vision).for_each([&](std::uint32_t position) {
          richest.consider(position, cells.wealth(grid.at(c, position)));
        });
      }
    }
    const std::uint8_t partner = richest.position();
    cells.partner(c) = partner;
    if (partner == kNone) return;
    cells.proposals(grid.at(c, partner)).fetch_or(1u << mirrored(partner), dynasoar::Order::relaxed);
  }

  __device__ void accept(std::uint32_t c) const {
    if (cells.kind(c) != kReadyFemale) return;
    const Positions suitors(cells.proposals(c).load(dynasoar::Order::relaxed));
    if (suitors.empty()) return;
    cells.proposals(c).store(0, dynasoar::Order::relaxed);
    RichestAgent richest;
    if (cells.children(c) < cells.max_children(c)) {
      suitors.for_each([&](std::uint32_t position) { richest.consider(position, cells.wealth(grid.at(c, position))); });
    }
    cells.accepted(c) = richest.position();
  }

  __device__ void ask_for_cradle(std::uint32_t c) const {
    const std::uint8_t partner = cells.partner(c);
    if (partner == kNone) return;
    const bool is_accepted = cells.accepted(grid.at(c, partner)) == mirrored(partner);
    const Positions free = is_accepted ? in_sight(kFree, c, cells.traits(c).vision) : Positions();
    cells.choice(c) = ask_for(c, free, Decision::birth_ask);
  }

  __device__ void have_child(std::uint32_t c) const {
    const std::uint8_t partner = cells.partner(c);
    if (partner == kNone) return;
    const std::uint8_t choice = cells.choice(c);
    if (choice == kNone || !accepts(c, choice, Decision::birth_accept)) return;
    const std::uint32_t mother = grid.at(c, partner);
    const std::uint32_t cradle = grid.at(c, choice);
    const Traits traits = mean(cells.traits(c), cells.traits(mother));
    cells.wealth(c) -= birth_price(cells.traits(c));
    cells.wealth(mother) -= birth_price(cells.traits(mother));
    ++cells.children(mother);
    const Newborn child = newborn(seed, cradle, step);
    cells.kind(cradle) = child.kind;
    cells.traits(cradle) = traits;
    cells.wealth(cradle) = traits.endowment;
    cells.age(cradle) = 0;
    cells.children(cradle) = 0;
    cells.max_children(cradle) = child.max_children;
  }

  __device__ std::uint8_t kind(std::uint32_t c) const { return cells.kind(c); }
  __device__ std::uint32_t sugar(std::uint32_t c) const { return cells.sugar(c); }

  __device__ CellState state(std::uint32_t c) const {
    CellState state{.sugar = cells.sugar(c), .growth = cells.growth(c)};
    const std::uint8_t kind = cells.kind(c);
    if (kind == kFree) return state;
    const Traits traits = cells.traits(c);
    state.kind = is_female(kind) ? kFemale : kMale;
    state.vision = traits.vision;
    state.max_age = traits.max_age;
    state.endowment = traits.endowment;
    state.metabolism = traits.metabolism;
    state.wealth = cells.wealth(c);
    state.age = cells.age(c);
    state.children = is_female(kind) ? cells.children(c) : 0;
    state.max_children = is_female(kind) ? cells.max_children(c) : 0;
    return state;
  }

 private:
  /// The cells of this kind in sight of c.
  __device__ Positions in_sight(std::uint8_t kind, std::uint32_t c, std::uint32_t vision) const {
    return grid.where(c, grid.sight(c, vision), [=, this](std::uint32_t other) { return cells.kind(other) == kind; });
  }

  /// Asks for one of the candidates, if there are any. @return which one, or kNone
  __device__ std::uint8_t ask_for(std::uint32_t c, Positions candidates, Decision decision) const {
    if (candidates.empty()) return kNone;
    const std::uint8_t position = choose(candidates, seed, decision, c, step);
    cells.asked(grid.at(c, position)).fetch_or(1u << mirrored(position), dynasoar::Order::relaxed);
    return position;
  }

  /// Whether the cell at `position`, which c's agent asked for, chooses that agent.
  __device__ bool accepts(std::uint32_t c, std::uint8_t position, Decision decision) const {
    const std::uint32_t wanted = grid.at(c, position);
    const Positions askers(cells.asked(wanted).load(dynasoar::Order::relaxed));
    return choose(askers, seed, decision, wanted, step) == mirrored(position);
  }
};

/// A simulation whose cells lie in `Storage`.
///
/// @tparam Storage   owns the cells: constructible from their number; `layout()` is the device's view, a Layout as in
///                   DenseStep
template <class Storage>
class DenseLandscape final : public Simulation {
 public:
  explicit DenseLandscape(const Parameters& parameters)
      : grid_{static_cast<std::uint32_t>(parameters.width), static_cast<std::uint32_t>(parameters.height)},
        seed_{parameters.seed},
        executor_(parameters.threads),
        cells_(grid_.cells()),
        clock_(parameters.profile_every, {"sugar grows, agents live", "sugar spreads", "agents ask", "agents move",
                                          "males propose", "females accept", "fathers ask", "births"}) {
    populate(Thresholds::of(parameters.males, parameters.females));
  }

  void step() override {
    ++step_;
    clock_.begin_step(executor_);
    live_and_spread();
    move();
    mate();
  }

  void record() override { history_.record(executor_, grid_.cells(), present()); }

  void synchronize() override { executor_.synchronize(); }

  std::vector<Census> take_history() override { return history_.take(executor_); }

  std::vector<CellState> landscape() override {
    const dynasoar::DeviceArray<CellState> states(grid_.cells());
    CellState* const out = states.data();
    const auto now = present();
    executor_.for_each_index(grid_.cells(), [=] __device__(std::size_t c) { out[c] = now.state(index(c)); });
    executor_.synchronize();
    return states.download();
  }

  std::vector<PhaseTime> phases() override { return clock_.times(); }

  // Public, like all that contains a device lambda: nvcc does not take it elsewhere.

  void populate(Thresholds thresholds) {
    const auto now = present();
    executor_.for_each_index(grid_.cells(), [=] __device__(std::size_t c) { now.init(index(c), thresholds); });
  }

  void live_and_spread() {
    const auto now = present();
    executor_.for_each_index(grid_.cells(), [=] __device__(std::size_t c) { now.live(index(c)); });
    clock_.end_phase(executor_, 0);
    executor_.for_each_index(grid_.cells(), [=] __device__(std::size_t c) { now.receive(index(c)); });
    clock_.end_phase(executor_, 1);
  }

  void move() {
    const auto now = present();
    executor_.for_each_index(grid_.cells(), [=] __device__(std::size_t c) { now.ask(index(c)); });
    clock_.end_phase(executor_, 2);
    executor_.for_each_index(grid_.cells(), [=] __device__(std::size_t c) { now.move(index(c)); });
    clock_.end_phase(executor_, 3);
  }

  void mate() {
    const auto now = present();
    executor_.for_each_index(grid_.cells(), [=] __device__(std::size_t c) { now.propose(index(c)); });
    clock_.end_phase(executor_, 4);
    executor_.for_each_index(grid_.cells(), [=] __device__(std::size_t c) { now.accept(index(c)); });
    clock_.end_phase(executor_, 5);
    executor_.for_each_index(grid_.cells(), [=] __device__(std::size_t c) { now.ask_for_cradle(index(c)); });
    clock_.end_phase(executor_, 6);
    executor_.for_each_index(grid_.cells(), [=] __device__(std::size_t c) { now.have_child(index(c)); });
    clock_.end_phase(executor_, 7);
  }

  /// Cell numbers have 32 bits, loop indices 64.
  __host__ __device__ static std::uint32_t index(std::size_t c) { return static_cast<std::uint32_t>(c); }

 private:
  DenseStep<typename Storage::Layout> present() const { return {cells_.layout(), grid_, seed_, step_}; }

  Grid grid_;
  Seed seed_;
  std::uint32_t step_ = 0;
  dynasoar::Executor executor_;
  Storage cells_;
  CensusHistory history_;
  app::PhaseClock clock_;
};

}  // namespace sugarscape
