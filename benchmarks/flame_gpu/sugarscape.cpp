// Sugarscape with an object at every place, its sugar, and agents that are placed on the same lattice: see models.h.
//
// In a round of moves, an agent asks for a cell: it sets a bit of the cell that says from which side. In the next loop,
// each of those who ask finds out for itself whom the cell chooses. The one that is chosen clears the bits and moves.
// Every field has one writer in a loop, or is changed by atomics that commute, so nothing depends on the order of
// threads.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/program/object_simulation.h>
#include <dynasoar/step_value.h>

#include "models.h"
#include "rules.h"

namespace benchmarks::flame_gpu {
namespace sugarscape {

using dynasoar::Place;
using dynasoar::StepNumber;

class Cell;
class Agent;
using AllocatorT = dynasoar::SoaAllocator<Cell, Agent>;

/// A side of a cell: 0 to 8, row by row, of which 4 is the cell itself.
using Side = std::uint8_t;
inline constexpr Side kHere = 4;

__device__ inline Side opposite(Side side) {
  return static_cast<Side>(8 - side);
}

__device__ inline Place next_to(Place place, Side side) {
  return dynasoar::lattice_of<Cell>().neighbour(place, {side % 3 - 1, side / 3 - 1});
}

/// One side of a set of them, one bit for each.
__device__ inline Side chosen(std::uint32_t sides, std::uint64_t seed, Chooser who, Place place, std::uint32_t step,
                              std::uint32_t round) {
  const auto among = static_cast<std::uint32_t>(dynasoar::detail::popcount(std::uint64_t{sides}));
  const std::uint32_t number = choice(seed, who, dynasoar::lattice_of<Cell>().number(place), step, round, among);
  return static_cast<Side>(dynasoar::detail::nth_set_bit(sides, static_cast<int>(number)));
}

class Cell final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  static constexpr bool kAtEveryPlace = true;
  using Sides = dynasoar::AtomicWord<std::uint32_t>;
  DYNASOAR_FIELDS(Cell, (asked_, Sides),  // from where agents ask for this cell
                  (sugar_, std::int8_t), (capacity_, std::int8_t));

  __device__ Cell() : sugar_(0), capacity_(0) { forget_askers(); }

  __device__ void begin(const CellState* states);

  /// Lets the agent in the cell eat and, if there is none or it dies, sugar grow.
  __device__ void live();

  __device__ int sugar() const { return sugar_; }
  __device__ int capacity() const { return capacity_; }
  __device__ void set_sugar(int sugar) { sugar_ = static_cast<std::int8_t>(sugar); }

  /// The sugar that there is for an agent that eats here, if there is any.
  __device__ int harvest() {
    const int sugar = sugar_;
    if (sugar <= 0) return 0;
    set_sugar(kEaten);
    return sugar;
  }

  __device__ void receive_question(Side from) { asked_->fetch_or(1u << from, dynasoar::Order::relaxed); }
  __device__ std::uint32_t askers() const { return asked_->load(dynasoar::Order::relaxed); }
  __device__ void forget_askers() { asked_->store(0, dynasoar::Order::relaxed); }
};

class Agent final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Agent, (number_, std::int32_t), (wealth_, std::int32_t), (metabolism_, std::int8_t),
                  (wanted_, Side),     // where it wants to go in this round
                  (is_moving_, bool))  // takes part in the rounds of this step

  __device__ explicit Agent(const CellState& state)
      : number_(state.agent),
        wealth_(state.wealth),
        metabolism_(static_cast<std::int8_t>(state.metabolism)),
        wanted_(kHere),
        is_moving_(false) {}

  /// @return whether it survives
  __device__ bool eat(Cell& cell) {
    wealth_ += cell.harvest() - metabolism_;
    is_moving_ = true;
    return wealth_ != 0;
  }

  /// Asks for one of the best free cells. An agent that sees none stays where it is.
  __device__ void ask(std::uint64_t seed, std::uint32_t step, std::uint32_t round) {
    if (!is_moving_) return;
    const Place here = dynasoar::place_of(this);
    int most = kEaten;
    std::uint32_t best = 0;
    DYNASOAR_UNROLL()
    for (Side side = 0; side < 9; ++side) {
      if (side == kHere) continue;
      const Place next = next_to(here, side);
      const int sugar = dynasoar::at<Cell>(next)->sugar();
      if (!dynasoar::is_free<Agent>(next) || sugar < most) continue;
      best = (sugar == most ? best : 0) | 1u << side;
      most = sugar;
    }
    is_moving_ = best != 0;
    if (best == 0) return;
    const Side side = chosen(best, seed, Chooser::agent, here, step, round);
    wanted_ = side;
    dynasoar::at<Cell>(next_to(here, side))->receive_question(opposite(side));
  }

  /// Moves if the cell that it asked for chooses it.
  __device__ void move(std::uint64_t seed, std::uint32_t step, std::uint32_t round) {
    if (!is_moving_) return;
    const Place here = dynasoar::place_of(this);
    const Side from = opposite(wanted_);
    const Place wanted = next_to(here, wanted_);
    Cell* const cell = dynasoar::at<Cell>(wanted);
    const std::uint32_t askers = cell->askers();
    if ((askers >> from & 1) == 0) return;  // another one was chosen, and has cleared the bits
    if (chosen(askers, seed, Chooser::cell, wanted, step, round) != from) return;
    cell->forget_askers();
    dynasoar::move_to(this, wanted)->arrive(*cell);
    dynasoar::at<Cell>(here)->set_sugar(0);
  }

  __device__ void describe(CellState& state) const {
    state.agent = number_;
    state.wealth = wealth_;
    state.metabolism = metabolism_;
  }

 private:
  __device__ void arrive(Cell& cell) {
    is_moving_ = false;
    metabolism_ = static_cast<std::int8_t>(kMetabolismOfMoved);
    wealth_ = kMetabolismOfMoved + cell.sugar();
    cell.set_sugar(kEaten);
  }
};

__device__ inline void Cell::begin(const CellState* states) {
  const CellState& state = states[dynasoar::lattice_of<Cell>().number(dynasoar::place_of(this))];
  set_sugar(state.sugar);
  capacity_ = static_cast<std::int8_t>(state.capacity);
  if (state.agent != kNoAgent) dynasoar::make_new_at<Agent>(dynasoar::place_of(this), state);
}

__device__ inline void Cell::live() {
  Agent* const agent = dynasoar::at<Agent>(dynasoar::place_of(this));
  if (agent != nullptr) {
    if (agent->eat(*this)) return;
    dynasoar::destroy(agent);
    set_sugar(0);
  }
  if (sugar_ < capacity_) set_sugar(sugar_ + 1);
}

class Objects final : public dynasoar::program::ObjectSimulation<Objects, Model<CellState>, AllocatorT> {
 public:
  explicit Objects(const Landscape& start)
      : ObjectSimulation(dynasoar::program::RunParameters(), AllocatorT::least_heap_bytes(), "landscape"),
        seed_(start.seed),
        lattice_(handle(), {start.width, start.cells.size() / start.width}) {
    dynasoar::DeviceArray<CellState> cells(start.cells.size());
    cells.upload(start.cells);
    handle().parallel_do<&Cell::begin>(static_cast<const CellState*>(cells.data()));
    synchronize();
  }

  /// Submits all rounds: those that come after the last agent has moved change nothing.
  void submit_step() override {
    count_step();
    handle().parallel_do<&Cell::live>();
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      handle().parallel_do<&Agent::ask>(seed_, now(), round);
      handle().parallel_do<&Agent::move>(seed_, now(), round);
    }
  }

  std::vector<CellState> states() override {
    const dynasoar::DeviceArray<CellState> states(static_cast<std::size_t>(lattice_.shape().size()));
    CellState* const out = states.data();
    handle().parallel_do<Cell>([=] __device__(Cell * cell) {
      const Place here = dynasoar::place_of(cell);
      CellState state{.sugar = cell->sugar(), .capacity = cell->capacity()};
      if (const Agent* const agent = dynasoar::at<Agent>(here)) agent->describe(state);
      out[dynasoar::lattice_of<Cell>().number(here)] = state;
    });
    synchronize();
    return states.download();
  }

  dynasoar::Columns read_columns() { return handle().columns<Agent>(); }

 private:
  std::uint64_t seed_;
  dynasoar::Lattice<Cell, Agent> lattice_;
};

}  // namespace sugarscape

std::unique_ptr<Model<CellState>> make_sugarscape(const Landscape& start) {
  return std::make_unique<sugarscape::Objects>(start);
}

}  // namespace benchmarks::flame_gpu
