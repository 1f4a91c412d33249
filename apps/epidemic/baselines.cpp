/// @file
/// The hand-written baselines, without an allocator: people live in slots, and a list has the free ones. One algorithm
/// for both; they differ in how people lie in memory, as a structure of arrays or as an array of structures.
///
/// Births are noted in the loop in which everybody lives a day, and get their slots in the next one, so that no thread
/// looks at a slot while another fills it. The positions of the infected are sorted by cell (a counting sort), so that
/// a susceptible person reads a few short pieces of memory.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/census_history.h>
#include <app/dense_simulation.h>
#include <app/layout.h>
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

/// What a slot holds.
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

/// The world, a torus of square cells. There are from four to 2^15 of them along each side.
struct Torus {
  float side;
  std::uint32_t width;  ///< cells along a side

  explicit Torus(float side_of_world)
      : side(side_of_world), width(static_cast<std::uint32_t>(side_of_world / width_of_cell(side_of_world))) {}

  __host__ __device__ std::uint32_t cells() const { return width * width; }
  __device__ std::uint32_t column(float coordinate) const {
    const auto cell = static_cast<std::uint32_t>(coordinate * (static_cast<float>(width) / side));
    return cell < width ? cell : width - 1;
  }
  __device__ std::uint32_t cell(Vector at) const { return column(at.y) * width + column(at.x); }
  __device__ float nearest(float offset) const {
    if (offset > side / 2) return offset - side;
    return offset < -side / 2 ? offset + side : offset;
  }
};

struct Birth {
  std::uint64_t number;
  Vector position;
};

struct Counters {
  Word used;      ///< slots that hold a person or are in the list of free ones: 0 to used - 1
  Word free;      ///< length of that list
  Word births;    ///< in this step
  Word homeless;  ///< people for whom there was no slot, since the start

  __device__ static std::uint32_t value(const Word& word) { return word.load(dynasoar::Order::relaxed); }
  __device__ std::uint32_t used_after_births() const {
    const std::uint32_t without_slot = value(births) - (value(births) < value(free) ? value(births) : value(free));
    return value(used) + without_slot;
  }
};

/// What a step works on.
template <class PeopleT>
struct Work {
  Rules rules;
  Torus torus;
  app::StepNumber step;
  std::uint32_t room;
  PeopleT people;         ///< [room]
  Counters* counters;     ///< one
  std::uint32_t* free;    ///< [room] slots
  Birth* births;          ///< [room]
  Word* counts;           ///< [cells + 1] infected people of each cell who have no place yet: 0 between steps
  std::uint32_t* starts;  ///< [cells + 1] place of each cell's first infected person, and how many there are
  Vector* patients;       ///< [room] positions of the infected, cell by cell
};

/// Everybody walks, and has a child, or dies; infections end. Counts the infected of each cell.
template <class PeopleT>
struct Live {
  Work<PeopleT> work;

  __device__ void operator()(std::size_t index) const {
    const auto i = static_cast<std::uint32_t>(index);
    if (i >= Counters::value(work.counters->used)) return;
    const Slot slot = work.people.slot(i);
    if (slot == Slot::free) return;
    const std::uint64_t number = work.people.number(i);
    const Words words = work.rules.words(number, work.step);
    if (work.rules.dies(words)) return leave(i);
    const Vector position = work.rules.walked(work.people.position(i), words);
    work.people.position(i) = position;
    if (work.rules.has_child(words)) {
      const dynasoar::Identity child = dynasoar::child_identity(dynasoar::Identity{number}, work.step);
      work.births[work.counters->births.fetch_add(1, dynasoar::Order::relaxed)] = {static_cast<std::uint64_t>(child),
                                                                                   position};
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
    work.free[work.counters->free.fetch_add(1, dynasoar::Order::relaxed)] = i;
  }
};

/// Copies the position of an infected person to its cell.
template <class PeopleT>
struct PlacePatient {
  Work<PeopleT> work;

  __device__ void operator()(std::size_t index) const {
    const auto i = static_cast<std::uint32_t>(index);
    if (i >= Counters::value(work.counters->used) || work.people.slot(i) != Slot::infected) return;
    const Vector position = work.people.position(i);
    const std::uint32_t cell = work.torus.cell(position);
    const std::uint32_t left = work.counts[cell].fetch_sub(1, dynasoar::Order::relaxed);
    work.patients[work.starts[cell] + left - 1] = position;
  }
};

/// The newborn get free slots, the last of the list first, and then new ones.
template <class PeopleT>
struct GiveBirth {
  static constexpr std::uint32_t kThreads = 1 << 14;

  Work<PeopleT> work;

  __device__ void operator()(std::size_t index) const {
    const std::uint32_t births = Counters::value(work.counters->births);
    const std::uint32_t free = Counters::value(work.counters->free);
    const std::uint32_t used = Counters::value(work.counters->used);
    for (auto b = static_cast<std::uint32_t>(index); b < births; b += kThreads) {
      const std::uint32_t slot = b < free ? work.free[free - 1 - b] : used + (b - free);
      if (slot < work.room) {
        work.people.put(slot, work.births[b].number, work.births[b].position, Slot::susceptible);
      } else {
        work.counters->homeless.add(1, dynasoar::Order::relaxed);
      }
    }
  }
};

/// Every susceptible person counts the infected in contact, and may become one of them.
template <class PeopleT>
struct Meet {
  Work<PeopleT> work;

  __device__ void operator()(std::size_t index) const {
    const auto i = static_cast<std::uint32_t>(index);
    if (i >= work.counters->used_after_births() || work.people.slot(i) != Slot::susceptible) return;
    const std::uint32_t contacts = contacts_of(work.people.position(i));
    if (contacts > 0 && work.rules.catches(work.people.number(i), work.step, contacts)) {
      work.people.slot(i) = Slot::infected;
    }
  }

 private:
  __device__ std::uint32_t contacts_of(Vector here) const {
    const Torus& torus = work.torus;
    const std::uint32_t column = torus.column(here.x);
    const std::uint32_t row = torus.column(here.y);
    std::uint32_t contacts = 0;
    for (std::uint32_t y = 0; y < 3; ++y) {
      const std::uint32_t first = (row + y == 0 ? torus.width : row + y) - 1;
      const std::uint32_t cells = (first < torus.width ? first : 0) * torus.width;
      // The cells of a row lie together, but for those at its ends.
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

/// The births of the step are done.
struct CountBirths {
  Counters* counters;
  std::uint32_t room;

  __device__ void operator()(std::size_t) const {
    const std::uint32_t births = Counters::value(counters->births);
    const std::uint32_t free = Counters::value(counters->free);
    const std::uint32_t used = counters->used_after_births();
    counters->used.store(used < room ? used : room, dynasoar::Order::relaxed);
    counters->free.store(births < free ? free - births : 0, dynasoar::Order::relaxed);
    counters->births.store(0, dynasoar::Order::relaxed);
  }
};

template <class PeopleT>
struct CountPeople {
  PeopleT people;
  const Counters* counters;
  std::uint32_t room;

  __device__ void operator()(std::size_t index, app::Tally<Census>& tally) const {
    const auto i = static_cast<std::uint32_t>(index);
    // Where somebody had no slot, numbers are wrong from then on: the host is to see that there are too many people.
    if (i == 0 && Counters::value(counters->homeless) > 0) tally.of[0] += room;
    if (i >= Counters::value(counters->used) || people.slot(i) == Slot::free) return;
    tally.of[static_cast<int>(people.slot(i)) - 1] += 1;
  }
};

template <class PeopleT>
struct Unpack {
  PeopleT people;
  const PersonState* states;
  __device__ void operator()(std::size_t index) const {
    const auto i = static_cast<std::uint32_t>(index);
    people.put(i, states[i].number, {states[i].x, states[i].y}, slot_of(states[i].state));
  }
};

/// The person of a slot; number 0 if it is free.
template <class PeopleT>
struct Pack {
  PeopleT people;
  PersonState* states;
  __device__ void operator()(std::size_t index) const {
    const auto i = static_cast<std::uint32_t>(index);
    const Slot slot = people.slot(i);
    const Vector at = people.position(i);
    states[i] = {slot == Slot::free ? 0 : people.number(i), at.x, at.y,
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
        torus_(parameters.side),
        limit_(room_of(parameters)),
        room_(static_cast<std::uint32_t>(std::max<std::uint64_t>(limit_, parameters.initial.size()))),
        people_(room_),
        counters_(1),
        free_(room_),
        births_(room_),
        counts_(torus_.cells() + 1),
        starts_(torus_.cells() + 1),
        patients_(room_),
        starts_of_cells_(torus_.cells() + 1) {
    dynasoar::DeviceArray<PersonState> states(parameters.initial.size());
    states.upload(parameters.initial);
    counts_.fill_bytes(0);
    Counters counters{};
    counters.used.store(static_cast<std::uint32_t>(parameters.initial.size()), dynasoar::Order::relaxed);
    counters_.upload(std::vector{counters});
    executor().for_each_index(parameters.initial.size(), Unpack<PeopleT>{{people_.view()}, states.data()});
    executor().synchronize();
  }

  void submit_step() override {
    count_step();
    const Work<PeopleT> work = this->work();
    executor().for_each_index(room_, Live<PeopleT>{work});
    end_phase(0);
    starts_of_cells_.run(executor(), reinterpret_cast<const std::uint32_t*>(counts_.data()), starts_.data());
    executor().for_each_index(room_, PlacePatient<PeopleT>{work});
    end_phase(1);
    executor().for_each_index(GiveBirth<PeopleT>::kThreads, GiveBirth<PeopleT>{work});
    executor().for_each_index(room_, Meet<PeopleT>{work});
    executor().for_each_index(1, CountBirths{counters_.data(), room_});
    end_phase(2);
  }

  void record() override {
    history_.record(executor(), room_, CountPeople<PeopleT>{{people_.view()}, counters_.data(), room_});
  }

  std::vector<Census> take_history() override {
    std::vector<Census> history = history_.take(executor());
    for (const Census& census : history) check_room(census.people(), limit_);
    return history;
  }

  std::vector<PersonState> people() override {
    const Counters counters = (executor().synchronize(), counters_.download()[0]);
    const std::uint32_t used = counters.used.load(dynasoar::Order::relaxed);
    const dynasoar::DeviceArray<PersonState> states(used);
    executor().for_each_index(used, Pack<PeopleT>{{people_.view()}, states.data()});
    executor().synchronize();
    std::vector<PersonState> people = states.download();
    std::erase_if(people, [](const PersonState& person) { return person.number == 0; });
    const bool is_complete = counters.homeless.load(dynasoar::Order::relaxed) == 0;
    check_room(people.size() + (is_complete ? 0 : room_), limit_);
    std::sort(people.begin(), people.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
    return people;
  }

 private:
  Work<PeopleT> work() const {
    return {rules_,       torus_,         now(),          room_,          {people_.view()}, counters_.data(),
            free_.data(), births_.data(), counts_.data(), starts_.data(), patients_.data()};
  }

  Rules rules_;
  Torus torus_;
  std::uint64_t limit_;
  std::uint32_t room_;
  Storage people_;
  dynasoar::DeviceArray<Counters> counters_;
  dynasoar::DeviceArray<std::uint32_t> free_;
  dynasoar::DeviceArray<Birth> births_;
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
