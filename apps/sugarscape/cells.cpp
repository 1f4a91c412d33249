/// @file
/// Sugarscape with cells, males and females as objects. README.md defines the model. The loops are those of agents.cpp:
/// an agent that wants a cell asks for it, and computes in the next loop which agent the cell chooses.
///
/// Cells find each other in a table of all cells, row by row. With 24 pointers instead, every cell would take more
/// memory for pointers than for all other data.

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

namespace sugarscape::cells {
inline namespace DYNASOAR_APP_ALLOCATOR {

class Cell;
class Agent;
class Male;
class Female;
using AllocatorT = app::Allocator<Cell, Male, Female>;

/// The data that all objects use.
struct World {
  Grid grid;
  Seed seed;
  app::StepNumber step;
  Cell** table;  ///< [cells]

  __device__ std::uint8_t kind(std::uint32_t c) const;
  __device__ std::uint32_t sugar(std::uint32_t c) const;
  __device__ CellState state(std::uint32_t c) const;
};

class Cell : public dynasoar::SoaBase<AllocatorT> {
 public:
  using Requests = dynasoar::AtomicWord<std::uint32_t>;
  DYNASOAR_FIELDS(Cell, (index_, std::uint32_t),  // row by row
                  (agent_, Agent*),               // the agent that lives here, or null
                  (asked_, Requests),             // bit p: the agent at position p of the window asks for this cell
                  (sugar_, std::uint16_t), (growth_, std::uint8_t),
                  (share_, std::uint8_t),  // what each neighbour receives in this step
                  (kind_, std::uint8_t));  // kFree, kMale ...: the only value that most neighbours read

  /// Cell `index`. It stores itself in the table of all cells.
  __device__ Cell(std::size_t index, World world)
      : index_(static_cast<std::uint32_t>(index)),
        agent_(nullptr),
        sugar_(0),
        growth_(initial_growth(world.seed, index_)),
        kind_(kFree) {
    forget_question();
    world.table[index] = this;
  }

  __device__ void populate(World world, Thresholds thresholds);

  __device__ void grow() {
    const std::uint32_t grown = limited(std::uint32_t{sugar_} + growth_);
    const std::uint32_t gift = given(grown);
    sugar_ = static_cast<std::uint16_t>(grown - gift);
    share_ = share_of(gift);
  }

  __device__ void receive(World world) {
    std::uint32_t received = 0;
    world.grid.for_each_at(
        index_, world.grid.sight(index_, 2), [&](std::uint32_t giver) { return world.table[giver]->share_.get(); },
        [&](std::uint32_t, bool is_there, std::uint32_t share) { received += is_there ? share : 0; });
    if (received > 0) sugar_ = static_cast<std::uint16_t>(limited(sugar_ + received));
  }

  __device__ std::uint32_t harvest() {
    const std::uint32_t all = sugar_;
    sugar_ = 0;
    return all;
  }

  __device__ Cell* at(const World& world, std::uint32_t position) const {
    return world.table[world.grid.at(index_, position)];
  }

  /// Sets the inhabitant; null: none.
  __device__ void put(Agent* agent, std::uint8_t kind) {
    agent_ = agent;
    kind_ = agent != nullptr ? kind : kFree;
  }

  /// The agent at `position` of the window asks for this cell.
  __device__ void receive_question(std::uint32_t position) {
    asked_->fetch_or(1u << position, dynasoar::Order::relaxed);
  }

  /// Whether this cell chooses the agent at `position` among those that asked for it.
  __device__ bool chooses(std::uint32_t position, const World& world, Decision decision) const {
    const Positions askers(asked_->load(dynasoar::Order::relaxed));
    return choose(askers, world.seed, decision, index_, world.step) == position;
  }

  __device__ void forget_question() { asked_->store(0, dynasoar::Order::relaxed); }

  __device__ std::uint8_t kind() const { return kind_; }
  __device__ std::uint32_t sugar() const { return sugar_; }
  __device__ std::uint32_t index() const { return index_; }
  __device__ Agent* agent() const { return agent_; }
  __device__ CellState state() const;
};

class Agent : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Agent, (cell_, Cell*), (wealth_, std::uint32_t), (traits_, Traits), (age_, std::uint8_t),
                  (choice_, std::uint8_t));  // the position that it asked for, or kNone

  __device__ Agent(Cell* cell, Traits traits) : cell_(cell), wealth_(traits.endowment), traits_(traits), age_(0) {}

  /// The agent grows older and eats, or dies.
  __device__ void live() {
    cell_->forget_question();
    ++age_;
    if (dies(age_, wealth_, traits_)) {
      cell_->put(nullptr, kFree);
      dynasoar::destroy(this);
      return;
    }
    wealth_ -= traits_->metabolism;
  }

  /// Asks for the best place in sight.
  __device__ void ask(World world) {
    ask_for(best_in_sight(world, cell_->index(), traits_->vision), world, Decision::move_ask);
  }

  __device__ std::uint32_t wealth() const { return wealth_; }

  __device__ CellState state(std::uint8_t kind) const {
    CellState state;
    describe_agent(state, kind, traits_, wealth_, age_);
    return state;
  }

 protected:
  __device__ bool is_ready_for_children() const { return is_ready(age_, wealth_, traits_); }

  /// Asks for one of the candidates, if there are any.
  __device__ void ask_for(Positions candidates, const World& world, Decision decision) {
    choice_ = kNone;
    if (candidates.empty()) return;
    choice_ = choose(candidates, world.seed, decision, cell_->index(), world.step);
    cell_->at(world, choice_)->receive_question(mirrored(choice_));
  }

  /// The cell that the agent asked for if the cell chose it, else null.
  __device__ Cell* granted(const World& world, Decision decision) const {
    if (choice_ == kNone) return nullptr;
    Cell* const wanted = cell_->at(world, choice_);
    return wanted->chooses(mirrored(choice_), world, decision) ? wanted : nullptr;
  }

  /// Moves to the cell that it asked for if the cell chose it, and harvests the agent's cell.
  __device__ void move_and_harvest(const World& world) {
    if (Cell* const to = granted(world, Decision::move_accept)) {
      cell_->put(nullptr, kFree);
      cell_ = to;
    }
    wealth_ += cell_->harvest();
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

  __device__ Female(Cell* cell, Traits traits, std::uint8_t max_children)
      : Agent(cell, traits), children_(0), max_children_(max_children) {
    proposals_->store(0, dynasoar::Order::relaxed);
  }

  __device__ void move(World world) {
    move_and_harvest(world);
    cell_->put(this, is_ready_for_children() ? kReadyFemale : kFemale);
  }

  /// The male at `position` of her window proposes to her.
  __device__ void receive_proposal(std::uint32_t position) {
    proposals_->fetch_or(1u << position, dynasoar::Order::relaxed);
  }

  /// Accepts the richest male that proposes, unless she has borne all her children.
  __device__ void accept(World world) {
    const Positions suitors(proposals_->load(dynasoar::Order::relaxed));
    if (suitors.empty()) return;
    proposals_->store(0, dynasoar::Order::relaxed);
    RichestAgent richest;
    if (children_ < max_children_) {
      suitors.for_each(
          [&](std::uint32_t position) { richest.consider(position, cell_->at(world, position)->agent()->wealth()); });
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
  DYNASOAR_FIELDS(Male, (beloved_, Female*),    // the female that he proposed to, or null
                  (direction_, std::uint8_t));  // his position in her window

  using Agent::Agent;

  __device__ void move(World world) {
    move_and_harvest(world);
    cell_->put(this, kMale);
  }

  /// Proposes to the richest female in sight that is ready.
  __device__ void propose(World world) {
    RichestAgent richest;
    if (is_ready_for_children()) {
      in_sight(world, kReadyFemale, cell_->index(), traits_->vision).for_each([&](std::uint32_t position) {
        richest.consider(position, cell_->at(world, position)->agent()->wealth());
      });
    }
    beloved_ = nullptr;
    if (richest.position() == kNone) return;
    direction_ = mirrored(richest.position());
    beloved_ = static_cast<Female*>(cell_->at(world, richest.position())->agent());
    beloved_->receive_proposal(direction_);
  }

  /// Asks for a cell for a child, if the female has accepted him.
  __device__ void ask_for_cradle(World world) {
    choice_ = kNone;
    if (beloved_ == nullptr || !beloved_->has_accepted(direction_)) return;
    ask_for(in_sight(world, kFree, cell_->index(), traits_->vision), world, Decision::birth_ask);
  }

  /// Has a child in the cell that he asked for, if the cell chose him.
  __device__ void have_child(World world) {
    Cell* const cradle = granted(world, Decision::birth_accept);
    if (cradle == nullptr) return;
    pay_for_child();
    const Traits traits = beloved_->bear_child(traits_);
    const Newborn child = newborn(world.seed, cradle->index(), world.step);
    if (child.kind == kMale) {
      cradle->put(dynasoar::make_new<Male>(cradle, traits), kMale);
    } else {
      cradle->put(dynasoar::make_new<Female>(cradle, traits, child.max_children), kFemale);
    }
  }

  __device__ CellState state() const { return Agent::state(kMale); }
};

__device__ inline void Cell::populate(World world, Thresholds thresholds) {
  const InitialAgent initial = initial_agent(world.seed, thresholds, index_);
  Agent* agent = nullptr;
  if (initial.kind == kMale) agent = dynasoar::make_new<Male>(this, initial.traits);
  if (initial.kind == kFemale) agent = dynasoar::make_new<Female>(this, initial.traits, initial.max_children);
  put(agent, initial.kind);
}

__device__ inline CellState Cell::state() const {
  CellState state;
  if (kind_ == kMale) state = static_cast<Male*>(agent())->state();
  if (is_female(kind_)) state = static_cast<Female*>(agent())->state();
  state.sugar = sugar_;
  state.growth = growth_;
  return state;
}

__device__ inline std::uint8_t World::kind(std::uint32_t c) const {
  return table[c]->kind();
}
__device__ inline std::uint32_t World::sugar(std::uint32_t c) const {
  return table[c]->sugar();
}
__device__ inline CellState World::state(std::uint32_t c) const {
  return table[c]->state();
}

class Objects final : public ObjectLandscape<Objects, AllocatorT> {
 public:
  explicit Objects(const Parameters& parameters)
      : ObjectLandscape(parameters),
        grid_{static_cast<std::uint32_t>(parameters.width), static_cast<std::uint32_t>(parameters.height)},
        seed_{parameters.seed},
        table_(grid_.cells()) {
    table_.fill_bytes(0);  // compute-sanitizer's initcheck misses some of the entries' writes
    handle().parallel_new<Cell>(grid_.cells(), view());
    handle().parallel_do<&Cell::populate>(view(), Thresholds::of(parameters.males, parameters.females));
    synchronize();
  }

  /// A sufficient heap: every cell could hold a female, and half of the slots of the females' blocks may be free.
  static std::size_t heap_bytes(std::uint32_t cells) {
    const std::size_t agents = 2 * std::size_t{cells} + kSlotsInFlight;
    return AllocatorT::heap_bytes_for<Cell>(cells + kSlotsInFlight) +
           std::max(AllocatorT::heap_bytes_for<Male>(agents), AllocatorT::heap_bytes_for<Female>(agents));
  }

  World view() const { return {grid_, seed_, now(), table_.data()}; }

  void add_arrays(dynasoar::CheckpointItems& items) const { items.add(dynasoar::array("table", table_)); }

  dynasoar::Columns read_columns() {
    dynasoar::Columns agents = handle().all_columns<Agent>();
    app::add_cells(agents, "cell_", handle().columns<Cell>(), "index_");
    return agents;
  }

  void submit_step() override {
    count_step();
    const World world = view();
    {
      const auto kept = handle().keep_lists();  // no agent dies before the loop "live"
      handle().parallel_do<&Cell::grow>();
      end_phase(0);
      handle().parallel_do<&Cell::receive>(world);
      end_phase(1);
      handle().parallel_do<Agent, &Agent::live>();
      end_phase(2);
    }
    const auto kept = handle().keep_lists();  // no agent is born before the last loop
    handle().parallel_do<Agent, &Agent::ask>(world);
    end_phase(3);
    handle().parallel_do<&Male::move>(world);
    handle().parallel_do<&Female::move>(world);
    end_phase(4);
    handle().parallel_do<&Male::propose>(world);
    end_phase(5);
    handle().parallel_do<&Female::accept>(world);
    end_phase(6);
    handle().parallel_do<&Male::ask_for_cradle>(world);
    end_phase(7);
    handle().parallel_do<&Male::have_child>(world);
    end_phase(8);
  }

 private:
  Grid grid_;
  Seed seed_;
  dynasoar::DeviceArray<Cell*> table_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<Objects>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace sugarscape::cells
