/// @file
/// The ants: all implementations are the reference's bit by bit, each rule does what README.md says, no portion of food
/// is lost, and ants choose the shorter of two ways.

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

#include "ants/colors.h"
#include "ants/pictures.h"
#include "ants/simulation.h"
#include "model_suite.h"

namespace {

using namespace dynasoar::test;
using namespace ants;

// Ants anywhere in a world, half of them with food, so that everything happens within a few steps.
Parameters busy(std::uint32_t count, World world, std::uint64_t seed) {
  Parameters parameters;
  parameters.seed = seed;
  parameters.lifetime = 60;
  parameters.births = 0.6;
  parameters.diffusion = 0.2;
  parameters.initial = ants_anywhere(count, world, parameters.lifetime, seed);
  for (std::size_t i = 0; i < parameters.initial.size(); i += 2) parameters.initial[i].carries = true;
  parameters.world = std::move(world);
  return parameters;
}

// Walls and food everywhere: whatever an ant does, it does soon.
World crowded_world(std::uint32_t side) {
  World world;
  world.side = side;
  const auto length = static_cast<float>(side);
  world.nest = {length / 2, length / 2, length / 4};
  world.walls = {{length / 8, length / 8, length / 8 + 1, length - 2}, {length - 3, 1.5f, length - 1.25f, length - 1}};
  world.gates = {Box{0, 0, length / 2, length}, Box{length / 2, 0, length, length / 2}};
  world.food.resize(std::size_t{side} * side);
  for (std::size_t cell = 0; cell < world.food.size(); ++cell) {
    const float x = static_cast<float>(cell % side) + 0.5f - world.nest.x;
    const float y = static_cast<float>(cell / side) + 0.5f - world.nest.y;
    world.food[cell] = x * x + y * y > (length / 4 + 1) * (length / 4 + 1) ? cell % 3 : 0;
  }
  return world;
}

Census census_of(const State& state) {
  Census census;
  for (const AntState& ant : state.ants) (ant.carries ? census.carriers : census.foragers) += 1;
  for (const CellState& cell : state.cells) {
    census.food += cell.food;
    census.stored += cell.stored;
  }
  return census;
}

struct Ants : Model<Simulation, Parameters> {
  static constexpr auto reference = make_reference;
  static constexpr std::uint64_t kTooSmall = 16 << 10;
  static constexpr int kHistorySteps = kQuick ? 70 : 270;

  static Implementations object_variants() { return {{"ants", make_colony}}; }
  static Implementations implementations() {
    return object_variants() + on_other_allocators(object_variants()) +
           Implementations{{"soa", make_soa_baseline}, {"aos", make_aos_baseline}};
  }
  static State state(Simulation& simulation) { return simulation.state(); }
  static Census count(const State& state) { return census_of(state); }
  static Parameters small() {
    Parameters parameters = busy(120, crowded_world(24), 11);
    parameters.world.gates = {};  // count() does not know them
    return parameters;
  }
  static Parameters crowded() { return busy(20000, garden(128, 3), 1); }
};

// One ant or a few, and nothing that the caller does not add.
Parameters quiet(std::vector<AntState> some, std::uint32_t side = 20) {
  Parameters parameters;
  parameters.world.side = side;
  parameters.world.food.resize(std::size_t{side} * side);
  parameters.world.nest = {-100, -100, 1};
  parameters.wobble = 0;
  parameters.births = parameters.diffusion = parameters.evaporation = 0;
  parameters.fading = 0;
  for (std::size_t i = 0; i < some.size(); ++i) some[i].number = i + 1;
  parameters.initial = std::move(some);
  return parameters;
}

AntState ant_at(float x, float y, float heading_x = 1, float heading_y = 0, bool carries = false) {
  AntState ant;
  ant.x = x;
  ant.y = y;
  ant.heading_x = heading_x;
  ant.heading_y = heading_y;
  ant.carries = carries;
  return ant;
}

// Calls check(state) with what every implementation, the reference included, has after some steps.
void for_all(const Parameters& parameters, int steps, const std::function<void(const State&)>& check) {
  for_each_run(with_reference<Ants>(), parameters, [&](Simulation& simulation) {
    run(simulation, steps);
    check(simulation.state());
  });
}

std::size_t cell_number(float x, float y, std::uint32_t side = 20) {
  return static_cast<std::size_t>(y) * side + static_cast<std::size_t>(x);
}

}  // namespace

DYNASOAR_MODEL_CASE(model_allocators, Ants);
DYNASOAR_MODEL_CASE(model_timed_steps, Ants);
DYNASOAR_MODEL_CASE(model_history, Ants);
DYNASOAR_MODEL_CASE(model_long_history, Ants);
DYNASOAR_MODEL_CASE(model_heap, Ants);

TEST_CASE("ants are the reference's bit by bit for all implementations, allocators and numbers of threads") {
  const int steps = kQuick ? 8 : 25;
  for (const std::uint32_t count : {1u, 2u, 60u, kQuick ? 300u : 1500u}) {
    check_all<Ants>(busy(count, crowded_world(24), 7), steps);
  }
  check_all<Ants>(busy(kQuick ? 100 : 600, garden(kLeastSide, 2), 3), steps);
  check_all<Ants>(busy(kQuick ? 100 : 600, double_bridge(70, 2), 3), steps);  // a side that is no multiple of a block
  Parameters still = busy(200, crowded_world(24), 5);
  still.diffusion = 0;
  check_all<Ants>(still, 10);
  Parameters small_world = busy(30, crowded_world(8), 5);
  small_world.sight = 30;  // beyond the borders
  small_world.threshold = 0;
  check_all<Ants>(small_world, 20);
}

TEST_CASE("an ant without a scent goes straight ahead, a step of length 1, and leaves its scent") {
  Parameters parameters = quiet({ant_at(3.5f, 5.5f), ant_at(10, 10, 0.6f, -0.8f, true)});
  parameters.fading = 0.25f;
  for_all(parameters, 2, [](const State& state) {
    CHECK(state.ants[0].x == 5.5f);
    CHECK(state.ants[0].y == 5.5f);
    CHECK(state.ants[0].scent == 0.5625f);
    CHECK(state.cells[cell_number(4.5f, 5.5f)].home == 1);
    CHECK(state.cells[cell_number(5.5f, 5.5f)].home == 0.75f);
    CHECK(state.cells[cell_number(4.5f, 5.5f)].trail == 0);
    CHECK(state.ants[1].x == doctest::Approx(11.2));
    CHECK(state.ants[1].y == doctest::Approx(8.4));
    CHECK(state.cells[cell_number(10.6f, 9.2f)].trail == 1);
    CHECK(state.cells[cell_number(10.6f, 9.2f)].home == 0);
  });
}

TEST_CASE("foragers turn towards the trail, carriers towards the way home, and a weak scent is none") {
  for (const bool carries : {false, true}) {
    for (const float side : {-1.0f, 1.0f}) {
      // Another ant goes before it, at the side, and leaves the scent that it follows.
      Parameters parameters = quiet({ant_at(5.5f, 10), ant_at(7.5f, 10 + 3 * side, 1, 0, true)});
      parameters.initial[0].carries = carries;
      parameters.initial[1].carries = !carries;
      parameters.turn = 1;
      parameters.sight = 4;
      parameters.threshold = 0.01f;
      for_all(parameters, 2, [&](const State& state) {
        CHECK(state.ants[0].heading_x == doctest::Approx(std::sqrt(0.5)));
        CHECK(state.ants[0].heading_y == doctest::Approx(side * std::sqrt(0.5)));
        CHECK(state.ants[1].heading_y == 0);
      });
      parameters.threshold = 2;
      for_all(parameters, 2, [&](const State& state) { CHECK(state.ants[0].heading_y == 0); });
      parameters.threshold = 0.01f;
      parameters.initial[1].carries = carries;  // the other pheromone
      for_all(parameters, 2, [&](const State& state) { CHECK(state.ants[0].heading_y == 0); });
    }
  }
}

TEST_CASE("carriers sense the nest itself, more than any pheromone") {
  Parameters parameters = quiet({ant_at(5.5f, 10, 1, 0, true), ant_at(5.5f, 10)});
  parameters.world.nest = {8.5f, 13, 0.75f};
  parameters.turn = 1;
  parameters.sight = 4;
  for_all(parameters, 2, [](const State& state) {
    CHECK(state.ants[0].y > 11);
    CHECK(state.ants[1].y == 10);
  });
}

TEST_CASE("at a wall or border, an ant goes to a side, and turns back if it cannot") {
  Parameters parameters = quiet({ant_at(19.5f, 10), ant_at(0.25f, 0.25f, -1, 0)});
  for_all(parameters, 1, [](const State& state) {
    CHECK(state.ants[0].x == 19.5f);  // a diagonal step of 0.7 is too long, too
    CHECK(state.ants[0].heading_x == -1);
    CHECK(state.ants[1].heading_x == 1);  // in the corner
    CHECK(state.ants[1].x == 0.25f);
  });
  parameters.initial[0].x = 19.25f;
  for_all(parameters, 1, [](const State& state) {
    CHECK(state.ants[0].x == doctest::Approx(19.957));
    CHECK(std::abs(state.ants[0].y - 10) == doctest::Approx(0.7071));
  });
  // A wall that the way touches only with a corner, or in a point of its side, is in the way; one beside it is not.
  parameters.initial[0] = ant_at(5.5f, 10);
  parameters.initial[0].number = 1;
  for (const auto& [wall, is_blocked] : {std::pair(Box{6, 10, 7, 12}, true),
                                         {Box{6, 8, 7, 10}, true},
                                         {Box{6.5f, 9, 7, 11}, true},
                                         {Box{6.5f + 0x1p-20f * 8, 9, 7, 11}, false},
                                         {Box{6, 10.000001f, 7, 12}, false},
                                         {Box{5.75f, 10, 5.75f, 10}, true}}) {
    parameters.world.walls = {wall};
    const bool goes_aside = is_blocked;  // clang lets no lambda capture a structured binding
    for_all(parameters, 1, [&](const State& state) { CHECK((state.ants[0].y == 10) != goes_aside); });
  }
}

TEST_CASE("ants cross neither walls nor borders") {
  Parameters parameters = busy(kQuick ? 200 : 2000, double_bridge(kLeastSide, 5), 3);
  parameters.births = 0;
  parameters.lifetime = 1000;
  const auto side = static_cast<float>(parameters.world.side);
  for (AntState& ant : parameters.initial) ant.last_step = 1000;
  for_all(parameters, kQuick ? 30 : 150, [&](const State& state) {
    for (const AntState& ant : state.ants) {
      CHECK_UNARY(ant.x > 0 && ant.x < side && ant.y > 0 && ant.y < side);
      for (const Box& wall : parameters.world.walls) {
        CHECK_UNARY_FALSE(ant.x >= wall.left && ant.x <= wall.right && ant.y >= wall.top && ant.y <= wall.bottom);
      }
    }
  });
}

TEST_CASE("of many ants in a cell, one takes a portion in a step, until there is none") {
  std::vector<AntState> many(50, ant_at(9.5f, 10.5f));
  Parameters parameters = quiet(many);
  parameters.world.food[cell_number(10.5f, 10.5f)] = 7;
  for_all(parameters, 1, [](const State& state) {
    CHECK(census_of(state).carriers == 1);
    CHECK(state.cells[cell_number(10.5f, 10.5f)].food == 6);
    for (const AntState& ant : state.ants) CHECK(ant.heading_x == (ant.carries ? -1 : 1));
  });
  // They walk in circles of one cell: out and back at the walls of a tiny room.
  parameters.world.walls = {{8, 8, 9, 13}, {12, 8, 13, 13}, {8, 8, 13, 9}, {8, 12, 13, 13}};
  parameters.sight = 0;
  for (AntState& ant : parameters.initial) ant.heading_x = 1;
  for_all(parameters, 200, [](const State& state) {
    CHECK(census_of(state).carriers == 7);
    CHECK(census_of(state).food == 0);
  });
}

TEST_CASE("which ant gets a portion depends on the step, not on the ant's number") {
  std::vector<std::uint64_t> winners;
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u, 6u}) {
    Parameters parameters = quiet(std::vector<AntState>(50, ant_at(9.5f, 10.5f)));
    for (std::size_t i = 0; i < 50; ++i) {
      parameters.initial[i].number = static_cast<std::uint64_t>(dynasoar::first_identity({9}, i));
    }
    parameters.seed = seed;
    parameters.world.food[cell_number(10.5f, 10.5f)] = 1;
    for_all(parameters, 1, [&](const State& state) {
      for (const AntState& ant : state.ants) {
        if (ant.carries) winners.push_back(ant.number);
      }
    });
  }
  std::sort(winners.begin(), winners.end());
  const auto different = std::unique(winners.begin(), winners.end()) - winners.begin();
  CHECK(different >= 4);
}

TEST_CASE("a portion that arrives is stored where the ant is, or feeds a new ant") {
  AntState carrier = ant_at(9.5f, 10.5f, 1, 0, true);
  carrier.scent = 0.125f;
  Parameters parameters = quiet({carrier, ant_at(9.5f, 11.5f, 1, 0)});
  parameters.initial[1].scent = 0.125f;
  parameters.world.nest = {10.5f, 10.5f, 2};
  parameters.births = 0;
  for_all(parameters, 1, [](const State& state) {
    CHECK(state.cells[cell_number(10.5f, 10.5f)].stored == 1);
    CHECK((census_of(state) == Census{2, 0, 0, 0, 0, 1}));
    CHECK(state.ants[0].heading_x == -1);
    CHECK(state.ants[0].scent == 1);
    CHECK(state.ants[1].heading_x == 1);
    CHECK(state.ants[1].scent == 1);
  });
  parameters.births = 1;
  parameters.lifetime = 3;
  const auto child = static_cast<std::uint64_t>(dynasoar::child_identity(dynasoar::Identity{1}, 1));
  for_all(parameters, 1, [&](const State& state) {
    REQUIRE(state.ants.size() == 3);
    CHECK(census_of(state).stored == 0);
    CHECK(state.ants[2].number == child);
    CHECK(state.ants[2].x == 10.5f);
    CHECK(state.ants[2].last_step == 4);
    CHECK_FALSE(state.ants[2].carries);
    CHECK(std::hypot(state.ants[2].heading_x, state.ants[2].heading_y) == doctest::Approx(1));
  });
  for_all(parameters, 3, [](const State& state) { CHECK(state.ants.size() == 3); });
  for_all(parameters, 4, [](const State& state) { CHECK(state.ants.size() == 2); });
}

TEST_CASE("no portion of food is lost while ants live") {
  Parameters parameters = busy(kQuick ? 150 : 1000, garden(kLeastSide, 4), 5);
  parameters.births = 0;
  for (AntState& ant : parameters.initial) ant.last_step = 1000000;
  const auto portions = [](const Census& census) { return census.food + census.carriers + census.stored; };
  for_each_run(Ants::implementations(), parameters, [&](Simulation& simulation) {
    const std::vector<Census> history = history_of(simulation, kQuick ? 60 : 300);
    for (const Census& census : history) CHECK_UNARY(portions(census) == portions(history[0]));
    CHECK(history.back().stored > 0);
    CHECK(history.back().food < history[0].food);
  });
}

TEST_CASE("ants choose the short branch of a bridge") {
  if (kQuick) return;
  Census early;
  Census late;
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    Parameters parameters;
    parameters.seed = seed;
    parameters.births = 0;
    parameters.world = double_bridge(128, 1000);
    parameters.initial = ants_in_nest(1000, parameters.world, 1, seed);
    for (AntState& ant : parameters.initial) ant.last_step = 1000000;
    const std::vector<Census> history = history_of(*make_colony(parameters), 900);
    for (std::size_t step = 0; step < history.size(); ++step) {
      if (step > 200 && step < 800) continue;
      (step <= 200 ? early : late).first_gate += history[step].first_gate;
      (step <= 200 ? early : late).second_gate += history[step].second_gate;
    }
  }
  const auto share = [](const Census& census) {
    return static_cast<double>(census.first_gate) / static_cast<double>(census.first_gate + census.second_gate);
  };
  CHECK(share(early) > 0.3);
  CHECK(share(early) < 0.7);
  CHECK(share(late) > 0.9);
}

TEST_CASE("a world without ants or without food goes on, and slots and objects of the dead are used again") {
  Parameters parameters = quiet({});
  parameters.world.food[7] = 3;
  for_all(parameters, 3, [](const State& state) { CHECK((census_of(state) == Census{0, 0, 0, 0, 3, 0})); });
  parameters = busy(50, garden(kLeastSide, 0), 1);
  for (AntState& ant : parameters.initial) ant.carries = false;
  for_all(parameters, 70, [](const State& state) { CHECK(state.ants.empty()); });  // longer than their lives
  parameters = busy(200, crowded_world(16), 9);
  parameters.births = 1;
  parameters.lifetime = 5;
  parameters.room = 400;
  check_all<Ants>(parameters, 40);
}

TEST_CASE("more ants than there is room for end the run, and the message says what to do") {
  Parameters parameters = quiet(std::vector<AntState>(8, ant_at(9.5f, 10.5f, 1, 0, true)));
  parameters.world.nest = {10.5f, 10.5f, 2};
  parameters.births = 1;
  parameters.room = 15;
  constexpr const char* kMessage =
      "there are more ants than there is room for, which is 15: choose a larger --room, or fewer --births";
  for_each_run(with_reference<Ants>(), parameters, [&](Simulation& simulation) {
    run(simulation, 1);
    simulation.record();
    CHECK_THROWS_WITH(simulation.take_history(), kMessage);
    CHECK_THROWS_WITH(simulation.state(), kMessage);
  });
  CHECK(room_of(busy(100, crowded_world(8), 3)) == room_for(100));
}

TEST_CASE("ants at the start are where they should be, and look anywhere") {
  const World world = double_bridge(128, 3);
  const auto in_nest = ants_in_nest(4000, world, 100, 7);
  CHECK((in_nest == ants_in_nest(4000, world, 100, 7)));
  CHECK_FALSE((in_nest == ants_in_nest(4000, world, 100, 8)));
  int octants[8] = {};
  for (const AntState& ant : in_nest) {
    CHECK_UNARY(std::hypot(ant.x - world.nest.x, ant.y - world.nest.y) <= world.nest.radius);
    CHECK_UNARY(ant.last_step >= 1 && ant.last_step <= 100);
    CHECK_UNARY(std::abs(std::hypot(ant.heading_x, ant.heading_y) - 1) < 1e-6);
    octants[(ant.heading_x > 0) * 4 + (ant.heading_y > 0) * 2 + (std::abs(ant.heading_x) > std::abs(ant.heading_y))]++;
  }
  for (const int count : octants) CHECK(std::abs(count - 500) < 100);
  for (const AntState& ant : ants_anywhere(2000, world, 100, 7)) {
    CHECK_UNARY(ant.x > 0 && ant.x < 128 && ant.y > 0 && ant.y < 128);
    for (const Box& wall : world.walls) {
      CHECK_UNARY_FALSE(ant.x >= wall.left && ant.x <= wall.right && ant.y >= wall.top && ant.y <= wall.bottom);
    }
  }
  for (const World& some : {garden(kLeastSide, 3), world}) {
    for (std::size_t cell = 0; cell < some.food.size(); ++cell) {
      const float x = static_cast<float>(cell % some.side) + 0.5f - some.nest.x;
      const float y = static_cast<float>(cell / some.side) + 0.5f - some.nest.y;
      CHECK_UNARY(some.food[cell] == 0 || x * x + y * y > some.nest.radius * some.nest.radius);
    }
    CHECK(std::count(some.food.begin(), some.food.end(), 3u) > 20);
  }
}

TEST_CASE("ants and the ground are drawn and painted where they are, in their colours") {
  Parameters parameters = quiet({ant_at(5, 5), ant_at(15, 5, 1, 0, true)});
  parameters.world.nest = {5, 15, 2};
  parameters.world.walls = {{14, 14, 16, 16}};
  parameters.world.food[cell_number(10.5f, 10.5f)] = 1;
  for (const auto& variant : Ants::object_variants()) {
    const std::unique_ptr<Simulation> simulation = variant.start(parameters);
    const app::Picture drawn = ants_picture(simulation->state(), parameters.world);
    const int twentieth = drawn.width() / 20;
    CHECK(drawn.at(5 * twentieth, 15 * twentieth) == kNest);
    CHECK(drawn.at(15 * twentieth, 15 * twentieth) == kWall);
    CHECK(drawn.at(10 * twentieth + twentieth / 2, 10 * twentieth + twentieth / 2) == kFood);
    CHECK(drawn.at(1, 1) == kGround);
    CHECK_FALSE(drawn.at(5 * twentieth, 5 * twentieth) == kGround);
    simulation->paint(app::whole({0, 0, 20, 20}, 400, 400));
    const app::Picture painted = simulation->painted();
    CHECK(painted.at(100, 100) == kForager);
    CHECK(painted.at(300, 100) == kCarrier);
    CHECK(painted.at(210, 210) == kFood);
    CHECK(painted.at(2, 2) == kGround);
  }
}

TEST_CASE("the charts have the numbers of the history") {
  const app::Chart food = food_chart({{5, 3, 0, 0, 40, 0}, {4, 5, 1, 2, 37, 1}}, "");
  REQUIRE(food.series.size() == 4);
  CHECK((food.series[0].values == std::vector<double>{8, 9}));
  CHECK((food.series[1].values == std::vector<double>{3, 5}));
  CHECK((food.series[2].values == std::vector<double>{40, 37}));
  CHECK((food.series[3].values == std::vector<double>{0, 1}));
  std::vector<app::Row> rows(200, app::Row{1, 0, 0, 0, 0, 0});
  for (std::size_t i = 100; i < 200; ++i) rows[i][i % 4 == 0 ? 3 : 2] = 1;
  const std::vector<double> share = gate_chart(rows, "").series[0].values;
  CHECK(share[0] == 50);
  CHECK(share[49] == 50);
  CHECK(share[50] == 0);  // the first ant that is counted is in the second gate
  CHECK(share[150] == doctest::Approx(75).epsilon(0.02));
  CHECK(gate_chart({}, "").series[0].values.empty());
}
