/// @file
/// The tumour: all implementations are the reference's bit by bit, and each rule does what README.md says.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <dynasoar/identity.h>

#include "model_suite.h"
#include "tumour/colors.h"
#include "tumour/pictures.h"
#include "tumour/simulation.h"

namespace {

using namespace dynasoar::test;
using namespace tumour;

// A tumour in which everything happens within a few steps.
Parameters busy(std::uint32_t cells, int world, std::uint64_t seed) {
  Parameters parameters;
  parameters.world = world;
  parameters.growth = 0.03;
  parameters.division = 0.5;
  parameters.hypoxia = 0.7;
  parameters.necrosis = 0.6;
  parameters.death = 0.3;
  parameters.shrinking = 0.05;
  parameters.supply = 0.05;
  parameters.uptake = 0.2;
  parameters.seed = seed;
  parameters.initial = random_spheroid(cells, seed);
  for (std::size_t i = 0; i < cells; ++i) parameters.initial[i].state = static_cast<State>(i % 5 % 3);
  return parameters;
}

Census census_of(const std::vector<CellState>& cells) {
  Census census;
  for (const CellState& cell : cells) {
    census.proliferating += cell.state == State::proliferating ? 1 : 0;
    census.hypoxic += cell.state == State::hypoxic ? 1 : 0;
    census.necrotic += cell.state == State::necrotic ? 1 : 0;
    const float xx = cell.x * cell.x, yy = cell.y * cell.y, zz = cell.z * cell.z;
    census.radius = std::max(census.radius, std::sqrt(xx + yy + zz) + cell.radius);
  }
  return census;
}

struct Whole {
  std::vector<CellState> cells;
  std::vector<float> oxygen;

  bool operator==(const Whole&) const = default;
};

struct Tumour : Model<Simulation, Parameters> {
  static constexpr auto reference = make_reference;
  static constexpr std::uint64_t kTooSmall = 16 << 10;
  static constexpr int kHistorySteps = kQuick ? 70 : 270;

  static Implementations object_variants() { return {{"cells", make_cells}}; }
  static Implementations implementations() {
    return object_variants() + on_other_allocators(object_variants()) +
           Implementations{{"soa", make_soa_baseline}, {"aos", make_aos_baseline}};
  }
  static Whole state(Simulation& simulation) { return {simulation.cells(), simulation.oxygen()}; }
  static Census count(const Whole& whole) {
    Census census = census_of(whole.cells);
    census.oxygen = *std::min_element(whole.oxygen.begin(), whole.oxygen.end());
    return census;
  }
  static Parameters small() {
    Parameters parameters = busy(100, 5, 11);
    parameters.growth = 0.005;  // so that there are not too many cells after many steps
    parameters.division = 0.05;
    return parameters;
  }
  static Parameters crowded() { return busy(20000, 16, 1); }
};

// A tumour in which nothing happens but what the caller adds.
Parameters quiet(std::vector<CellState> cells, int world = 8) {
  Parameters parameters;
  parameters.world = world;
  parameters.mobility = parameters.division = parameters.hypoxia = parameters.necrosis = parameters.death = 0;
  parameters.growth = parameters.shrinking = parameters.diffusion = parameters.supply = parameters.uptake = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i].number = i + 1;
  parameters.initial = std::move(cells);
  return parameters;
}

// Calls check(simulation) for every implementation, the reference included, after some steps.
void for_all(const Parameters& parameters, int steps, const std::function<void(Simulation&)>& check) {
  for_each_run(with_reference<Tumour>(), parameters, [&](Simulation& simulation) {
    run(simulation, steps);
    check(simulation);
  });
}

double distance(const CellState& a, const CellState& b) {
  return std::hypot(double{a.x} - b.x, double{a.y} - b.y, double{a.z} - b.z);
}

// By z, y and x, in a world of eight places.
std::size_t place(std::size_t x, std::size_t y, std::size_t z) {
  return (z * 8 + y) * 8 + x;
}

}  // namespace

DYNASOAR_MODEL_CASE(model_allocators, Tumour);
DYNASOAR_MODEL_CASE(model_timed_steps, Tumour);
DYNASOAR_MODEL_CASE(model_history, Tumour);
DYNASOAR_MODEL_CASE(model_long_history, Tumour);
DYNASOAR_MODEL_CASE(model_heap, Tumour);

TEST_CASE("tumours are the reference's bit by bit for all implementations, allocators and numbers of threads") {
  for (const auto& [cells, world] : {std::pair(1u, 4), {2u, 1}, {60u, 2}, {kQuick ? 150u : 500u, 7}}) {
    check_all<Tumour>(busy(cells, world, 7 + cells), kQuick ? 8 : 15);
  }
  Parameters parameters = busy(200, 5, 0xFEDCBA9876543210);
  parameters.diffusion = kMostDiffusion;
  parameters.mobility = 1;
  check_all<Tumour>(parameters, 10);
}

TEST_CASE("all that can happen to cells happens in the runs that are compared") {
  const Parameters parameters = busy(500, 7, 507);
  const Census start = census_of(parameters.initial);
  const auto history = history_of(*make_reference(parameters), 15);
  const auto exceeds = [&](auto member) {
    return std::any_of(history.begin(), history.end(), [&](const Census& now) { return now.*member > start.*member; });
  };
  CHECK(exceeds(&Census::proliferating));
  CHECK(exceeds(&Census::hypoxic));
  CHECK(exceeds(&Census::necrotic));
  const auto deaths = std::adjacent_find(
      history.begin(), history.end(), [](const Census& now, const Census& next) { return next.cells() < now.cells(); });
  CHECK(deaths != history.end());
  CHECK(history.back().oxygen < 0.6f);
}

TEST_CASE("cells that overlap push each other apart, each by the mobility times the overlap") {
  Parameters parameters = quiet({{0, -0.25f, 1, 1},  // overlaps the next one by 1/2
                                 {0, 0.25f, 1, 1},
                                 {0, 0, 4, 0, 0.25f},  // touches the next one
                                 {0, 0, 4, 0.75f},
                                 {0, 3, 3, 3, 0.5f},  // three at one place
                                 {0, 3, 3, 3, 0.4f},
                                 {0, 3, 3, 3, 0.3f, State::necrotic},
                                 {0, -20, 0.75f, 0},  // outside of the world
                                 {0, -20, 0, 0, 0.5f, State::hypoxic}});
  parameters.mobility = 0.25;
  for_all(parameters, 1, [&](Simulation& simulation) {
    const std::vector<CellState> cells = simulation.cells();
    REQUIRE(cells.size() == 9);
    CHECK(cells[0].x == -0.375f);
    CHECK(cells[1].x == 0.375f);
    CHECK(cells[0].y == 1);
    for (std::size_t i = 2; i < 7; ++i) CHECK(distance(cells[i], parameters.initial[i]) == 0);
    CHECK(cells[7].y == 0.8125f);
    CHECK(cells[8].y == -0.0625f);
  });
}

TEST_CASE("a cell pushes others in the directions in which they are") {
  Parameters parameters = quiet({{0, 0, 0, 0}, {0, 0.3f, 0.4f, 0, 0.4f}, {0, -0.1f, 0, -0.6f, 0.4f}});
  parameters.mobility = 0.1;
  for_all(parameters, 1, [&](Simulation& simulation) {
    const std::vector<CellState> cells = simulation.cells();
    for (const std::size_t i : {1u, 2u}) {  // which do not overlap each other
      const CellState& before = parameters.initial[i];
      const double old_distance = distance(before, parameters.initial[0]);
      const double way = 0.1 * (0.9 - old_distance) / old_distance;
      CHECK(cells[i].x == doctest::Approx(before.x * (1 + way)).epsilon(1e-5));
      CHECK(cells[i].y == doctest::Approx(before.y * (1 + way)).epsilon(1e-5));
      CHECK(cells[i].z == doctest::Approx(before.z * (1 + way)).epsilon(1e-5));
    }
    CHECK(std::abs(cells[0].x + cells[1].x + cells[2].x - 0.2f) < 1e-6);  // the sum of forces is zero
  });
}

TEST_CASE("cells grow to full size and then divide into two of half the volume, in any direction") {
  std::vector<CellState> cells(kQuick ? 300 : 3000);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto coordinate = [&](std::size_t n) { return 2 * static_cast<float>(n % 15) - 14; };
    cells[i] = {0, coordinate(i), coordinate(i / 15), coordinate(i / 225), 0.375f};
  }
  Parameters parameters = quiet(cells, 16);
  parameters.growth = 0.0625;
  for_all(parameters, 1, [](Simulation& simulation) { CHECK(simulation.cells()[0].radius == 0.4375f); });
  for_all(parameters, 5, [](Simulation& simulation) { CHECK(simulation.cells()[0].radius == kFullRadius); });
  parameters.division = 1;
  for_all(parameters, 2, [&](Simulation& simulation) {
    std::vector<CellState> all = simulation.cells();
    REQUIRE(all.size() == 2 * cells.size());
    double x = 0, xx = 0, yy = 0, zz = 0;
    for (std::uint64_t number = 1; number <= cells.size(); ++number) {
      const auto daughters = static_cast<std::uint64_t>(child_identity(dynasoar::Identity{number}, 2));
      const auto find = [&](std::uint64_t wanted) {
        const auto found = std::lower_bound(all.begin(), all.end(), wanted,
                                            [](const CellState& cell, std::uint64_t n) { return cell.number < n; });
        REQUIRE(found != all.end());
        REQUIRE(found->number == wanted);
        return *found;
      };
      const CellState mother = find(number), daughter = find(daughters);
      CHECK(daughter.radius == kDaughterRadius);
      CHECK(mother.radius == kDaughterRadius);
      CHECK(distance(mother, daughter) == doctest::Approx(kDaughterRadius).epsilon(1e-5));
      CHECK(std::abs((mother.x + daughter.x) / 2 - cells[number - 1].x) < 1e-5);
      const auto along = [&](float a, float b) { return (double{b} - a) / kDaughterRadius; };
      x += along(mother.x, daughter.x);
      xx += std::pow(along(mother.x, daughter.x), 2);
      yy += std::pow(along(mother.y, daughter.y), 2);
      zz += std::pow(along(mother.z, daughter.z), 2);
    }
    const auto count = static_cast<double>(cells.size());
    const double deviation = std::sqrt(4 / 45.0 / count);  // of a mean of squares
    CHECK(std::abs(x / count) < 4 * std::sqrt(1 / 3.0 / count));
    for (const double squares : {xx, yy, zz}) CHECK(std::abs(squares / count - 1 / 3.0) < 4 * deviation);
  });
  CHECK(2 * std::pow(kDaughterRadius, 3) == doctest::Approx(std::pow(kFullRadius, 3)));
}

TEST_CASE("a cell of full size divides with the probability of a division") {
  Parameters parameters = quiet(std::vector<CellState>(kQuick ? 500 : 5000));
  parameters.division = 0.2;
  for_all(parameters, 1, [&](Simulation& simulation) {
    const auto before = static_cast<double>(parameters.initial.size());
    const double born = static_cast<double>(simulation.cells().size()) - before;
    CHECK(std::abs(born / before - 0.2) < 4 * std::sqrt(0.2 * 0.8 / before));
  });
}

TEST_CASE("oxygen decides what a cell is, and dead cells shrink until they are gone") {
  const auto expect = [](const Parameters& parameters, int steps, const std::vector<State>& states) {
    for_all(parameters, steps, [&](Simulation& simulation) {
      const std::vector<CellState> cells = simulation.cells();
      REQUIRE(cells.size() == states.size());
      for (std::size_t i = 0; i < cells.size(); ++i) CHECK(cells[i].state == states[i]);
    });
  };
  Parameters parameters = quiet({{0, -3, 0, 0, 0.5f, State::proliferating},
                                 {0, 0, 0, 0, 0.5f, State::hypoxic},
                                 {0, 3, 0, 0, 0.5f, State::necrotic}});
  using enum State;
  parameters.hypoxia = 1;  // there is just enough
  expect(parameters, 1, {proliferating, proliferating, necrotic});
  parameters.uptake = 0.5;
  parameters.necrosis = 0.9;  // not enough after a step, but more than 0.9
  parameters.death = 1;
  expect(parameters, 2, {hypoxic, hypoxic, necrotic});
  parameters.necrosis = 1;
  expect(parameters, 2, {hypoxic, hypoxic, necrotic});  // a step after they could proliferate
  expect(parameters, 3, {necrotic, necrotic, necrotic});
  parameters.shrinking = 0.25;
  expect(parameters, 1, {proliferating, proliferating, necrotic});
  expect(parameters, 2, {hypoxic, hypoxic});
  parameters.death = 0;
  parameters.necrosis = 1;
  expect(parameters, 9, {hypoxic, hypoxic});
}

TEST_CASE("a cell takes up oxygen where it is, in proportion to what it finds") {
  Parameters parameters = quiet({{0, 1, 1, 1},  // in the middle of place (4, 4, 4)
                                 {0, -1, -1, -1, 0.5f, State::necrotic}});
  parameters.uptake = 0.5;
  const float left = 1 - 0.5f / 8;
  for_all(parameters, 1, [&](Simulation& simulation) {
    const std::vector<float> oxygen = simulation.oxygen();
    REQUIRE(oxygen.size() == 512);
    CHECK(oxygen[place(4, 4, 4)] == left);
    CHECK(std::count(oxygen.begin(), oxygen.end(), 1.0f) == 511);
  });
  for_all(parameters, 2, [&](Simulation& simulation) {
    CHECK(simulation.oxygen()[place(4, 4, 4)] == doctest::Approx(left * left).epsilon(1e-6));
  });
}

TEST_CASE("oxygen diffuses in from the border, and vessels supply it until they collapse") {
  Parameters parameters = quiet({{0, 1, 1, 1}});
  parameters.uptake = 0.5;
  parameters.supply = 0.5;
  for_all(parameters, 2, [&](Simulation& simulation) {  // half of what was missing, before the cell takes its part
    const float found = 1 - 0.5f / 8;
    CHECK(simulation.oxygen()[place(4, 4, 4)] == doctest::Approx((1 + found) / 2 - found / 16).epsilon(1e-6));
  });
  parameters.hypoxia = 1;  // the vessels at this place collapse
  for_all(parameters, 2, [&](Simulation& simulation) {
    const float found = 1 - 0.5f / 8;
    CHECK(simulation.oxygen()[place(4, 4, 4)] == doctest::Approx(found - found / 16).epsilon(1e-6));
  });
  parameters = quiet({{0, 1, 1, 1}});
  parameters.uptake = 0.5;
  parameters.diffusion = 1;
  for_all(parameters, kQuick ? 50 : 100, [](Simulation& simulation) {
    const std::vector<float> oxygen = simulation.oxygen();
    CHECK(std::min_element(oxygen.begin(), oxygen.end()) - oxygen.begin() ==
          static_cast<std::ptrdiff_t>(place(4, 4, 4)));
    CHECK(oxygen[place(3, 4, 4)] < 0.999f);
    CHECK(oxygen[place(0, 0, 0)] > 0.98f);
    CHECK(oxygen[place(3, 4, 4)] == doctest::Approx(oxygen[place(4, 4, 3)]).epsilon(1e-6));
  });
}

TEST_CASE("without oxygen all cells die and dissolve, and a world without cells goes on") {
  Parameters parameters = busy(50, 2, 3);
  parameters.diffusion = parameters.supply = 0;
  parameters.uptake = 1;
  parameters.hypoxia = parameters.necrosis = parameters.death = 1;
  check_all<Tumour>(parameters, 30);
  for_all(parameters, 40, [](Simulation& simulation) {
    CHECK(simulation.cells().empty());
    simulation.record();
    const Census last = simulation.take_history().back();
    CHECK(last.cells() == 0);
    CHECK(last.radius == 0);
  });
  parameters.initial.clear();
  for_all(parameters, 2, [](Simulation& simulation) { CHECK(simulation.cells().empty()); });
}

TEST_CASE("more cells than there is room for end the run, and the message says what to do") {
  Parameters parameters = quiet({{0, 0, 0, 0}, {0, 2, 0, 0}});
  parameters.growth = 1;  // every cell divides in every step
  parameters.division = 1;
  parameters.room = 100;
  constexpr const char* kMessage =
      "there are more cells than there is room for, which is 100: choose a larger --room, or fewer --steps";
  for_each_run(with_reference<Tumour>(), parameters, [&](Simulation& simulation) {
    run(simulation, 5);
    CHECK(simulation.cells().size() == 64);
    run(simulation, 1);
    simulation.record();
    CHECK_THROWS_WITH(simulation.take_history(), kMessage);
    CHECK_THROWS_WITH(simulation.cells(), kMessage);
  });
  CHECK(room_of(busy(100, 2, 3)) == room_for(100));
}

TEST_CASE("the tumour is drawn and painted cut in half, in the colours of the cells' states") {
  const Parameters parameters = quiet({{0, 4, 4, -1, 0.5f, State::hypoxic},
                                       {0, 4, 4, 1, 0.5f, State::necrotic},  // in front of the cut
                                       {0, -4, 4, -1, 0.5f, State::necrotic},
                                       {0, -4, -4, -1},
                                       {0, -4, -4, -3, 0.5f, State::hypoxic}});  // behind
  const app::Picture picture = tumour_picture(parameters.initial);
  const auto reddest = [&](int x, int y) {  // of the middle of a quarter
    const app::Rgb color = picture.at(picture.width() / 2 + x, picture.height() / 2 + y);
    return color.red > color.green;
  };
  const int quarter = static_cast<int>(4 * 512 / (1.04 * (std::hypot(4, 4) + 1)));
  CHECK(reddest(quarter, -quarter));
  CHECK_FALSE(reddest(-quarter, quarter));
  CHECK(picture.at(0, 0) == kGround);
  for (const auto& variant : Tumour::object_variants()) {
    const std::unique_ptr<Simulation> simulation = variant.start(parameters);
    simulation->paint(app::whole({-8, 8, 16, 16, true}, 400, 400));
    const app::Picture painted = simulation->painted();
    CHECK(painted.at(300, 100) == kHypoxic);
    CHECK(painted.at(100, 100) == kNecrotic);
    CHECK(painted.at(100, 300) == kProliferating);
    CHECK(painted.at(300, 300) == kGround);
  }
}
