/// @file
/// Schelling's model: all implementations are the same simulation, and it is the one that apps/schelling/README.md
/// defines.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model_suite.h"
#include "schelling/colors.h"
#include "schelling/pictures.h"
#include "schelling/rules.h"
#include "schelling/simulation.h"

namespace {

using namespace dynasoar::test;
using namespace schelling;

Parameters city_of(int width, int height, std::uint64_t seed = 42) {
  return of_size<Parameters>(width, height, seed);
}

// People want much, lose patience, and others come.
Parameters restless_city_of(int width, int height, std::uint64_t seed = 42) {
  Parameters parameters = city_of(width, height, seed);
  parameters.similar = 0.7;
  parameters.patience = 3;
  parameters.newcomers = 0.05;
  return parameters;
}

struct Schelling : Model<Simulation, Parameters> {
  static constexpr auto make_placed = schelling::make_placed;
  static constexpr auto reference = schelling::make_reference;
  static constexpr auto of_size = restless_city_of;
  static constexpr int kCrowdedSteps = 20;

  static Implementations implementations() {
    const Implementations objects = {{"placed", schelling::make_placed}};
    return objects + on_other_allocators(objects) +
           Implementations{{"soa", make_soa_baseline}, {"aos", make_aos_baseline}};
  }
  static std::vector<CellState> state(Simulation& simulation) { return simulation.cells(); }
  static app::Rgb color_of(const CellState& cell) { return schelling::color_of(cell.group); }
  static Parameters small() { return restless_city_of(33, 20); }
  static Parameters crowded() { return restless_city_of(256, 256); }
  static KnownRun<Parameters, Census> known_run() {
    return {restless_city_of(20, 15, 0x123456789ABCDEF),
            {{0, {140, 134, 224, 1012, 2000}},
             {1, {141, 134, 227, 1024, 2018}},
             {5, {68, 48, 55, 288, 414}},
             {20, {93, 77, 52, 660, 838}}}};
  }
};

std::ptrdiff_t agents_of_group(const std::vector<CellState>& city, std::uint32_t group) {
  return std::count_if(city.begin(), city.end(), [group](const CellState& cell) { return cell.group == group; });
}

std::ptrdiff_t agents_in(const std::vector<CellState>& city) {
  return agents_of_group(city, 1) + agents_of_group(city, 2);
}

}  // namespace

DYNASOAR_MODEL_CASE(model_equality, Schelling);
DYNASOAR_MODEL_CASE(model_timed_steps, Schelling);
DYNASOAR_MODEL_CASE(model_long_history, Schelling);
DYNASOAR_MODEL_CASE(model_known_run, Schelling);
DYNASOAR_MODEL_CASE(model_colors, Schelling);
DYNASOAR_MODEL_CASE(model_heap, Schelling);

TEST_CASE("full and empty cities, and all wishes, are equal to the reference") {
  check_all<Schelling>(city_of(33, 20), kQuick ? 5 : 30);
  for (const double red : {0.0, 0.1, 1.0}) {
    for (const double similar : {0.0, 1.0 / 3, 1.0}) {
      Parameters parameters = restless_city_of(17, 13, 5);
      parameters.red = red;
      parameters.blue = red == 1 ? 0 : 0.3;
      parameters.similar = similar;
      CAPTURE(red);
      CAPTURE(similar);
      check_all<Schelling>(parameters, kQuick ? 2 : 12);
    }
  }
}

TEST_CASE("without patience and newcomers, agents move only, and get to live among their like") {
  for_each_run(with_reference<Schelling>(), city_of(kQuick ? 32 : 64, 48), [](Simulation& simulation) {
    const std::vector<Census> history = history_of(simulation, 60);
    const Census& start = history.front();
    const Census& end = history.back();
    CHECK(end.red == start.red);
    CHECK(end.blue == start.blue);
    CHECK(start.similar() < 0.55);
    CHECK(end.similar() > 0.8);
    CHECK(end.unhappy < start.unhappy / 20);
  });
}

TEST_CASE("agents of one group are happy and stay, and so are those without neighbours") {
  Parameters parameters = city_of(16, 12);
  parameters.blue = 0;
  parameters.similar = 1;
  parameters.patience = 1;
  Parameters lonely = city_of(50, 50, 3);
  lonely.red = lonely.blue = 0.001;
  lonely.similar = 1;
  for (const auto& implementation : with_reference<Schelling>()) {
    CAPTURE(implementation.name);
    CHECK((after<Schelling>(implementation, parameters, 5) == after<Schelling>(implementation, parameters, 0)));
    CHECK((after<Schelling>(implementation, lonely, 5) == after<Schelling>(implementation, lonely, 0)));
    CHECK(agents_in(after<Schelling>(implementation, lonely, 0)) > 0);
  }
}

TEST_CASE("in a full city no agent can move: the unhappy wait, and leave when their patience ends") {
  Parameters parameters = city_of(16, 12);
  parameters.red = parameters.blue = 0.5;
  for (const auto& implementation : with_reference<Schelling>()) {
    CAPTURE(implementation.name);
    parameters.patience = 0;
    const std::vector<CellState> start = after<Schelling>(implementation, parameters, 0);
    const std::vector<CellState> later = after<Schelling>(implementation, parameters, 4);
    for (std::size_t cell = 0; cell < start.size(); ++cell) {
      CHECK(later[cell].group == start[cell].group);
      CHECK((later[cell].unhappy == 0 || later[cell].unhappy == 4));
    }
    parameters.patience = 4;
    CHECK(agents_in(after<Schelling>(implementation, parameters, 3)) == 16 * 12);
    const std::vector<CellState> left = after<Schelling>(implementation, parameters, 4);
    for (std::size_t cell = 0; cell < start.size(); ++cell) {
      CHECK(left[cell].group == (later[cell].unhappy == 0 ? start[cell].group : 0));
    }
  }
}

TEST_CASE("newcomers of both groups move into vacant cells") {
  Parameters parameters = city_of(64, 64);
  parameters.red = parameters.blue = 0;
  parameters.similar = 0;
  for (const auto& implementation : with_reference<Schelling>()) {
    CAPTURE(implementation.name);
    parameters.newcomers = 0.25;
    const std::vector<CellState> city = after<Schelling>(implementation, parameters, 1);
    CHECK(agents_of_group(city, 1) == doctest::Approx(512).epsilon(0.15));
    CHECK(agents_of_group(city, 2) == doctest::Approx(512).epsilon(0.15));
    parameters.newcomers = 1;
    CHECK(agents_in(after<Schelling>(implementation, parameters, 1)) == 64 * 64);
  }
}

TEST_CASE("the chart of a city shows shares, also of an empty city") {
  const app::Chart chart = schelling::segregation_chart({{3, 5, 2, 0.75}, {0, 1, 1, 0}, {0, 0, 0, 0}}, "8 × 8 cells");
  REQUIRE(chart.series.size() == 2);
  CHECK(chart.series[0].values == std::vector{0.75, 0.0, 0.0});
  CHECK(chart.series[1].values == std::vector{0.25, 1.0, 0.0});
}

Parameters city_with(double red, double blue, double newcomers) {
  Parameters parameters = city_of(6, 5);
  parameters.red = red;
  parameters.blue = blue;
  parameters.newcomers = newcomers;
  return parameters;
}

TEST_CASE("a random number that is a share exactly is not below it") {
  const auto word = [](Decision decision, std::uint32_t step) {
    return dynasoar::random::words(dynasoar::random::Seed{42}, decision, 7u, step)[0];
  };
  check_shares<Schelling>(word(Decision::initial, 0), [](const auto& implementation, double red, double blue) {
    return after<Schelling>(implementation, city_with(red, blue, 0), 0)[7].group;
  });
  for (const auto& implementation : with_reference<Schelling>()) {
    CAPTURE(implementation.name);
    for (const double more : {0.0, 1.0}) {
      const double newcomers = (word(Decision::newcomer, 1) + more) / 4294967296.0;
      CHECK((after<Schelling>(implementation, city_with(0, 0, newcomers), 1)[7].group != 0) == (more > 0));
    }
  }
}
