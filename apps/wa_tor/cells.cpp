/// @file
/// Wa-Tor with cells, fish and sharks as objects. README.md defines the model. The loops are those of agents.cpp:
/// agents ask for a cell, cells decide which agents they accept, and agents move.
///
/// Cells have pointers to their neighbours, so the code does not use coordinates and works for any graph of cells.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <app/allocator.h>
#include <app/cell_columns.h>
#include <dynasoar/dynasoar.h>

#include "object_ocean.h"
#include "rules.h"
#include "simulation.h"
#include "torus.h"

namespace wa_tor::cells {
inline namespace DYNASOAR_APP_ALLOCATOR {

class Cell;
class Agent;
class Fish;
class Shark;
using AllocatorT = app::Allocator<Cell, Fish, Shark>;

inline constexpr std::uint8_t kStay = kDirections;  ///< an agent's choice if it asks for no cell

/// The data that all objects use.
struct World {
  Seed seed;
  app::StepNumber step;
};

class Cell : public dynasoar::SoaBase<AllocatorT> {
 public:
  using Requests = dynasoar::AtomicWord<std::uint32_t>;
  struct Neighbors {  // one value, not an array field: agents read all four pointers of scattered cells at once
    Cell* cells[kDirections];
  };
  DYNASOAR_FIELDS(Cell, (neighbors_, Neighbors),  // left, up, right, down
                  (agent_, Agent*),               // the agent that lives here, or null
                  (kind_, std::uint8_t),          // kFree, kFish or kShark: the only value that neighbours read
                  (index_, std::uint32_t),        // row by row
                  (asked_, Requests),             // bit d is set if the agent of neighbour d asks for this cell
                  (accepted_, std::uint8_t));     // the direction of the neighbour that was accepted

  /// Cell `index`. It stores itself in the table of all cells.
  __device__ Cell(std::size_t index, Cell** table)
      : agent_(nullptr), kind_(kFree), index_(static_cast<std::uint32_t>(index)) {
    asked_->store(0, dynasoar::Order::relaxed);
    table[index] = this;
  }

  __device__ void connect(Torus torus, Cell* const* table) {
    for (std::uint32_t d = 0; d < kDirections; ++d) neighbors_->cells[d] = table[torus.neighbor(index_, d)];
  }

  __device__ void populate(World world, Thresholds thresholds);

  __device__ DirectionSet neighbors_of_kind(std::uint8_t kind) const {
    const Neighbors neighbors = neighbors_;
    DirectionSet directions;
    for (std::uint32_t d = 0; d < kDirections; ++d) directions.add_if(neighbors.cells[d]->kind_ == kind, d);
    return directions;
  }

  __device__ Cell* neighbor(std::uint32_t direction) const { return neighbors_->cells[direction]; }

  /// Sets the agent that lives here; null: none.
  __device__ void put(Agent* agent, std::uint8_t kind) {
    agent_ = agent;
    kind_ = agent != nullptr ? kind : kFree;
  }

  /// The agent of the neighbour in `direction` asks for this cell.
  __device__ void ask(std::uint32_t direction) { asked_->fetch_or(1u << direction, dynasoar::Order::relaxed); }

  /// Chooses among the agents that ask, and resets the requests.
  __device__ void decide(World world, Decision decision) {
    const DirectionSet askers(asked_->load(dynasoar::Order::relaxed));
    if (askers.empty()) return;
    asked_->store(0, dynasoar::Order::relaxed);
    accepted_ = static_cast<std::uint8_t>(choose(askers, world.seed, decision, index_, world.step));
  }

  __device__ CellState state(std::uint32_t step) const;
};

class Agent : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Agent, (cell_, Cell*), (born_, std::uint32_t), (choice_, std::uint8_t));

  __device__ Agent(Cell* cell, std::uint32_t born) : cell_(cell), born_(born), choice_(kStay) {}

  __device__ std::uint32_t age(std::uint32_t step) const { return step - born_; }

 protected:
  /// Asks for one of the candidates, if there are any.
  __device__ void ask_for(DirectionSet candidates, World world, Decision decision) {
    if (candidates.empty()) {
      choice_ = kStay;
      return;
    }
    Cell* const here = cell_;
    const std::uint32_t direction = choose(candidates, world.seed, decision, here->index_, world.step);
    choice_ = static_cast<std::uint8_t>(direction);
    here->neighbor(direction)->ask(opposite(direction));
  }

  /// The cell that accepted this agent, or the one where it is.
  __device__ Cell* destination() const {
    Cell* const here = cell_;
    if (choice_ == kStay) return here;
    Cell* const wanted = here->neighbor(choice_);
    return wanted->accepted_ == opposite(choice_) ? wanted : here;
  }

  __device__ void move_to(Cell* to, Agent* left_behind, std::uint8_t kind) {
    cell_->put(left_behind, kind);
    to->put(this, kind);
    cell_ = to;
  }
};

class Fish : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Fish);

  using Agent::Agent;

  __device__ void ask(World world) { ask_for(cell_->neighbors_of_kind(kFree), world, Decision::fish_move); }

  __device__ void move(World world) {
    Cell* const to = destination();
    if (to == cell_) return;
    Fish* left_behind = nullptr;
    if (age(world.step) > kSpawnAge) {
      const std::uint32_t newborn_age = draw(world.seed, Decision::fish_birth, cell_->index_, world.step, kNewbornAges);
      left_behind = dynasoar::make_new<Fish>(cell_, world.step - newborn_age);
      born_ = world.step;
    }
    move_to(to, left_behind, kFish);
  }
};

class Shark : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Shark, (starves_, std::uint32_t));

  __device__ Shark(Cell* cell, std::uint32_t born, std::uint32_t starves) : Agent(cell, born), starves_(starves) {}

  __device__ std::uint32_t energy(std::uint32_t step) const { return starves_ - step; }

  __device__ void ask(World world) {
    DirectionSet candidates;
    if (energy(world.step) > 0) {
      candidates = cell_->neighbors_of_kind(kFish);
      if (candidates.empty()) candidates = cell_->neighbors_of_kind(kFree);
    }
    ask_for(candidates, world, Decision::shark_move);
  }

  __device__ void move(World world) {
    if (energy(world.step) == 0) {
      cell_->put(nullptr, kFree);
      dynasoar::destroy(this);
      return;
    }
    Cell* const to = destination();
    if (to == cell_) return;
    if (Agent* const prey = to->agent_) {
      dynasoar::destroy(prey);
      starves_ += kFishEnergy;
    }
    Shark* left_behind = nullptr;
    if (age(world.step) > kSpawnAge) {
      const std::uint32_t newborn_age =
          draw(world.seed, Decision::shark_birth, cell_->index_, world.step, kNewbornAges);
      left_behind = dynasoar::make_new<Shark>(cell_, world.step - newborn_age, world.step + kInitialEnergy);
      born_ = world.step;
    }
    move_to(to, left_behind, kShark);
  }
};

__device__ inline void Cell::populate(World world, Thresholds thresholds) {
  const InitialCell initial = initial_cell(world.seed, thresholds, index_);
  Agent* agent = nullptr;
  if (initial.kind == kFish) agent = dynasoar::make_new<Fish>(this, 0 - initial.age);
  if (initial.kind == kShark) agent = dynasoar::make_new<Shark>(this, 0 - initial.age, world.step + kInitialEnergy);
  put(agent, initial.kind);
}

__device__ inline CellState Cell::state(std::uint32_t step) const {
  if (kind_ == kFree) return {};
  const Shark* const shark = dynasoar::cast<Shark>(agent_.get());
  return {kind_, agent_->age(step), shark != nullptr ? shark->energy(step) : 0};
}

/// All cells in their order, for pictures and counts.
struct View {
  Cell* const* table;
  app::StepNumber step;

  __device__ std::uint8_t kind(std::uint32_t c) const { return table[c]->kind_; }
  __device__ CellState state(std::uint32_t c) const { return table[c]->state(step); }
};

class Objects final : public ObjectOcean<Objects, AllocatorT> {
 public:
  explicit Objects(const Parameters& parameters)
      : ObjectOcean(parameters), seed_{parameters.seed}, table_(parameters.cells()) {
    Cell** const table = table_.data();
    table_.fill_bytes(0);  // compute-sanitizer's initcheck misses some of the entries' writes
    handle().parallel_new<Cell>(table_.size(), table);
    handle().parallel_do<&Cell::connect>(Torus::of(parameters), table);
    handle().parallel_do<&Cell::populate>(World{seed_, now()}, Thresholds::of(parameters.fish, parameters.sharks));
    synchronize();
  }

  /// A sufficient heap: every cell could hold a shark, and half of the slots of the sharks' blocks may be free.
  static std::size_t heap_bytes(std::size_t cells) {
    const std::size_t agents = 2 * std::size_t{cells} + kSlotsInFlight;
    return AllocatorT::heap_bytes_for<Cell>(cells + kSlotsInFlight) +
           std::max(AllocatorT::heap_bytes_for<Fish>(agents), AllocatorT::heap_bytes_for<Shark>(agents));
  }

  View view() const { return {table_.data(), now()}; }

  void submit_step() override {
    count_step();
    const World world{seed_, now()};
    {
      const auto kept = handle().keep_lists();  // no fish is created or deleted before the fish move
      handle().parallel_do<&Fish::ask>(world);
      end_phase(0);
      handle().parallel_do<&Cell::decide>(world, Decision::fish_accept);
      end_phase(1);
      handle().parallel_do<&Fish::move>(world);
      end_phase(2);
    }
    {
      const auto kept = handle().keep_lists();  // no shark is created or deleted before the sharks move
      handle().parallel_do<&Shark::ask>(world);
      end_phase(3);
      handle().parallel_do<&Cell::decide>(world, Decision::shark_accept);
      end_phase(4);
      handle().parallel_do<&Shark::move>(world);
      end_phase(5);
    }
    // Cells are not compacted: their Neighbors are class values, in which compaction would not find the pointers.
    if (const auto options = compaction()) handle().compact<Agent>(*options);
  }

  void add_arrays(dynasoar::CheckpointItems& items) const { items.add(dynasoar::array("table", table_)); }

  dynasoar::Columns read_columns() {
    dynasoar::Columns agents = handle().all_columns<Agent>();
    app::add_cells(agents, "cell_", handle().columns<Cell>(), "index_");
    return agents;
  }

 private:
  Seed seed_;
  dynasoar::DeviceArray<Cell*> table_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<Objects>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace wa_tor::cells
