/// @file
/// Flocking: every step of all implementations is that of the reference in double precision, started from the same
/// state; all implementations but the reference agree bit by bit; and each rule does what it is called.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "flocking/colors.h"
#include "flocking/pictures.h"
#include "flocking/rules.h"
#include "flocking/simulation.h"
#include "model_suite.h"

namespace {

using namespace dynasoar::test;
using namespace flocking;

Parameters random_flock(std::uint32_t count, double neighbours, std::uint64_t seed) {
  Parameters parameters;
  parameters.side = flocking::side_for(count, neighbours);
  parameters.initial = flocking::random_boids(count, parameters.side, seed);
  return parameters;
}

struct Flocking : Model<Simulation, Parameters> {
  // The reference computes in double precision; these compute the same bits.
  static constexpr auto reference = flocking::make_soa_baseline;
  static constexpr std::uint64_t kTooSmall = 16 << 10;

  static Implementations object_variants() { return {{"boids", make_boids}}; }
  static Implementations implementations() {
    return object_variants() + on_other_allocators(object_variants()) +
           Implementations{{"soa", make_soa_baseline}, {"aos", make_aos_baseline}};
  }
  static std::vector<BoidState> state(Simulation& simulation) { return simulation.boids(); }
  static Parameters small() { return random_flock(300, 30, 11); }
  static Parameters crowded() { return random_flock(20000, 30, 1); }
};

double distance_on_torus(const BoidState& a, const BoidState& b, float side) {
  return std::hypot(std::remainder(double{a.x} - b.x, side), std::remainder(double{a.y} - b.y, side));
}

// They agree within a few units in the last place of positions and speeds.
void check_equal(const std::vector<BoidState>& states, const std::vector<BoidState>& expected, float side) {
  REQUIRE(states.size() == expected.size());
  double worst_position = 0;
  double worst_velocity = 0;
  for (std::size_t i = 0; i < states.size(); ++i) {
    REQUIRE(states[i].number == i);
    REQUIRE((states[i].x >= 0 && states[i].x < side && states[i].y >= 0 && states[i].y < side));
    worst_position = std::max(worst_position, distance_on_torus(states[i], expected[i], side));
    worst_velocity = std::max(worst_velocity,
                              std::hypot(double{states[i].vx} - expected[i].vx, double{states[i].vy} - expected[i].vy));
  }
  CHECK(worst_position < 4e-7 * side);
  CHECK(worst_velocity < 2e-7);
}

// A flock of a few boids in a world so wide that they meet only here.
std::vector<BoidState> few(std::vector<BoidState> boids, int steps) {
  Parameters parameters;
  parameters.side = 50;
  for (std::size_t i = 0; i < boids.size(); ++i) boids[i].number = static_cast<std::uint32_t>(i);
  parameters.initial = std::move(boids);
  return after<Flocking>({"boids", flocking::make_boids}, parameters, steps);
}

}  // namespace

DYNASOAR_MODEL_CASE(model_timed_steps, Flocking);
DYNASOAR_MODEL_CASE(model_heap, Flocking);

TEST_CASE("every step of a flock is the reference's step from the same state") {
  for (const auto& [boids, neighbours] : {std::pair(1, 30.0), {2, 1.0}, {70, 5.0}, {kQuick ? 150 : 900, 30.0}}) {
    const int count = boids;
    for (const auto& implementation : Flocking::implementations()) {
      CAPTURE(implementation.name);
      CAPTURE(count);
      Parameters parameters = random_flock(static_cast<std::uint32_t>(count), neighbours, 7);
      parameters.threads = 3;
      const std::unique_ptr<Simulation> simulation = implementation.make(parameters);
      for (int step = 0; step < 8; ++step) {
        const std::unique_ptr<Simulation> reference = flocking::make_reference(parameters);
        reference->step();
        simulation->step();
        parameters.initial = simulation->boids();
        check_equal(parameters.initial, reference->boids(), parameters.side);
      }
    }
  }
}

TEST_CASE("flocks are the same bit by bit for all implementations, allocators and numbers of threads") {
  for (const std::uint32_t count : {30u, kQuick ? 300u : 3000u}) {
    check_all<Flocking>(random_flock(count, 30, 11), 40);
  }
}

TEST_CASE("a flock that is sorted now and then is the same bit by bit") {
  Parameters parameters = random_flock(kQuick ? 300 : 3000, 30, 11);
  for (const int every : {1, 7}) {
    CAPTURE(every);
    parameters.sort_every = every;
    check_all<Flocking>(parameters, 20);
  }
}

TEST_CASE("a flock is sorted before the first step and then before every so many steps") {
  Parameters parameters = random_flock(kQuick ? 300 : 3000, 30, 11);
  const auto moved_in_steps = [&](int every) {
    parameters.sort_every = every;
    const std::unique_ptr<Simulation> simulation = flocking::make_boids(parameters);
    const auto rows = [&] { return simulation->columns()["number_"].as<std::uint32_t>(); };
    std::vector<int> moved;
    std::vector<std::uint32_t> before = rows();
    for (int step = 1; step <= 11; ++step) {
      simulation->step();
      std::vector<std::uint32_t> now = rows();
      if (now != before) moved.push_back(step);
      before = std::move(now);
    }
    return moved;
  };
  CHECK(moved_in_steps(0).empty());
  CHECK(moved_in_steps(5) == std::vector<int>{1, 6, 11});
}

TEST_CASE("flocks are the same also where the neighbours' sums become fewer") {
  if (kQuick) return;
  for (const std::uint32_t count :
       {flocking::kFewBoids, flocking::kFewBoids + 1, flocking::kSomeBoids, flocking::kSomeBoids + 1}) {
    CAPTURE(count);
    const Parameters parameters = random_flock(count, 8, 5);
    CHECK((after<Flocking>({"soa", flocking::make_soa_baseline}, parameters, 1) ==
           after<Flocking>({"boids", flocking::make_boids}, parameters, 1)));
  }
}

TEST_CASE("random boids are where they should be, the same for every seed") {
  const float side = flocking::side_for(5000, 30);
  CHECK(side == doctest::Approx(std::sqrt(5000 * 3.14159265 / 30)));
  const std::vector<BoidState> boids = flocking::random_boids(5000, side, 7);
  CHECK((boids == flocking::random_boids(5000, side, 7)));
  CHECK_FALSE((boids == flocking::random_boids(5000, side, 8)));
  double x = 0;
  for (const BoidState& boid : boids) {
    CHECK((boid.x >= 0 && boid.x < side && boid.y >= 0 && boid.y < side));
    x += boid.x;
  }
  CHECK(x / 5000 == doctest::Approx(side / 2).epsilon(0.03));
  CHECK(flocking::side_for(1, 1000) == flocking::kLeastSide);
}

TEST_CASE("a boid alone flies straight on, round the world") {
  const std::vector<BoidState> one = few({{0, 49.9f, 3, 0.04f, -0.05f}}, 10);
  CHECK(one[0].vx == 0.04f);
  CHECK(one[0].vy == -0.05f);
  CHECK(one[0].x == doctest::Approx(0.3).epsilon(1e-4));
  CHECK(one[0].y == doctest::Approx(2.5).epsilon(1e-4));
}

TEST_CASE("a boid that comes to the border exactly is at the other one") {
  Parameters parameters;
  parameters.side = 50;
  parameters.initial = {{0, 49.9375f, 0.0625f, 0.0625f, -0.0625f}};
  const Flocking::Implementations references = {{"reference", flocking::make_reference}};
  for_each_run(Flocking::implementations() + references, parameters, [](Simulation& simulation) {
    simulation.step();
    CHECK(simulation.boids()[0].x == 0);
    CHECK(simulation.boids()[0].y == 0);
  });
}

TEST_CASE("boids that see each other get to fly in one direction, also over the border") {
  const std::vector<BoidState> pair = few({{0, 49.8f, 3, 0.05f, 0.01f}, {0, 0.3f, 3, 0.05f, -0.01f}}, 1);
  CHECK(pair[0].vy < 0.01f);
  CHECK(pair[1].vy > -0.01f);
}

TEST_CASE("boids that see each other come closer, unless they are too close") {
  const auto gap_after = [](float gap) {
    const std::vector<BoidState> pair = few({{0, 10, 10, 0.04f, 0}, {0, 10, 10 + gap, 0.04f, 0}}, 1);
    return pair[1].y - pair[0].y;
  };
  CHECK(gap_after(0.9f) < 0.9f);
  CHECK(gap_after(0.1f) > 0.1f);
  CHECK(gap_after(1.1f) == doctest::Approx(1.1f));
}

TEST_CASE("no boid that sees another one is slower or faster than boids are") {
  const std::vector<BoidState> pair = few({{0, 10, 10, 0.5f, 0}, {0, 10, 10.5f, 0.001f, 0}}, 1);
  CHECK(std::hypot(pair[0].vx, pair[0].vy) == doctest::Approx(0.06));
  CHECK(std::hypot(pair[1].vx, pair[1].vy) == doctest::Approx(0.0399).epsilon(0.01));
  const std::vector<BoidState> slow = few({{0, 10, 10, 0.001f, 0}, {0, 10, 10.5f, 0.001f, 0}}, 1);
  CHECK(std::hypot(slow[0].vx, slow[0].vy) == doctest::Approx(0.03));
}

TEST_CASE("a flock puts itself in order") {
  Parameters parameters = random_flock(500, 60, 3);
  const auto order = [](const std::vector<BoidState>& boids) { return flocking::totals_of(boids).order; };
  CHECK(order(parameters.initial) < 0.15);
  CHECK(order(after<Flocking>(Flocking::implementations().front(), parameters, 400)) > 0.6);
}

TEST_CASE("a run whose totals stop being finite ends with the step") {
  Parameters parameters;
  parameters.side = 50;
  parameters.initial = {{0, 10, 10, 3e38f, 0}, {1, 10, 10.5f, -3e38f, 0}};  // whose difference is infinite
  for_each_run(Flocking::implementations(), parameters, [](Simulation& simulation) {
    simulation.record();
    simulation.step();
    CHECK_THROWS_WITH(
        simulation.record(),
        "after step 1 the speed is not a number: numbers have become too large for the model's arithmetic");
  });
}

TEST_CASE("a boid is drawn where it is, in the direction of its flight, and the smaller the more there are") {
  // Pixels from the middle of the picture to the ends of the dart of a boid there.
  struct Reach {
    int left = 0, right = 0, up = 0, down = 0;
    bool is_near(const Reach& other) const {  // versions of cairo smooth edges differently
      return std::abs(left - other.left) <= 1 && std::abs(right - other.right) <= 1 && std::abs(up - other.up) <= 1 &&
             std::abs(down - other.down) <= 1;
    }
  };
  const auto reach_of = [](std::size_t boids, float vx, float vy) {
    std::vector<BoidState> states(boids, {1, 0, 0, 0.05f, 0});
    states[0] = {0, 5, 5, vx, vy};
    const app::Picture picture = flocking::flock_picture(states, 10);
    REQUIRE((picture.width() == 1024 && picture.height() == 1024));
    Reach reach;
    for (int y = -40; y < 40; ++y) {
      for (int x = -40; x < 40; ++x) {
        if (picture.at(512 + x, 512 + y) == flocking::kSky) continue;
        reach = {std::max(reach.left, -x), std::max(reach.right, x + 1), std::max(reach.up, -y),
                 std::max(reach.down, y + 1)};
      }
    }
    return reach;
  };
  CHECK(reach_of(1, 0.05f, 0).is_near({10, 15, 8, 8}));  // of 24 pixels' length
  CHECK(reach_of(1, 0, 0.05f).is_near({8, 8, 15, 10}));
  CHECK(reach_of(1, -0.05f, 0).is_near({15, 10, 8, 8}));
  CHECK(reach_of(8494, 0.05f, 0).is_near({4, 6, 3, 3}));  // of 10
  CHECK((reach_of(200'001, 0.05f, 0).right <= 2));        // of which every second one is drawn
}
