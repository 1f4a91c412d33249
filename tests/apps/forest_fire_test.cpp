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

#include <dynasoar/platform/executor.h>
#include <dynasoar/program/simulation.h>

#include "forest_fire/colors.h"
#include "forest_fire/rules.h"
#include "forest_fire/simulation.h"
#include "model_suite.h"

namespace {

using namespace dynasoar::test;
using namespace forest_fire;

// A forest with so many fires that everything happens in few steps.
Parameters forest_of(int width, int height, std::uint64_t seed = 42) {
  Parameters parameters = of_size<Parameters>(width, height, seed);
  parameters.trees = 0.5;
  parameters.growth = 0.1;
  parameters.lightning = 0.01;
  return parameters;
}

// A forest in which nothing is left to chance.
Parameters certain(int width, int height, double trees, double growth, double lightning) {
  Parameters parameters = of_size<Parameters>(width, height);
  parameters.trees = trees;
  parameters.growth = growth;
  parameters.lightning = lightning;
  return parameters;
}

std::size_t count(const std::vector<Ground>& forest, Ground ground) {
  return static_cast<std::size_t>(std::count(forest.begin(), forest.end(), ground));
}

struct ForestFire : Model<Simulation, Parameters> {
  static constexpr auto make_placed = forest_fire::make_placed;
  static constexpr auto reference = forest_fire::make_reference;
  static constexpr auto of_size = forest_of;
  static constexpr auto color_of = forest_fire::color_of;
  static constexpr int kSteps = kQuick ? 8 : 60;
  static constexpr int kLargeSteps = kQuick ? 2 : 25;

  static std::vector<Ground> state(Simulation& simulation) { return simulation.cells(); }
  static Census count(const std::vector<Ground>& forest) {
    return {::count(forest, Ground::tree), ::count(forest, Ground::fire)};
  }
  static Parameters small() { return forest_of(33, 20); }
  static Parameters crowded() { return forest_of(256, 256); }
  static KnownRun<Parameters, Census> known_run() {
    return {forest_of(20, 15, 0x123456789ABCDEF),
            {{0, {150, 0}},
             {1, {163, 1}},
             {2, {171, 3}},
             {5, {187, 8}},
             {10, {114, 41}},
             {20, {123, 20}},
             {30, {104, 19}},
             {40, {104, 21}}}};
  }
  static Implementations implementations() {
    Implementations all = {
        {"placed", forest_fire::make_placed}, {"soa", make_soa_baseline}, {"aos", make_aos_baseline}};
#ifdef APP_OPENMP_BASELINE
    all.push_back({"openmp", make_openmp_baseline});
#endif
    return all;
  }
};

}  // namespace

DYNASOAR_MODEL_SUITE(ForestFire);

TEST_CASE("loops are recorded once for each kind of step, unless the step is timed") {
  struct Recorded {
    std::function<void()> submit;
    void operator()() const { submit(); }
  };
  std::vector<std::string> done;
  const auto record = [&done](const app::SubmitStep& submit) {
    done.push_back("record");
    return Recorded{submit};
  };
  const auto kind = [&done](const std::string& name) { return [&done, name] { done.push_back(name); }; };
  app::RecordedSteps<Recorded> steps;
  app::PhaseClock clock(2, {"phase"});
  dynasoar::Executor executor(1);
  clock.begin_step(executor);
  steps.run(clock, 1, kind("timed"), record);
  CHECK(done == std::vector<std::string>{"timed"});
  done.clear();
  clock.begin_step(executor);
  steps.run(clock, 1, kind("odd"), record);
  steps.run(clock, 0, kind("even"), record);
  steps.run(clock, 1, kind("not recorded"), record);
  CHECK(done == std::vector<std::string>{"record", "odd", "record", "even", "odd"});
}

TEST_CASE("a tree's neighbours burn after it, and it is gone then") {
  // Trees everywhere; lightning strikes some, and from those a fire spreads by one cell in each direction.
  constexpr std::size_t kColumns = 61;
  constexpr std::size_t kRows = 53;
  for_each_run(with_reference<ForestFire>(), certain(kColumns, kRows, 1, 0, 0.0002), [&](Simulation& simulation) {
    for (int step = 0; step < 12; ++step) {
      const std::vector<Ground> before = simulation.cells();
      simulation.step();
      const std::vector<Ground> after = simulation.cells();
      for (std::size_t c = 0; c < before.size(); ++c) {
        if (before[c] != Ground::fire) continue;
        CHECK(after[c] == Ground::empty);
        const std::size_t x = c % kColumns;
        const std::size_t y = c / kColumns;
        for (const std::size_t neighbor :
             {y * kColumns + (x + 1) % kColumns, y * kColumns + (x + kColumns - 1) % kColumns,
              (y + 1) % kRows * kColumns + x, (y + kRows - 1) % kRows * kColumns + x}) {
          CHECK((after[neighbor] == Ground::fire) == (before[neighbor] == Ground::tree));
        }
      }
    }
    CHECK(count(simulation.cells(), Ground::empty) > 20);
  });
}

TEST_CASE("what is certain happens, and what is impossible does not") {
  for (const auto& implementation : with_reference<ForestFire>()) {
    CAPTURE(implementation.name);
    const auto forest = [&](const Parameters& parameters, int steps) {
      return after<ForestFire>(implementation, parameters, steps);
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

TEST_CASE("a random number that is the probability exactly means no, and one below it yes") {
  for (const auto& implementation : with_reference<ForestFire>()) {
    CAPTURE(implementation.name);
    const auto ground = [&](forest_fire::Decision decision, Ground before) {
      Parameters parameters = certain(1, 1, before == Ground::tree ? 1 : 0, 0, 0);
      const std::uint32_t step = decision == forest_fire::Decision::initial ? 0 : 1;
      double& probability = decision == forest_fire::Decision::initial  ? parameters.trees
                            : decision == forest_fire::Decision::growth ? parameters.growth
                                                                        : parameters.lightning;
      const std::uint32_t word =
          dynasoar::random::words(dynasoar::random::Seed{parameters.seed}, decision, 0u, step)[0];
      std::vector<Ground> found;
      for (const double least : {0.0, 1.0}) {
        probability = (word + least) / 4294967296.0;
        found.push_back(after<ForestFire>(implementation, parameters, static_cast<int>(step))[0]);
      }
      return found;
    };
    CHECK((ground(forest_fire::Decision::initial, Ground::empty) == std::vector{Ground::empty, Ground::tree}));
    CHECK((ground(forest_fire::Decision::growth, Ground::empty) == std::vector{Ground::empty, Ground::tree}));
    CHECK((ground(forest_fire::Decision::lightning, Ground::tree) == std::vector{Ground::tree, Ground::fire}));
  }
}

TEST_CASE("trees grow and are struck as often as the probabilities say") {
  const auto share = [](const Parameters& parameters, int steps, Ground ground) {
    const std::vector<Ground> forest = after<ForestFire>({"reference", forest_fire::make_reference}, parameters, steps);
    return static_cast<double>(count(forest, ground)) / (300 * 300);
  };
  CHECK(share(certain(300, 300, 0.3, 0, 0), 0, Ground::tree) == doctest::Approx(0.3).epsilon(0.02));
  CHECK(share(certain(300, 300, 0, 0.1, 0), 2, Ground::tree) == doctest::Approx(0.19).epsilon(0.02));
  CHECK(share(certain(300, 300, 1, 0, 0.1), 1, Ground::fire) == doctest::Approx(0.1).epsilon(0.03));
}
