/// @file
/// The forest fire: all implementations are the same simulation, and it is the one that apps/forest_fire/README.md
/// defines.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../platform/test_support.h"
#include "allocators.h"
#include "forest_fire/simulation.h"

namespace {

using forest_fire::Census;
using forest_fire::Ground;
using forest_fire::Parameters;
using forest_fire::Simulation;

// Under a GPU's sanitizers a step takes a hundred times as long.
constexpr bool kQuick = dynasoar::kCudaBackend && dynasoar::test::kSlowdown > 1;

struct Implementation {
  std::string name;
  std::function<std::unique_ptr<Simulation>(const Parameters&)> make;
};

std::vector<Implementation> implementations() {
  std::vector<Implementation> all = {{"trees", forest_fire::make_trees}};
  for (const Implementation& version : dynasoar::test::on_other_allocators(all)) all.push_back(version);
  all.push_back({"soa", forest_fire::make_soa_baseline});
  all.push_back({"aos", forest_fire::make_aos_baseline});
  return all;
}

std::vector<Implementation> implementations_and_reference() {
  std::vector<Implementation> all = implementations();
  all.push_back({"reference", forest_fire::make_reference});
  return all;
}

// A forest with so many fires that everything happens in few steps.
Parameters forest_of(int width, int height, std::uint64_t seed = 42) {
  Parameters parameters;
  parameters.width = width;
  parameters.height = height;
  parameters.seed = seed;
  parameters.trees = 0.5;
  parameters.growth = 0.1;
  parameters.lightning = 0.01;
  return parameters;
}

// A forest in which nothing is left to chance.
Parameters certain(int width, int height, double trees, double growth, double lightning) {
  Parameters parameters = forest_of(width, height);
  parameters.trees = trees;
  parameters.growth = growth;
  parameters.lightning = lightning;
  return parameters;
}

std::size_t count(const std::vector<Ground>& forest, Ground ground) {
  return static_cast<std::size_t>(std::count(forest.begin(), forest.end(), ground));
}

// Forests of the reference after 0, 1, ... steps.
std::vector<std::vector<Ground>> reference_forests(const Parameters& parameters, int steps) {
  const std::unique_ptr<Simulation> reference = forest_fire::make_reference(parameters);
  std::vector<std::vector<Ground>> forests = {reference->forest()};
  for (int step = 0; step < steps; ++step) {
    reference->step();
    forests.push_back(reference->forest());
  }
  return forests;
}

void check_all(Parameters parameters, int steps) {
  const std::vector<std::vector<Ground>> expected = reference_forests(parameters, steps);
  for (const Implementation& implementation : implementations()) {
    CAPTURE(implementation.name);
    CAPTURE(parameters.width);
    CAPTURE(parameters.height);
    CAPTURE(parameters.seed);
    // A GPU takes no notice of the number.
    for (const int threads : dynasoar::kCudaBackend ? std::vector{1} : std::vector{1, 2, 5}) {
      CAPTURE(threads);
      parameters.threads = threads;
      const std::unique_ptr<Simulation> simulation = implementation.make(parameters);
      for (std::size_t step = 0; step < expected.size(); ++step) {
        CAPTURE(step);
        if (step > 0) simulation->step();
        REQUIRE((simulation->forest() == expected[step]));
      }
    }
  }
}

}  // namespace

TEST_CASE("all implementations equal the reference, cell for cell, after every step") {
  for (const std::uint64_t seed : {std::uint64_t{42}, std::uint64_t{0xFEDCBA9876543210}}) {
    check_all(forest_of(1, 1, seed), kQuick ? 3 : 30);
    check_all(forest_of(1, 7, seed), kQuick ? 3 : 30);
    check_all(forest_of(6, 1, seed), kQuick ? 3 : 30);
    check_all(forest_of(2, 2, seed), kQuick ? 3 : 30);
    check_all(forest_of(33, 20, seed), kQuick ? 8 : 60);
  }
  check_all(forest_of(257, 129, 7), kQuick ? 2 : 25);
}

TEST_CASE("the reference finds the numbers that the definition gives") {
  // Computed by a separate program in another language, written from README.md.
  const std::unique_ptr<Simulation> reference = forest_fire::make_reference(forest_of(20, 15, 0x123456789ABCDEFull));
  for (int step = 0; step <= 40; ++step) {
    reference->record();
    reference->step();
  }
  const std::vector<Census> history = reference->take_history();
  CHECK((history[0] == Census{150, 0}));
  CHECK((history[1] == Census{163, 1}));
  CHECK((history[2] == Census{171, 3}));
  CHECK((history[5] == Census{187, 8}));
  CHECK((history[10] == Census{114, 41}));
  CHECK((history[20] == Census{123, 20}));
  CHECK((history[30] == Census{104, 19}));
  CHECK((history[40] == Census{104, 21}));
}

TEST_CASE("a tree's neighbours burn after it, and it is gone then") {
  // Trees everywhere; lightning strikes some, and from those a fire spreads by one cell in each direction.
  for (const Implementation& implementation : implementations_and_reference()) {
    CAPTURE(implementation.name);
    const Parameters parameters = certain(61, 53, 1, 0, 0.0002);
    const auto columns = static_cast<std::size_t>(parameters.width);
    const auto rows = static_cast<std::size_t>(parameters.height);
    const std::unique_ptr<Simulation> simulation = implementation.make(parameters);
    for (int step = 0; step < 12; ++step) {
      const std::vector<Ground> before = simulation->forest();
      simulation->step();
      const std::vector<Ground> after = simulation->forest();
      for (std::size_t c = 0; c < before.size(); ++c) {
        if (before[c] != Ground::fire) continue;
        CHECK(after[c] == Ground::empty);
        const std::size_t x = c % columns;
        const std::size_t y = c / columns;
        for (const std::size_t neighbor : {y * columns + (x + 1) % columns, y * columns + (x + columns - 1) % columns,
                                           (y + 1) % rows * columns + x, (y + rows - 1) % rows * columns + x}) {
          CHECK((after[neighbor] == Ground::fire) == (before[neighbor] == Ground::tree));
        }
      }
    }
    CHECK(count(simulation->forest(), Ground::empty) > 20);
  }
}

TEST_CASE("what is certain happens, and what is impossible does not") {
  for (const Implementation& implementation : implementations_and_reference()) {
    CAPTURE(implementation.name);
    const auto forest = [&](const Parameters& parameters, int steps) {
      const std::unique_ptr<Simulation> simulation = implementation.make(parameters);
      for (int step = 0; step < steps; ++step) simulation->step();
      return simulation->forest();
    };
    const std::vector<Ground> empty(12 * 9, Ground::empty);
    const std::vector<Ground> trees(12 * 9, Ground::tree);
    const std::vector<Ground> fires(12 * 9, Ground::fire);
    CHECK((forest(certain(12, 9, 0, 0, 1), 5) == empty));   // nothing to burn
    CHECK((forest(certain(12, 9, 0, 1, 0), 0) == empty));   // trees have not grown yet,
    CHECK((forest(certain(12, 9, 0, 1, 0), 1) == trees));   // now they have,
    CHECK((forest(certain(12, 9, 0, 1, 0), 40) == trees));  // and stay
    CHECK((forest(certain(12, 9, 1, 1, 1), 1) == fires));
    CHECK((forest(certain(12, 9, 1, 1, 1), 2) == empty));  // nothing grows where a fire is just going out
    CHECK((forest(certain(12, 9, 1, 1, 1), 3) == trees));
  }
}

TEST_CASE("trees grow and are struck as often as the probabilities say") {
  const auto after = [](const Parameters& parameters, int steps) {
    const std::unique_ptr<Simulation> simulation = forest_fire::make_reference(parameters);
    for (int step = 0; step < steps; ++step) simulation->step();
    return simulation->forest();
  };
  const double cells = 300 * 300;
  const auto share = [&](const std::vector<Ground>& forest, Ground ground) {
    return static_cast<double>(count(forest, ground)) / cells;
  };
  CHECK(share(after(certain(300, 300, 0.3, 0, 0), 0), Ground::tree) == doctest::Approx(0.3).epsilon(0.02));
  CHECK(share(after(certain(300, 300, 0, 0.1, 0), 2), Ground::tree) == doctest::Approx(0.19).epsilon(0.02));
  CHECK(share(after(certain(300, 300, 1, 0, 0.1), 1), Ground::fire) == doctest::Approx(0.1).epsilon(0.03));
}

TEST_CASE("the history is the number of trees in the forest, and each census is taken once") {
  for (const Implementation& implementation : implementations_and_reference()) {
    CAPTURE(implementation.name);
    const std::unique_ptr<Simulation> simulation = implementation.make(forest_of(19, 23));
    CHECK(simulation->take_history().empty());
    for (int step = 0; step < 10; ++step) {
      simulation->record();
      const std::vector<Ground> forest = simulation->forest();
      simulation->step();
      const std::vector<Census> history = simulation->take_history();
      REQUIRE(history.size() == 1);
      CHECK((history.front() == Census{count(forest, Ground::tree), count(forest, Ground::fire)}));
    }
  }
}

TEST_CASE("trees are created when they grow and deleted when they have burnt") {
  const std::unique_ptr<Simulation> simulation = forest_fire::make_trees(forest_of(40, 30));
  std::uint64_t created = count(simulation->forest(), Ground::tree);
  std::uint64_t deleted = 0;
  for (int step = 0; step < 20; ++step) {
    const std::vector<Ground> before = simulation->forest();
    simulation->step();
    const std::vector<Ground> after = simulation->forest();
    for (std::size_t c = 0; c < before.size(); ++c) created += before[c] == Ground::empty && after[c] == Ground::tree;
    deleted += count(before, Ground::fire);
    CHECK(simulation->usage()->allocations == created);
    CHECK(simulation->usage()->frees == deleted);
  }
  CHECK(deleted > 100);
}

TEST_CASE("a heap that is too small for a forest says which size is enough") {
  Parameters parameters = forest_of(256, 256);
  parameters.heap_bytes = 64 << 10;
  std::uint64_t needed = 0;
  try {
    forest_fire::make_trees(parameters);
  } catch (const app::HeapTooSmall& error) {
    needed = error.needed_bytes();
  }
  REQUIRE(needed > parameters.heap_bytes);
  parameters.heap_bytes = needed;
  CHECK_NOTHROW(forest_fire::make_trees(parameters));
}
