/// @file
/// The hand-written baselines: Sugarscape without dynamic allocation, in eight loops over all cells per step. The two
/// baselines differ only in their layout: a structure of arrays or an array of structures.
///
/// An agent that wants a cell sets a bit in the cell, which encodes the position of the agent. In the next loop, each
/// agent that asked computes which of them the cell chooses. After that loop, the cell has an inhabitant. The bits are
/// cleared in the next step, when the inhabitant grows older.
///
/// In the loops in which agents move or are born, a thread reads values that an earlier loop stored in its own cell
/// (`choice`, `partner`). It does not read the cell's kind, because an agent may be moving in at the same time.

#include <cstdint>
#include <memory>
#include <vector>

#include <app/dense_simulation.h>
#include <app/layout.h>
#include <app/on_grid.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "rules.h"
#include "simulation.h"

namespace sugarscape {
namespace {

/// The choice of a free cell. It differs from kNone, the choice of an agent that stays.
constexpr std::uint8_t kNoAgent = 26;

using Requests = dynasoar::AtomicWord<std::uint32_t>;

struct Cell {
  std::uint32_t wealth;
  Traits traits;
  Requests asked;
  Requests proposals;
  std::uint16_t sugar;
  std::uint8_t kind;
  std::uint8_t growth;
  std::uint8_t row;
  std::uint8_t choice;
  std::uint8_t partner;
  std::uint8_t accepted;
  std::uint8_t age;
  std::uint8_t children;
  std::uint8_t max_children;
};

/// @tparam View   of app::StructureOfArrays or app::ArrayOfStructures
template <class View>
struct Cells : View {
  __device__ std::uint8_t& kind(std::uint32_t c) const { return this->template at<&Cell::kind>(c); }
  __device__ std::uint16_t& sugar(std::uint32_t c) const { return this->template at<&Cell::sugar>(c); }
  __device__ std::uint8_t& growth(std::uint32_t c) const { return this->template at<&Cell::growth>(c); }
  __device__ std::uint8_t& row(std::uint32_t c) const { return this->template at<&Cell::row>(c); }
  __device__ std::uint8_t& choice(std::uint32_t c) const { return this->template at<&Cell::choice>(c); }
  __device__ std::uint8_t& partner(std::uint32_t c) const { return this->template at<&Cell::partner>(c); }
  __device__ std::uint8_t& accepted(std::uint32_t c) const { return this->template at<&Cell::accepted>(c); }
  __device__ std::uint8_t& age(std::uint32_t c) const { return this->template at<&Cell::age>(c); }
  __device__ std::uint8_t& children(std::uint32_t c) const { return this->template at<&Cell::children>(c); }
  __device__ std::uint8_t& max_children(std::uint32_t c) const { return this->template at<&Cell::max_children>(c); }
  __device__ std::uint32_t& wealth(std::uint32_t c) const { return this->template at<&Cell::wealth>(c); }
  __device__ Traits& traits(std::uint32_t c) const { return this->template at<&Cell::traits>(c); }
  __device__ Requests& asked(std::uint32_t c) const { return this->template at<&Cell::asked>(c); }
  __device__ Requests& proposals(std::uint32_t c) const { return this->template at<&Cell::proposals>(c); }
};

/// The data of the loops over cells, passed to the device by value.
template <class View>
struct DenseStep {
  Cells<View> cells;
  Grid grid;
  Seed seed;
  app::StepNumber step;

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

  /// Sugar grows, and the cell adds up the shares of its row. The agent grows older and eats, or dies.
  __device__ void live(std::uint32_t c) const {
    cells.row(c) =
        static_cast<std::uint8_t>(grid.sum_of_row(c, [this](std::uint32_t giver) { return shared(grown_at(giver)); }));
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
    const std::uint32_t shares = grid.sum_of_column(c, [this](std::uint32_t row) { return cells.row(row); });
    cells.sugar(c) = after_spread(grown_at(c), shares);
  }

  __device__ void ask(std::uint32_t c) const {
    if (cells.kind(c) == kFree) {
      cells.choice(c) = kNoAgent;
      return;
    }
    cells.choice(c) = ask_for(*this, c, best_in_sight(*this, c, cells.traits(c).vision), Decision::move_ask);
  }

  __device__ void move(std::uint32_t c) const {
    const std::uint8_t choice = cells.choice(c);
    if (choice == kNoAgent) return;
    const bool moves = choice != kNone && is_chosen(*this, c, choice, Decision::move_accept);
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
        in_sight(*this, kReadyFemale, c, traits.vision).for_each([&](std::uint32_t position) {
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
    const Positions free = is_accepted ? in_sight(*this, kFree, c, cells.traits(c).vision) : Positions();
    cells.choice(c) = ask_for(*this, c, free, Decision::birth_ask);
  }

  __device__ void have_child(std::uint32_t c) const {
    const std::uint8_t partner = cells.partner(c);
    if (partner == kNone) return;
    const std::uint8_t choice = cells.choice(c);
    if (choice == kNone || !is_chosen(*this, c, choice, Decision::birth_accept)) return;
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
  __device__ Requests& requests(std::uint32_t c) const { return cells.asked(c); }

  __device__ CellState state(std::uint32_t c) const {
    CellState state{.sugar = cells.sugar(c), .growth = cells.growth(c)};
    const std::uint8_t kind = cells.kind(c);
    if (kind == kFree) return state;
    describe_agent(state, is_female(kind) ? kFemale : kMale, cells.traits(c), cells.wealth(c), cells.age(c));
    state.children = is_female(kind) ? cells.children(c) : 0;
    state.max_children = is_female(kind) ? cells.max_children(c) : 0;
    return state;
  }

 private:
  __device__ std::uint32_t grown_at(std::uint32_t c) const { return grown(cells.sugar(c), cells.growth(c)); }
};

/// @tparam Storage   app::StructureOfArrays or app::ArrayOfStructures of cells
template <class Storage>
class DenseLandscape final : public app::OnGrid<app::DenseSimulation<Simulation>> {
 public:
  explicit DenseLandscape(const Parameters& parameters)
      : OnGrid(parameters, app::PhaseNames{"sugar grows, agents live", "sugar spreads", "agents ask", "agents move",
                                           "males propose", "females accept", "fathers ask", "births"}),
        grid_{static_cast<std::uint32_t>(parameters.width), static_cast<std::uint32_t>(parameters.height)},
        seed_{parameters.seed},
        cells_(grid_.cells()) {
    populate(Thresholds::of(parameters.males, parameters.females));
  }

  void submit_step() override {
    count_step();
    const auto now = present();
    const std::uint32_t cells = grid_.cells();
    run_phase(0, cells, [=] __device__(std::uint32_t c) { now.live(c); });
    run_phase(1, cells, [=] __device__(std::uint32_t c) { now.receive(c); });
    run_phase(2, cells, [=] __device__(std::uint32_t c) { now.ask(c); });
    run_phase(3, cells, [=] __device__(std::uint32_t c) { now.move(c); });
    run_phase(4, cells, [=] __device__(std::uint32_t c) { now.propose(c); });
    run_phase(5, cells, [=] __device__(std::uint32_t c) { now.accept(c); });
    run_phase(6, cells, [=] __device__(std::uint32_t c) { now.ask_for_cradle(c); });
    run_phase(7, cells, [=] __device__(std::uint32_t c) { now.have_child(c); });
  }

  void record() override { count_cells(TakeCensus{present()}); }

  std::vector<CellState> cells() override { return states_of(present()); }

  /// Makes the first agents. Public, because nvcc requires this of functions that contain a device lambda.
  void populate(Thresholds thresholds) {
    const auto now = present();
    for_each(grid_.cells(), [=] __device__(std::uint32_t c) { now.init(c, thresholds); });
  }

 private:
  DenseStep<typename Storage::View> present() const { return {{cells_.view()}, grid_, seed_, now()}; }

  Grid grid_;
  Seed seed_;
  Storage cells_;
};

}  // namespace

std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters) {
  using Storage =
      app::StructureOfArrays<&Cell::kind, &Cell::sugar, &Cell::growth, &Cell::row, &Cell::choice, &Cell::partner,
                             &Cell::accepted, &Cell::age, &Cell::children, &Cell::max_children, &Cell::wealth,
                             &Cell::traits, &Cell::asked, &Cell::proposals>;
  return std::make_unique<DenseLandscape<Storage>>(parameters);
}

std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters) {
  return std::make_unique<DenseLandscape<app::ArrayOfStructures<Cell>>>(parameters);
}

}  // namespace sugarscape
