/// @file
/// Cells, males and females as objects that are placed on a lattice, and the functions that their loops call. Used by
/// placed.cpp and, on several ranks, by tests. README.md defines the model.
///
/// An agent that wants a cell *asks*: it sets a bit in the cell, which encodes the position of the agent. In the next
/// loop, each agent that asked computes which of them the cell chooses, and the chosen agent clears the bits. A male
/// *bids* for a female with an atomic minimum, and checks in the next loop whether his bid is the lowest.
///
/// A loop reads values that earlier loops have written. Every location has one writer in a loop, or changes only by
/// commutative atomics. So the result does not depend on the order of threads. Agents have no pointers, but positions
/// in their windows, so that they can be copied to other ranks.
#pragma once

#include <cstdint>

#include <app/allocator.h>
#include <app/object_simulation.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>
#include <dynasoar/platform/backend.h>

#include "grid.h"
#include "rules.h"
#include "simulation.h"

namespace sugarscape::placed {
inline namespace DYNASOAR_APP_ALLOCATOR {

using dynasoar::Place;

class Cell;
class Agent;
class Male;
class Female;
using AllocatorT = app::Allocator<Cell, Male, Female>;

/// The argument of the loops.
struct Landscape {
  Seed seed;
  app::StepNumber step;

  __device__ static std::uint32_t number(Place place) {
    return static_cast<std::uint32_t>(dynasoar::lattice_of<Cell>().number(place));
  }

  /// The place at a position of the window around `middle`; none beyond the edges.
  __device__ static Place at(Place middle, std::uint32_t position) {
    const auto p = static_cast<std::int32_t>(position);
    return dynasoar::lattice_of<Cell>().neighbour(middle, {p % 5 - 2, p / 5 - 2});
  }

  /// Calls `use(position, is_there, value)` for the window around `middle`, in order. If the position is at most
  /// `vision` away and within the lattice, `is_there` is true and `value` is read(place). Otherwise `value` is
  /// read(middle), and must not be used. So no read waits for a branch: see Grid::for_each_at.
  template <class Read, class Use>
  __device__ static void look(Place middle, std::uint32_t vision, Read read, Use use) {
    DYNASOAR_UNROLL()
    for (std::uint32_t p = 0; p < kWindowCells; ++p) {
      if (p == kMiddle) continue;
      const bool is_next = p / kWindowSide % 4 != 0 && p % kWindowSide % 4 != 0;
      const Place place = at(middle, p);
      const bool is_there = place.exists() && (is_next || vision > 1);
      use(p, is_there, read(is_there ? place : middle));
    }
  }

  /// The positions in sight that are free.
  __device__ static Positions free_in_sight(Place middle, std::uint32_t vision) {
    Positions free;
    look(
        middle, vision, [](Place place) { return dynasoar::is_free<Male, Female>(place); },
        [&](std::uint32_t position, bool is_there, bool is_free) { free.add_if(is_there & is_free, position); });
    return free;
  }

  /// The free positions in sight with the most sugar.
  __device__ static Positions best_in_sight(Place middle, std::uint32_t vision);

  /// The agent at `middle` asks for one of the candidates, if there are any. @return which one, or kNone
  __device__ std::uint8_t ask(Place middle, Positions candidates, Decision decision) const;

  /// The place at `position`, for which the agent at `middle` asked, if its cell chooses the agent. The agent takes it.
  __device__ Place taken(Place middle, std::uint8_t position, Decision decision) const;

  __device__ std::uint8_t kind(std::uint32_t c) const;
  __device__ std::uint32_t sugar(std::uint32_t c) const;
  __device__ CellState state(std::uint32_t c) const;
};

class Cell final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  static constexpr bool kAtEveryPlace = true;
  using Requests = dynasoar::AtomicWord<std::uint32_t>;
  DYNASOAR_FIELDS(Cell, (asked_, Requests),  // bit p: the agent at position p of the window asks for this cell
                  (sugar_, std::uint16_t), (growth_, std::uint8_t),
                  (row_, std::uint8_t));  // what it receives from its row in this step

  __device__ Cell() : sugar_(0), growth_(0), row_(0) { forget_questions(); }

  /// Sugar grows, and the cell adds up the shares of its row.
  __device__ void grow() {
    const Place here = dynasoar::place_of(this);
    std::uint32_t shares = 0;
    for (std::int32_t x = -2; x <= 2; ++x) {
      const Cell* const giver = dynasoar::at<Cell>(dynasoar::lattice_of<Cell>().neighbour(here, {x, 0}));
      if (giver != nullptr) shares += shared(giver->grown_sugar());
    }
    row_ = static_cast<std::uint8_t>(shares);
  }

  __device__ void receive() {
    const Place here = dynasoar::place_of(this);
    std::uint32_t shares = 0;
    for (std::int32_t y = -2; y <= 2; ++y) {
      const Cell* const row = dynasoar::at<Cell>(dynasoar::lattice_of<Cell>().neighbour(here, {0, y}));
      if (row != nullptr) shares += row->row_;
    }
    sugar_ = after_spread(grown_sugar(), shares);
  }

  __device__ std::uint32_t sugar() const { return sugar_; }
  __device__ std::uint8_t growth() const { return growth_; }
  __device__ void set_growth(std::uint8_t growth) { growth_ = growth; }

  __device__ std::uint32_t harvest() {
    const std::uint32_t all = sugar_;
    sugar_ = 0;
    return all;
  }

  /// The agent at `position` of the window asks for this cell.
  __device__ void receive_question(std::uint32_t position) {
    asked_->fetch_or(1u << position, dynasoar::Order::relaxed);
  }

  /// The agents that ask; none after forget_questions().
  __device__ Positions askers() const { return Positions(asked_->load(dynasoar::Order::relaxed)); }

  __device__ void forget_questions() { asked_->store(0, dynasoar::Order::relaxed); }

 private:
  __device__ std::uint32_t grown_sugar() const { return grown(sugar_, growth_); }
};

__device__ inline Positions Landscape::best_in_sight(Place middle, std::uint32_t vision) {
  struct Seen {
    bool is_free;
    std::uint32_t sugar;
  };
  BestPlaces best;
  look(
      middle, vision,
      [](Place place) {
        return Seen{dynasoar::is_free<Male, Female>(place), dynasoar::at<Cell>(place)->sugar()};
      },
      [&](std::uint32_t position, bool is_there, Seen seen) {
        best.consider(position, is_there & seen.is_free, seen.sugar);
      });
  return best.positions();
}

__device__ inline std::uint8_t Landscape::ask(Place middle, Positions candidates, Decision decision) const {
  if (candidates.empty()) return kNone;
  const std::uint8_t position = choose(candidates, seed, decision, number(middle), step);
  dynasoar::at<Cell>(at(middle, position))->receive_question(mirrored(position));
  return position;
}

__device__ inline Place Landscape::taken(Place middle, std::uint8_t position, Decision decision) const {
  const Place wanted = at(middle, position);
  Cell* const cell = dynasoar::at<Cell>(wanted);
  const Positions askers = cell->askers();
  if (!askers.contains(mirrored(position))) return Place();  // the cell chose another agent, which has cleared the bits
  if (choose(askers, seed, decision, number(wanted), step) != mirrored(position)) return Place();
  cell->forget_questions();
  return wanted;
}

/// The values of an agent that most loops need, in one field. Few places have an agent, so the values in several fields
/// would be far apart in memory.
struct Body {
  std::uint32_t wealth;
  Traits traits;
  std::uint16_t age;
  std::uint16_t choice;  ///< the position that it asked for, or kNone
};

class Agent : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Agent, (body_, Body));

  __device__ explicit Agent(Traits traits) : body_(Body{traits.endowment, traits, 0, kNone}) {}

  /// The agent grows older and eats, or dies.
  __device__ void live() {
    ++body_->age;
    if (dies(body_->age, body_->wealth, body_->traits)) {
      dynasoar::destroy(this);
    } else {
      body_->wealth -= body_->traits.metabolism;
    }
  }

  /// Asks for the best place in sight.
  __device__ void ask(Landscape land) {
    const Place here = dynasoar::place_of(this);
    body_->choice = land.ask(here, Landscape::best_in_sight(here, body_->traits.vision), Decision::move_ask);
  }

  __device__ std::uint32_t wealth() const { return body_->wealth; }

  __device__ CellState state() const {
    const Body body = body_;
    const Traits& traits = body.traits;
    return {.vision = traits.vision,
            .max_age = traits.max_age,
            .endowment = traits.endowment,
            .metabolism = traits.metabolism,
            .wealth = body.wealth,
            .age = static_cast<std::uint8_t>(body.age)};
  }

 protected:
  __device__ bool is_ready_for_children() const { return is_ready(body_->age, body_->wealth, body_->traits); }

  /// Moves to the cell that it asked for if the cell chose it, and harvests the agent's cell.
  template <class T>
  __device__ static T* moved_and_fed(T* agent, const Landscape& land) {
    Place here = dynasoar::place_of(agent);
    if (agent->body_->choice != kNone) {
      const Place wanted = land.taken(here, agent->body_->choice, Decision::move_accept);
      if (wanted.exists()) {
        here = wanted;
        agent = dynasoar::move_to(agent, here);
      }
    }
    agent->body_->wealth += dynasoar::at<Cell>(here)->harvest();
    return agent;
  }

  __device__ void pay_for_child() { body_->wealth -= birth_price(body_->traits); }
};

/// The values of a female that are not atomic.
struct Motherhood {
  std::uint8_t children;
  std::uint8_t max_children;
  bool is_ready;  ///< for a child, after the last harvest
};

class Female final : public Agent {
 public:
  using BaseClass = Agent;
  using Bid = dynasoar::AtomicWord<std::uint64_t>;
  DYNASOAR_FIELDS(Female, (bid_, Bid),  // the lowest bid of the males that propose, or kNoBid
                  (motherhood_, Motherhood));

  static constexpr std::uint64_t kNoBid = ~std::uint64_t{0};

  __device__ Female(Traits traits, std::uint8_t max_children)
      : Agent(traits), motherhood_(Motherhood{0, max_children, false}) {
    bid_->store(kNoBid, dynasoar::Order::relaxed);
  }

  __device__ void move(Landscape land) {
    Female* const self = moved_and_fed(this, land);
    self->motherhood_->is_ready = self->is_ready_for_children();
  }

  __device__ bool is_ready() const { return motherhood_->is_ready; }

  __device__ void receive_proposal(std::uint64_t bid) { bid_->fetch_min(bid, dynasoar::Order::relaxed); }

  /// Whether she accepts the male that made this bid. Resets the word if the bid was the lowest.
  __device__ bool accepts(std::uint64_t bid) {
    if (bid_->load(dynasoar::Order::relaxed) != bid) return false;
    bid_->store(kNoBid, dynasoar::Order::relaxed);
    return motherhood_->children < motherhood_->max_children;
  }

  /// Has a child with this father. @return the child's traits
  __device__ Traits bear_child(Traits father) {
    pay_for_child();
    ++motherhood_->children;
    return mean(father, body_->traits);
  }

  __device__ CellState state() const {
    CellState state = Agent::state();
    state.kind = kFemale;
    state.children = motherhood_->children;
    state.max_children = motherhood_->max_children;
    return state;
  }
};

class Male final : public Agent {
 public:
  using BaseClass = Agent;
  // position of the female that he proposed to, then of the one that accepted; or kNone
  DYNASOAR_FIELDS(Male, (beloved_, std::uint8_t));

  __device__ explicit Male(Traits traits) : Agent(traits), beloved_(kNone) {}

  __device__ void move(Landscape land) { moved_and_fed(this, land); }

  /// Proposes to the richest female in sight that is ready.
  __device__ void propose() {
    if (!is_ready_for_children()) return;
    const Place here = dynasoar::place_of(this);
    RichestAgent richest;
    Landscape::look(
        here, body_->traits.vision,
        [](Place place) {
          const Female* const female = dynasoar::at<Female>(place);
          return female != nullptr && female->is_ready() ? female->wealth() : 0;
        },
        [&](std::uint32_t position, bool is_there, std::uint32_t wealth) {
          richest.consider(position, is_there ? wealth : 0);
        });
    if (richest.position() == kNone) return;
    beloved_ = richest.position();
    dynasoar::at<Female>(Landscape::at(here, richest.position()))->receive_proposal(bid());
  }

  /// Asks for a cell for a child, if the female accepts him.
  __device__ void ask_for_cradle(Landscape land) {
    if (beloved_ == kNone) return;
    const Place here = dynasoar::place_of(this);
    if (!dynasoar::at<Female>(Landscape::at(here, beloved_))->accepts(bid())) {
      beloved_ = kNone;
      return;
    }
    body_->choice = land.ask(here, Landscape::free_in_sight(here, body_->traits.vision), Decision::birth_ask);
  }

  /// Has a child in the cell that he asked for, if the cell chose him.
  __device__ void have_child(Landscape land) {
    const std::uint8_t mother = beloved_;
    if (mother == kNone) return;
    beloved_ = kNone;
    if (body_->choice == kNone) return;
    const Place here = dynasoar::place_of(this);
    const Place cradle = land.taken(here, body_->choice, Decision::birth_accept);
    if (!cradle.exists()) return;
    pay_for_child();
    const Traits traits = dynasoar::at<Female>(Landscape::at(here, mother))->bear_child(body_->traits);
    const Newborn child = newborn(land.seed, Landscape::number(cradle), land.step);
    if (child.kind == kMale) {
      dynasoar::make_new_at<Male>(cradle, traits);
    } else {
      dynasoar::make_new_at<Female>(cradle, traits, child.max_children);
    }
  }

  __device__ CellState state() const {
    CellState state = Agent::state();
    state.kind = kMale;
    return state;
  }

 private:
  /// The richest bids lowest; among equals, the one whose cell has the lowest number.
  __device__ std::uint64_t bid() const {
    return std::uint64_t{~wealth()} << 32 | Landscape::number(dynasoar::place_of(this));
  }
};

DYNASOAR_METHOD(Move, move);

__device__ inline std::uint8_t Landscape::kind(std::uint32_t c) const {
  const Place place = dynasoar::lattice_of<Cell>().place_of_number(c);
  if (dynasoar::at<Male>(place) != nullptr) return kMale;
  return dynasoar::at<Female>(place) != nullptr ? kFemale : kFree;
}

__device__ inline std::uint32_t Landscape::sugar(std::uint32_t c) const {
  return dynasoar::at<Cell>(dynasoar::lattice_of<Cell>().place_of_number(c))->sugar();
}

__device__ inline CellState Landscape::state(std::uint32_t c) const {
  const Place place = dynasoar::lattice_of<Cell>().place_of_number(c);
  CellState state;
  if (const Male* const male = dynasoar::at<Male>(place)) state = male->state();
  if (const Female* const female = dynasoar::at<Female>(place)) state = female->state();
  const Cell* const cell = dynasoar::at<Cell>(place);
  state.sugar = cell->sugar();
  state.growth = cell->growth();
  return state;
}

/// Prepares a cell and makes its first agent.
struct Populate {
  Seed seed;
  Thresholds thresholds;

  __device__ void operator()(Place place) const {
    const std::uint32_t c = Landscape::number(place);
    dynasoar::at<Cell>(place)->set_growth(initial_growth(seed, c));
    const InitialAgent initial = initial_agent(seed, thresholds, c);
    if (initial.kind == kMale) dynasoar::make_new_at<Male>(place, initial.traits);
    if (initial.kind == kFemale) dynasoar::make_new_at<Female>(place, initial.traits, initial.max_children);
  }
};

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace sugarscape::placed
