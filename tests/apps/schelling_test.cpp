/// @file
/// Schelling's model: all implementations are the same simulation, and it is the one that apps/schelling/README.md
/// defines.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model_suite.h"
#include "schelling/colors.h"
#include "schelling/pictures.h"
#include "schelling/rules.h"
#include "schelling/simulation.h"

namespace {

using schelling::CellState;
using schelling::Census;
using schelling::Parameters;
using schelling::Simulation;

using dynasoar::test::kQuick;

using Implementation = dynasoar::test::Implementation<Simulation, Parameters>;

std::vector<Implementation> implementations() {
  const std::vector<Implementation> objects = {{"agents", schelling::make_agents}};
  return objects + dynasoar::test::on_other_allocators(objects) +
         std::vector<Implementation>{{"placed", schelling::make_placed},
                                     {"soa", schelling::make_soa_baseline},
                                     {"aos", schelling::make_aos_baseline}};
}

std::vector<Implementation> implementations_and_reference() {
  return implementations() + std::vector<Implementation>{{"reference", schelling::make_reference}};
}

Parameters city_of(int width, int height, std::uint64_t seed = 42) {
  Parameters parameters;
  parameters.width = width;
  parameters.height = height;
  parameters.seed = seed;
  return parameters;
}

// People want much, lose patience, and others come.
Parameters restless_city_of(int width, int height, std::uint64_t seed = 42) {
  Parameters parameters = city_of(width, height, seed);
  parameters.similar = 0.7;
  parameters.patience = 3;
  parameters.newcomers = 0.05;
  return parameters;
}

// What is seen of a city after a step.
struct Sight {
  std::vector<CellState> city;
  Census census;
  bool operator==(const Sight&) const = default;
};

Sight sight_of(Simulation& simulation) {
  simulation.record();
  Sight sight{simulation.city(), {}};
  const std::vector<Census> history = simulation.take_history();
  REQUIRE(history.size() == 1);
  sight.census = history.front();
  return sight;
}

std::vector<Sight> reference_run(const Parameters& parameters, int steps) {
  return dynasoar::test::run_of(*schelling::make_reference(parameters), steps, sight_of);
}

void check_all(const Parameters& parameters, int steps) {
  CAPTURE(parameters.width);
  CAPTURE(parameters.height);
  CAPTURE(parameters.seed);
  dynasoar::test::check_runs(implementations(), parameters, reference_run(parameters, steps), sight_of);
}

std::vector<CellState> after(const Implementation& implementation, const Parameters& parameters, int steps) {
  const std::unique_ptr<Simulation> simulation = implementation.make(parameters);
  dynasoar::test::run(*simulation, steps);
  return simulation->city();
}

std::ptrdiff_t agents_of_group(const std::vector<CellState>& city, std::uint32_t group) {
  return std::count_if(city.begin(), city.end(), [group](const CellState& cell) { return cell.group == group; });
}

std::ptrdiff_t agents_in(const std::vector<CellState>& city) {
  return agents_of_group(city, 1) + agents_of_group(city, 2);
}

}  // namespace

TEST_CASE("all implementations equal the reference, cell for cell, after every step") {
  for (const std::uint64_t seed : {std::uint64_t{42}, std::uint64_t{0xFEDCBA9876543210}}) {
    check_all(city_of(33, 20, seed), kQuick ? 5 : 30);
    check_all(restless_city_of(33, 20, seed), kQuick ? 5 : 30);
  }
  check_all(restless_city_of(157, 61, 7), kQuick ? 2 : 15);
}

TEST_CASE("narrow cities, whose agents are neighbours several times over, are equal to the reference, too") {
  for (const auto& [width, height] : {std::pair(1, 1), {1, 7}, {6, 1}, {2, 2}, {3, 5}}) {
    check_all(restless_city_of(width, height), kQuick ? 3 : 20);
  }
}

TEST_CASE("full and empty cities, and all wishes, are equal to the reference") {
  for (const double red : {0.0, 0.1, 1.0}) {
    for (const double similar : {0.0, 1.0 / 3, 1.0}) {
      Parameters parameters = restless_city_of(17, 13, 5);
      parameters.red = red;
      parameters.blue = red == 1 ? 0 : 0.3;
      parameters.similar = similar;
      CAPTURE(red);
      CAPTURE(similar);
      check_all(parameters, kQuick ? 2 : 12);
    }
  }
}

TEST_CASE("the reference finds the censuses that the definition gives") {
  // Computed by a separate program in another language, written from README.md.
  Parameters parameters = restless_city_of(20, 15, 0x123456789ABCDEF);
  const std::vector<Sight> run = reference_run(parameters, 20);
  CHECK((run[0].census == Census{140, 134, 224, 1012, 2000}));
  CHECK((run[1].census == Census{141, 134, 227, 1024, 2018}));
  CHECK((run[5].census == Census{68, 48, 55, 288, 414}));
  CHECK((run[20].census == Census{93, 77, 52, 660, 838}));
}

TEST_CASE("without patience and newcomers, agents move only, and get to live among their like") {
  Parameters parameters = city_of(kQuick ? 32 : 64, 48);
  for (const Implementation& implementation : implementations_and_reference()) {
    CAPTURE(implementation.name);
    const std::unique_ptr<Simulation> simulation = implementation.make(parameters);
    const Sight start = sight_of(*simulation);
    dynasoar::test::run(*simulation, 60);
    const Sight end = sight_of(*simulation);
    CHECK(end.census.red == start.census.red);
    CHECK(end.census.blue == start.census.blue);
    CHECK(start.census.similar() < 0.55);
    CHECK(end.census.similar() > 0.8);
    CHECK(end.census.unhappy < start.census.unhappy / 20);
  }
}

TEST_CASE("agents of one group are happy and stay, and so are those without neighbours") {
  Parameters parameters = city_of(16, 12);
  parameters.blue = 0;
  parameters.similar = 1;
  parameters.patience = 1;
  Parameters lonely = city_of(50, 50, 3);
  lonely.red = lonely.blue = 0.001;
  lonely.similar = 1;
  for (const Implementation& implementation : implementations_and_reference()) {
    CAPTURE(implementation.name);
    CHECK((after(implementation, parameters, 5) == after(implementation, parameters, 0)));
    CHECK((after(implementation, lonely, 5) == after(implementation, lonely, 0)));
    CHECK(agents_in(after(implementation, lonely, 0)) > 0);
  }
}

TEST_CASE("in a full city nobody can move: the unhappy wait, and leave when their patience ends") {
  Parameters parameters = city_of(16, 12);
  parameters.red = parameters.blue = 0.5;
  for (const Implementation& implementation : implementations_and_reference()) {
    CAPTURE(implementation.name);
    parameters.patience = 0;
    const std::vector<CellState> start = after(implementation, parameters, 0);
    const std::vector<CellState> later = after(implementation, parameters, 4);
    for (std::size_t cell = 0; cell < start.size(); ++cell) {
      CHECK(later[cell].group == start[cell].group);
      CHECK((later[cell].unhappy == 0 || later[cell].unhappy == 4));
    }
    parameters.patience = 4;
    CHECK(agents_in(after(implementation, parameters, 3)) == 16 * 12);
    const std::vector<CellState> left = after(implementation, parameters, 4);
    for (std::size_t cell = 0; cell < start.size(); ++cell) {
      CHECK(left[cell].group == (later[cell].unhappy == 0 ? start[cell].group : 0));
    }
  }
}

TEST_CASE("newcomers of both groups move into vacant cells") {
  Parameters parameters = city_of(64, 64);
  parameters.red = parameters.blue = 0;
  parameters.similar = 0;
  for (const Implementation& implementation : implementations_and_reference()) {
    CAPTURE(implementation.name);
    parameters.newcomers = 0.25;
    const std::vector<CellState> city = after(implementation, parameters, 1);
    CHECK(agents_of_group(city, 1) == doctest::Approx(512).epsilon(0.15));
    CHECK(agents_of_group(city, 2) == doctest::Approx(512).epsilon(0.15));
    parameters.newcomers = 1;
    CHECK(agents_in(after(implementation, parameters, 1)) == 64 * 64);
  }
}

TEST_CASE("a heap that is too small ends the run and says which size is enough") {
  dynasoar::test::check_too_small_heap(restless_city_of(256, 256), 64 << 10, [](const Parameters& parameters) {
    const std::unique_ptr<Simulation> simulation = schelling::make_agents(parameters);
    dynasoar::test::run(*simulation, 20);
    simulation->synchronize();
  });
}

TEST_CASE("the chart of a city shows shares, also if nobody lives there") {
  const app::Chart chart = schelling::segregation_chart({{3, 5, 2, 0.75}, {0, 1, 1, 0}, {0, 0, 0, 0}}, city_of(8, 8));
  REQUIRE(chart.series.size() == 2);
  CHECK(chart.series[0].values == std::vector{0.75, 0.0, 0.0});
  CHECK(chart.series[1].values == std::vector{0.25, 1.0, 0.0});
}

TEST_CASE("a random number that is a share exactly is not below it") {
  constexpr double kWord = 1 / 4294967296.0;
  const double word = dynasoar::random::words(dynasoar::random::Seed{42}, schelling::Decision::initial, 7u, 0)[0];
  const double newcomer = dynasoar::random::words(dynasoar::random::Seed{42}, schelling::Decision::newcomer, 7u, 1)[0];
  for (const Implementation& implementation : implementations_and_reference()) {
    CAPTURE(implementation.name);
    const auto group = [&](double red, double blue, double newcomers, int steps) {
      Parameters parameters = city_of(6, 5);
      parameters.red = red * kWord;
      parameters.blue = blue * kWord;
      parameters.newcomers = newcomers * kWord;
      return after(implementation, parameters, steps)[7].group;
    };
    CHECK(group(word, 0, 0, 0) == 0);
    CHECK(group(word + 1, 0, 0, 0) == 1);
    CHECK(group(word, 1, 0, 0) == 2);
    CHECK(group(word - 9, 9, 0, 0) == 0);
    CHECK(group(0, 0, newcomer, 1) == 0);
    CHECK(group(0, 0, newcomer + 1, 1) != 0);
  }
}

TEST_CASE("objects are painted in the colours of their cells") {
  for (const auto make : {schelling::make_placed, schelling::make_agents}) {
    const std::unique_ptr<Simulation> simulation = make(city_of(24, 17));
    dynasoar::test::run(*simulation, 3);
    const auto states = simulation->city();
    CHECK(dynasoar::test::wrongly_painted(*simulation, 24, 17,
                                          [&](std::size_t c) { return schelling::color_of(states[c].group); }) == 0);
  }
}
