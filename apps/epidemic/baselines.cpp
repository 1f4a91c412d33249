/// @file
/// The hand-written baselines, without an allocator: people live in the slots of a SlotPool. Both baselines run the
/// same algorithm. One stores people as a structure of arrays, the other as an array of structures.
///
/// The positions of the infected are sorted by cell (a counting sort), so that a susceptible person reads a few short
/// pieces of memory.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/census_history.h>
#include <app/dense_simulation.h>
#include <app/layout.h>
#include <app/periodic_cells.h>
#include <app/slot_pool.h>
#include <dynasoar/identity.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/scan.h>

#include "rules.h"
#include "simulation.h"

namespace epidemic {
namespace baselines {

using Word = dynasoar::AtomicWord<std::uint32_t>;

/// The contents of a slot.
enum class Slot : std::uint8_t { free, susceptible, infected, recovered };

__host__ __device__ constexpr Slot slot_of(State state) {
  return static_cast<Slot>(static_cast<std::uint8_t>(state) + 1);
}

struct Person {
  std::uint64_t number;
  Vector position;
  Slot slot;
};

/// @tparam View   of app::StructureOfArrays or app::ArrayOfStructures
template <class View>
struct People : View {
  __device__ std::uint64_t& number(std::uint32_t i) const { return this->template at<&Person::number>(i); }
  __device__ Vector& position(std::uint32_t i) const { return this->template at<&Person::position>(i); }
  __device__ Slot& slot(std::uint32_t i) const { return this->template at<&Person::slot>(i); }

  __device__ void put(std::uint32_t i, std::uint64_t a_number, Vector at, Slot what) const {
    number(i) = a_number;
    position(i) = at;
    slot(i) = what;
  }
};

struct Birth {
  std::uint64_t number;
  Vector position;
};

/// The data of a step.
template <class PeopleT>
struct Work {
  Rules rules;
  app::PeriodicCells torus;
  app::StepNumber step;
  app::SlotPoolView<Birth> slots;
  PeopleT people;         ///< of all slots
  Word* counts;           ///< [cells + 1] infected people of each cell without a place in the order: 0 between steps
  std::uint32_t* starts;  ///< [cells + 1] place of each cell's first infected person, and the number of infected people
  Vector* patients;       ///< positions of the infected, cell by cell
};

/// The first part of a step: people walk, have children, recover and die. Counts the infected of each cell.
template <class PeopleT>
struct Live {
  Work<PeopleT> work;

  __device__ void operator()(std::uint32_t i) const {
    if (i >= work.slots.used()) return;
    const Slot slot = work.people.slot(i);
    if (slot == Slot::free) return;
    const std::uint64_t number = work.people.number(i);
    const Words words = work.rules.words(number, work.step);
    if (work.rules.dies(words)) return leave(i);
    const Vector position = work.rules.walked(work.people.position(i), words);
    work.people.position(i) = position;
    if (work.rules.has_child(words)) {
      const dynasoar::Identity child = dynasoar::child_identity(dynasoar::Identity{number}, work.step);
      work.slots.add_birth({static_cast<std::uint64_t>(child), position});
    }
    if (slot != Slot::infected) return;
    const End end = work.rules.end_of_infection(words);
    if (end == End::death) return leave(i);
    if (end == End::recovery) {
      work.people.slot(i) = Slot::recovered;
    } else {
      work.counts[work.torus.cell(position)].add(1, dynasoar::Order::relaxed);
    }
  }

 private:
  __device__ void leave(std::uint32_t i) const {
    work.people.slot(i) = Slot::free;
    work.slots.release(i);
  }
};

/// Copies the position of an infected person to its cell.
template <class PeopleT>
struct PlacePatient {
  Work<PeopleT> work;

  __device__ void operator()(std::uint32_t i) const {
    if (i >= work.slots.used() || work.people.slot(i) != Slot::infected) return;
    const Vector position = work.people.position(i);
    const std::uint32_t cell = work.torus.cell(position);
    const std::uint32_t left = work.counts[cell].fetch_sub(1, dynasoar::Order::relaxed);
    work.patients[work.starts[cell] + left - 1] = position;
  }
};

/// Every susceptible person counts the infected in contact, and may become one of them.
template <class PeopleT>
struct Meet {
  Work<PeopleT> work;

  __device__ void operator()(std::uint32_t i) const {
    if (i >= work.slots.used() || work.people.slot(i) != Slot::susceptible) return;
    const std::uint32_t contacts = contacts_of(work.people.position(i));
    if (contacts > 0 && work.rules.catches(work.people.number(i), work.step, contacts)) {
      work.people.slot(i) = Slot::infected;
    }
  }

 private:
  __device__ std::uint32_t contacts_of(Vector here) const {
    const app::PeriodicCells& torus = work.torus;
    const std::uint32_t column = torus.column(here.x);
    const std::uint32_t row = torus.column(here.y);
    std::uint32_t contacts = 0;
    for (std::uint32_t y = 0; y < 3; ++y) {
      const std::uint32_t first = (row + y == 0 ? torus.width : row + y) - 1;
      const std::uint32_t cells = (first < torus.width ? first : 0) * torus.width;
      // The cells of a row are contiguous, except across its ends.
      if (column > 0 && column + 1 < torus.width) {
        contacts += contacts_in(here, cells + column - 1, cells + column + 2);
      } else {
        const std::uint32_t before = column > 0 ? column - 1 : torus.width - 1;
        const std::uint32_t after = column + 1 < torus.width ? column + 1 : 0;
        for (const std::uint32_t x : {before, column, after}) contacts += contacts_in(here, cells + x, cells + x + 1);
      }
    }
    return contacts;
  }

  __device__ std::uint32_t contacts_in(Vector here, std::uint32_t first_cell, std::uint32_t end_cell) const {
    std::uint32_t contacts = 0;
    const std::uint32_t end = work.starts[end_cell];
    for (std::uint32_t i = work.starts[first_cell]; i < end; ++i) {
      const Vector there = work.patients[i];
      const Vector offset = {work.torus.nearest(there.x - here.x), work.torus.nearest(there.y - here.y)};
      contacts += app::squared_length(offset) <= kContact * kContact ? 1 : 0;
    }
    return contacts;
  }
};

template <class PeopleT>
struct CountPeople {
  PeopleT people;
  app::SlotPoolView<Birth> slots;

  __device__ void operator()(std::size_t index, app::Tally<Census>& tally) const {
    const auto i = static_cast<std::uint32_t>(index);
    if (i >= slots.used() || people.slot(i) == Slot::free) return;
    tally.of[static_cast<int>(people.slot(i)) - 1] += 1;
  }
};

template <class PeopleT>
struct Unpack {
  PeopleT people;
  const PersonState* states;
  __device__ void operator()(std::uint32_t i) const {
    people.put(i, states[i].number, {states[i].x, states[i].y}, slot_of(states[i].state));
  }
};

/// The person of a slot; number 0 if it is free.
template <class PeopleT>
struct StateOfPerson {
  PeopleT people;
  __device__ PersonState operator()(std::uint32_t i) const {
    const Slot slot = people.slot(i);
    const Vector at = people.position(i);
    return {slot == Slot::free ? 0 : people.number(i), at.x, at.y,
            static_cast<State>(static_cast<int>(slot) - (slot == Slot::free ? 0 : 1))};
  }
};

/// @tparam Storage   app::StructureOfArrays or app::ArrayOfStructures of people
template <class Storage>
class DenseEpidemic final : public app::DenseSimulation<Simulation> {
 public:
  using PeopleT = People<typename Storage::View>;

  explicit DenseEpidemic(const Parameters& parameters)
      : DenseSimulation(parameters, {"live", "sort", "meet"}),
        rules_(Rules::of(parameters)),
        torus_(parameters.side, width_of_cell(parameters.side)),
        slots_(room_of(parameters), parameters.initial.size()),
        people_(slots_.capacity()),
        counts_(torus_.cells() + 1),
        starts_(torus_.cells() + 1),
        patients_(slots_.capacity()),
        starts_of_cells_(torus_.cells() + 1) {
    dynasoar::DeviceArray<PersonState> states(parameters.initial.size());
    states.upload(parameters.initial);
    counts_.fill_bytes(0);
    for_each(parameters.initial.size(), Unpack<PeopleT>{{people_.view()}, states.data()});
    executor().synchronize();
  }

  void submit_step() override {
    count_step();
    const Work<PeopleT> work = this->work();
    run_phase(0, slots_.capacity(), Live<PeopleT>{work});
    starts_of_cells_.run(executor(), reinterpret_cast<const std::uint32_t*>(counts_.data()), starts_.data());
    run_phase(1, slots_.capacity(), PlacePatient<PeopleT>{work});
    slots_.place_births(executor(), [people = work.people] __device__(std::uint32_t slot, const Birth& birth) {
      people.put(slot, birth.number, birth.position, Slot::susceptible);
    });
    run_phase(2, slots_.capacity(), Meet<PeopleT>{work});
  }

  void record() override {
    history_.record(executor(), slots_.capacity(), CountPeople<PeopleT>{{people_.view()}, slots_.view()});
  }

  std::vector<Census> take_history() override {
    check_room(slots_.peak(executor()), slots_.limit());
    return history_.take(executor());
  }

  std::vector<PersonState> people() override {
    check_room(slots_.peak(executor()), slots_.limit());
    return slots_.template states<PersonState>(executor(), StateOfPerson<PeopleT>{{people_.view()}});
  }

 private:
  Work<PeopleT> work() const {
    return {rules_, torus_, now(), slots_.view(), {people_.view()}, counts_.data(), starts_.data(), patients_.data()};
  }

  Rules rules_;
  app::PeriodicCells torus_;
  app::SlotPool<Birth> slots_;
  Storage people_;
  dynasoar::DeviceArray<Word> counts_;
  dynasoar::DeviceArray<std::uint32_t> starts_;
  dynasoar::DeviceArray<Vector> patients_;
  dynasoar::detail::PrefixSums starts_of_cells_;
  app::CensusHistory<Census> history_;
};

}  // namespace baselines

std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters) {
  using Storage =
      app::StructureOfArrays<&baselines::Person::number, &baselines::Person::position, &baselines::Person::slot>;
  return std::make_unique<baselines::DenseEpidemic<Storage>>(parameters);
}

std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters) {
  return std::make_unique<baselines::DenseEpidemic<app::ArrayOfStructures<baselines::Person>>>(parameters);
}

}  // namespace epidemic
