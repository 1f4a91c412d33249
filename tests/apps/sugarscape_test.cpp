/// @file
/// Sugarscape: all implementations are the same simulation, and it is the one that apps/sugarscape/README.md defines.

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model_suite.h"
#include "sugarscape/colors.h"
#include "sugarscape/grid.h"
#include "sugarscape/rules.h"
#include "sugarscape/simulation.h"

namespace {

using namespace dynasoar::test;
using namespace sugarscape;

Parameters land_of(int width, int height, std::uint64_t seed = 42, double males = 0.12, double females = 0.15) {
  Parameters parameters = of_size<Parameters>(width, height, seed);
  parameters.males = males;
  parameters.females = females;
  return parameters;
}

Census count(const std::vector<CellState>& landscape) {
  Census census;
  for (const CellState& cell : landscape) {
    census.males += cell.kind == 1;
    census.females += cell.kind == 2;
    census.sugar += cell.sugar;
  }
  return census;
}

struct Sugarscape : Model<Simulation, Parameters> {
  static constexpr auto make_placed = sugarscape::make_placed;
  static constexpr auto reference = sugarscape::make_reference;
  static constexpr auto count = ::count;
  static constexpr int kSteps = 40;
  static constexpr int kLargeSteps = kQuick ? 2 : 12;
  static constexpr int kHistorySteps = kQuick ? 70 : 300;
  static constexpr int kCrowdedSteps = 3;

  // Slow builds leave the comparison of numbers of threads to the others.
  static std::vector<int> threads() {
    const bool is_slow = dynasoar::kChecked || dynasoar::test::kSlowdown > 1;
    return is_slow ? std::vector{5} : thread_counts();
  }
  static Implementations object_variants() { return {{"cells", make_cells}, {"agents", make_agents}}; }
  static Implementations implementations() {
    return object_variants() +
           Implementations{{"placed", sugarscape::make_placed}, {"soa", make_soa_baseline}, {"aos", make_aos_baseline}};
  }
  static std::vector<CellState> state(Simulation& simulation) { return simulation.cells(); }
  static app::Rgb color_of(const CellState& cell) {
    return sugarscape::color_of(cell.kind, std::sqrt(cell.sugar / sugarscape::kMostSugar));
  }
  static Parameters of_size(int width, int height, std::uint64_t seed) { return land_of(width, height, seed); }
  static Parameters small() { return land_of(29, 23, 3, 0.3, 0.3); }
  static Parameters crowded() { return land_of(128, 128); }
  static KnownRun<Parameters, Census> known_run() {
    return {land_of(60, 40, 0x123456789ABCDEF),
            {{0, {286, 349, 0}},
             {1, {270, 324, 1265}},
             {2, {183, 237, 2463}},
             {3, {111, 130, 3002}},
             {5, {51, 61, 6127}},
             {10, {34, 34, 15014}},
             {22, {34, 31, 28866}},
             {30, {44, 39, 28100}},
             {50, {44, 44, 25734}},
             {80, {37, 47, 30231}},
             {100, {38, 31, 130446}},
             {120, {39, 34, 461345}}}};
  }
};

}  // namespace

DYNASOAR_MODEL_SUITE(Sugarscape);

TEST_CASE("the n-th position of a set is the n-th set bit") {
  for (const std::uint32_t bits : {0x1FFEFFFu, 0x00729C0u, 0x1000000u, 0x1u, 0x0A50C3Fu}) {
    const sugarscape::Positions positions(bits);
    std::uint32_t n = 0;
    for (std::uint32_t p = 0; p < sugarscape::kWindowCells; ++p) {
      REQUIRE(positions.contains(p) == ((bits >> p & 1) != 0));
      if (positions.contains(p)) CHECK(positions[n++] == p);
    }
    CHECK(positions.size() == n);
  }
}

TEST_CASE("of agents with equal wealth, the first is taken; of places with equal sugar, all are") {
  sugarscape::RichestAgent richest;
  CHECK(richest.position() == sugarscape::kNone);
  for (const std::uint32_t position : {3u, 7u, 8u, 20u}) richest.consider(position, position == 3 ? 5 : 9);
  CHECK(richest.position() == 7);

  sugarscape::BestPlaces best;
  best.consider(2, false, 9);
  CHECK(best.positions().empty());
  best.consider(3, true, 0);
  best.consider(4, false, 0);
  best.consider(6, true, 0);
  CHECK(best.positions().size() == 2);
  best.consider(9, true, 5);
  best.consider(10, true, 4);
  best.consider(11, true, 5);
  CHECK(best.positions().size() == 2);
  CHECK(best.positions()[0] == 9);
  CHECK(best.positions()[1] == 11);
}

TEST_CASE("a cell's sight is the grid within the distance, without the cell") {
  for (std::uint32_t width = 1; width <= 6; ++width) {
    for (std::uint32_t height = 1; height <= 6; ++height) {
      const sugarscape::Grid grid{width, height};
      for (std::uint32_t c = 0; c < grid.cells(); ++c) {
        for (const int distance : {1, 2}) {
          const sugarscape::Positions sight = grid.sight(c, static_cast<std::uint32_t>(distance));
          for (std::uint32_t p = 0; p < sugarscape::kWindowCells; ++p) {
            const int dx = static_cast<int>(p % 5) - 2;
            const int dy = static_cast<int>(p / 5) - 2;
            const int x = static_cast<int>(c % width) + dx;
            const int y = static_cast<int>(c / width) + dy;
            const bool near = dx >= -distance && dx <= distance && dy >= -distance && dy <= distance && p != 12;
            const bool inside = x >= 0 && x < static_cast<int>(width) && y >= 0 && y < static_cast<int>(height);
            REQUIRE(sight.contains(p) == (near && inside));
            if (!sight.contains(p)) continue;
            REQUIRE(grid.at(c, p) == static_cast<std::uint32_t>(y * static_cast<int>(width) + x));
            REQUIRE(grid.at(grid.at(c, p), sugarscape::mirrored(p)) == c);
          }
        }
      }
    }
  }
}

TEST_CASE("booms and busts are equal to the reference, too") {
  // Between them, these contain contested cradles, males without one, rivals, equally rich females, females with all
  // their children, deaths of old age and cells that are full of sugar.
  check_all<Sugarscape>(land_of(40, 32, 46), kQuick ? 2 : 170);
  check_all<Sugarscape>(land_of(40, 32, 164), kQuick ? 2 : 170);
  check_all<Sugarscape>(land_of(40, 32, 56), kQuick ? 2 : 170);
}

TEST_CASE("other shares of males and females are equal to the reference, too") {
  check_all<Sugarscape>(land_of(4, 5, 42, 0.5, 0.5), 30);
  for (const double males : {0.0, 0.05, 0.5}) {
    for (const double females : {0.0, 0.1, 0.5}) {
      CAPTURE(males);
      CAPTURE(females);
      check_all<Sugarscape>(land_of(21, 17, 9, males, females), kQuick ? 3 : 25);
    }
  }
}

TEST_CASE("the start has the shares that the definition gives, and traits within their ranges") {
  for_each_run(with_reference<Sugarscape>(), land_of(200, 150), [](Simulation& simulation) {
    const std::vector<CellState> landscape = simulation.cells();
    const Census census = count(landscape);
    CHECK(static_cast<double>(census.males) == doctest::Approx(3600).epsilon(0.05));
    CHECK(static_cast<double>(census.females) == doctest::Approx(4500).epsilon(0.05));
    std::vector<int> growths(51);
    for (const CellState& cell : landscape) {
      ++growths.at(cell.growth);
      REQUIRE(cell.sugar == 0);
      if (cell.kind == 0) continue;
      REQUIRE((cell.age == 0 && cell.children == 0 && cell.wealth == cell.endowment));
      REQUIRE((cell.vision >= 1 && cell.vision <= 2 && cell.max_age >= 66 && cell.max_age <= 98));
      REQUIRE((cell.endowment >= 50 && cell.endowment <= 199 && cell.metabolism >= 26 && cell.metabolism <= 78));
      REQUIRE((cell.kind == 1 ? cell.max_children == 0 : cell.max_children >= 2 && cell.max_children <= 7));
    }
    CHECK(growths[50] == doctest::Approx(600).epsilon(0.15));
    CHECK(growths[25] == doctest::Approx(600).epsilon(0.15));
    CHECK(growths[12] == doctest::Approx(1200).epsilon(0.15));
    CHECK(growths[0] + growths[12] + growths[25] + growths[50] == 30000);
  });
}

TEST_CASE("a random number that is a share exactly is not below it") {
  const std::uint32_t word =
      dynasoar::random::words(dynasoar::random::Seed{42}, sugarscape::Decision::initial_agent, 7u, 0)[0];
  check_shares<Sugarscape>(word, [](const auto& implementation, double males, double females) {
    return implementation.make(land_of(6, 5, 42, males, females))->cells()[7].kind;
  });
}

TEST_CASE("sugar grows on a cell whose random number is below a share, and less where it is the share exactly") {
  struct Known {
    std::uint64_t seed;
    std::uint32_t cell;
    std::uint32_t word;
    int growth;
  };
  // Seeds that were searched for, each with a cell whose random number is at the end of a share of 2^32.
  for (const Known& known : {Known{2377578, 375, 85899344, 50},
                             {906726, 595, 85899345, 25},
                             {3207333, 430, 171798690, 25},
                             {770150, 727, 171798691, 12},
                             {4008752, 445, 343597382, 12},
                             {1016407, 992, 343597383, 0}}) {
    CAPTURE(known.word);
    const dynasoar::random::Seed seed{known.seed};
    REQUIRE(dynasoar::random::words(seed, sugarscape::Decision::growth, known.cell, 0)[0] == known.word);
    for_each_run(with_reference<Sugarscape>(), land_of(32, 32, known.seed), [&](Simulation& simulation) {
      CHECK(static_cast<int>(simulation.cells()[known.cell].growth) == known.growth);
    });
  }
}

TEST_CASE("without agents, sugar grows and spreads until every cell but the corners is full") {
  for_each_run(with_reference<Sugarscape>(), land_of(16, 20, 42, 0, 0), [](Simulation& simulation) {
    simulation.step();
    for (const CellState& cell : simulation.cells()) {
      // A gift below 8 reaches no agent.
      CHECK(cell.sugar == cell.growth - cell.growth / 8);
    }
    for (int step = 1; step < 300; ++step) simulation.step();
    const std::vector<CellState> full = simulation.cells();
    for (std::size_t c = 0; c < full.size(); ++c) {
      // A corner receives 8 * 7 from its neighbours and gives 60.
      const bool is_corner = (c % 16 == 0 || c % 16 == 15) && (c / 16 == 0 || c / 16 == 19);
      if (!is_corner) REQUIRE(full[c].sugar == 3500);
    }
  });
}

TEST_CASE("nobody is born before somebody is 22 steps old, and mothers bear no more children than they can") {
  for_each_run(with_reference<Sugarscape>(), land_of(50, 40, 2), [](Simulation& simulation) {
    std::uint64_t before = 50 * 40;
    std::uint64_t children = 0;
    for (int step = 1; step <= 60; ++step) {
      simulation.step();
      const std::vector<CellState> landscape = simulation.cells();
      const Census census = count(landscape);
      if (step < 22) CHECK(census.males + census.females <= before);
      before = census.males + census.females;
      for (const CellState& cell : landscape) {
        if (cell.kind == 0) continue;
        REQUIRE((cell.wealth > 0 && cell.age <= cell.max_age && cell.children <= cell.max_children));
        // An agent that was there at the start is as old as the simulation.
        if (step < 22) REQUIRE(cell.age == step);
        children += cell.kind != 0 && cell.age == 0;
      }
    }
    CHECK(children > 10);
  });
}

TEST_CASE("one sex alone dies out within the longest life") {
  for (const double males : {0.0, 0.5}) {
    for_each_run(with_reference<Sugarscape>(), land_of(30, 20, 42, males, 0.5 - males), [](Simulation& simulation) {
      const std::vector<Census> history = history_of(simulation, 99);
      CHECK(history[65].males + history[65].females > 0);
      CHECK(history[99].males + history[99].females == 0);
    });
  }
}
