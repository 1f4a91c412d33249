/// @file
/// Life and Generations: all implementations are the same cellular automaton, it is the one that apps/life/README.md
/// defines, and patterns do what the Life community knows of them.

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/program/options.h>

#include "life/box.h"
#include "life/rle.h"
#include "life/rule.h"
#include "life/simulation.h"
#include "life/start.h"
#include "model_suite.h"

namespace {

using namespace dynasoar::test;
using life::Edge;
using life::Frame;
using life::Parameters;
using life::Pattern;
using life::Population;
using life::Rule;
using life::Simulation;

using LifeModel = Model<Simulation, Parameters>;
using LifeImplementation = LifeModel::Implementation;
using Implementations = LifeModel::Implementations;

Implementations implementations(int states) {
  Implementations all = {{"cells", life::make_cells},          {"placed", life::make_placed},
                         {"soa", life::make_soa_baseline},     {"aos", life::make_aos_baseline},
                         {"dense", life::make_dense_baseline}, {"dense cells", life::make_dense_cells}};
  if (states == 2) all.push_back({"stencil", life::make_stencil_baseline});
#ifdef APP_OPENMP_BASELINE
  if (states == 2) all.push_back({"openmp", life::make_openmp_baseline});
#endif
  return all;
}

Implementations implementations_and_reference(int states) {
  return implementations(states) + Implementations{{"reference", life::make_reference}};
}

Parameters random_start(int width, int height, const std::string& rule = "B3/S23", std::uint64_t seed = 42) {
  return {.width = width, .height = height, .density = 0.35, .seed = seed, .rule = life::parse_rule(rule)};
}

Parameters random_torus(int width, int height, const std::string& rule, std::uint64_t seed) {
  Parameters parameters = random_start(width, height, rule, seed);
  parameters.edge = Edge::torus;
  return parameters;
}

Parameters start_of(const Pattern& pattern, const std::string& file) {
  return {.width = pattern.width,
          .height = pattern.height,
          .start = pattern.states(),
          .rule = life::rule_of(pattern, file, {})};
}

// A pattern of apps/life/patterns.
Parameters pattern(const std::string& name) {
  const std::string path = std::string(LIFE_PATTERNS "/") + name + ".rle";
  return start_of(life::read_rle(path), path);
}

std::unique_ptr<Simulation> on_plane(const Parameters& parameters, const life::Make& make = life::make_placed) {
  return life::make_growing(parameters, make);
}

Implementations on_plane(Implementations implementations) {
  for (LifeImplementation& implementation : implementations) {
    implementation.make = [make = implementation.make](const Parameters& parameters) {
      return life::make_growing(parameters, make);
    };
  }
  return implementations;
}

// What lives, as a pattern with its place on the plane.
Pattern alive_part(Simulation& simulation) {
  const Frame frame = simulation.frame();
  const std::optional<life::Box> box = life::bounding_box(frame);
  if (!box) return {};
  Pattern part;
  part.left = frame.left + box->left;
  part.top = frame.top + box->top;
  part.width = box->width();
  part.height = box->height();
  part.set_states(life::states_in(frame, *box));
  return part;
}

struct Life : LifeModel {
  static constexpr auto make_placed = life::make_placed;
  static constexpr auto reference = life::make_reference;
  static constexpr int kSteps = 20;
  static constexpr int kCrowdedSteps = 20;

  static Implementations object_variants() { return {{"cells", life::make_cells}}; }
  static Implementations implementations() { return ::implementations(2); }
  static Frame state(Simulation& simulation) { return simulation.frame(); }
  static Parameters small() { return random_start(53, 38, "B36/S23"); }
  static Parameters crowded() { return random_start(256, 256); }
  static KnownRun<Parameters, Population> known_run() {
    return {random_torus(20, 15, "B3/S23", 0x123456789ABCDEF),
            {{0, {102, 0, 193}}, {1, {101, 0, 179}}, {2, {87, 0, 182}}, {10, {57, 0, 143}}, {20, {30, 0, 65}}}};
  }
};

struct Generations : Life {
  static Implementations implementations() { return ::implementations(3); }
  static Parameters small() { return random_start(53, 38, "23/36/8"); }
  static KnownRun<Parameters, Population> known_run() {
    return {random_torus(20, 15, "345/2/4", 0x123456789ABCDEF),
            {{1, {121, 44, 133}}, {2, {105, 82, 108}}, {10, {70, 65, 111}}, {20, {17, 46, 59}}}};
  }
};

void check_all(const Parameters& parameters, int steps, const std::vector<int>& threads) {
  CAPTURE(parameters.margin);
  CAPTURE(life::text_of(parameters.rule));
  CAPTURE((parameters.edge == Edge::torus));
  dynasoar::test::check_all<Life>(parameters, steps, implementations(parameters.rule.states), threads);
}

}  // namespace

DYNASOAR_MODEL_CASE(model_allocators, Life);
DYNASOAR_MODEL_CASE(model_allocators, Generations);
DYNASOAR_MODEL_CASE(model_timed_steps, Life);
DYNASOAR_MODEL_CASE(model_timed_steps, Generations);
DYNASOAR_MODEL_CASE(model_known_run, Life);
DYNASOAR_MODEL_CASE(model_known_run, Generations);
DYNASOAR_MODEL_CASE(model_long_history, Life);
DYNASOAR_MODEL_CASE(model_heap, Life);

TEST_CASE("the box of what lives has the first and the last row and column") {
  for (int x = 0; x < 3; ++x) {
    for (int y = 0; y < 4; ++y) {
      Frame frame{0, 0, 3, 4, std::vector<std::uint16_t>(12)};
      CHECK_FALSE(life::bounding_box(frame).has_value());
      frame.states[static_cast<std::size_t>(3 * y + x)] = 2;
      const std::optional<life::Box> box = life::bounding_box(frame);
      REQUIRE(box.has_value());
      CHECK((box->left == x && box->right == x && box->top == y && box->bottom == y));
      CHECK((box->width() == 1 && box->height() == 1));
    }
  }
}

TEST_CASE("all implementations equal the reference, cell for cell, after every step") {
  struct Size {
    int width;
    int height;
    int steps;
  };
  std::vector<Size> sizes = {{1, 1, 4},    {1, 7, 12},   {6, 1, 12},   {2, 2, 8},    {3, 5, 20},   {64, 9, 25},
                             {65, 17, 25}, {63, 12, 12}, {1, 130, 12}, {130, 1, 12}, {128, 5, 12}, {257, 129, 3}};
  std::vector<const char*> rules = {"B3/S23", "345/2/4", "B36/S125", "/2/3"};
  if (kQuick) {
    sizes = {sizes[1], sizes[6]};
    rules.resize(2);
  }
  for (const char* rule : rules) {
    for (const Edge edge : {Edge::dead, Edge::torus}) {
      for (const Size& size : sizes) {
        Parameters parameters = random_start(size.width, size.height, rule, static_cast<std::uint64_t>(size.width));
        parameters.edge = edge;
        check_all(parameters, kQuick ? 3 : size.steps, {2});
      }
    }
  }
}

TEST_CASE("the number of threads makes no difference") {
  for (const std::uint64_t seed : {std::uint64_t{0}, 0xFEDCBA9876543210u}) {
    for (const char* rule : {"B3/S23", "345/2/4"}) {
      Parameters parameters = random_start(140, 67, rule, seed);
      parameters.margin = 5;
      parameters.edge = seed == 0 ? Edge::dead : Edge::torus;
      check_all(parameters, kQuick ? 2 : 25, thread_counts());
    }
  }
}

TEST_CASE("cells die through as many states as the rule says, also more than fit in a byte") {
  for (const char* rule : {"B2/S/C256", "B3468/S0235678/C257", "B3468/S0235678/C265"}) {
    Parameters parameters = random_start(24, 11, rule);
    parameters.edge = Edge::torus;
    check_all(parameters, kQuick ? 5 : 290, {1});
  }
}

TEST_CASE("a start with dying cells is taken as it is") {
  Parameters parameters = random_start(13, 9, "B2/S23/C6");
  std::mt19937 random(7);
  for (int i = 0; i < 13 * 9; ++i) parameters.start.push_back(static_cast<std::uint16_t>(random() % 6));
  parameters.margin = 2;
  parameters.left = -100;
  parameters.top = 30;
  check_all(parameters, 20, {1});
  const Frame frame = life::make_placed(parameters)->frame();
  CHECK(frame.left == -102);
  CHECK(frame.top == 28);
  CHECK(frame.width == 17);
  CHECK(frame.height == 13);
}

TEST_CASE("other densities are equal to the reference, too") {
  for (const double density : {0.0, 0.02, 1.0}) {
    Parameters parameters = random_start(37, 21);
    parameters.density = density;
    check_all(parameters, 10, {2});
  }
}

TEST_CASE("a cell is alive at the start if its random number is below the density, and not if it is that exactly") {
  Parameters parameters = random_start(5, 3);
  const std::uint32_t word =
      dynasoar::random::words(dynasoar::random::Seed{parameters.seed}, life::Decision::initial, 7u, 0)[0];
  for (const auto& implementation : implementations_and_reference(2)) {
    CAPTURE(implementation.name);
    for (const double more : {0.0, 1.0}) {
      parameters.density = (word + more) / 4294967296.0;
      CHECK(implementation.make(parameters)->frame().states[7] == (more > 0 ? 1 : 0));
    }
  }
}

TEST_CASE("a million cells are equal to the reference") {
  const int side = kSlowdown > 1 ? 250 : 1000;
  Parameters parameters = random_start(side, side);
  parameters.edge = Edge::torus;
  check_all(parameters, 3, {2});
  parameters.rule = life::parse_rule("345/2/4");
  check_all(parameters, 1, {2});
}

TEST_CASE("a glider moves by one cell in both directions every four generations, and so does its frame") {
  const Parameters glider = pattern("glider");
  for_each_run(on_plane(implementations_and_reference(2)), glider, [&](Simulation& simulation) {
    const int periods = kQuick ? 3 : 100;
    for (int period = 1; period <= periods; ++period) {
      run(simulation, 4);
      if (period % 10 != 0 && period != periods) continue;
      const Pattern part = alive_part(simulation);
      CHECK(part.left == period);
      CHECK(part.top == period);
      CHECK((part.states() == glider.start));
    }
    CHECK(simulation.frame().width <= 3 + 2 * 64);
  });
}

TEST_CASE("the smallest ship of Brian's Brain moves one cell in every generation") {
  const Parameters ship = pattern("brians_brain_ship");
  for_each_run(on_plane(implementations_and_reference(3)), ship, [&](Simulation& simulation) {
    const int steps = kQuick ? 10 : 150;
    run(simulation, steps);
    const Pattern part = alive_part(simulation);
    CHECK(part.left == 0);
    CHECK(part.top == -steps);
    CHECK((part.states() == ship.start));
  });
}

TEST_CASE("Gosper's gun emits a glider every 30 generations") {
  for_each_run(on_plane(implementations(2)), pattern("gosper_glider_gun"), [](Simulation& simulation) {
    const int periods = kQuick ? 1 : 8;
    const std::vector<Population> history = history_of(simulation, 30 * periods);
    CHECK(history[0].alive == 36);
    for (std::size_t step = 30; step < history.size(); ++step)
      CHECK(history[step].alive == history[step - 30].alive + 5);
  });
}

TEST_CASE("the R-pentomino is stable from generation 1103 on, with 116 cells") {
  const std::unique_ptr<Simulation> simulation = on_plane(pattern("r_pentomino"));
  const int last = kQuick ? 40 : 1150;
  const std::vector<Population> history = history_of(*simulation, last);
  CHECK(history[0].alive == 5);
  if (kQuick) return;
  CHECK(history[1102].alive != 116);
  for (std::size_t step = 1103; step < history.size(); ++step) CHECK(history[step].alive == 116);
}

TEST_CASE("the acorn has 633 cells from generation 5206 on") {
  if (kSlowdown > 1) return;
  const std::unique_ptr<Simulation> simulation = on_plane(pattern("acorn"));
  const std::vector<Population> history = history_of(*simulation, 5220);
  CHECK(history[0].alive == 7);
  CHECK(history[5205].alive != 633);
  for (std::size_t step = 5206; step < history.size(); ++step) CHECK(history[step].alive == 633);
}

TEST_CASE("the puffer train's front moves at half the speed of light") {
  const std::unique_ptr<Simulation> simulation = on_plane(pattern("puffer_train"));
  const auto reach = [&] {
    const Pattern part = alive_part(*simulation);
    return std::array{part.left, part.left + part.width};
  };
  const auto start = reach();
  run(*simulation, kQuick ? 8 : 400);
  const auto end = reach();
  CHECK(end[1] - start[1] == (kQuick ? 4 : 200));
}

TEST_CASE("HighLife's replicator copies itself") {
  for_each_run(on_plane(implementations(2)), pattern("highlife_replicator"), [](Simulation& simulation) {
    const int copies = kQuick ? 1 : 8;
    const std::vector<Population> history = history_of(simulation, 12 * copies);
    // The copies are a row of Pascal's triangle modulo 2.
    for (int n = 0; n <= copies; ++n) {
      CAPTURE(n);
      const int ones = std::popcount(static_cast<unsigned>(n));
      CHECK(history[static_cast<std::size_t>(12 * n)].alive == std::uint64_t{12} << ones);
    }
  });
}

TEST_CASE("Rendell's Turing machine has 36567 cells alive after 300 generations") {
  const Parameters parameters = pattern("turing_machine");
  CHECK(parameters.width == 1714);
  CHECK(parameters.height == 1647);
  // The others look at each cell of the frame, or have an object for each: too slow for a test on CPUs.
  for (const auto& implementation : Implementations{{"placed", life::make_placed},
                                                    {"soa", life::make_soa_baseline},
                                                    {"aos", life::make_aos_baseline},
                                                    {"stencil", life::make_stencil_baseline}}) {
    CAPTURE(implementation.name);
    const std::unique_ptr<Simulation> simulation = implementation.make(parameters);
    const int steps = kSlowdown > 1 ? 2 : 300;
    simulation->record();
    run(*simulation, steps);
    simulation->record();
    const std::vector<Population> history = simulation->take_history();
    CHECK((history[0] == Population{36549, 0, 102061}));
    if (steps == 300) CHECK(history[1].alive == 36567);
  }
}

TEST_CASE("a growing frame is the unbounded plane") {
  Parameters parameters = random_start(40, 24, "B3/S23", 5);
  const int steps = kQuick ? 5 : 300;
  Parameters large = parameters;
  large.margin = steps;  // nothing gets farther
  const std::unique_ptr<Simulation> plane = life::make_dense_baseline(large);
  std::vector<std::unique_ptr<Simulation>> growing;
  for (const auto& implementation : implementations(2)) {
    growing.push_back(on_plane(parameters, implementation.make));
  }
  for (int step = 1; step <= steps; ++step) {
    plane->step();
    plane->record();
    for (const std::unique_ptr<Simulation>& simulation : growing) {
      simulation->step();
      simulation->record();
    }
    if (step % 50 != 0 && step != steps) continue;
    const Pattern expected = alive_part(*plane);
    for (const std::unique_ptr<Simulation>& simulation : growing) {
      const Pattern part = alive_part(*simulation);
      CHECK(part.left == expected.left);
      CHECK(part.top == expected.top);
      CHECK((part.runs == expected.runs));
    }
  }
  const std::vector<Population> history = plane->take_history();
  REQUIRE(history.size() == static_cast<std::size_t>(steps));
  for (const std::unique_ptr<Simulation>& simulation : growing) CHECK((simulation->take_history() == history));
}

TEST_CASE("a growing frame adds up what its implementations allocate, and their times") {
  Parameters parameters = pattern("r_pentomino");
  parameters.profile_every = 1;
  const std::unique_ptr<Simulation> simulation = on_plane(parameters, life::make_cells);
  std::uint64_t before = 0;
  for (int i = 0; i < (kQuick ? 2 : 6); ++i) {
    run(*simulation, kQuick ? 10 : 50);
    const app::HeapUsage usage = simulation->usage().value().heap.value();
    CHECK(usage.allocations > before);
    CHECK(usage.allocations > usage.frees);
    before = usage.allocations.value();
  }
  CHECK(simulation->phases().size() == 4);
}

TEST_CASE("a plane on which all has died needs nothing more") {
  Parameters parameters = of_size<Parameters>(2, 1);
  parameters.start = {1, 1};
  for_each_run(on_plane(implementations_and_reference(2)), parameters, [](Simulation& simulation) {
    CHECK((history_of(simulation, kQuick ? 5 : 500).back() == Population{}));
  });
}

TEST_CASE("a growing frame is not made as a forged checkpoint says") {
  constexpr std::int64_t kInt = std::numeric_limits<int>::max();
  constexpr std::int64_t kLong = std::numeric_limits<std::int64_t>::max();
  using Notes = std::vector<std::int64_t>;
  // left, top, width, height, steps that the frame is exact for, steps made, margin, allocations, frees
  const Notes right = {0, 0, 40, 30, 64, 7, 64, 0, 0};
  std::vector<Notes> forgeries = {{}, {0, 0, kInt, kInt, 0, 0, kInt, 0, 0}, {0, 0, 20000, 20000, 0, 0, 64, 0, 0}};
  using Change = std::pair<std::size_t, std::int64_t>;
  for (const auto& [i, value] :
       std::vector<Change>{{0, kInt},      {0, -kInt},    {0, kLong}, {1, kInt - 60},
                           {1, 60 - kInt}, {1, -kLong},   {2, 0},     {2, 1 << 14},
                           {2, kInt},      {2, kLong},    {3, -1},    {3, 1 << 14},
                           {3, 2 * kInt},  {4, -1},       {4, 79},    {4, kLong},
                           {5, -1},        {5, kInt + 1}, {5, kLong}, {6, -1},
                           {6, 1 << 12},   {6, kInt},     {6, kLong}, {3, (std::int64_t{1} << 32) + 30}}) {
    forgeries.push_back(right);
    forgeries.back()[i] = value;
  }

  const Notes larger = {0, 0, 41, 30, 64, 7, 64, 0, 0};  // the file has enough bytes, but is of another frame
  Parameters parameters = random_start(40, 30);
  parameters.edge = Edge::grow;
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "life_test_forged";
  std::filesystem::create_directories(folder);
  const auto file = [&](std::size_t number) { return (folder / std::to_string(number)).string(); };
  {
    Parameters frame = parameters;
    frame.edge = Edge::dead;
    frame.margin = 64;
    frame.options = life::options_of(parameters);
    const std::unique_ptr<Simulation> saved = life::make_placed(frame);
    const auto save = [&](const Notes& notes, std::size_t number) {
      saved->notes = notes;
      saved->save(file(number));
    };
    for (std::size_t i = 0; i < forgeries.size(); ++i) save(forgeries[i], i);
    save(right, 100);
    save(larger, 101);
  }

  int made = 0;
  const std::unique_ptr<Simulation> simulation = on_plane(parameters, [&](const Parameters& wanted) {
    ++made;
    return life::make_placed(wanted);
  });
  for (std::size_t i = 0; i < forgeries.size(); ++i) {
    CAPTURE(i);
    CHECK_THROWS_WITH_AS(simulation->load(file(i)), doctest::Contains("--edge: the frame of the run in"),
                         app::UsageError);
  }
  CHECK(made == 1);  // the one at the beginning, which is still there
  run(*simulation, 1);
  CHECK(simulation->load(file(100)) == 7);
  CHECK(made == 2);
  CHECK_THROWS_WITH_AS(simulation->load(file(101)), doctest::Contains("'Alive (class 0) on 168 x 158 places: "),
                       std::runtime_error);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a plane that would need too many cells is refused") {
  Parameters parameters = random_start(40000, 40000);
  CHECK_THROWS_WITH(static_cast<void>(on_plane(parameters)), doctest::Contains("more than 2^31 - 1 cells"));
}
