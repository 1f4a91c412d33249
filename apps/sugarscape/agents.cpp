/// @file
/// Sugarscape with males and females as objects; the cells are plain arrays. README.md defines the model.
///
/// An agent that wants a cell *asks*: it sets a bit in the cell, which encodes the position of the agent. In the next
/// loop, each agent that asked computes which of them the cell chooses, so cells need no loop of their own for this.
/// After that loop, the cell has an inhabitant, which clears the bits in the next step.
///
/// A loop reads values that earlier loops have written. Every location has one writer in a loop, or changes only by
/// commutative atomics. So the result does not depend on the order of threads.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <app/allocator.h>
#include <app/cell_columns.h>
#include <dynasoar/dynasoar.h>

#include "grid.h"
#include "object_landscape.h"
#include "rules.h"
#include "simulation.h"

namespace sugarscape::agents {
inline namespace DYNASOAR_APP_ALLOCATOR {

class Agent;
class Male;
class Female;
using AllocatorT = app::Allocator<Male, Female>;

/// The cells, as the device sees them.
struct Landscape {
  using Requests = dynasoar::AtomicWord<std::uint32_t>;

  Grid grid;
  Seed seed;
  app::StepNumber step;
  Agent** agents;         ///< [cells] the agent that lives there, or null
  std::uint8_t* kinds;    ///< [cells] kFree, kMale ...: the only value that most neighbours read
  std::uint16_t* sugars;  ///< [cells]
  std::uint8_t* growths;  ///< [cells]
  std::uint8_t* rows;     ///< [cells] what a cell receives from its row in this step
  Requests* asked;        ///< [cells] bit p: the agent at position p of the window asks for it

  __device__ std::uint32_t grown_at(std::uint32_t c) const { return grown(sugars[c], growths[c]); }

  __device__ void grow(std::uint32_t c) const {
    rows[c] =
        static_cast<std::uint8_t>(grid.sum_of_row(c, [this](std::uint32_t giver) { return shared(grown_at(giver)); }));
  }

  __device__ void receive(std::uint32_t c) const {
    const std::uint32_t shares = grid.sum_of_column(c, [this](std::uint32_t row) { return rows[row]; });
    sugars[c] = after_spread(grown_at(c), shares);
  }

  __device__ std::uint32_t harvest(std::uint32_t c) const {
    const std::uint32_t all = sugars[c];
    sugars[c] = 0;
    return all;
  }

  /// Sets the inhabitant of cell c; null: none.
  __device__ void put(std::uint32_t c, Agent* agent, std::uint8_t kind) const {
    agents[c] = agent;
    kinds[c] = agent != nullptr ? kind : kFree;
  }

  __device__ void forget_question(std::uint32_t c) const { asked[c].store(0, dynasoar::Order::relaxed); }

  __device__ Agent* agent_at(std::uint32_t c, std::uint32_t position) const { return agents[grid.at(c, position)]; }

  __device__ std::uint8_t kind(std::uint32_t c) const { return kinds[c]; }
  __device__ std::uint32_t sugar(std::uint32_t c) const { return sugars[c]; }
  __device__ Requests& requests(std::uint32_t c) const { return asked[c]; }
  __device__ CellState state(std::uint32_t c) const;
};

class Agent : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Agent, (cell_, std::uint32_t), (wealth_, std::uint32_t), (traits_, Traits), (age_, std::uint8_t),
                  (choice_, std::uint8_t));  // the position that it asked for, or kNone

  __device__ Agent(std::uint32_t cell, Traits traits)
      : cell_(cell), wealth_(traits.endowment), traits_(traits), age_(0) {}

  /// The agent grows older and eats, or dies.
  __device__ void live(Landscape land) {
    land.forget_question(cell_);
    ++age_;
    if (dies(age_, wealth_, traits_)) {
      land.put(cell_, nullptr, kFree);
      dynasoar::destroy(this);
      return;
    }
    wealth_ -= traits_->metabolism;
  }

  /// Asks for the best place in sight.
  __device__ void ask(Landscape land) {
    choice_ = ask_for(land, cell_, best_in_sight(land, cell_, traits_->vision), Decision::move_ask);
  }

  __device__ std::uint32_t wealth() const { return wealth_; }

  __device__ CellState state(std::uint8_t kind) const {
    CellState state;
    describe_agent(state, kind, traits_, wealth_, age_);
    return state;
  }

 protected:
  __device__ bool is_ready_for_children() const { return is_ready(age_, wealth_, traits_); }

  /// Moves to the cell that it asked for if the cell chose it, and harvests the agent's cell.
  __device__ void move_and_harvest(Landscape land) {
    if (choice_ != kNone && is_chosen(land, cell_, choice_, Decision::move_accept)) {
      land.put(cell_, nullptr, kFree);
      cell_ = land.grid.at(cell_, choice_);
    }
    wealth_ += land.harvest(cell_);
  }

  __device__ void pay_for_child() { wealth_ -= birth_price(traits_); }
};

class Female : public Agent {
 public:
  using BaseClass = Agent;
  using Proposals = dynasoar::AtomicWord<std::uint32_t>;
  DYNASOAR_FIELDS(Female, (proposals_, Proposals),  // bit p: the male at position p of the window
                  (accepted_, std::uint8_t),        // the position of the male whose proposal she accepted, or kNone
                  (children_, std::uint8_t), (max_children_, std::uint8_t));

  __device__ Female(std::uint32_t cell, Traits traits, std::uint8_t max_children)
      : Agent(cell, traits), children_(0), max_children_(max_children) {
    proposals_->store(0, dynasoar::Order::relaxed);
  }

  __device__ void move(Landscape land) {
    move_and_harvest(land);
    land.put(cell_, this, is_ready_for_children() ? kReadyFemale : kFemale);
  }

  /// The male at `position` of her window proposes to her.
  __device__ void receive_proposal(std::uint32_t position) {
    proposals_->fetch_or(1u << position, dynasoar::Order::relaxed);
  }

  /// Accepts the richest male that proposes, unless she has borne all her children.
  __device__ void accept(Landscape land) {
    const Positions suitors(proposals_->load(dynasoar::Order::relaxed));
    if (suitors.empty()) return;
    proposals_->store(0, dynasoar::Order::relaxed);
    RichestAgent richest;
    if (children_ < max_children_) {
      suitors.for_each(
          [&](std::uint32_t position) { richest.consider(position, land.agent_at(cell_, position)->wealth()); });
    }
    accepted_ = richest.position();
  }

  __device__ bool has_accepted(std::uint32_t position) const { return accepted_ == position; }

  /// Has a child with this father. @return the child's traits
  __device__ Traits bear_child(Traits father) {
    pay_for_child();
    ++children_;
    return mean(father, traits_);
  }

  __device__ CellState state() const {
    CellState state = Agent::state(kFemale);
    state.children = children_;
    state.max_children = max_children_;
    return state;
  }
};

class Male : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Male, (beloved_, std::uint8_t));  // the position of the female that he proposed to, or kNone

  using Agent::Agent;

  __device__ void move(Landscape land) {
    move_and_harvest(land);
    land.put(cell_, this, kMale);
  }

  /// Proposes to the richest female in sight that is ready.
  __device__ void propose(Landscape land) {
    RichestAgent richest;
    if (is_ready_for_children()) {
      in_sight(land, kReadyFemale, cell_, traits_->vision).for_each([&](std::uint32_t position) {
        richest.consider(position, land.agent_at(cell_, position)->wealth());
      });
    }
    beloved_ = richest.position();
    if (beloved_ != kNone) beloved(land)->receive_proposal(mirrored(beloved_));
  }

  /// Asks for a cell for a child, if the female has accepted him.
  __device__ void ask_for_cradle(Landscape land) {
    choice_ = kNone;
    if (beloved_ == kNone || !beloved(land)->has_accepted(mirrored(beloved_))) return;
    choice_ = ask_for(land, cell_, in_sight(land, kFree, cell_, traits_->vision), Decision::birth_ask);
  }

  /// Has a child in the cell that he asked for, if the cell chose him.
  __device__ void have_child(Landscape land) {
    if (choice_ == kNone || !is_chosen(land, cell_, choice_, Decision::birth_accept)) return;
    const std::uint32_t cradle = land.grid.at(cell_, choice_);
    pay_for_child();
    const Traits traits = beloved(land)->bear_child(traits_);
    const Newborn child = newborn(land.seed, cradle, land.step);
    if (child.kind == kMale) {
      land.put(cradle, dynasoar::make_new<Male>(cradle, traits), kMale);
    } else {
      land.put(cradle, dynasoar::make_new<Female>(cradle, traits, child.max_children), kFemale);
    }
  }

  __device__ CellState state() const { return Agent::state(kMale); }

 private:
  /// @pre beloved_ != kNone
  __device__ Female* beloved(const Landscape& land) const {
    return static_cast<Female*>(land.agent_at(cell_, beloved_));
  }
};

__device__ inline CellState Landscape::state(std::uint32_t c) const {
  CellState state;
  if (const Male* const male = kinds[c] == kMale ? static_cast<Male*>(agents[c]) : nullptr) state = male->state();
  if (const Female* const female = is_female(kinds[c]) ? static_cast<Female*>(agents[c]) : nullptr) {
    state = female->state();
  }
  state.sugar = sugars[c];
  state.growth = growths[c];
  return state;
}

/// Makes a cell and its first agent.
struct Populate {
  Landscape land;
  Thresholds thresholds;

  __device__ void operator()(std::size_t index) const {
    const auto c = static_cast<std::uint32_t>(index);
    land.sugars[c] = 0;
    land.growths[c] = initial_growth(land.seed, c);
    land.forget_question(c);
    const InitialAgent initial = initial_agent(land.seed, thresholds, c);
    Agent* agent = nullptr;
    if (initial.kind == kMale) agent = dynasoar::make_new<Male>(c, initial.traits);
    if (initial.kind == kFemale) agent = dynasoar::make_new<Female>(c, initial.traits, initial.max_children);
    land.put(c, agent, initial.kind);
  }
};

struct Grow {
  Landscape land;
  __device__ void operator()(std::size_t c) const { land.grow(static_cast<std::uint32_t>(c)); }
};

struct Receive {
  Landscape land;
  __device__ void operator()(std::size_t c) const { land.receive(static_cast<std::uint32_t>(c)); }
};

class Objects final : public ObjectLandscape<Objects, AllocatorT> {
 public:
  explicit Objects(const Parameters& parameters)
      : ObjectLandscape(parameters),
        grid_{static_cast<std::uint32_t>(parameters.width), static_cast<std::uint32_t>(parameters.height)},
        seed_{parameters.seed},
        agents_(grid_.cells()),
        kinds_(grid_.cells()),
        sugars_(grid_.cells()),
        growths_(grid_.cells()),
        rows_(grid_.cells()),
        asked_(grid_.cells()) {
    handle().parallel_for(grid_.cells(), Populate{view(), Thresholds::of(parameters.males, parameters.females)});
    synchronize();
  }

  /// A sufficient heap: every cell could hold a female, and half of the slots of the females' blocks may be free.
  static std::size_t heap_bytes(std::uint32_t cells) {
    const std::size_t agents = 2 * std::size_t{cells} + kSlotsInFlight;
    return std::max(AllocatorT::heap_bytes_for<Male>(agents), AllocatorT::heap_bytes_for<Female>(agents));
  }

  Landscape view() const {
    return {grid_,          seed_,           now(),        agents_.data(), kinds_.data(),
            sugars_.data(), growths_.data(), rows_.data(), asked_.data()};
  }

  void add_arrays(dynasoar::CheckpointItems& items) const {  // no agent asks between steps
    items.add(dynasoar::array("agents", agents_))
        .add(dynasoar::array("kinds", kinds_))
        .add(dynasoar::array("sugars", sugars_))
        .add(dynasoar::array("growths", growths_));
  }

  dynasoar::Columns read_columns() {
    dynasoar::Columns agents = handle().all_columns<Agent>();
    app::add_cells(agents, "cell_");
    return agents;
  }

  void submit_step() override {
    count_step();
    const Landscape land = view();
    executor().for_each_index(grid_.cells(), Grow{land});
    end_phase(0);
    executor().for_each_index(grid_.cells(), Receive{land});
    end_phase(1);
    handle().parallel_do<Agent, &Agent::live>(land);
    end_phase(2);
    const auto kept = handle().keep_lists();  // no agent is born before the last loop
    handle().parallel_do<Agent, &Agent::ask>(land);
    end_phase(3);
    handle().parallel_do<&Male::move>(land);
    handle().parallel_do<&Female::move>(land);
    end_phase(4);
    handle().parallel_do<&Male::propose>(land);
    end_phase(5);
    handle().parallel_do<&Female::accept>(land);
    end_phase(6);
    handle().parallel_do<&Male::ask_for_cradle>(land);
    end_phase(7);
    handle().parallel_do<&Male::have_child>(land);
    end_phase(8);
  }

 private:
  Grid grid_;
  Seed seed_;
  dynasoar::DeviceArray<Agent*> agents_;
  dynasoar::DeviceArray<std::uint8_t> kinds_;
  dynasoar::DeviceArray<std::uint16_t> sugars_;
  dynasoar::DeviceArray<std::uint8_t> growths_;
  dynasoar::DeviceArray<std::uint8_t> rows_;
  dynasoar::DeviceArray<Landscape::Requests> asked_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<Objects>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace sugarscape::agents
