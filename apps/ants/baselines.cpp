/// @file
/// The hand-written baselines, without an allocator: ants are in slots, and a list contains the free slots. Both
/// baselines run the same algorithm. One stores ants and cells as structures of arrays, the other as arrays of
/// structures.
///
/// The loop in which ants walk only notes births. New ants get their slots in a later loop, so that no thread reads a
/// slot while another fills it. One thread diffuses both pheromones of a cell.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/census_history.h>
#include <app/dense_simulation.h>
#include <app/layout.h>
#include <dynasoar/identity.h>
#include <dynasoar/obstacles.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/memory.h>

#include "dense_colony.h"
#include "rules.h"
#include "simulation.h"

namespace ants {
namespace baselines {

/// The data of a step.
template <class AntsT, class GroundT>
struct Work {
  Rules rules;
  Walls walls;
  app::StepNumber step;
  std::uint32_t room;
  AntsT ants;           ///< [room]
  GroundT ground;       ///< [side * side]
  Counters* counters;   ///< one
  std::uint32_t* free;  ///< [room] slots
  AntState* births;     ///< [room]
};

/// Ants die, or walk and deposit. Then carriers may arrive in the nest, and foragers may bid for food.
template <class AntsT, class GroundT>
struct Act {
  Work<AntsT, GroundT> work;

  __device__ void operator()(std::size_t index) const {
    const auto i = static_cast<std::uint32_t>(index);
    if (i >= Counters::value(work.counters->used)) return;
    const AntsT& ants = work.ants;
    const Slot slot = ants.template of<&Ant::slot>(i);
    if (slot == Slot::free) return;
    if (work.step >= ants.template of<&Ant::last_step>(i)) {
      ants.template of<&Ant::slot>(i) = Slot::free;
      work.free[work.counters->free.fetch_add(1, kRelaxed)] = i;
      return;
    }
    const std::uint64_t number = ants.template of<&Ant::number>(i);
    const Words words = work.rules.words(number, work.step);
    if (slot == Slot::carrier) {
      const auto home = [&](Vector at) { return work.ground.template sample<&Cell::home>(at); };
      const auto scent = [&](Vector at) { return work.rules.way_home(at, home); };
      const Vector here = walk<&Cell::trail_deposits>(i, words, scent);
      if (work.rules.is_in_nest(here)) arrive(i, number, here, words);
    } else {
      const auto scent = [&](Vector at) { return work.ground.template sample<&Cell::trail>(at); };
      const Vector here = walk<&Cell::home_deposits>(i, words, scent);
      forage(i, number, here);
    }
  }

 private:
  template <auto deposits, class Followed>
  __device__ Vector walk(std::uint32_t i, const Words& words, const Followed& followed) const {
    const Vector from = work.ants.template of<&Ant::position>(i);
    const Vector ahead = work.ants.template of<&Ant::heading>(i);
    const float scent = work.ants.template of<&Ant::scent>(i);
    const Sensed sensed = work.rules.sensed(from, ahead, followed);
    const Walk walk = work.rules.walked(from, work.rules.turned(ahead, sensed, words), work.walls, words);
    work.ants.template of<&Ant::position>(i) = walk.position;
    work.ants.template of<&Ant::heading>(i) = walk.heading;
    work.ants.template of<&Ant::scent>(i) = scent * work.rules.keeping;
    const auto units = static_cast<std::uint64_t>(double{scent} * kUnitsOfDeposits + 0.5);
    if (units > 0) work.ground.template of<deposits>(work.ground.cell(walk.position)).add(units, kRelaxed);
    return walk.position;
  }

  __device__ void arrive(std::uint32_t i, std::uint64_t number, Vector here, const Words& words) const {
    work.ants.turn_back(i, Slot::forager);
    work.ants.template of<&Ant::bid>(i) = kNoBid;
    if (!work.rules.has_birth(words)) {
      work.ground.template of<&Cell::stored>(work.ground.cell(here)).add(1, kRelaxed);
      return;
    }
    const auto child = static_cast<std::uint64_t>(dynasoar::child_identity(dynasoar::Identity{number}, work.step));
    const Vector heading = work.rules.first_heading(child);
    work.births[work.counters->births.fetch_add(1, kRelaxed)] = {
        child, here.x, here.y, heading.x, heading.y, 1, work.step + work.rules.lifetime, false};
  }

  __device__ void forage(std::uint32_t i, std::uint64_t number, Vector here) const {
    std::uint64_t bid = kNoBid;
    const std::uint32_t cell = work.ground.cell(here);
    if (work.rules.is_in_nest(here)) {
      work.ants.template of<&Ant::scent>(i) = 1;
    } else if (work.ground.template of<&Cell::food>(cell) > 0) {
      bid = work.rules.bid(number, work.step);
      work.ground.template of<&Cell::bid>(cell).fetch_min(bid, kRelaxed);
    }
    work.ants.template of<&Ant::bid>(i) = bid;
  }
};

/// Gives slots to new ants: free slots from the end of the list first, and then new ones.
template <class AntsT, class GroundT>
struct GiveBirth {
  static constexpr std::uint32_t kThreads = 1 << 14;

  Work<AntsT, GroundT> work;

  __device__ void operator()(std::size_t index) const {
    const std::uint32_t births = Counters::value(work.counters->births);
    const std::uint32_t free = Counters::value(work.counters->free);
    const std::uint32_t used = Counters::value(work.counters->used);
    for (auto b = static_cast<std::uint32_t>(index); b < births; b += kThreads) {
      const std::uint32_t slot = b < free ? work.free[free - 1 - b] : used + (b - free);
      if (slot < work.room) {
        work.ants.put(slot, work.births[b]);
      } else {
        work.counters->homeless.add(1, kRelaxed);
      }
    }
  }
};

/// The ant with the lowest bid for the food of a cell takes a portion. Ants that are born in this step have no bid.
template <class AntsT, class GroundT>
struct Take {
  Work<AntsT, GroundT> work;

  __device__ void operator()(std::size_t index) const {
    const auto i = static_cast<std::uint32_t>(index);
    if (i >= Counters::value(work.counters->used) || work.ants.template of<&Ant::slot>(i) != Slot::forager) return;
    const std::uint64_t bid = work.ants.template of<&Ant::bid>(i);
    if (bid == kNoBid) return;
    const std::uint32_t cell = work.ground.cell(work.ants.template of<&Ant::position>(i));
    LongWord& lowest = work.ground.template of<&Cell::bid>(cell);
    if (lowest.load(kRelaxed) != bid) return;
    lowest.store(kNoBid, kRelaxed);
    work.ground.template of<&Cell::food>(cell) -= 1;
    work.ants.turn_back(i, Slot::carrier);
  }
};

/// Updates the counters after the births of a step.
struct CountBirths {
  Counters* counters;
  std::uint32_t room;

  __device__ void operator()(std::size_t) const {
    const std::uint32_t births = Counters::value(counters->births);
    const std::uint32_t free = Counters::value(counters->free);
    const std::uint32_t used = counters->used_after_births();
    counters->used.store(used < room ? used : room, kRelaxed);
    counters->free.store(births < free ? free - births : 0, kRelaxed);
    counters->births.store(0, kRelaxed);
  }
};

template <class AntsT, class GroundT>
struct Count {
  AntsT ants;
  GroundT ground;
  const Counters* counters;
  Box gates[2];
  std::uint32_t room;

  __device__ void operator()(std::size_t index, app::Tally<Census>& tally) const {
    const auto i = static_cast<std::uint32_t>(index);
    // Once an ant gets no slot, all numbers are wrong. This addition lets the host see that there are too many ants.
    if (i == 0 && Counters::value(counters->homeless) > 0) tally.of[0] += room;
    if (i < Counters::value(counters->used) && ants.template of<&Ant::slot>(i) != Slot::free) {
      tally.of[ants.template of<&Ant::slot>(i) == Slot::carrier ? 1 : 0] += 1;
      for (int gate = 0; gate < 2; ++gate) {
        tally.of[2 + gate] += is_in(gates[gate], ants.template of<&Ant::position>(i)) ? 1 : 0;
      }
    }
    if (i < ground.side * ground.side) {
      tally.of[4] += ground.template of<&Cell::food>(i);
      tally.of[5] += Counters::value(ground.template of<&Cell::stored>(i));
    }
  }
};

template <class AntsT>
struct UnpackAnts {
  AntsT ants;
  const AntState* states;
  __device__ void operator()(std::size_t i) const { ants.put(static_cast<std::uint32_t>(i), states[i]); }
};

template <class GroundT>
struct PrepareCells {
  GroundT ground;
  const std::uint32_t* food;
  __device__ void operator()(std::size_t index) const {
    const auto cell = static_cast<std::uint32_t>(index);
    ground.template of<&Cell::food>(cell) = food[cell];
    ground.template of<&Cell::bid>(cell).store(kNoBid, kRelaxed);
  }
};

/// Writes the ant of a slot, with the number 0 if the slot is free.
template <class AntsT>
struct PackAnts {
  AntsT ants;
  AntState* states;
  __device__ void operator()(std::size_t index) const {
    const auto i = static_cast<std::uint32_t>(index);
    const Slot slot = ants.template of<&Ant::slot>(i);
    const Vector at = ants.template of<&Ant::position>(i);
    const Vector heading = ants.template of<&Ant::heading>(i);
    states[i] = {slot == Slot::free ? 0 : ants.template of<&Ant::number>(i),
                 at.x,
                 at.y,
                 heading.x,
                 heading.y,
                 ants.template of<&Ant::scent>(i),
                 ants.template of<&Ant::last_step>(i),
                 slot == Slot::carrier};
  }
};

template <class GroundT>
struct PackCells {
  GroundT ground;
  CellState* states;
  __device__ void operator()(std::size_t index) const {
    const auto i = static_cast<std::uint32_t>(index);
    states[i] = {ground.template of<&Cell::home>(i), ground.template of<&Cell::trail>(i),
                 ground.template of<&Cell::food>(i), Counters::value(ground.template of<&Cell::stored>(i))};
  }
};

/// @tparam AntStorage, CellStorage   app::StructureOfArrays or app::ArrayOfStructures
template <class AntStorage, class CellStorage>
class DenseAnts final : public app::DenseSimulation<Simulation> {
 public:
  using AntsT = Ants<typename AntStorage::View>;
  using GroundT = Ground<typename CellStorage::View>;

  explicit DenseAnts(const Parameters& parameters)
      : DenseSimulation(parameters, {"walk", "take", "diffuse"}),
        parameters_(parameters),
        limit_(room_of(parameters)),
        room_(static_cast<std::uint32_t>(std::max<std::uint64_t>(limit_, parameters.initial.size()))),
        walls_(walls_of(parameters.world)),
        ants_(room_),
        cells_(cell_count()),
        counters_(1),
        free_(room_),
        births_(room_) {
    cells_.fill_bytes(0);
    Counters counters{};
    counters.used.store(static_cast<std::uint32_t>(parameters.initial.size()), kRelaxed);
    counters_.upload(std::vector{counters});
    dynasoar::DeviceArray<AntState> states(parameters.initial.size());
    states.upload(parameters.initial);
    executor().for_each_index(parameters.initial.size(), UnpackAnts<AntsT>{ants(), states.data()});
    dynasoar::DeviceArray<std::uint32_t> food(cell_count());
    food.upload(parameters.world.food);
    executor().for_each_index(cell_count(), PrepareCells<GroundT>{ground(), food.data()});
    executor().synchronize();
    walls_.view();  // before the step is recorded
  }

  void submit_step() override {
    count_step();
    const Work<AntsT, GroundT> work{Rules::of(parameters_), walls_.view(), now(),         room_, ants(), ground(),
                                    counters_.data(),       free_.data(),  births_.data()};
    executor().for_each_index(room_, Act<AntsT, GroundT>{work});
    end_phase(0);
    executor().for_each_index(room_, Take<AntsT, GroundT>{work});
    using Births = GiveBirth<AntsT, GroundT>;
    executor().for_each_index(Births::kThreads, Births{work});
    executor().for_each_index(1, CountBirths{counters_.data(), room_});
    end_phase(1);
    diffuse();
    end_phase(2);
  }

  void record() override {
    const auto& gates = parameters_.world.gates;
    history_.record(executor(), std::max<std::size_t>(room_, cell_count()),
                    Count<AntsT, GroundT>{ants(), ground(), counters_.data(), {gates[0], gates[1]}, room_});
  }

  std::vector<Census> take_history() override {
    std::vector<Census> history = history_.take(executor());
    for (const Census& census : history) check_room(census.ants(), limit_);
    return history;
  }

  State state() override {
    const Counters counters = (executor().synchronize(), counters_.download()[0]);
    const std::uint32_t used = counters.used.load(kRelaxed);
    const dynasoar::DeviceArray<AntState> ant_states(used);
    const dynasoar::DeviceArray<CellState> cell_states(cell_count());
    executor().for_each_index(used, PackAnts<AntsT>{ants(), ant_states.data()});
    executor().for_each_index(cell_count(), PackCells<GroundT>{ground(), cell_states.data()});
    executor().synchronize();
    State state{ant_states.download(), cell_states.download()};
    std::erase_if(state.ants, [](const AntState& ant) { return ant.number == 0; });
    const bool is_complete = counters.homeless.load(kRelaxed) == 0;
    check_room(state.ants.size() + (is_complete ? 0 : room_), limit_);
    std::sort(state.ants.begin(), state.ants.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
    return state;
  }

 private:
  std::size_t cell_count() const { return std::size_t{parameters_.world.side} * parameters_.world.side; }
  AntsT ants() const { return {ants_.view()}; }
  GroundT ground() const { return {cells_.view(), parameters_.world.side}; }

  void diffuse() {
    if (parameters_.diffusion == 0) {
      const auto remaining = static_cast<float>(std::exp(-parameters_.evaporation));
      executor().for_each_index(cell_count(), Decay<GroundT>{ground(), remaining});
      return;
    }
    const auto rate = static_cast<float>(0.5 * parameters_.diffusion);
    const auto remaining = static_cast<float>(std::exp(-0.5 * parameters_.evaporation));
    for (const bool is_first : {true, false}) {
      executor().for_each_index(cell_count(), Diffuse<GroundT>{ground(), rate, remaining, is_first});
    }
  }

  Parameters parameters_;
  std::uint64_t limit_;
  std::uint32_t room_;
  dynasoar::Obstacles<Vector> walls_;
  AntStorage ants_;
  CellStorage cells_;
  dynasoar::DeviceArray<Counters> counters_;
  dynasoar::DeviceArray<std::uint32_t> free_;
  dynasoar::DeviceArray<AntState> births_;
  app::CensusHistory<Census> history_;
};

}  // namespace baselines

std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters) {
  using baselines::Ant;
  using baselines::Cell;
  using AntArrays = app::StructureOfArrays<&Ant::number, &Ant::bid, &Ant::position, &Ant::heading, &Ant::scent,
                                           &Ant::last_step, &Ant::slot>;
  using CellArrays =
      app::StructureOfArrays<&Cell::bid, &Cell::home_deposits, &Cell::trail_deposits, &Cell::home, &Cell::trail,
                             &Cell::home_after, &Cell::trail_after, &Cell::food, &Cell::stored>;
  return std::make_unique<baselines::DenseAnts<AntArrays, CellArrays>>(parameters);
}

std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters) {
  using Ants = app::ArrayOfStructures<baselines::Ant>;
  return std::make_unique<baselines::DenseAnts<Ants, app::ArrayOfStructures<baselines::Cell>>>(parameters);
}

}  // namespace ants
