/// @file
/// The hand-written baselines, without an allocator: ants are in the slots of a SlotPool. Both baselines run the same
/// algorithm. One stores ants and cells as structures of arrays, the other as arrays of structures. One thread diffuses
/// both pheromones of a cell.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/census_history.h>
#include <app/dense_simulation.h>
#include <app/layout.h>
#include <app/slot_pool.h>
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
  app::SlotPoolView<AntState> slots;
  AntsT ants;      ///< of all slots
  GroundT ground;  ///< [side * side]
};

/// Ants die, or walk and deposit. Then carriers may arrive in the nest, and foragers may bid for food.
template <class AntsT, class GroundT>
struct Act {
  Work<AntsT, GroundT> work;

  __device__ void operator()(std::uint32_t i) const {
    if (i >= work.slots.used()) return;
    const AntsT& ants = work.ants;
    const Slot slot = ants.template of<&Ant::slot>(i);
    if (slot == Slot::free) return;
    if (work.step >= ants.template of<&Ant::last_step>(i)) {
      ants.template of<&Ant::slot>(i) = Slot::free;
      work.slots.release(i);
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
    work.slots.add_birth({child, here.x, here.y, heading.x, heading.y, 1, work.step + work.rules.lifetime, false});
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

/// The ant with the lowest bid for the food of a cell takes a portion. Ants that are born in this step have no bid.
template <class AntsT, class GroundT>
struct Take {
  Work<AntsT, GroundT> work;

  __device__ void operator()(std::uint32_t i) const {
    if (i >= work.slots.used() || work.ants.template of<&Ant::slot>(i) != Slot::forager) return;
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

template <class AntsT, class GroundT>
struct Count {
  AntsT ants;
  GroundT ground;
  app::SlotPoolView<AntState> slots;
  Box gates[2];

  __device__ void operator()(std::size_t index, app::Tally<Census>& tally) const {
    const auto i = static_cast<std::uint32_t>(index);
    if (i < slots.used() && ants.template of<&Ant::slot>(i) != Slot::free) {
      tally.of[ants.template of<&Ant::slot>(i) == Slot::carrier ? 1 : 0] += 1;
      for (int gate = 0; gate < 2; ++gate) {
        tally.of[2 + gate] += is_in(gates[gate], ants.template of<&Ant::position>(i)) ? 1 : 0;
      }
    }
    if (i < ground.side * ground.side) {
      tally.of[4] += ground.template of<&Cell::food>(i);
      tally.of[5] += ground.template of<&Cell::stored>(i).load(kRelaxed);
    }
  }
};

template <class AntsT>
struct UnpackAnts {
  AntsT ants;
  const AntState* states;
  __device__ void operator()(std::uint32_t i) const { ants.put(i, states[i]); }
};

template <class GroundT>
struct PrepareCells {
  GroundT ground;
  const std::uint32_t* food;
  __device__ void operator()(std::uint32_t cell) const {
    ground.template of<&Cell::food>(cell) = food[cell];
    ground.template of<&Cell::bid>(cell).store(kNoBid, kRelaxed);
  }
};

/// The ant of a slot, with the number 0 if the slot is free.
template <class AntsT>
struct StateOfAnt {
  AntsT ants;
  __device__ AntState operator()(std::uint32_t i) const {
    const Slot slot = ants.template of<&Ant::slot>(i);
    const Vector at = ants.template of<&Ant::position>(i);
    const Vector heading = ants.template of<&Ant::heading>(i);
    return {slot == Slot::free ? 0 : ants.template of<&Ant::number>(i),
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
struct StateOfCell {
  GroundT ground;
  __device__ CellState operator()(std::uint32_t i) const {
    return {ground.template of<&Cell::home>(i), ground.template of<&Cell::trail>(i), ground.template of<&Cell::food>(i),
            ground.template of<&Cell::stored>(i).load(kRelaxed)};
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
        slots_(room_of(parameters), parameters.initial.size()),
        walls_(walls_of(parameters.world)),
        ants_(slots_.capacity()),
        cells_(cell_count()) {
    cells_.fill_bytes(0);
    dynasoar::DeviceArray<AntState> states(parameters.initial.size());
    states.upload(parameters.initial);
    for_each(parameters.initial.size(), UnpackAnts<AntsT>{ants(), states.data()});
    dynasoar::DeviceArray<std::uint32_t> food(cell_count());
    food.upload(parameters.world.food);
    for_each(cell_count(), PrepareCells<GroundT>{ground(), food.data()});
    executor().synchronize();
    walls_.view();  // before the step is recorded
  }

  void submit_step() override {
    count_step();
    const Work<AntsT, GroundT> work{Rules::of(parameters_), walls_.view(), now(), slots_.view(), ants(), ground()};
    run_phase(0, slots_.capacity(), Act<AntsT, GroundT>{work});
    for_each(slots_.capacity(), Take<AntsT, GroundT>{work});
    slots_.place_births(executor(), [ants = work.ants] __device__(std::uint32_t slot, const AntState& birth) {
      ants.put(slot, birth);
    });
    end_phase(1);
    diffuse();
    end_phase(2);
  }

  void record() override {
    const auto& gates = parameters_.world.gates;
    history_.record(executor(), std::max<std::size_t>(slots_.capacity(), cell_count()),
                    Count<AntsT, GroundT>{ants(), ground(), slots_.view(), {gates[0], gates[1]}});
  }

  std::vector<Census> take_history() override {
    check_room(slots_.peak(executor()), slots_.limit());
    return history_.take(executor());
  }

  State state() override {
    check_room(slots_.peak(executor()), slots_.limit());
    return {slots_.states<AntState>(executor(), StateOfAnt<AntsT>{ants()}),
            app::collect<CellState>(executor(), cell_count(), StateOfCell<GroundT>{ground()})};
  }

 private:
  std::size_t cell_count() const { return std::size_t{parameters_.world.side} * parameters_.world.side; }
  AntsT ants() const { return {ants_.view()}; }
  GroundT ground() const { return {cells_.view(), parameters_.world.side}; }

  void diffuse() {
    if (parameters_.diffusion == 0) {
      const auto remaining = static_cast<float>(std::exp(-parameters_.evaporation));
      for_each(cell_count(), Decay<GroundT>{ground(), remaining});
      return;
    }
    const auto rate = static_cast<float>(0.5 * parameters_.diffusion);
    const auto remaining = static_cast<float>(std::exp(-0.5 * parameters_.evaporation));
    for (const bool is_first : {true, false}) {
      for_each(cell_count(), Diffuse<GroundT>{ground(), rate, remaining, is_first});
    }
  }

  Parameters parameters_;
  app::SlotPool<AntState> slots_;
  dynasoar::Obstacles<Vector> walls_;
  AntStorage ants_;
  CellStorage cells_;
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
