/// @file
/// The epidemic: all implementations are the reference's bit by bit, each rule does what README.md says, and many
/// people who mix well follow the equations.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <dynasoar/identity.h>

#include "epidemic/colors.h"
#include "epidemic/pictures.h"
#include "epidemic/simulation.h"
#include "model_suite.h"

namespace {

using namespace dynasoar::test;
using namespace epidemic;

// An epidemic in which everything happens within a few steps.
Parameters busy(std::uint32_t people, double contacts, std::uint64_t seed) {
  Parameters parameters;
  parameters.side = side_for(people, contacts);
  parameters.stride = 0.5f;
  parameters.infection = 0.2;
  parameters.recovery = 0.1;
  parameters.fatality = 0.3;
  parameters.births = 0.04;
  parameters.deaths = 0.03;
  parameters.seed = seed;
  parameters.initial = random_people(people, (people + 9) / 10, parameters.side, seed);
  return parameters;
}

Census census_of(const std::vector<PersonState>& people) {
  Census census;
  for (const PersonState& person : people) {
    census.susceptible += person.state == State::susceptible ? 1 : 0;
    census.infected += person.state == State::infected ? 1 : 0;
    census.recovered += person.state == State::recovered ? 1 : 0;
  }
  return census;
}

struct Epidemic : Model<Simulation, Parameters> {
  static constexpr auto reference = make_reference;
  static constexpr std::uint64_t kTooSmall = 16 << 10;
  static constexpr int kHistorySteps = kQuick ? 70 : 270;

  static Implementations object_variants() { return {{"people", make_people}}; }
  static Implementations implementations() {
    return object_variants() + on_other_allocators(object_variants()) +
           Implementations{{"soa", make_soa_baseline}, {"aos", make_aos_baseline}};
  }
  static std::vector<PersonState> state(Simulation& simulation) { return simulation.people(); }
  static Census count(const std::vector<PersonState>& people) { return census_of(people); }
  static Parameters small() { return busy(150, 6, 11); }
  static Parameters crowded() { return busy(20000, 10, 1); }
};

// An epidemic in which nothing happens but what the caller adds.
Parameters quiet(std::vector<PersonState> people, float side = 20) {
  Parameters parameters;
  parameters.side = side;
  parameters.stride = 0;
  parameters.infection = parameters.recovery = parameters.births = parameters.deaths = 0;
  for (std::size_t i = 0; i < people.size(); ++i) people[i].number = i + 1;
  parameters.initial = std::move(people);
  return parameters;
}

// Calls check(people) with what every implementation, the reference included, has after some steps.
void for_all(const Parameters& parameters, int steps,
             const std::function<void(const std::vector<PersonState>&)>& check) {
  for_each_run(with_reference<Epidemic>(), parameters, [&](Simulation& simulation) {
    run(simulation, steps);
    check(simulation.people());
  });
}

}  // namespace

DYNASOAR_MODEL_CASE(model_allocators, Epidemic);
DYNASOAR_MODEL_CASE(model_timed_steps, Epidemic);
DYNASOAR_MODEL_CASE(model_history, Epidemic);
DYNASOAR_MODEL_CASE(model_long_history, Epidemic);
DYNASOAR_MODEL_CASE(model_heap, Epidemic);

TEST_CASE("epidemics are the reference's bit by bit for all implementations, allocators and numbers of threads") {
  for (const auto& [people, contacts] : {std::pair(1u, 10.0), {2u, 1.0}, {60u, 30.0}, {kQuick ? 200u : 1200u, 8.0}}) {
    check_all<Epidemic>(busy(people, contacts, 7), kQuick ? 8 : 20);
  }
  Parameters far = busy(kQuick ? 100 : 400, 8, 3);
  far.stride = far.side / 2;
  far.infection = 1;
  check_all<Epidemic>(far, 10);
}

TEST_CASE("an infected person infects those at a distance of 1 or less, also over the border") {
  Parameters parameters = quiet({{0, 19.75f, 5, State::infected},
                                 {0, 0.75f, 5},      // at 1
                                 {0, 0.765625f, 5},  // a bit farther away
                                 {0, 19.75f, 4},     // at 1
                                 {0, 19.0f, 4.25f},  // at the square root of 9/8
                                 {0, 19.75f, 5, State::recovered}});
  parameters.infection = 1;
  for_all(parameters, 1, [](const std::vector<PersonState>& people) {
    REQUIRE(people.size() == 6);
    CHECK(people[0].state == State::infected);
    CHECK(people[1].state == State::infected);
    CHECK(people[2].state == State::susceptible);
    CHECK(people[3].state == State::infected);
    CHECK(people[4].state == State::susceptible);
    CHECK(people[5].state == State::recovered);
  });
}

TEST_CASE("whom an infection has just reached infects others in the next step") {
  Parameters parameters = quiet({{0, 5, 5, State::infected}, {0, 5.75f, 5}, {0, 6.5f, 5}});
  parameters.infection = 1;
  for_all(parameters, 1, [](const auto& people) { CHECK(people[2].state == State::susceptible); });
  for_all(parameters, 2, [](const auto& people) { CHECK(people[2].state == State::infected); });
}

TEST_CASE("each infected person in contact infects with the same probability, independently of the others") {
  const int groups = kQuick ? 400 : 2500;  // one susceptible person each, with so many infected ones
  for (const int infected : {1, 2, 6}) {
    std::vector<PersonState> people;
    const auto columns = static_cast<int>(std::sqrt(groups));
    for (int group = 0; group < columns * columns; ++group) {
      const float x = 3.0f * static_cast<float>(group % columns) + 1;
      const float y = 3.0f * static_cast<float>(group / columns) + 1;
      people.push_back({0, x, y});
      for (int i = 0; i < infected; ++i) people.push_back({0, x + 0.1f * static_cast<float>(i), y, State::infected});
    }
    Parameters parameters = quiet(std::move(people), 3.0f * static_cast<float>(columns));
    parameters.infection = 0.2;
    const Census census = census_of(after<Epidemic>(Epidemic::object_variants()[0], parameters, 1));
    const double expected = std::pow(0.8, infected);
    const double deviation = std::sqrt(expected * (1 - expected) / (columns * columns));
    CHECK(std::abs(static_cast<double>(census.susceptible) / (columns * columns) - expected) < 4 * deviation);
  }
}

TEST_CASE("infections end in recovery or in death, before they can reach others in that step") {
  Parameters parameters = quiet({{0, 5, 5, State::infected}, {0, 5, 5}});
  parameters.infection = parameters.recovery = 1;
  for_all(parameters, 1, [](const auto& people) { CHECK((census_of(people) == Census{1, 0, 1})); });
  parameters.fatality = 1;
  for_all(parameters, 1, [](const auto& people) { CHECK((census_of(people) == Census{1, 0, 0})); });
}

TEST_CASE("a child is susceptible, where its parent is, and has a number of its own for life") {
  Parameters parameters = quiet({{0, 5, 5, State::recovered}, {0, 15, 7, State::infected}});
  parameters.stride = 0.5f;
  parameters.births = 1;
  for_all(parameters, 1, [](const std::vector<PersonState>& people) {
    REQUIRE(people.size() == 4);
    for (const std::uint64_t parent : {1u, 2u}) {
      const auto number = static_cast<std::uint64_t>(dynasoar::child_identity(dynasoar::Identity{parent}, 1));
      const auto child = std::find_if(people.begin(), people.end(), [&](const auto& p) { return p.number == number; });
      REQUIRE(child != people.end());
      CHECK(child->state == State::susceptible);
      CHECK(child->x == people[parent - 1].x);
      CHECK(child->y == people[parent - 1].y);
    }
  });
  for_all(parameters, 6, [](const auto& people) { CHECK(people.size() == 128); });
}

TEST_CASE("slots and objects of the dead are used again, and a world without people goes on") {
  Parameters parameters = busy(100, 10, 3);
  parameters.births = parameters.deaths = 0.5;
  parameters.room = 300;
  check_all<Epidemic>(parameters, 30);
  parameters.births = 0;
  parameters.deaths = 1;
  for_all(parameters, 3, [](const auto& people) { CHECK(people.empty()); });
  parameters.initial.clear();
  for_all(parameters, 2, [](const auto& people) { CHECK(people.empty()); });
}

TEST_CASE("more people than there is room for end the run, and the message says what to do") {
  Parameters parameters = quiet({{0, 5, 5}, {0, 15, 7}});
  parameters.births = 1;
  parameters.room = 100;
  constexpr const char* kMessage =
      "there are more people than there is room for, which is 100: choose a larger --room, or fewer --births";
  for_each_run(with_reference<Epidemic>(), parameters, [&](Simulation& simulation) {
    run(simulation, 5);
    CHECK(simulation.people().size() == 64);
    run(simulation, 1);
    simulation.record();
    CHECK_THROWS_WITH(simulation.take_history(), kMessage);
    CHECK_THROWS_WITH(simulation.people(), kMessage);
  });
  CHECK(room_of(busy(100, 10, 3)) == room_for(100));
}

TEST_CASE("people walk at most so far along each axis, evenly, and round the world") {
  std::vector<PersonState> start(kQuick ? 500 : 4000, {0, 19.9375f, 10});
  Parameters parameters = quiet(start);
  parameters.stride = 0.25f;
  for_all(parameters, 1, [&](const std::vector<PersonState>& people) {
    double sum = 0, squares = 0, products = 0;
    for (const PersonState& person : people) {
      CHECK_UNARY(person.x >= 0 && person.x < 20);
      const double x = std::remainder(person.x - 19.9375, 20);
      const double y = person.y - 10.0;
      CHECK_UNARY(std::abs(x) <= 0.25 && std::abs(y) <= 0.25);
      sum += x + y;
      squares += x * x + y * y;
      products += x * y;
    }
    const auto count = static_cast<double>(people.size());
    CHECK(std::abs(sum / count) < 4 * 0.25 * std::sqrt(2 / 3.0 / count));
    CHECK(squares / count == doctest::Approx(2 * 0.25 * 0.25 / 3).epsilon(kQuick ? 0.15 : 0.05));
    CHECK(std::abs(products / count) < 4 * 0.25 * 0.25 / 3 / std::sqrt(count));
  });
}

TEST_CASE("many mixing people follow the equations") {
  if (kQuick) return;
  Parameters parameters;
  constexpr std::uint32_t kPeople = 40000;
  constexpr int kSteps = 400;
  parameters.side = side_for(kPeople, 10);
  parameters.stride = parameters.side / 2;  // everybody is anywhere after a step
  parameters.infection = 0.003;
  parameters.recovery = 0.0075;
  parameters.fatality = 0.1;
  parameters.births = 0.001;
  parameters.deaths = 0.0005;
  parameters.initial = random_people(kPeople, kPeople / 25, parameters.side, 42);
  const Census start = census_of(parameters.initial);
  const auto expected =
      well_mixed(parameters, {static_cast<double>(start.susceptible), static_cast<double>(start.infected), 0}, kSteps);
  const std::unique_ptr<Simulation> simulation = make_people(parameters);
  const std::vector<Census> history = history_of(*simulation, kSteps);
  REQUIRE(history.size() == expected.size());
  double worst = 0;
  double most_infected = 0;
  for (std::size_t step = 0; step < history.size(); ++step) {
    const auto difference = [](std::uint64_t count, double of) { return std::abs(static_cast<double>(count) - of); };
    worst = std::max({worst, difference(history[step].susceptible, expected[step].susceptible),
                      difference(history[step].infected, expected[step].infected),
                      difference(history[step].recovered, expected[step].recovered)});
    most_infected = std::max(most_infected, expected[step].infected);
  }
  CAPTURE(most_infected);
  CHECK(worst < 0.02 * kPeople);         // README.md says so
  CHECK(most_infected > 0.3 * kPeople);  // or it would prove little
}

TEST_CASE("the equations have the solutions that are known") {
  Parameters parameters = quiet({});
  parameters.recovery = 0.1;
  parameters.deaths = 0.02;
  const Population last = well_mixed(parameters, {500, 100, 0}, 30).back();  // no infections: exponentials
  CHECK(last.susceptible == doctest::Approx(500 * std::exp(-0.6)));
  CHECK(last.infected == doctest::Approx(100 * std::exp(-3.6)));
  CHECK(last.recovered == doctest::Approx(100 * (std::exp(-0.6) - std::exp(-3.6))));

  parameters = quiet({});
  parameters.infection = 0.01;
  const double rate = 0.01 * 3.14159265358979 / 400 * 1000;  // no person recovers: the logistic function
  const Population logistic = well_mixed(parameters, {990, 10, 0}, 60).back();
  CHECK(logistic.infected == doctest::Approx(1000 / (1 + 99 * std::exp(-rate * 60))));
  CHECK(logistic.susceptible + logistic.infected == doctest::Approx(1000));
}

TEST_CASE("random people are where they should be, and the first of them are infected") {
  const float side = side_for(5000, 10);
  CHECK(side == doctest::Approx(std::sqrt(5000 * 3.14159265 / 10)));
  CHECK(side_for(1, 1000) == kLeastSide);
  const std::vector<PersonState> people = random_people(5000, 7, side, 7);
  CHECK((people == random_people(5000, 7, side, 7)));
  CHECK_FALSE((people == random_people(5000, 7, side, 8)));
  double x = 0;
  for (std::size_t i = 0; i < people.size(); ++i) {
    CHECK_UNARY(people[i].x >= 0 && people[i].x < side && people[i].y >= 0 && people[i].y < side);
    CHECK_UNARY((people[i].state == State::infected) == (i < 7));
    x += people[i].x;
  }
  CHECK(x / 5000 == doctest::Approx(side / 2).epsilon(0.03));
}

TEST_CASE("people are drawn and painted where they are, in the colour of their state, the infected in front") {
  const Parameters parameters = quiet({{0, 5, 15, State::recovered},
                                       {0, 15, 15, State::infected},
                                       {0, 15, 15},
                                       {0, 15, 15, State::recovered},
                                       {0, 5, 5}});
  const auto check = [](const app::Picture& picture) {
    const int quarter = picture.width() / 4;
    CHECK(picture.at(quarter, quarter) == kRecovered);
    CHECK(picture.at(3 * quarter, quarter) == kInfected);
    CHECK(picture.at(quarter, 3 * quarter) == kSusceptible);
    CHECK(picture.at(3 * quarter, 3 * quarter) == kGround);
  };
  check(epidemic_picture(parameters.initial, 20));
  for (const auto& variant : Epidemic::object_variants()) {
    const std::unique_ptr<Simulation> simulation = variant.start(parameters);
    simulation->paint(app::whole({0, 20, 20, 20, true}, 400, 400));
    check(simulation->painted());
  }
}

TEST_CASE("the chart has the history, and the equations' solution from its first row") {
  Parameters parameters = busy(1000, 10, 1);
  const app::Chart chart = epidemic_chart({{900, 100, 0}, {880, 115, 5}, {860, 130, 10}}, parameters, "");
  REQUIRE(chart.series.size() == 4);
  CHECK((chart.series[1].values == std::vector<double>{100, 115, 130}));
  const auto expected = well_mixed(parameters, {900, 100, 0}, 2);
  CHECK(expected[2].infected > 120);
  CHECK((chart.series[3].values ==
         std::vector<double>{100, std::round(expected[1].infected), std::round(expected[2].infected)}));
  CHECK(epidemic_chart({}, parameters, "").series[3].values.empty());
}
