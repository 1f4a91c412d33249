/// @file
/// The model "traffic": all implementations compute the same traffic, the one that apps/traffic/README.md defines; no
/// two cars are ever in one cell; and whole runs obey the model's laws.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "model_suite.h"
#include "traffic/colors.h"
#include "traffic/network.h"
#include "traffic/simulation.h"

namespace {

using namespace dynasoar::test;
using traffic::CellState;
using traffic::Census;
using traffic::Network;
using traffic::Parameters;
using traffic::Simulation;
using traffic::Street;

Network random_network(std::uint32_t intersections, std::uint64_t seed = 42, std::uint32_t green = 5) {
  return traffic::random_network(intersections, green, {.seed = seed});
}

// A random network where cars meet: streets of 1 to 6 cells, and lights at some intersections only.
Network crowded_network(std::uint32_t intersections, std::uint64_t seed) {
  Network network = random_network(intersections, seed, 3);
  for (std::size_t i = 0; i < network.intersections.size(); ++i) {
    if (i % 3 != 0) network.intersections[i].green = 0;
  }
  for (std::size_t s = 0; s < network.streets.size(); ++s) {
    Street& street = network.streets[s];
    street.cells = 1 + street.cells % 6;
    street.limit = 1 + static_cast<std::uint32_t>(s) % 9;
    if (s % 17 == 5) street.exits.clear();
  }
  network.producers.clear();
  network.destinations.clear();
  traffic::place_sources(network, {.producers = 0.2, .destinations = 0.1, .seed = seed});
  return network;
}

// One street of so many cells that leads back to where it begins.
Network ring(std::uint32_t cells, std::uint32_t limit) {
  Network network;
  network.intersections = {{{0, 0}, 0}};
  network.streets = {{.from = 0, .to = 0, .cells = cells, .limit = limit, .exits = {0}}};
  return network;
}

// Streets 0 and 1, of 4 cells, that end where street 2 begins, with a producer just before the last cell of both.
Network junction() {
  Network network;
  network.intersections = {{{0, 1}, 0}, {{0, -1}, 0}, {{1, 0}, 0}, {{2, 0}, 0}};
  network.streets = {{.from = 0, .to = 2, .cells = 4, .limit = 9, .exits = {2}},
                     {.from = 1, .to = 2, .cells = 4, .limit = 9, .exits = {2}},
                     {.from = 2, .to = 3, .cells = 20, .limit = 9}};
  network.producers = {{0, 2}, {1, 2}};
  return network;
}

Census census_of(const std::vector<CellState>& cells) {
  Census census;
  for (const CellState& cell : cells) {
    census.cars += cell.has_car;
    census.moving += cell.has_car != 0 && cell.speed > 0;
    census.speeds += cell.speed;
  }
  return census;
}

struct Traffic : Model<Simulation, Parameters, Network> {
  static constexpr auto make_placed = traffic::make_placed;
  static constexpr auto reference = traffic::make_reference;
  static constexpr auto count = census_of;
  static constexpr int kSteps = 25;
  static constexpr std::uint64_t kTooSmall = 40 << 10;
  static constexpr int kCrowdedSteps = 1;

  static Implementations object_variants() { return {{"cells", traffic::make_cells}, {"cars", traffic::make_cars}}; }
  static Implementations implementations() {
    return object_variants() + Implementations{{"placed", traffic::make_placed},
                                               {"soa", traffic::make_soa_baseline},
                                               {"aos", traffic::make_aos_baseline}};
  }
  // The object variants count their cars, not cells: two cars in one cell would show in the history.
  static std::vector<CellState> state(Simulation& simulation) { return simulation.cells(); }
  static Implementation::Start small() { return {Parameters{.seed = 6}, crowded_network(12, 6)}; }
  static Implementation::Start crowded() { return {Parameters{.density = 1}, random_network(40)}; }
};

void check_all(const Parameters& parameters, const Network& network, int steps) {
  CAPTURE(network.cells());
  dynasoar::test::check_all<Traffic>({parameters, network}, steps);
}

// A number that depends on every bit of the state: FNV-1a over the cells.
std::uint64_t fingerprint(const std::vector<CellState>& cells) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const CellState& cell : cells) {
    for (const std::uint8_t byte : {cell.limit, cell.has_car, cell.speed, cell.top_speed}) {
      hash = (hash ^ byte) * 0x100000001b3u;
    }
  }
  return hash;
}

// For each cell, whether cars leave there.
std::vector<bool> exits_of(const Network& network) {
  const std::vector<std::uint32_t> first = network.first_cells();
  std::vector<bool> leaves(network.cells());
  for (const traffic::Place& place : network.destinations) leaves[first[place.street] + place.cell] = true;
  for (std::size_t s = 0; s < first.size(); ++s) {
    if (network.streets[s].exits.empty()) leaves[first[s] + network.streets[s].cells - 1] = true;
  }
  return leaves;
}

// How many steps of a run each implementation is checked for.
int scaled_down(int steps) {
  return kSlowdown > 1 ? std::max(steps / 5, 2) : steps;
}

// For each implementation, runs it and calls `check(before, after)` for the cells of every step.
template <class Check>
void for_each_step(const Parameters& parameters, const Network& network, int steps, Check check) {
  for_each_run(with_reference<Traffic>(), {parameters, network}, [&](Simulation& simulation) {
    std::vector<CellState> before = simulation.cells();
    for (int step = 1; step <= steps; ++step) {
      CAPTURE(step);
      simulation.step();
      std::vector<CellState> after = simulation.cells();
      check(before, after);
      before = std::move(after);
    }
  });
}

}  // namespace

DYNASOAR_MODEL_CASE(model_allocators, Traffic);
DYNASOAR_MODEL_CASE(model_timed_steps, Traffic);
DYNASOAR_MODEL_CASE(model_history, Traffic);
DYNASOAR_MODEL_CASE(model_heap, Traffic);

TEST_CASE("all implementations compute what the definition gives") {
  // Computed by a separate program in another language, written from README.md.
  const std::uint64_t seed = 0x123456789ABCDEF;
  const Network network = random_network(20, seed);
  CHECK(network.streets.size() == 48);
  CHECK(network.cells() == 4367);
  CHECK(network.producers.size() == 107);
  const Parameters parameters = {.seed = seed, .density = 0.15};
  for_each_run(with_reference<Traffic>(), {parameters, network}, [](Simulation& simulation) {
    std::vector<std::uint64_t> fingerprints = {fingerprint(simulation.cells())};
    for (int step = 1; step <= 40; ++step) {
      simulation.step();
      simulation.record();
      if (step % 10 == 0) fingerprints.push_back(fingerprint(simulation.cells()));
    }
    CHECK((fingerprints == std::vector<std::uint64_t>{0x7de5131449c332f2, 0x8268b182c3867fd7, 0xe3f86f721c1964e0,
                                                      0xc93c554de125c647, 0x3e9794939618a469}));
    const std::vector<Census> history = simulation.take_history();
    REQUIRE(history.size() == 40);
    CHECK((history[9] == Census{652, 506, 1869}));
    CHECK((history[39] == Census{641, 281, 905}));
  });
}

TEST_CASE("all implementations agree after every step") {
  for (const std::uint64_t seed : {std::uint64_t{42}, std::uint64_t{0}, ~std::uint64_t{0}}) {
    if (kSlowdown > 1 && seed == 0) continue;
    CAPTURE(seed);
    for (const std::uint32_t intersections : {0u, 1u, 2u, 3u, 9u}) {
      const Network network = random_network(intersections, seed);
      check_all({.seed = seed}, network, scaled_down(25));
      check_all({.seed = seed, .density = 0.3}, network, scaled_down(25));
    }
  }
  check_all({.density = 0.1}, random_network(30, 7), scaled_down(20));
}

TEST_CASE("all implementations agree where many cars meet") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const Network network = crowded_network(40, seed);
    for (const double density : {0.1, 0.5, 1.0}) {
      check_all({.seed = seed, .density = density, .production = 0.3}, network, scaled_down(40));
    }
    check_all({.seed = seed, .production = 1, .dawdling = 0}, network, scaled_down(40));
    if (kSlowdown > 1) break;
  }
  check_all({.density = 0.2, .production = 0.1}, crowded_network(1500, 9), scaled_down(10));
}

TEST_CASE("all implementations agree on streets of extreme shapes") {
  for (const std::uint32_t cells : {1u, 2u, 3u, 9u, 10u, 70u}) {
    CAPTURE(cells);
    check_all({.density = 0.4}, ring(cells, 9), scaled_down(20));
    check_all({.density = 1}, ring(cells, 1), 5);
  }
  check_all({.production = 1}, junction(), scaled_down(50));
  Network dead_ends;  // eight exits, all of them one cell long, none leads anywhere
  dead_ends.intersections = {{{0, 0}, 2}, {{1, 1}, 1}, {{2, 2}, 0}};
  dead_ends.streets = {{.from = 0, .to = 1, .cells = 5, .limit = 9, .phase = 3}};
  for (std::uint32_t s = 1; s <= traffic::kMostExits; ++s) {
    dead_ends.streets.push_back({.from = 1, .to = 2, .cells = 1, .limit = s});
    dead_ends.streets[0].exits.push_back(s);
  }
  dead_ends.producers = {{0, 0}};
  dead_ends.destinations = {{0, 2}};
  check_all({.production = 0.5}, dead_ends, scaled_down(30));
  dead_ends.destinations.clear();
  check_all({.production = 0.5}, dead_ends, scaled_down(30));
}

TEST_CASE("cars keep to their top speed, to limits and to lights, and leave where they should") {
  for (const Network& network : {random_network(8, 4), crowded_network(60, 4)}) {
    const std::vector<bool> leaves = exits_of(network);
    std::vector<std::uint32_t> limits;
    for (const Street& street : network.streets) limits.insert(limits.end(), street.cells, street.limit);
    const auto check = [&](const std::vector<CellState>& before, const std::vector<CellState>& after) {
      int wrong = 0;
      for (std::size_t c = 0; c < after.size(); ++c) {
        const CellState& cell = after[c];
        if (cell.has_car == 0) continue;
        wrong += cell.top_speed < 5 || cell.top_speed > 9 || cell.speed > cell.top_speed;
        wrong += cell.speed > limits[c];
        wrong += leaves[c];
        wrong += cell.limit == 0 && before[c].has_car == 0;  // came while it was red
        wrong += before[c].has_car != 0 && cell.speed > 0;   // came where a car was
        wrong += cell.limit != 0 && cell.limit != limits[c];
      }
      REQUIRE(wrong == 0);
    };
    for_each_step({.density = 0.4}, network, scaled_down(60), check);
  }
}

TEST_CASE("of two cars that want the same cell, only that with the right of way gets it") {
  // Cells 3 and 7 are the last ones of streets 0 and 1; both lead to cell 8.
  int conflicts = 0;
  for_each_step({.production = 1, .dawdling = 0}, junction(), 100,
                [&](const std::vector<CellState>& before, const std::vector<CellState>& after) {
                  if (before[3].has_car == 0 || before[7].has_car == 0 || before[8].has_car != 0) return;
                  ++conflicts;
                  CHECK(after[3].has_car == 0);
                  CHECK(after[7].has_car == 1);
                  CHECK(after[7].speed == 0);
                });
  CHECK(conflicts >= 5 * 10);
  // From equally many cells away, the lower cell; from nearer, the nearer: street 0 has to wait for street 1 at times.
  int waits = 0;
  for_each_step({.production = 1, .dawdling = 0}, junction(), 100,
                [&](const std::vector<CellState>& before, const std::vector<CellState>& after) {
                  if (before[3].has_car != 0 || before[7].has_car == 0 || before[8].has_car != 0) return;
                  ++waits;
                  CHECK(after[7].has_car == 0);
                });
  CHECK(waits >= 5);
}

TEST_CASE("a light lets its phases go in turn, for as many steps as it says") {
  const Network network = random_network(30, 5, 4);
  const std::vector<std::uint32_t> first = network.first_cells();
  const std::vector<std::uint32_t> phases = network.phases();
  for_each_run(with_reference<Traffic>(), {Parameters(), network}, [&](Simulation& simulation) {
    for (std::uint32_t step = 1; step <= 40; ++step) {
      simulation.step();
      const std::vector<CellState> cells = simulation.cells();
      int wrong = 0;
      for (std::size_t s = 0; s < network.streets.size(); ++s) {
        const Street& street = network.streets[s];
        const bool is_green = (step - 1) / 4 % phases[street.to] == street.phase;
        wrong += cells[first[s] + street.cells - 1].limit != (is_green ? street.limit : 0);
      }
      CHECK(wrong == 0);
    }
  });
}

TEST_CASE("a single car on a ring accelerates to the limit, and dawdles as often as it should") {
  const Network network = ring(100, 7);
  for (const auto& implementation : with_reference<Traffic>()) {
    CAPTURE(implementation.name);
    // A seed for which there is one car, with a top speed over the limit.
    const auto is_alone = [](const std::vector<CellState>& cells) {
      const auto car = std::find_if(cells.begin(), cells.end(), [](const CellState& c) { return c.top_speed > 7; });
      return census_of(cells).cars == 1 && car != cells.end();
    };
    std::uint64_t seed = 0;
    while (!is_alone(implementation.make({.seed = seed, .density = 0.02}, network)->cells())) ++seed;
    for (const double dawdling : {0.0, 0.2}) {
      const std::unique_ptr<Simulation> simulation =
          implementation.make({.seed = seed, .density = 0.02, .dawdling = dawdling}, network);
      std::uint64_t total = 0;
      const int steps = scaled_down(1000);
      const std::vector<Census> history = history_of(*simulation, steps + 7);
      for (std::size_t step = 8; step < history.size(); ++step) total += history[step].speeds;
      const double mean = static_cast<double>(total) / steps;
      // From the limit less 1, it accelerates to the limit at once: the loss is the probability to dawdle.
      CHECK(mean == doctest::Approx(7 - dawdling).epsilon(dawdling == 0 ? 1e-9 : 0.02));
    }
  }
}

TEST_CASE("a ring keeps its cars, full rings stand still, and more cars than fit at speed make jams") {
  for (const double density : {0.05, 0.4, 1.0}) {
    for_each_run(with_reference<Traffic>(), {Parameters{.density = density}, ring(400, 9)},
                 [&](Simulation& simulation) {
                   const std::vector<Census> history = history_of(simulation, scaled_down(200));
                   for (const Census& census : history) CHECK(census.cars == history[0].cars);
                   if (density == 1.0) {
                     CHECK((history.back() == Census{400, 0, 0}));
                   }
                   if (density == 0.4) {
                     CHECK(history.back().moving < history.back().cars * 3 / 4);
                   }
                   if (density == 0.05) {
                     CHECK(history.back().moving > history.back().cars * 9 / 10);
                   }
                 });
  }
}

TEST_CASE("random networks are as defined") {
  const Network network = traffic::random_network(2000, 5, {});
  CHECK_NOTHROW(traffic::check_network(network));
  const double streets = static_cast<double>(network.streets.size());
  CHECK(streets == doctest::Approx(5000).epsilon(0.03));
  CHECK(static_cast<double>(network.cells()) == doctest::Approx(streets * 104.3).epsilon(0.03));
  CHECK(static_cast<double>(network.producers.size()) ==
        doctest::Approx(0.02 * static_cast<double>(network.cells())).epsilon(0.05));
  CHECK(static_cast<double>(network.destinations.size()) ==
        doctest::Approx(0.003 * static_cast<double>(network.cells())).epsilon(0.1));
  std::vector<int> outgoing(2000);
  std::vector<int> incoming(2000);
  int wrong = 0;
  for (const Street& street : network.streets) {
    ++outgoing[street.from];
    ++incoming[street.to];
    wrong += street.from == street.to || street.limit < 5 || street.exits.empty();
  }
  CHECK(wrong == 0);
  CHECK(*std::max_element(outgoing.begin(), outgoing.end()) == 4);
  CHECK(*std::min_element(outgoing.begin(), outgoing.end()) == 1);
  CHECK(*std::max_element(incoming.begin(), incoming.end()) == 4);
  CHECK_FALSE((random_network(20, 1) == random_network(20, 2)));
}

TEST_CASE("a network that is none is refused") {
  const auto refuses = [](const Network& network, const std::string& says) {
    for (const auto& implementation : with_reference<Traffic>()) {
      CAPTURE(implementation.name);
      CHECK_THROWS_WITH_AS(implementation.make({}, network), says.c_str(), std::invalid_argument);
    }
  };
  const auto refuses_change = [&](const std::function<void(Network&)>& change, const std::string& says) {
    Network network = junction();
    change(network);
    refuses(network, says);
  };
  refuses_change([](Network& n) { n.streets[1].to = 4; }, "street 1 does not join intersections");
  refuses_change([](Network& n) { n.streets[1].cells = 0; }, "street 1 has no cells, or too many: the most is 1000000");
  refuses_change([](Network& n) { n.streets[1].limit = 0; }, "street 1 has a limit that is not from 1 to 9");
  refuses_change([](Network& n) { n.streets[1].limit = 10; }, "street 1 has a limit that is not from 1 to 9");
  refuses_change([](Network& n) { n.streets[1].phase = 255; }, "street 1 has a phase over 254");
  refuses_change([](Network& n) { n.streets[0].exits = {3}; }, "street 0 has an exit that is no street");
  refuses_change(
      [](Network& n) {
        n.streets[0].exits = {2, 1};
      },
      "street 0 has an exit, street 1, that does not begin where it ends");
  refuses_change([](Network& n) { n.streets[0].exits = {2, 2}; }, "street 0 has the same exit twice");
  refuses_change([](Network& n) { n.streets[0].exits.assign(9, 2); }, "street 0 has more than 8 exits");
  refuses_change([](Network& n) { n.intersections[1].at.x = 1 / 0.0; },
                 "intersection 1 has a coordinate that is no number");
  refuses_change([](Network& n) { n.intersections[1].green = 1000001; },
                 "intersection 1 has a light that is green for too long: the most is 1000000");
  refuses_change(
      [](Network& n) {
        n.streets[0].bends = {{0, 0 / 0.0}};
      },
      "street 0 has a coordinate that is no number");
  refuses_change([](Network& n) { n.producers = {{3, 0}}; }, "producer 0 is on no street");
  refuses_change([](Network& n) { n.producers = {{0, 4}}; }, "producer 0 is beyond the end of its street of 4 cells");
  refuses_change(
      [](Network& n) {
        n.destinations = {{0, 3}};
      },
      "destination 0 is on the last cell of its street, which is for the intersection");
  refuses_change([](Network& n) { n.producers = {{1, 0}, {0, 0}}; }, "producer 1 is not behind the one before it");
  refuses_change([](Network& n) { n.destinations = {{1, 2}}; }, "cell 2 of street 1 is a producer and a destination");
  Network large = ring(traffic::kMostCells, 9);
  large.streets.resize(300, large.streets[0]);
  refuses(large, "the network has more than 2^28 - 1 cells");
}

TEST_CASE("cars are painted where they are, in the colour of their speed, and streets where there are none") {
  for_each_run(Traffic::object_variants(), {Parameters{.density = 0.5}, ring(40, 7)}, [](Simulation& simulation) {
    dynasoar::test::run(simulation, 5);
    std::vector<traffic::Point> places;
    for (int cell = 0; cell < 40; ++cell) places.push_back({4.0 * cell + 1.5, 1.5});
    simulation.set_places(places);
    simulation.paint(app::whole({0, 0, 160, 3}, 160, 3));
    const app::Picture picture = simulation.painted();
    const std::vector<CellState> cells = simulation.cells();
    for (int cell = 0; cell < 40; ++cell) {
      const CellState& state = cells[static_cast<std::size_t>(cell)];
      const app::Rgb car = app::ramp(traffic::kSpeeds, state.speed / double{traffic::kMostSpeed});
      CHECK(picture.at(4 * cell + 1, 1) == (state.has_car != 0 ? car : traffic::kAsphalt));
      CHECK(picture.at(4 * cell + 2, 1) == (state.has_car != 0 ? car : traffic::kNight));
      CHECK(picture.at(4 * cell + 3, 1) == traffic::kNight);
    }
  });
}
