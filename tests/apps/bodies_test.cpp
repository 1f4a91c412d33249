/// @file
/// n-body and collision: every step of all implementations is that of the reference in double precision, started from
/// the same state; and what the models conserve is conserved.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "../platform/thrown.h"
#include "bodies/program.h"
#include "bodies/simulation.h"
#include "collision/collision.h"
#include "model_suite.h"
#include "n_body/n_body.h"

namespace {

using bodies::BodyState;
using bodies::Parameters;
using bodies::Simulation;
using bodies::Totals;

using Make = std::function<std::unique_ptr<Simulation>(const Parameters&)>;

struct Implementation : dynasoar::test::Implementation<Simulation, Parameters> {
  Make reference;
};

std::vector<Implementation> n_body_implementations() {
  return {{{"n-body objects", n_body::make_objects}, n_body::make_reference},
          {{"n-body soa", n_body::make_soa_baseline}, n_body::make_reference},
          {{"n-body aos", n_body::make_aos_baseline}, n_body::make_reference}};
}

std::vector<Implementation> collision_implementations() {
  return {{{"collision objects", collision::make_objects}, collision::make_reference},
          {{"collision soa", collision::make_soa_baseline}, collision::make_reference},
          {{"collision aos", collision::make_aos_baseline}, collision::make_reference}};
}

std::vector<Implementation> implementations() {
  using dynasoar::test::operator+;
  return n_body_implementations() + collision_implementations();
}

// The same bodies, numbered from 0 in the same order.
std::vector<BodyState> renumbered(std::vector<BodyState> states) {
  for (std::size_t i = 0; i < states.size(); ++i) states[i].number = static_cast<std::uint32_t>(i);
  return states;
}

Parameters from(std::vector<BodyState> initial, int threads = 0, int profile_every = 0) {
  Parameters parameters;
  parameters.initial = std::move(initial);
  parameters.threads = threads;
  parameters.profile_every = profile_every;
  return parameters;
}

double distance(double x, double y) {
  return std::hypot(x, y);
}

// Positions and velocities agree within what single precision leaves of them: a few units in the last place of the
// position, and of the sum of all that pulls a body.
void check_equal(const std::vector<BodyState>& states, const std::vector<BodyState>& expected) {
  REQUIRE(states.size() == expected.size());
  double worst_position = 0;
  double worst_velocity = 0;
  double worst_mass = 0;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const BodyState& a = states[i];
    const BodyState& b = expected[i];
    REQUIRE(a.number == b.number);
    worst_position = std::max(worst_position, distance(double{a.x} - b.x, double{a.y} - b.y));
    worst_velocity = std::max(worst_velocity, distance(double{a.vx} - b.vx, double{a.vy} - b.vy));
    worst_mass = std::max(worst_mass, std::abs(double{a.mass} - b.mass));
  }
  CHECK(worst_position < 4e-7);
  CHECK(worst_velocity < 4e-10);
  CHECK(worst_mass == 0);
}

void check_steps(const Implementation& implementation, const std::vector<BodyState>& initial, int steps, int threads,
                 int profile_every = 0) {
  CAPTURE(implementation.name);
  CAPTURE(initial.size());
  CAPTURE(threads);
  std::vector<BodyState> before = initial;
  const std::unique_ptr<Simulation> simulation = implementation.make(from(initial, threads, profile_every));
  for (int step = 0; step < steps; ++step) {
    CAPTURE(step);
    const std::unique_ptr<Simulation> reference = implementation.reference(from(renumbered(before)));
    reference->step();
    simulation->step();
    std::vector<BodyState> expected = reference->bodies();
    for (BodyState& body : expected) body.number = before[body.number].number;
    before = simulation->bodies();
    check_equal(before, expected);
  }
}

// Bodies in a part of the space: they meet often.
std::vector<BodyState> crowd(std::uint32_t count, std::uint64_t seed, float size) {
  std::vector<BodyState> states = bodies::random_bodies(count, seed, collision::kLeastMass, collision::kMostMass);
  for (BodyState& body : states) {
    body.x *= size;
    body.y *= size;
  }
  return states;
}

using dynasoar::test::for_each_run;
using dynasoar::test::kQuick;
using dynasoar::test::message_of;

struct Bodies : dynasoar::test::Model<Simulation, Parameters> {
  using Implementation = ::Implementation;
  static constexpr std::uint64_t kTooSmall = 16 << 10;

  static std::vector<Implementation> object_variants() {
    return {n_body_implementations().front(), collision_implementations().front()};
  }
  static Parameters crowded() {
    Parameters parameters;
    parameters.initial = bodies::random_bodies(20000, 1, 40, 50);
    return parameters;
  }
};

}  // namespace

DYNASOAR_MODEL_CASE(model_heap, Bodies);

TEST_CASE("every allocator's steps are the reference's steps from the same state") {
  for (const Implementation& version : dynasoar::test::compiled_for_others(Bodies::object_variants())) {
    check_steps(version, crowd(kQuick ? 65 : 200, 11, 0.1f), 6, 3);
  }
}

// The same with a cut-off; bodies in a part of the space get several cells of neighbours.
Make with_cut_off(const Make& make, float cut_off) {
  return [make, cut_off](Parameters parameters) {
    parameters.cut_off = cut_off;
    return make(parameters);
  };
}

TEST_CASE("n-body with a cut-off is the reference's with a cut-off") {
  for (const float cut_off : {0.02f, 0.3f, 3.0f}) {
    CAPTURE(cut_off);
    for (Implementation implementation : n_body_implementations()) {
      implementation.make = with_cut_off(implementation.make, cut_off);
      implementation.reference = with_cut_off(implementation.reference, cut_off);
      check_steps(implementation, crowd(kQuick ? 65 : 300, 5, 1), 4, 3);
    }
  }
}

TEST_CASE("bodies exactly as far apart as the cut-off attract each other, and no others do") {
  for (Implementation implementation : n_body_implementations()) {
    CAPTURE(implementation.name);
    for (const Make& make : {implementation.make, implementation.reference}) {
      const auto moves = [&make](float y) {
        const std::vector<BodyState> pair = {{0, 0.125f, 0.125f, 0, 0, 800}, {1, 0.125f, y, 0, 0, 600}};
        const std::unique_ptr<Simulation> simulation = with_cut_off(make, 0.5f)(from(pair));
        simulation->step();
        const std::vector<BodyState> after = simulation->bodies();
        CHECK((after[0].vy != 0) == (after[1].vy != 0));
        return after[0].vy != 0;
      };
      CHECK(moves(0.625f));
      CHECK_FALSE(moves(0.6251f));
    }
  }
}

TEST_CASE("n-body with a cut-off is the same bit by bit for all allocators and numbers of threads") {
  const auto after = [](const Implementation& implementation, int threads) {
    const std::unique_ptr<Simulation> simulation =
        with_cut_off(implementation.make, 0.1f)(from(crowd(kQuick ? 100 : 700, 5, 1), threads));
    dynasoar::test::run(*simulation, 10);
    return simulation->bodies();
  };
  const Implementation objects = n_body_implementations().front();
  const std::vector<BodyState> expected = after(objects, 1);
  for (const int threads : {2, 4}) CHECK((after(objects, threads) == expected));
  for (const Implementation& version : dynasoar::test::on_other_allocators(std::vector{objects})) {
    CAPTURE(version.name);
    CHECK((after(version, 3) == expected));
  }
}

TEST_CASE("random bodies are where they should be, the same for every seed") {
  const std::vector<BodyState> states = bodies::random_bodies(5000, 7, 500, 1000);
  CHECK((states == bodies::random_bodies(5000, 7, 500, 1000)));
  CHECK_FALSE((states == bodies::random_bodies(5000, 8, 500, 1000)));
  double mass = 0;
  for (const BodyState& body : states) {
    CHECK((body.x >= -1 && body.x < 1 && body.y >= -1 && body.y < 1));
    CHECK((std::abs(body.vx) <= 0.0005f && std::abs(body.vy) <= 0.0005f));
    CHECK((body.mass >= 500 && body.mass <= 1000 && body.mass * 512 == std::floor(body.mass * 512)));
    mass += body.mass;
  }
  CHECK(mass / 5000 == doctest::Approx(750).epsilon(0.02));
}

TEST_CASE("every step is the reference's step from the same state") {
  for (const Implementation& implementation : n_body_implementations()) {
    for (const std::uint32_t count : {1u, 2u, 65u, kQuick ? 100u : 300u}) {
      check_steps(implementation, bodies::random_bodies(count, 3, n_body::kLeastMass, n_body::kMostMass), 5, 0);
    }
  }
  for (const Implementation& implementation : collision_implementations()) {
    for (const std::uint32_t count : {1u, 2u, 65u, kQuick ? 100u : 300u}) {
      check_steps(implementation, crowd(count, 5, 0.1f), 12, 0);
    }
    check_steps(implementation, crowd(65, 5, 0.1f), 12, 0, 3);  // timed and recorded steps take turns
  }
}

TEST_CASE("the number of threads changes nothing") {
  for (const Implementation& implementation : implementations()) {
    for (const int threads : dynasoar::test::thread_counts()) {
      check_steps(implementation, crowd(200, 11, 0.1f), 4, threads);
    }
  }
}

TEST_CASE("bodies are spots of light where they are: large if heavy, blue if slow, orange if fast") {
  const app::Rgb dark = {5, 8, 18};
  const std::vector<BodyState> pair = {{0, 0.5f, 0.25f, 0, 0, 400}, {1, -0.5f, -0.5f, 0.06f, 0.08f, 100}};
  const app::Picture picture = bodies::bodies_picture(pair);
  const auto is_like = [&](int x, int y, app::Rgb expected) {
    const app::Rgb found = picture.at(x, y);
    return std::abs(found.red - expected.red) <= 2 && std::abs(found.green - expected.green) <= 2 &&
           std::abs(found.blue - expected.blue) <= 2;
  };
  CHECK(is_like(763, 386, {44, 93, 196}));
  CHECK(is_like(763, 386 + 14, {20, 44, 114}));  // a third of the light
  CHECK(is_like(261, 763, {193, 151, 81}));
  int lit = 0;
  for (int y = 0; y < picture.height(); ++y) {
    for (int x = 0; x < picture.width(); ++x) {
      if (picture.at(x, y) == dark) continue;
      ++lit;
      CHECK(std::min(std::hypot(x - 762.5, y - 386.0), 2 * std::hypot(x - 260.5, y - 762.5)) < 38);
    }
  }
  CHECK(lit > 2500);
  for (const auto& [x, y] : {std::pair(-0.99f, 0.5f), {0.99f, 0.5f}, {0.5f, -0.99f}, {0.5f, 0.99f}}) {
    const app::Picture at_edge = bodies::bodies_picture({{0, x, y, 0, 0, 400}});
    const double column = 512 * (x + 1.0) - 0.5, row = 512 * (1.0 - y) - 0.5;
    int near = 0, far = 0;
    for (int py = 0; py < at_edge.height(); ++py) {
      for (int px = 0; px < at_edge.width(); ++px) {
        if (at_edge.at(px, py) != dark) ++(std::hypot(px - column, py - row) < 60 ? near : far);
      }
    }
    CHECK(near > 1000);
    CHECK(far == 0);
  }
  const app::Picture none = bodies::bodies_picture({});
  CHECK((none.width() == 1024 && none.height() == 1024));
  CHECK(none.at(0, 0) == dark);
}

TEST_CASE("two bodies attract each other with the force that the model gives") {
  // 0.6 apart: G m / (0.36 + 0.05) each way, for 0.02 s.
  const std::vector<BodyState> pair = {{0, -0.3f, 0, 0, 0, 800}, {1, 0.3f, 0, 0, 0, 600}};
  for_each_run(n_body_implementations(), from(pair), [&](Simulation& simulation) {
    simulation.step();
    const std::vector<BodyState> after = simulation.bodies();
    CHECK(after[0].vx == doctest::Approx(6.673e-11 * 600 / 0.41 * 0.02).epsilon(1e-5));
    CHECK(after[1].vx == doctest::Approx(-6.673e-11 * 800 / 0.41 * 0.02).epsilon(1e-5));
    CHECK(after[0].vy == 0);
  });
}

TEST_CASE("bodies in one place do not attract each other, and those that leave turn round") {
  const std::vector<BodyState> states = {{0, 0.25f, 0.25f, 0, 0, 800}, {1, 0.25f, 0.25f, 0, 0, 600}};
  const std::vector<BodyState> leaving = {{0, 0.999f, -0.999f, 0.1f, -0.1f, 500}};
  for (const Implementation& implementation : n_body_implementations()) {
    CAPTURE(implementation.name);
    std::unique_ptr<Simulation> together = implementation.make(from(states));
    together->step();
    CHECK((together->bodies() == states));
    together.reset();
    const std::unique_ptr<Simulation> one = implementation.make(from(leaving));
    one->step();
    CHECK(one->bodies()[0].vx == -0.1f);
    CHECK(one->bodies()[0].vy == 0.1f);
  }
}

TEST_CASE("momentum is conserved while nothing bounces, and energy nearly") {
  std::vector<BodyState> initial = bodies::random_bodies(kQuick ? 60 : 200, 9, n_body::kLeastMass, n_body::kMostMass);
  for (BodyState& body : initial) body.x *= 0.5f, body.y *= 0.5f;  // far from where they would bounce
  for_each_run(n_body_implementations(), from(initial), [&](Simulation& simulation) {
    const auto potential = [](const std::vector<BodyState>& states) {
      double energy = 0;  // of a force G m m' / (d^2 + 0.05): G m m' atan(d / sqrt(0.05)) / sqrt(0.05)
      for (std::size_t i = 0; i < states.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          const double d = distance(double{states[i].x} - states[j].x, double{states[i].y} - states[j].y);
          energy += 6.673e-11 * states[i].mass * states[j].mass * std::atan(d / std::sqrt(0.05)) / std::sqrt(0.05);
        }
      }
      return energy;
    };
    const Totals before = simulation.totals();
    const double energy_before = before.kinetic_energy + potential(simulation.bodies());
    dynasoar::test::run(simulation, 100);
    const Totals after = simulation.totals();
    CHECK(after.mass == before.mass);
    const double momentum = before.mass * 0.0005;  // what it could be
    CHECK(std::abs(after.momentum_x - before.momentum_x) < 1e-6 * momentum);
    CHECK(std::abs(after.momentum_y - before.momentum_y) < 1e-6 * momentum);
    CHECK(after.kinetic_energy + potential(simulation.bodies()) == doctest::Approx(energy_before).epsilon(1e-5));
  });
}

TEST_CASE("mass and momentum survive every merge") {
  const std::vector<BodyState> initial = crowd(kQuick ? 100 : 500, 21, 0.15f);
  for_each_run(collision_implementations(), from(initial), [&](Simulation& simulation) {
    const Totals before = simulation.totals();
    dynasoar::test::run(simulation, 30);
    const Totals after = simulation.totals();
    CHECK(after.bodies < before.bodies);
    CHECK(after.mass == before.mass);
    CHECK(std::abs(after.momentum_x - before.momentum_x) < 1e-6 * before.mass * 0.0005);
    CHECK(std::abs(after.momentum_y - before.momentum_y) < 1e-6 * before.mass * 0.0005);
    CHECK(after.kinetic_energy < before.kinetic_energy * 1.01);  // merging loses some of it
  });
}

TEST_CASE("bodies merge with each other according to the rules") {
  // 0 and 1 are as heavy as each other: 0 counts as heavier. 2 is lightest and asks the heaviest nearby, which is 3.
  // 3 asks for no body and takes the lightest of its askers, 4 before 2. 5 is far away.
  const std::vector<BodyState> initial = {{0, 0, 0, 0, 0, 50},    {1, 0.001f, 0, 0, 0, 50}, {2, 0.4f, 0.002f, 0, 0, 40},
                                          {3, 0.4f, 0, 0, 0, 70}, {4, 0.402f, 0, 0, 0, 39}, {5, 0.8f, 0, 0, 0, 60}};
  for (const Implementation& implementation : collision_implementations()) {
    CAPTURE(implementation.name);
    for (const Make& make : {implementation.make, implementation.reference}) {
      const std::unique_ptr<Simulation> simulation = make(from(initial));
      const auto numbers = [&] {
        std::vector<std::uint32_t> all;
        for (const BodyState& body : simulation->bodies()) all.push_back(body.number);
        return all;
      };
      simulation->step();
      CHECK((numbers() == std::vector<std::uint32_t>{0, 2, 3, 5}));
      CHECK(simulation->bodies()[0].mass == 100);
      CHECK(simulation->bodies()[2].mass == 109);
      simulation->step();
      CHECK((numbers() == std::vector<std::uint32_t>{0, 3, 5}));
      CHECK(simulation->bodies()[1].mass == 149);
    }
  }
}

TEST_CASE("a body that asks another one takes no body in that step") {
  // 0 asks 1, which asks 2; 0 is too far from 2.
  const std::vector<BodyState> chain = {{0, 0, 0, 0, 0, 40}, {1, 0.004f, 0, 0, 0, 50}, {2, 0.008f, 0, 0, 0, 60}};
  for_each_run(collision_implementations(), from(chain), [&](Simulation& simulation) {
    simulation.step();
    const std::vector<BodyState> after = simulation.bodies();
    REQUIRE(after.size() == 2);
    CHECK(after[0].number == 0);
    CHECK(after[0].mass == 40);
    CHECK(after[1].number == 2);
    CHECK(after[1].mass == 110);
  });
}

TEST_CASE("a run whose totals stop being finite, or that leaves the range of its arithmetic, names the step") {
  const auto error = [](const Make& make, const std::vector<BodyState>& initial) {
    const std::unique_ptr<Simulation> simulation = make(from(initial));
    simulation->record();
    return message_of<std::runtime_error>([&] {
      for (int step = 1; step < 4; ++step) {
        simulation->step();
        simulation->record();
      }
    });
  };
  const std::vector<BodyState> heavy = {{0, 0, 0, 0, 0, 1e30f}, {1, 0.5f, 0, 0, 0, 1}};
  // A step of n-body takes 0.02 s, one of collision 0.05 s.
  const std::vector<BodyState> fast = {{0, 0, 0, 2.5e7f, 0, 1}};
  for (const Implementation& implementation : implementations()) {
    CAPTURE(implementation.name);
    const bool is_n_body = implementation.name.starts_with("n-body");
    CHECK(error(implementation.make, heavy) ==
          "after step 1 the kinetic_energy is not a number: numbers have become too large for the model's arithmetic");
    for (const Make& make : {implementation.make, implementation.reference}) {
      CHECK(error(make, fast) == (is_n_body ? "no error"
                                            : "after step 1 a body is farther than 900000 from the middle, "
                                              "where forces cannot be computed in single precision; "
                                              "start with smaller masses or velocities"));
    }
  }
}

TEST_CASE("at the ends of the ranges that files may have, no result is infinite") {
  using bodies::kFarthestAtStart, bodies::kFastestAtStart, bodies::kHeaviest, bodies::kLightest;
  std::vector<BodyState> initial;
  for (const float x : {-kFarthestAtStart, 0.0f, 1e-6f, 0.004f, kFarthestAtStart}) {
    for (const float v : {-kFastestAtStart, 0.0f, kFastestAtStart}) {
      for (const float mass : {kLightest, 1.0f, kHeaviest}) {
        initial.push_back({static_cast<std::uint32_t>(initial.size()), x, -x, v, -v, mass});
      }
    }
  }
  for_each_run(implementations(), from(initial), [&](Simulation& simulation) {
    for (int step = 0; step < 5; ++step) {
      simulation.step();
      CHECK_NOTHROW(simulation.record());
    }
    CHECK(simulation.take_history().back().mass > 0);
  });
}
