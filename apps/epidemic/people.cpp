/// @file
/// The epidemic with people as objects, whose class is the state of their health. README.md defines the model.
///
/// A step is two loops, and a grid between them. In the first loop, people walk, have children, recover and die. Then
/// the grid sorts the infected, and in the second loop, the susceptible search it for infected people. An object
/// changes or deletes only itself, and a susceptible person only counts others. So the result does not depend on the
/// order of threads.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/allocator.h>
#include <app/census_history.h>
#include <app/object_simulation.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/identity.h>
#include <dynasoar/uniform_grid.h>

#include "colors.h"
#include "rules.h"
#include "simulation.h"

namespace epidemic::people {
inline namespace DYNASOAR_APP_ALLOCATOR {

class Susceptible;
class Infected;
class Recovered;
using AllocatorT = app::Allocator<Susceptible, Infected, Recovered>;

/// The data that an infected person shows to others.
struct Patient {
  Vector position;
};
using Patients = dynasoar::GridView<Infected, Patient>;

DYNASOAR_METHOD(Live, live);

class Person : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Person, (identity_, dynasoar::Identity), (position_, Vector));

  __device__ Person(dynasoar::Identity identity, Vector position) : identity_(identity), position_(position) {}
  __device__ Person(std::size_t i, const PersonState* states)
      : Person(dynasoar::Identity{states[i].number}, Vector{states[i].x, states[i].y}) {}

  __device__ void live(Rules rules, std::uint32_t step) { live_day(rules, step, rules.words(number(), step)); }

  __device__ std::uint64_t number() const { return static_cast<std::uint64_t>(identity_.get()); }

  __device__ Vector position() const { return position_; }

 protected:
  __device__ Person() {}  // by `become`, which keeps the fields

  /// Walks, and has a child, or dies. @return whether the person is alive
  __device__ bool live_day(const Rules& rules, std::uint32_t step, const Words& words);
};

class Susceptible : public Person {
 public:
  using BaseClass = Person;
  DYNASOAR_FIELDS(Susceptible);
  using Person::Person;

  __device__ void meet(Patients patients, Rules rules, std::uint32_t step);
};

class Infected : public Person {
 public:
  using BaseClass = Person;
  DYNASOAR_FIELDS(Infected);
  using Person::Person;
  __device__ Infected() {}

  __device__ void live(Rules rules, std::uint32_t step);

  __device__ Patient seen() { return {position_}; }
};

class Recovered : public Person {
 public:
  using BaseClass = Person;
  DYNASOAR_FIELDS(Recovered);
  using Person::Person;
  __device__ Recovered() {}
};

__device__ inline bool Person::live_day(const Rules& rules, std::uint32_t step, const Words& words) {
  if (rules.dies(words)) {
    dynasoar::destroy(this);
    return false;
  }
  const Vector position = rules.walked(position_, words);
  position_ = position;
  if (rules.has_child(words)) dynasoar::make_new<Susceptible>(dynasoar::child_identity(identity_, step), position);
  return true;
}

__device__ inline void Susceptible::meet(Patients patients, Rules rules, std::uint32_t step) {
  std::uint32_t contacts = 0;
  patients.for_each_neighbour(position_, kContact, [&](const Patients::Neighbour&) { ++contacts; });
  if (contacts > 0 && rules.catches(number(), step, contacts)) dynasoar::become<Infected>(this);
}

__device__ inline void Infected::live(Rules rules, std::uint32_t step) {
  const Words words = rules.words(number(), step);
  if (!live_day(rules, step, words)) return;
  const End end = rules.end_of_infection(words);
  if (end == End::recovery) dynasoar::become<Recovered>(this);
  if (end == End::death) dynasoar::destroy(this);
}

__device__ inline PersonState state_of(Person* person) {
  const Vector at = person->position();
  const State state = dynasoar::is_a<Infected>(person)    ? State::infected
                      : dynasoar::is_a<Recovered>(person) ? State::recovered
                                                          : State::susceptible;
  return {person->number(), at.x, at.y, state};
}

class Objects final : public app::ObjectSimulation<Objects, Simulation, AllocatorT> {
 public:
  explicit Objects(const Parameters& parameters)
      : ObjectSimulation(parameters, needed_bytes(room_of(parameters)), "epidemic", {"live", "sort", "meet"}),
        options_(options_of(parameters)),
        rules_(Rules::of(parameters)),
        room_(room_of(parameters)),
        // Cells are slightly wider than the distance of a contact, so that a person searches at most nine. There is
        // room for all people, because a host that runs ahead of a GPU could make room too late.
        grid_(handle(), {.lower = {0, 0},
                         .upper = {parameters.side, parameters.side},
                         .cell = width_of_cell(parameters.side),
                         .periodic = {true, true},
                         .capacity = static_cast<std::size_t>(room_)}) {
    log().add<Susceptible>(dynasoar::totals::count("susceptible"));
    log().add<Infected>(dynasoar::totals::count("infected"));
    log().add<Recovered>(dynasoar::totals::count("recovered"));
    create<Susceptible>(parameters.initial, &PersonState::state, State::susceptible);
    create<Infected>(parameters.initial, &PersonState::state, State::infected);
    create<Recovered>(parameters.initial, &PersonState::state, State::recovered);
  }

  void submit_step() override {
    count_step();
    handle().parallel_do<Person>(Live{}, rules_, now());
    end_phase(0);
    const auto kept = handle().keep_lists();  // only the last loop changes objects
    grid_.rebuild<&Infected::seen>();         // without an order, because contacts are only counted
    end_phase(1);
    handle().parallel_do<&Susceptible::meet>(grid_.view(), rules_, now());
    end_phase(2);
  }

  std::vector<Census> take_history() override {
    std::vector<Census> history = app::censuses_of<Census>(take_rows());
    for (const Census& census : history) check_room(census.people(), room_);
    return history;
  }

  std::vector<PersonState> people() override {
    check_room(handle().count<Person>(), room_);
    return states<Person, PersonState>([] __device__(Person * person) { return state_of(person); });
  }

  const app::SavedOptions& saved_options() const { return options_; }

  dynasoar::Columns read_columns() { return handle().all_columns<Person>(); }

  static constexpr app::Rgb kBackground = kGround;

  /// The infected in front.
  void paint_on(const app::Canvas& canvas) {
    const double radius = std::clamp(0.15 * kContact * canvas.viewport.scale, 0.5, 4.0);
    handle().parallel_do<Person>([=] __device__(Person * person) {
      const Vector at = person->position();
      if (dynasoar::is_a<Infected>(person)) {
        canvas.dot(at.x, at.y, radius + 0.5, kInfected, 0);
      } else if (dynasoar::is_a<Recovered>(person)) {
        canvas.dot(at.x, at.y, radius, kRecovered, 1);
      } else {
        canvas.dot(at.x, at.y, radius, kSusceptible, 2);
      }
    });
  }

 private:
  /// Enough for this number of people. Blocks of a class stay half empty when people leave it, so each of the three
  /// classes may need blocks for all people. In addition, each warp of a large GPU opens a block.
  static std::size_t needed_bytes(std::uint64_t room) {
    return 3 * AllocatorT::heap_bytes_for<Susceptible>(static_cast<std::size_t>(room) + app::kSlotsInFlight);
  }

  static app::SavedOptions options_of(const Parameters& parameters) {
    app::InputSum side;
    side.add(parameters.side);
    app::InputSum initial;
    for (const PersonState& person : parameters.initial) initial.add(person.number, person.x, person.y, person.state);
    return app::SavedOptions()
        .add("--people", parameters.initial.size())
        .add("--contacts", side)
        .add("--stride", parameters.stride)
        .add("--infection", parameters.infection)
        .add("--recovery", parameters.recovery)
        .add("--fatality", parameters.fatality)
        .add("--births", parameters.births)
        .add("--deaths", parameters.deaths)
        .add("--seed", parameters.seed)
        .add("--patients", initial);
  }

  app::SavedOptions options_;
  Rules rules_;
  std::uint64_t room_;
  dynasoar::UniformGrid<Infected, Patient> grid_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<Objects>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace epidemic::people
