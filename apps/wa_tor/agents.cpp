/// @file
/// Wa-Tor with fish and sharks as objects; the cells are plain arrays. README.md defines the model.
///
/// A half of a step is three loops. Agents *ask* for a cell: they set a bit in it, which encodes their direction. Cells
/// *decide* which of these agents they accept. Agents *move* if they were accepted. A loop reads values that earlier
/// loops have written. Every location has one writer in a loop, or changes only by commutative atomics, so the result
/// does not depend on the order of threads.
///
/// An agent stores the steps at which it was born and will starve. Its age and energy follow from them, so agents that
/// do not move need no store.

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

namespace wa_tor::agents {
inline namespace DYNASOAR_APP_ALLOCATOR {

class Agent;
class Fish;
class Shark;
using AllocatorT = app::Allocator<Fish, Shark>;

inline constexpr std::uint8_t kStay = kDirections;  ///< an agent's choice if it asks for no cell

/// The cells, as the device sees them.
struct Ocean {
  Torus torus;
  Seed seed;
  app::StepNumber step;
  Agent** agents;                              ///< [cells] the agent that lives there, or null
  std::uint8_t* kinds;                         ///< [cells] kFree, kFish or kShark: the only value that neighbours read
  dynasoar::AtomicWord<std::uint32_t>* asked;  ///< [cells / 4] a byte per cell: bit d is set if neighbour d asks for it
  std::uint32_t* accepted;                     ///< [cells / 4] a byte per cell: the direction of the accepted neighbour

  __device__ DirectionSet neighbors_of_kind(std::uint32_t c, std::uint8_t kind) const {
    DirectionSet directions;
    for (std::uint32_t d = 0; d < kDirections; ++d) directions.add_if(kinds[torus.neighbor(c, d)] == kind, d);
    return directions;
  }

  /// Sets the agent that lives in cell c; null: none.
  __device__ void put(std::uint32_t c, Agent* agent, std::uint8_t kind) const {
    agents[c] = agent;
    kinds[c] = agent != nullptr ? kind : kFree;
  }

  /// c's agent asks for the neighbour of c in `direction`.
  __device__ void ask(std::uint32_t c, std::uint32_t direction) const {
    const std::uint32_t wanted = torus.neighbor(c, direction);
    asked[wanted / 4].fetch_or(1u << (wanted % 4 * 8 + opposite(direction)), dynasoar::Order::relaxed);
  }

  /// Four cells choose among the agents that ask for them, and reset the requests.
  __device__ void decide(std::uint32_t four_cells, Decision decision) const {
    const std::uint32_t askers = asked[four_cells].load(dynasoar::Order::relaxed);
    if (askers == 0) return;
    asked[four_cells].store(0, dynasoar::Order::relaxed);
    std::uint32_t answers = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
      const DirectionSet directions(askers >> i * 8 & 0xF);
      if (!directions.empty()) answers |= choose(directions, seed, decision, four_cells * 4 + i, step) << i * 8;
    }
    accepted[four_cells] = answers;
  }

  /// Whether the neighbour in `direction` accepts c's agent, which asked for it.
  __device__ bool accepts(std::uint32_t wanted, std::uint32_t direction) const {
    return (accepted[wanted / 4] >> wanted % 4 * 8 & 0xFF) == opposite(direction);
  }

  __device__ std::uint8_t kind(std::uint32_t c) const { return kinds[c]; }
  __device__ CellState state(std::uint32_t c) const;
};

class Agent : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Agent, (position_, std::uint32_t), (born_, std::uint32_t), (choice_, std::uint8_t));

  __device__ Agent(std::uint32_t position, std::uint32_t born) : position_(position), born_(born), choice_(kStay) {}

  __device__ std::uint32_t age(std::uint32_t step) const { return step - born_; }

 protected:
  /// Asks for one of the candidates, if there are any.
  __device__ void ask_for(DirectionSet candidates, const Ocean& ocean, Decision decision) {
    if (candidates.empty()) {
      choice_ = kStay;
      return;
    }
    const std::uint32_t c = position_;
    const std::uint32_t direction = choose(candidates, ocean.seed, decision, c, ocean.step);
    choice_ = static_cast<std::uint8_t>(direction);
    ocean.ask(c, direction);
  }

  /// The cell that accepted this agent, or the one where it is.
  __device__ std::uint32_t destination(const Ocean& ocean) const {
    if (choice_ == kStay) return position_;
    const std::uint32_t wanted = ocean.torus.neighbor(position_, choice_);
    return ocean.accepts(wanted, choice_) ? wanted : position_.get();
  }
};

class Fish : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Fish);

  using Agent::Agent;

  __device__ void ask(Ocean ocean) { ask_for(ocean.neighbors_of_kind(position_, kFree), ocean, Decision::fish_move); }

  __device__ void move(Ocean ocean) {
    const std::uint32_t from = position_;
    const std::uint32_t to = destination(ocean);
    if (to == from) return;
    Fish* left_behind = nullptr;
    if (age(ocean.step) > kSpawnAge) {
      const std::uint32_t newborn_age = draw(ocean.seed, Decision::fish_birth, from, ocean.step, kNewbornAges);
      left_behind = dynasoar::make_new<Fish>(from, ocean.step - newborn_age);
      born_ = ocean.step;
    }
    ocean.put(from, left_behind, kFish);
    ocean.put(to, this, kFish);
    position_ = to;
  }
};

class Shark : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Shark, (starves_, std::uint32_t));

  __device__ Shark(std::uint32_t position, std::uint32_t born, std::uint32_t starves)
      : Agent(position, born), starves_(starves) {}

  __device__ std::uint32_t energy(std::uint32_t step) const { return starves_ - step; }

  __device__ void ask(Ocean ocean) {
    DirectionSet candidates;
    if (energy(ocean.step) > 0) {
      candidates = ocean.neighbors_of_kind(position_, kFish);
      if (candidates.empty()) candidates = ocean.neighbors_of_kind(position_, kFree);
    }
    ask_for(candidates, ocean, Decision::shark_move);
  }

  __device__ void move(Ocean ocean) {
    const std::uint32_t from = position_;
    if (energy(ocean.step) == 0) {
      ocean.put(from, nullptr, kFree);
      dynasoar::destroy(this);
      return;
    }
    const std::uint32_t to = destination(ocean);
    if (to == from) return;
    if (Agent* const prey = ocean.agents[to]) {
      dynasoar::destroy(prey);
      starves_ += kFishEnergy;
    }
    Shark* left_behind = nullptr;
    if (age(ocean.step) > kSpawnAge) {
      const std::uint32_t newborn_age = draw(ocean.seed, Decision::shark_birth, from, ocean.step, kNewbornAges);
      left_behind = dynasoar::make_new<Shark>(from, ocean.step - newborn_age, ocean.step + kInitialEnergy);
      born_ = ocean.step;
    }
    ocean.put(from, left_behind, kShark);
    ocean.put(to, this, kShark);
    position_ = to;
  }
};

__device__ inline CellState Ocean::state(std::uint32_t c) const {
  Agent* const agent = agents[c];
  if (agent == nullptr) return {};
  const Shark* const shark = dynasoar::cast<Shark>(agent);
  return {kind(c), agent->age(step), shark != nullptr ? shark->energy(step) : 0};
}

/// Makes a cell's first agent.
struct Populate {
  Ocean ocean;
  Thresholds thresholds;

  __device__ void operator()(std::size_t index) const {
    const auto c = static_cast<std::uint32_t>(index);
    const InitialCell initial = initial_cell(ocean.seed, thresholds, c);
    Agent* agent = nullptr;
    if (initial.kind == kFish) agent = dynasoar::make_new<Fish>(c, 0 - initial.age);
    if (initial.kind == kShark) agent = dynasoar::make_new<Shark>(c, 0 - initial.age, ocean.step + kInitialEnergy);
    ocean.put(c, agent, initial.kind);
  }
};

/// Four cells decide.
struct Decide {
  Ocean ocean;
  Decision decision;

  __device__ void operator()(std::size_t four_cells) const {
    ocean.decide(static_cast<std::uint32_t>(four_cells), decision);
  }
};

class Objects final : public ObjectOcean<Objects, AllocatorT> {
 public:
  explicit Objects(const Parameters& parameters)
      : ObjectOcean(parameters),
        torus_(Torus::of(parameters)),
        seed_{parameters.seed},
        agents_(torus_.cells),
        kinds_(torus_.cells),
        asked_((torus_.cells + 3) / 4),
        accepted_((torus_.cells + 3) / 4) {
    asked_.fill_bytes(0);
    handle().parallel_for(torus_.cells, Populate{view(), Thresholds::of(parameters.fish, parameters.sharks)});
    synchronize();
  }

  /// A sufficient heap: every cell could hold a shark, and half of the slots of the sharks' blocks may be free.
  static std::size_t heap_bytes(std::size_t cells) {
    const std::size_t agents = 2 * std::size_t{cells} + kSlotsInFlight;
    return std::max(AllocatorT::heap_bytes_for<Fish>(agents), AllocatorT::heap_bytes_for<Shark>(agents));
  }

  Ocean view() const { return {torus_, seed_, now(), agents_.data(), kinds_.data(), asked_.data(), accepted_.data()}; }

  void submit_step() override {
    count_step();
    const Ocean ocean = view();
    const std::size_t words = asked_.size();
    {
      const auto kept = handle().keep_lists();  // no fish is created or deleted before the fish move
      handle().parallel_do<&Fish::ask>(ocean);
      end_phase(0);
      executor().for_each_index(words, Decide{ocean, Decision::fish_accept});
      end_phase(1);
      handle().parallel_do<&Fish::move>(ocean);
      end_phase(2);
    }
    {
      const auto kept = handle().keep_lists();  // no shark is created or deleted before the sharks move
      handle().parallel_do<&Shark::ask>(ocean);
      end_phase(3);
      executor().for_each_index(words, Decide{ocean, Decision::shark_accept});
      end_phase(4);
      handle().parallel_do<&Shark::move>(ocean);
      end_phase(5);
    }
    compact();
  }

  void add_arrays(dynasoar::CheckpointItems& items) const {
    items.add(dynasoar::array("agents", agents_)).add(dynasoar::array("kinds", kinds_));  // no agent asks between steps
  }

  dynasoar::Columns read_columns() {
    dynasoar::Columns agents = handle().all_columns<Agent>();
    app::add_cells(agents, "position_");
    return agents;
  }

 private:
  void compact() {
    if (const auto options = compaction()) {
      handle().compact<Agent>(*options, dynasoar::pointers(agents_.data(), agents_.size()));
    }
  }

  Torus torus_;
  Seed seed_;
  dynasoar::DeviceArray<Agent*> agents_;
  dynasoar::DeviceArray<std::uint8_t> kinds_;
  dynasoar::DeviceArray<dynasoar::AtomicWord<std::uint32_t>> asked_;
  dynasoar::DeviceArray<std::uint32_t> accepted_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<Objects>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace wa_tor::agents
