/// @file
/// Wa-Tor: all implementations are the same simulation, and it is the one that apps/wa_tor/README.md defines. Likewise
/// the torus and the canvas, which other models share.

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <app/canvas.h>
#include <app/torus.h>
#include <dynasoar/platform/executor.h>

#include "model_suite.h"
#include "wa_tor/colors.h"
#include "wa_tor/rules.h"
#include "wa_tor/simulation.h"

namespace {

using namespace dynasoar::test;
using namespace wa_tor;

Parameters ocean_of(int width, int height, std::uint64_t seed = 42, double fish = 0.25, double sharks = 0.25) {
  Parameters parameters = of_size<Parameters>(width, height, seed);
  parameters.fish = fish;
  parameters.sharks = sharks;
  return parameters;
}

struct WaTor : Model<Simulation, Parameters> {
  static constexpr auto make_placed = wa_tor::make_placed;
  static constexpr auto reference = wa_tor::make_reference;
  static constexpr auto color_of = wa_tor::color_of;
  static constexpr int kSteps = kQuick ? 20 : 60;
  static constexpr int kLargeSteps = kQuick ? 2 : 40;
  static constexpr int kCrowdedSteps = 60;

  static Implementations object_variants() { return {{"cells", make_cells}, {"agents", make_agents}}; }
  static std::vector<CellState> state(Simulation& simulation) { return simulation.cells(); }
  static Population count(const std::vector<CellState>& ocean) {
    Population population;
    for (const CellState& cell : ocean) {
      population.fish += cell.kind == 1;
      population.sharks += cell.kind == 2;
    }
    return population;
  }
  static Parameters of_size(int width, int height, std::uint64_t seed) { return ocean_of(width, height, seed); }
  static Parameters small() { return ocean_of(33, 20); }
  static Parameters crowded() { return ocean_of(256, 256); }
  static KnownRun<Parameters, Population> known_run() {
    return {ocean_of(20, 15, 0x123456789ABCDEF),
            {{0, {63, 87}},
             {1, {24, 87}},
             {2, {19, 52}},
             {5, {12, 61}},
             {10, {10, 17}},
             {20, {20, 5}},
             {30, {89, 3}},
             {40, {225, 8}}}};
  }
  static Implementations implementations() {
    Implementations all =
        object_variants() +
        Implementations{{"placed", wa_tor::make_placed}, {"soa", make_soa_baseline}, {"aos", make_aos_baseline}};
#ifdef APP_OPENMP_BASELINE
    all.push_back({"openmp", make_openmp_baseline});
#endif
    return all;
  }
};

}  // namespace

DYNASOAR_MODEL_SUITE(WaTor);

TEST_CASE("an allocator that the model was not compiled for is refused by name") {
  Parameters parameters = ocean_of(5, 5);
  parameters.allocator = "heap of wishes";
  CHECK_THROWS_WITH_AS(wa_tor::make_agents(parameters), doctest::Contains("'heap of wishes', but for: soa"),
                       std::invalid_argument);
}

TEST_CASE("compaction changes nothing but where agents lie") {
  for (const double above : {0.0, 0.05, 0.3}) {
    CAPTURE(above);
    Parameters parameters = ocean_of(157, 129, 7);
    parameters.compact_above = above;
    check_all<WaTor>(parameters, kQuick ? 3 : 40, WaTor::object_variants(),
                     dynasoar::kCudaBackend ? std::vector{1} : std::vector{1, 3, 8});
  }
  for (const auto& variant : WaTor::object_variants()) {
    CAPTURE(variant.name);
    // So many agents that the 63 free slots which a class may always keep are less than 5 % of its slots.
    Parameters parameters = ocean_of(400, 300);
    const auto fragmentation = [&](double above) {
      parameters.compact_above = above;
      const std::unique_ptr<Simulation> simulation = variant.make(parameters);
      run(*simulation, kQuick ? 5 : 50);
      return simulation->usage()->heap->fragmentation;
    };
    CHECK(fragmentation(0.05) <= 0.05);
    CHECK(fragmentation(1) > 0.05);
  }
}

TEST_CASE("other shares of fish and sharks are equal to the reference, too") {
  for (const double fish : {0.0, 0.05, 0.9}) {
    for (const double sharks : {0.0, 0.1}) {
      CAPTURE(fish);
      CAPTURE(sharks);
      check_all<WaTor>(ocean_of(31, 17, 42, fish, sharks), kQuick ? 2 : 25);
    }
  }
}

TEST_CASE("an empty ocean stays empty") {
  for_each_run(with_reference<WaTor>(), ocean_of(12, 9, 42, 0, 0), [](Simulation& simulation) {
    run(simulation, 5);
    CHECK((simulation.cells() == std::vector<CellState>(12 * 9)));
  });
}

TEST_CASE("fish without sharks fill the ocean and grow old") {
  constexpr int kSteps = kQuick ? 30 : 200;
  for_each_run(with_reference<WaTor>(), ocean_of(16, 16, 42, 0.5, 0), [](Simulation& simulation) {
    std::uint64_t before = 0;
    for (const Population& population : history_of(simulation, kSteps)) {
      CHECK(population.sharks == 0);
      CHECK(population.fish >= before);
      before = population.fish;
    }
    CHECK(before == 256);
    const std::vector<CellState> full = simulation.cells();
    simulation.step();
    const std::vector<CellState> later = simulation.cells();
    for (std::size_t cell = 0; cell < full.size(); ++cell) CHECK(later[cell].age == full[cell].age + 1);
  });
}

TEST_CASE("sharks without fish starve in the second step") {
  for_each_run(with_reference<WaTor>(), ocean_of(16, 16, 42, 0, 1), [](Simulation& simulation) {
    const std::vector<Population> history = history_of(simulation, 2);
    CHECK(history[0].sharks == 256);
    CHECK(history[1].sharks == 256);
    CHECK(history[2].sharks == 0);
  });
}

TEST_CASE("a heap has room for twice as many sharks as an ocean has cells") {
  constexpr std::uint64_t kSharkBytes = 14;  // 64 take 13 lines of 64 bytes, and blocks begin every 128
  const std::unique_ptr<Simulation> simulation = wa_tor::make_agents(ocean_of(2048, 1024, 42, 0, 0));
  CHECK(simulation->usage()->heap->heap_bytes >= std::uint64_t{2 * 2048 * 1024} * kSharkBytes);
}

TEST_CASE("a random number that is a share exactly is not below it") {
  const std::uint32_t word = dynasoar::random::words(dynasoar::random::Seed{42}, wa_tor::Decision::initial, 7u, 0)[0];
  check_shares<WaTor>(word, [](const auto& implementation, double fish, double sharks) {
    return implementation.make(ocean_of(6, 5, 42, fish, sharks))->cells()[7].kind;
  });
}

TEST_CASE("the neighbours on a torus are those across its borders, also if it is one cell wide or high") {
  for (const auto& size : {std::array{4u, 3u}, {3u, 2u}, {1u, 5u}, {5u, 1u}, {1u, 1u}}) {
    const auto width = size[0];
    const auto height = size[1];
    CAPTURE(width);
    CAPTURE(height);
    const app::Torus torus{width, width * height};
    for (std::uint32_t c = 0; c < torus.cells; ++c) {
      const std::uint32_t x = c % width;
      const std::uint32_t row = c - x;
      const std::array expected = {row + (x + width - 1) % width, (c + torus.cells - width) % torus.cells,
                                   row + (x + 1) % width, (c + width) % torus.cells};
      CHECK(std::array{torus.left(c), torus.up(c), torus.right(c), torus.down(c)} == expected);
      for (std::uint32_t direction = 0; direction < 4; ++direction) {
        CHECK(torus.neighbor(c, direction) == expected[direction]);
      }
    }
  }
}

namespace {

constexpr app::Rgb kRed = {250, 0, 0}, kBlue = {0, 0, 250}, kNone = {9, 9, 9};

/// A picture of 8 x 6 pixels, a letter for each, of a world of 4 x 3.
template <class F>
std::string drawn(F paint) {
  dynasoar::Executor executor(1);
  app::Easel easel;
  const app::Canvas canvas = easel.canvas(executor, app::whole({0, 0, 4, 3}, 8, 6), kNone);
  executor.for_each_index(1, [canvas, paint] __device__(std::size_t) { paint(canvas); });
  executor.synchronize();
  const app::Picture picture = easel.picture();
  std::string text;
  for (int y = 0; y < 6; ++y) {
    for (int x = 0; x < 8; ++x) {
      const app::Rgb color = picture.at(x, y);
      text += color == kNone ? '.' : color == kRed ? 'r' : color == kBlue ? 'b' : '?';
    }
    text += y < 5 ? "/" : "";
  }
  return text;
}

}  // namespace

TEST_CASE("a canvas has what is painted, up to its edges, and of what overlaps the nearest") {
  CHECK(drawn([] __device__(const app::Canvas& canvas) {
          canvas.cell(1, 1, kRed, 1);
          canvas.cell(3, 2, kBlue, 1);
          for (const int outside : {-1, 4}) canvas.cell(outside, 0, kRed, 1);
          for (const int outside : {-1, 3}) canvas.cell(0, outside, kRed, 1);
        }) == "......../......../..rr..../..rr..../......bb/......bb");
  CHECK(drawn([] __device__(const app::Canvas& canvas) {
          canvas.dot(0.25, 0.25, 1, kRed, 1);
          canvas.dot(3.75, 2.75, 1, kRed, 1);
          canvas.dot(2.25, 1.25, 2, kBlue, 1);
          canvas.dot(2.25, 1.25, 0.5, kRed, 0);
          canvas.dot(1.25, 2.75, 0.5, kRed, 1);
          canvas.dot(1.25, 2.75, 1, kBlue, 2);
          for (const double outside : {-0.5, 4.5, -1e300, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
            canvas.dot(outside, 1.25, 1, kRed, 0);
            canvas.dot(1.25, outside, 1, kRed, 0);
          }
        }) == "rr..b.../r..bbb../..bbrbb./...bbb../..b.b..r/.brb..rr");
  CHECK(drawn([] __device__(const app::Canvas& canvas) {
          canvas.line(0.25, 0.25, 2.75, 2.75, kRed, 1);
          canvas.line(4000, 1.25, 3.25, 1.25, kBlue, 1);
          canvas.line(-100, 2.25, 4100, 2.25, kBlue, 1);  // too long
          canvas.line(5000, 2.25, 3.25, 2.25, kBlue, 1);  // too far outside
        }) == "r......./.r....../..r...bb/...r..../....r.../.....r..");
}

TEST_CASE("a pixel of a canvas has the mean colour of the cells that it covers") {
  const auto seen = [](app::World world, app::Viewport viewport) {
    dynasoar::Executor executor(1);
    app::Easel easel;
    const app::Canvas canvas = easel.canvas(executor, viewport, kNone);
    const app::CellGrid grid{static_cast<int>(world.width), static_cast<int>(world.height),
                             static_cast<int>(world.left), static_cast<int>(world.top)};
    const auto width = static_cast<std::uint32_t>(grid.width);
    app::paint_cells(executor, canvas, grid, kNone, [width] __device__(std::uint32_t c) {
      const auto x = static_cast<std::uint8_t>(c % width), y = static_cast<std::uint8_t>(c / width);
      return app::Rgb{x, y, static_cast<std::uint8_t>(x == 0 && y == 0 ? 2 : 0)};
    });
    executor.synchronize();
    return easel.picture();
  };
  const auto pixel = [&](app::World world, int pixels) { return seen(world, app::whole(world, pixels, pixels)); };
  const app::Picture half = pixel({-3, 5, 4, 4}, 2);  // of cells of which two and two are equal: 0.5 is rounded up
  CHECK(half.at(0, 0) == app::Rgb{1, 1, 1});
  CHECK(half.at(1, 1) == app::Rgb{3, 3, 0});
  const app::Picture same = pixel({0, 0, 4, 4}, 4);
  CHECK(same.at(0, 0) == app::Rgb{0, 0, 2});
  CHECK(same.at(3, 2) == app::Rgb{3, 2, 0});
  const app::Picture twice = pixel({0, 0, 4, 2}, 8);
  CHECK(twice.at(0, 1) == kNone);
  CHECK(twice.at(7, 2) == app::Rgb{3, 0, 0});
  CHECK(twice.at(0, 5) == app::Rgb{0, 1, 0});
  CHECK(twice.at(0, 6) == kNone);
  const app::Picture few = pixel({0, 0, 200, 200}, 4);  // 16 x 16 of 50 x 50 cells are looked at
  CHECK(few.at(1, 0) == app::Rgb{75, 25, 0});
  const app::Picture borders = seen({0, 0, 4, 3}, {-0.5, -0.5, 1, 5, 5, false});  // pixels' middles are cells' corners
  CHECK(borders.at(0, 0) == app::Rgb{0, 0, 2});
  CHECK(borders.at(3, 2) == app::Rgb{3, 2, 0});
  CHECK(borders.at(4, 2) == kNone);
  CHECK(borders.at(3, 3) == kNone);
}
