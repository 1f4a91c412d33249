/// @file
/// Obstacles: what casts, moves and searches find is what a search through all obstacles finds.

#include <dynasoar/obstacles.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../platform/test_support.h"
#include "obstacle_types.h"

namespace obstacles_test {

/// What loops of one thread return.
template <class P>
struct Asked {
  typename View<P>::Moved moved;
  typename View<P>::Hit cast, ray;
  typename View<P>::Nearest nearest;
  bool is_free;
};

template <class P>
struct Question {
  P at, by;
  RealOf<P> radius = RealOf<P>(kInfinity);
  AtWall at_wall = AtWall::slide;
};

template <class P>
struct Ask {
  View<P> view;
  const Question<P>* questions;
  Asked<P>* answers;
  __device__ void operator()(std::size_t i) const {
    const auto& [at, by, radius, at_wall] = questions[i];
    P to = at;
    for (int a = 0; a < kDimensions<P>; ++a) coordinate(to, a) += coordinate(by, a);
    answers[i] = {view.move(at, by, at_wall), view.cast(at, to), view.ray(at, by), view.nearest(at, radius),
                  view.is_free(at, radius)};
  }
};

template <class P>
std::vector<Asked<P>> ask_all(dynasoar::Obstacles<P>& obstacles, const std::vector<Question<P>>& questions) {
  const auto uploaded = on_device(questions);
  dynasoar::DeviceArray<Asked<P>> answers(questions.size());
  run_loop(questions.size(), Ask<P>{obstacles.view(), uploaded.data(), answers.data()});
  return answers.download();
}
template <class P>
Asked<P> ask(dynasoar::Obstacles<P>& obstacles, const Question<P>& question) {
  return ask_all(obstacles, std::vector{question})[0];
}

// ---------------------------------------------------------------------------------------------------------------------
// What is found.

template <class P>
struct Scene {
  Options<P> options;
  dynasoar::Obstacles<P> obstacles;
  explicit Scene(RealOf<P> cell, const std::array<bool, static_cast<std::size_t>(kDimensions<P>)>& periodic)
      : options{.lower = {}, .upper = {}, .cell = cell, .periodic = periodic}, obstacles(spread(options)) {}
  static Options<P>& spread(Options<P>& options) {
    for (int a = 0; a < kDimensions<P>; ++a) coordinate(options.upper, a) = 8;
    return options;
  }
};

template <class P>
P random_point(Dice& dice, double least, double most) {
  P point{};
  for (int a = 0; a < kDimensions<P>; ++a) {
    coordinate(point, a) = static_cast<RealOf<P>>(least + (most - least) * (dice.number() + 1) / 2);
  }
  return point;
}

struct Shapes {
  std::vector<std::vector<double>> all;  // kind (0 segment, 1 box, 2 ball), and two points
};

template <class P>
Shapes furnish(dynasoar::Obstacles<P>& obstacles, Dice& dice) {
  Shapes shapes;
  for (int i = 0; i < 40; ++i) {
    const int kind = kDimensions<P> == 2 ? i % 3 : 1 + i % 2;
    P a = random_point<P>(dice, 0.5, 6);
    P b = random_point<P>(dice, 0, 1.5);
    if (kind != 2) {
      for (int k = 0; k < kDimensions<P>; ++k) coordinate(b, k) += coordinate(a, k);
    }
    std::vector<double> shape{static_cast<double>(kind)};
    for (int k = 0; k < kDimensions<P>; ++k) shape.push_back(coordinate(a, k));
    for (int k = 0; k < kDimensions<P>; ++k) shape.push_back(coordinate(b, k));
    if (kind == 2) {
      coordinate(b, 0) = coordinate(b, 0) / 4 + RealOf<P>(0.05);
      shape[1 + kDimensions<P>] = coordinate(b, 0);
      obstacles.add_ball(a, coordinate(b, 0));
    } else if (kind == 1) {
      obstacles.add_box(a, b);
    } else {
      if constexpr (kDimensions<P> == 2) obstacles.add_segment(a, b);
    }
    shapes.all.push_back(shape);
  }
  return shapes;
}

/// The distance from a point to a shape, by formulas of its own.
double distance_to(const std::vector<double>& shape, const std::vector<double>& point) {
  const std::size_t axes = point.size();
  if (shape[0] == 0) {
    double least = kInfinity;  // by sections: the distance to points of a segment is convex
    double from = 0, to = 1;
    for (int i = 0; i < 40; ++i) {
      double distances[2];
      for (int side = 0; side < 2; ++side) {
        const double share = from + (to - from) * (side + 1) / 3;
        distances[side] = std::hypot(shape[1] + share * (shape[3] - shape[1]) - point[0],
                                     shape[2] + share * (shape[4] - shape[2]) - point[1]);
        least = std::min(least, distances[side]);
      }
      (distances[0] < distances[1] ? to : from) = from + (to - from) * (distances[0] < distances[1] ? 2 : 1) / 3;
    }
    return least;
  }
  double sum = 0;
  for (std::size_t a = 0; a < axes; ++a) {
    const double offset = shape[0] == 2 ? point[a] - shape[1 + a]
                                        : std::max({shape[1 + a] - point[a], point[a] - shape[1 + axes + a], 0.0});
    sum += offset * offset;
  }
  return shape[0] == 2 ? std::max(0.0, std::sqrt(sum) - shape[1 + axes]) : std::sqrt(sum);
}

/// The distance to the nearest shape of all, and its number.
template <class P>
std::pair<double, std::size_t> nearest_of_all(const Shapes& shapes, const Options<P>& options, const P& point) {
  std::pair<double, std::size_t> best{kInfinity, 0};
  const int images = kDimensions<P> == 2 ? 9 : 27;
  for (int image = 0; image < images; ++image) {
    std::vector<double> moved;
    bool is_image = true;
    for (int a = 0, left = image; a < kDimensions<P>; ++a, left /= 3) {
      moved.push_back(coordinate(point, a) + 8.0 * (left % 3 - 1));
      is_image = is_image && (left % 3 == 1 || options.periodic[static_cast<std::size_t>(a)]);
    }
    if (!is_image) continue;
    for (std::size_t i = 0; i < shapes.all.size(); ++i) {
      best = std::min(best, {distance_to(shapes.all[i], moved), i});
    }
  }
  return best;
}

/// What for_each_obstacle visits, for each point.
template <class P>
struct Visit {
  View<P> view;
  const P* points;
  RealOf<P> reach;
  typename View<P>::Nearest* visited;  // [points][kMostVisited]
  std::uint32_t* counts;               // [points]
  static constexpr std::uint32_t kMostVisited = 64;
  __device__ void operator()(std::size_t i) const {
    std::uint32_t count = 0;
    view.for_each_obstacle(points[i], reach, [&](const auto& obstacle) {
      if (count < kMostVisited) visited[i * kMostVisited + count] = obstacle;
      ++count;
    });
    counts[i] = count;
  }
};
template <class P>
std::vector<std::vector<typename View<P>::Nearest>> visit_all(dynasoar::Obstacles<P>& obstacles,
                                                              const std::vector<P>& points, RealOf<P> reach) {
  constexpr std::size_t kMost = Visit<P>::kMostVisited;
  const auto uploaded = on_device(points);
  dynasoar::DeviceArray<typename View<P>::Nearest> visited(points.size() * kMost);
  dynasoar::DeviceArray<std::uint32_t> counts(points.size());
  run_loop(points.size(), Visit<P>{obstacles.view(), uploaded.data(), reach, visited.data(), counts.data()});
  const auto all = visited.download();
  const std::vector<std::uint32_t> sizes = counts.download();
  std::vector<std::vector<typename View<P>::Nearest>> result;
  for (std::size_t i = 0; i < points.size(); ++i) {
    REQUIRE(sizes[i] <= kMost);
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(i * kMost);
    result.emplace_back(first, first + static_cast<std::ptrdiff_t>(sizes[i]));
  }
  return result;
}

/// Compares what for_each_obstacle visits with the distances to all shapes.
template <class P>
void check_visits(std::uint64_t seed, RealOf<P> cell, bool is_periodic) {
  CAPTURE(cell);
  CAPTURE(is_periodic);
  Dice dice(seed, 29);
  std::array<bool, static_cast<std::size_t>(kDimensions<P>)> periodic{};
  periodic.front() = is_periodic;
  Scene<P> scene(cell, periodic);
  const Shapes shapes = furnish(scene.obstacles, dice);
  std::vector<P> points;
  for (std::size_t i = 0; i < 200 / kSlowdown; ++i) points.push_back(random_point<P>(dice, i % 4 == 0 ? -4 : 0, 8));
  std::size_t most_visited = 0;
  for (const double reach : {0.0, 0.3, 2.0, 3.9}) {
    CAPTURE(reach);
    const auto visited = visit_all(scene.obstacles, points, static_cast<RealOf<P>>(reach));
    for (std::size_t i = 0; i < points.size(); ++i) {
      const P at = scene.obstacles.view().space().wrapped(points[i]);
      std::size_t next = 0;
      for (std::size_t shape = 0; shape < shapes.all.size(); ++shape) {
        const double distance = nearest_of_all(Shapes{{shapes.all[shape]}}, scene.options, at).first;
        const bool is_visited = next < visited[i].size() && visited[i][next].obstacle == shape;
        if (std::abs(distance - reach) > 1e-4) REQUIRE(is_visited == (distance < reach));
        if (!is_visited) continue;
        const auto& obstacle = visited[i][next++];
        REQUIRE(double{obstacle.distance} == doctest::Approx(distance).epsilon(1e-4));
        double squared = 0;
        for (int a = 0; a < kDimensions<P>; ++a) squared += std::pow(double{coordinate(obstacle.offset, a)}, 2);
        REQUIRE(std::sqrt(squared) == doctest::Approx(distance).epsilon(1e-4));
      }
      REQUIRE(next == visited[i].size());  // in the order of numbers, and each once
      most_visited = std::max(most_visited, visited[i].size());
    }
  }
  CHECK((most_visited > 8 || kSlowdown > 1));  // more than are noted at once
}

TEST_CASE("for_each_obstacle visits each obstacle within reach once, in the order of the numbers") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  for (const bool is_periodic : {false, true}) {
    for (const double cell : {0.3, 20.0}) check_visits<Plane32>(seed, static_cast<float>(cell), is_periodic);
    check_visits<Plane64>(seed + 1, 0.5, is_periodic);
    check_visits<Solid32>(seed + 2, 0.8f, is_periodic);
  }
}

TEST_CASE("for_each_obstacle visits all obstacles with an infinite reach, and none from a point that is not finite") {
  dynasoar::Obstacles<Plane32> obstacles({.lower = {0, 0}, .upper = {10, 10}, .cell = 1});
  for (int i = 0; i < 9; ++i) obstacles.add_ball({1.0f + static_cast<float>(i), 5}, 0.25f);
  const float infinite = std::numeric_limits<float>::infinity(), none = std::numeric_limits<float>::quiet_NaN();
  const auto visited = visit_all<Plane32>(obstacles, {{0, 0}, {500, -300}, {none, 0}, {infinite, 0}}, infinite);
  CHECK(visited[0].size() == 9);
  CHECK(visited[1].size() == 9);
  CHECK(visited[2].empty());
  CHECK(visited[3].empty());
  for (const float reach : {-1.0f, none}) CHECK(visit_all<Plane32>(obstacles, {{1, 5}}, reach)[0].empty());
  CHECK(visit_all<Plane32>(obstacles, {{1, 5}}, 0)[0].size() == 1);  // inside of a ball
}

/// Compares searches with a search through all, and marches along rays in small steps.
template <class P>
void check_scene(std::uint64_t seed, RealOf<P> cell, bool is_periodic) {
  CAPTURE(cell);
  CAPTURE(is_periodic);
  Dice dice(seed, 17);
  std::array<bool, static_cast<std::size_t>(kDimensions<P>)> periodic{};
  periodic.back() = is_periodic;
  Scene<P> scene(cell, periodic);
  const Shapes shapes = furnish(scene.obstacles, dice);
  std::vector<Question<P>> questions;
  for (std::size_t i = 0; i < 200 / kSlowdown; ++i) {
    const P point = random_point<P>(dice, i % 4 == 0 ? -4 : 0, i % 4 == 0 ? 12 : 8);
    questions.push_back({point, random_point<P>(dice, -3, 3), RealOf<P>(i % 3 == 0 ? 0.3 : kInfinity)});
  }
  const std::vector<Asked<P>> answers = ask_all(scene.obstacles, questions);
  std::size_t hits = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto& [at, by, radius, at_wall] = questions[i];
    P start = scene.obstacles.view().space().wrapped(at);
    const auto [distance, number] = nearest_of_all(shapes, scene.options, start);
    if (std::abs(distance - double{radius}) > 1e-4) {
      REQUIRE(bool{answers[i].nearest} == (distance <= double{radius}));
      REQUIRE(answers[i].is_free == (distance > double{radius}));
    }
    if (answers[i].nearest) REQUIRE(double{answers[i].nearest.distance} == doctest::Approx(distance).epsilon(1e-4));
    if (answers[i].nearest && distance > 0.001) REQUIRE(answers[i].nearest.obstacle == number);
    if (distance < 0.001) continue;
    // Steps as long as the distance to the nearest obstacle never pass one.
    double length = 0;
    for (int a = 0; a < kDimensions<P>; ++a) length += std::pow(double{coordinate(by, a)}, 2);
    length = std::sqrt(length);
    double way = 0;
    double left = distance;
    for (int steps = 0; steps < 2000 && way < length && left > 1e-5; ++steps) {
      P there = at;
      for (int a = 0; a < kDimensions<P>; ++a) {
        coordinate(there, a) = static_cast<RealOf<P>>(double{coordinate(at, a)} + way / length * coordinate(by, a));
      }
      left = nearest_of_all(shapes, scene.options, scene.obstacles.view().space().wrapped(there)).first;
      way += left;
    }
    if (way > 0.98 * length || left > 1e-5) {
      if (way > 1.02 * length) REQUIRE(!answers[i].ray);
      continue;
    }
    ++hits;
    REQUIRE(answers[i].ray);
    REQUIRE(double{answers[i].ray.fraction} == doctest::Approx(way / length).epsilon(0.02));
  }
  CHECK((hits > 0 || kSlowdown > 1));
}

TEST_CASE("rays, distances and free places are those that a search through all obstacles finds") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  for (const bool is_periodic : {false, true}) {
    for (const double cell : {0.3, 1.0, 20.0}) check_scene<Plane32>(seed, static_cast<float>(cell), is_periodic);
    check_scene<Plane64>(seed + 1, 0.5, is_periodic);
    check_scene<Solid32>(seed + 2, 0.8f, is_periodic);
    check_scene<Solid64>(seed + 3, 3, is_periodic);
  }
}

TEST_CASE("the width of cells changes no result") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  std::vector<Asked<Plane32>> expected;
  for (const float cell : {30.0f, 1.0f, 0.05f}) {
    Dice dice(seed, 3);
    Scene<Plane32> scene(cell, {true, false});
    furnish(scene.obstacles, dice);
    std::vector<Question<Plane32>> questions;
    for (int i = 0; i < 1000; ++i) {
      questions.push_back(
          {random_point<Plane32>(dice, -1, 9), random_point<Plane32>(dice, -9, 9), 1, static_cast<AtWall>(i % 3)});
    }
    const std::vector<Asked<Plane32>> answers = ask_all(scene.obstacles, questions);
    if (expected.empty()) expected = answers;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      REQUIRE(answers[i].moved.position == expected[i].moved.position);
      REQUIRE(answers[i].moved.by == expected[i].moved.by);
      REQUIRE(answers[i].cast.point == expected[i].cast.point);
      REQUIRE(answers[i].ray.obstacle == expected[i].ray.obstacle);
      REQUIRE(answers[i].nearest.offset == expected[i].nearest.offset);
      REQUIRE(answers[i].is_free == expected[i].is_free);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// What walls do.

constexpr Options<Plane64> kSquare{.lower = {0, 0}, .upper = {10, 10}, .cell = 1};

/// Whether two points are the same, but for the distance that agents keep from walls.
template <class P>
bool is_near(const P& a, const P& b) {
  bool result = true;
  for (int i = 0; i < kDimensions<P>; ++i) {
    result = result && std::abs(double{coordinate(a, i)} - double{coordinate(b, i)}) <
                           (std::is_same_v<RealOf<P>, float> ? 1e-4 : 1e-9);
  }
  return result;
}

TEST_CASE("at a wall, agents stop, slide or are reflected") {
  dynasoar::Obstacles<Plane64> obstacles(kSquare);
  const std::uint32_t wall = obstacles.add_segment({5, 0}, {5, 10});
  const auto moved = [&](AtWall at_wall, Plane64 by) {
    return ask<Plane64>(obstacles, {{3, 4}, by, kInfinity, at_wall}).moved;
  };
  const auto stopped = moved(AtWall::stop, {4, 1});
  CHECK(is_near(stopped.position, {5, 4.5}));
  CHECK(stopped.position.x < 5);
  CHECK(stopped.by == Plane64{0, 0});
  CHECK(stopped.hit.obstacle == wall);
  CHECK(stopped.hit.fraction == doctest::Approx(0.5));
  CHECK(is_near(stopped.hit.point, {5, 4.5}));
  CHECK(stopped.hit.normal == Plane64{-1, 0});
  const auto slid = moved(AtWall::slide, {4, 1});
  CHECK(is_near(slid.position, {5, 5}));
  CHECK(slid.position.x < 5);
  CHECK(slid.by == Plane64{0, 1});
  const auto reflected = moved(AtWall::reflect, {4, 1});
  CHECK(is_near(reflected.position, {3, 5}));
  CHECK(reflected.by == Plane64{-4, 1});
  for (const AtWall at_wall : {AtWall::stop, AtWall::slide, AtWall::reflect}) {
    const auto free = moved(at_wall, {1.5, -1});
    CHECK(free.position == Plane64{4.5, 3});
    CHECK(free.by == Plane64{1.5, -1});
    CHECK(!free.hit);
    CHECK(free.hit.fraction == 1);
  }
}

TEST_CASE("reflections go on for sixteen walls, and slides for four") {
  dynasoar::Obstacles<Plane64> obstacles(kSquare);
  obstacles.add_segment({4, 0}, {4, 10});
  obstacles.add_segment({6, 0}, {6, 10});
  CHECK(is_near(ask<Plane64>(obstacles, {{5, 1}, {7, 3.5}, 1, AtWall::reflect}).moved.position, {4, 4.5}));
  CHECK(is_near(ask<Plane64>(obstacles, {{5, 1}, {29.5, 5.9}, 1, AtWall::reflect}).moved.position, {5.5, 6.9}));
  CHECK(is_near(ask<Plane64>(obstacles, {{5, 1}, {60, 6}, 1, AtWall::reflect}).moved.position, {4, 4.1}));
  obstacles.add_segment({4, 3}, {6, 3});
  CHECK(is_near(ask<Plane64>(obstacles, {{5, 1}, {70, 30}}).moved.position, {6, 3}));
}

TEST_CASE("an agent that runs along the line of a segment stops at its end") {
  dynasoar::Obstacles<Plane64> obstacles(kSquare);
  obstacles.add_segment({3, 2}, {6, 2});
  obstacles.add_segment({3, 8}, {6, 5});
  const auto level = ask<Plane64>(obstacles, {{1, 2}, {8, 0}}).moved;
  CHECK(is_near(level.position, {3, 2}));
  CHECK(level.position.x < 3);
  CHECK(level.hit.normal == Plane64{-1, 0});
  CHECK(level.hit.fraction == 0.25);
  const auto slanted = ask<Plane64>(obstacles, {{8, 3}, {-6, 6}}).moved;
  CHECK(slanted.hit.obstacle == 1);
  CHECK(is_near(slanted.position, {6, 5}));
  CHECK(is_near(ask<Plane64>(obstacles, {{1, 2}, {1.5, 0}}).moved.position, {2.5, 2}));
}

TEST_CASE("agents leave corners, in the plane and in space") {
  dynasoar::Obstacles<Plane32> plane({.lower = {-8, -8}, .upper = {8, 8}, .cell = 1});
  plane.add_polygon({{-7, -7.5f}, {6.5f, -5}, {7.5f, 7}});
  for (const Plane32 corner : {Plane32{-7, -7.5f}, Plane32{6.5f, -5}, Plane32{7.5f, 7}}) {
    Plane32 at{4, -3};
    for (int i = 0; i < 10; ++i) at = ask<Plane32>(plane, {at, {corner.x - at.x, corner.y - at.y}}).moved.position;
    CHECK(is_near(ask<Plane32>(plane, {at, {4 - at.x, -3 - at.y}}).moved.position, {4, -3}));
    CHECK(std::hypot(at.x - corner.x, at.y - corner.y) < 0.02);
  }
  dynasoar::Obstacles<Solid64> space({.lower = {0, 0, 0}, .upper = {9, 9, 9}, .cell = 2});
  space.add_room({1, 1, 1}, {4, 5, 6});
  const auto moved = ask<Solid64>(space, {{2, 2, 2}, {20, -7, 100}}).moved;
  CHECK(is_near(moved.position, {4, 1, 6}));
  CHECK(moved.by == Solid64{0, 0, 0});
  CHECK(ask<Solid64>(space, {moved.position, {-1, 1, -1}}).moved.position.z == doctest::Approx(5));
}

TEST_CASE("an agent on a segment may leave it to both sides, and one on a box to the outside") {
  dynasoar::Obstacles<Plane64> obstacles(kSquare);
  obstacles.add_segment({2, 2}, {8, 4});
  obstacles.add_box({3, 6}, {5, 8});
  obstacles.add_box({6, 7}, {9, 7});
  obstacles.add_ball({8, 1}, 0.5);
  const auto end = [&](Plane64 from, Plane64 by) { return ask<Plane64>(obstacles, {from, by}).moved.position; };
  CHECK(end({5, 3}, {0, 1}) == Plane64{5, 4});
  CHECK(end({5, 3}, {0, -1}) == Plane64{5, 2});
  CHECK(end({5, 3}, {1.5, 0.5}) == Plane64{6.5, 3.5});
  CHECK(end({2, 2}, {1, 0}) == Plane64{3, 2});
  CHECK(end({3, 7}, {-1, 0}) == Plane64{2, 7});
  CHECK(end({3, 7}, {0, -3}) == Plane64{3, 4});         // along the box
  CHECK(is_near(end({3, 7}, {1, 0}), {3, 7}));          // not into it
  CHECK(is_near(end({5, 8}, {-0.5, -0.5}), {4.5, 8}));  // nor at its corner
  CHECK(end({5, 8}, {0.5, -0.5}) == Plane64{5.5, 7.5});
  CHECK(end({4, 7}, {5, 0}) == Plane64{4, 7});  // inside, it stays
  CHECK(end({7, 7}, {0, 1}) == Plane64{7, 8});  // a flat box is like a segment
  CHECK(end({7, 7}, {0, -1}) == Plane64{7, 6});
  CHECK(end({8.5, 1}, {0.5, 0.25}) == Plane64{9, 1.25});
  CHECK(is_near(end({8.5, 1}, {-1, 0}), {8.5, 1}));
}

TEST_CASE("an agent does not move by nothing, or to nowhere") {
  dynasoar::Obstacles<Plane64> obstacles(kSquare);
  obstacles.add_segment({2, 2}, {8, 4});
  for (const Plane64 at : {Plane64{1, 1}, Plane64{5, 3}, Plane64{2, 2}, Plane64{-50, 1e9}}) {
    const auto moved = ask<Plane64>(obstacles, {at, {0, -0.0}}).moved;
    CHECK(moved.position == at);
    CHECK(!moved.hit);
  }
  for (const double bad : {kNan, kInfinity}) {
    const auto from = ask<Plane64>(obstacles, {{1, bad}, {1, 1}});
    CHECK(from.moved.position.x == 1);
    CHECK(from.moved.by == Plane64{0, 0});
    CHECK(!from.ray);
    CHECK(!from.cast);
    CHECK(!from.nearest);
    CHECK(!from.is_free);
    const auto by = ask<Plane64>(obstacles, {{5, 1}, {bad, 1}, -1});
    CHECK(by.moved.position == Plane64{5, 1});
    CHECK(by.moved.by == Plane64{0, 0});
    CHECK(!by.ray);
    CHECK(!by.nearest);
    CHECK(!by.is_free);
  }
}

TEST_CASE("displacements may be huge") {
  dynasoar::Obstacles<Plane32> walls({.lower = {0, 0}, .upper = {10, 10}, .cell = 0.01f});
  walls.add_room({0, 0}, {10, 10});
  const auto moved = ask<Plane32>(walls, {{1, 1}, {3e38f, 3e37f}}).moved;
  CHECK(is_near(moved.position, {10, 10}));
  dynasoar::Obstacles<Plane32> ring({.lower = {0, 0}, .upper = {10, 10}, .cell = 1, .periodic = {true, true}});
  ring.add_segment({0, 5}, {10, 5});
  const auto around = ask<Plane32>(ring, {{1, 1}, {3e38f, 0}});
  CHECK(around.moved.position.y == 1);
  CHECK(around.moved.position.x < 10);
  CHECK(!around.moved.hit);
  CHECK(!around.ray);
  CHECK(ask<Plane32>(ring, {{1, 1}, {158, 0}}).moved.position == Plane32{9, 1});
  CHECK(ask<Plane32>(ring, {{3e37f, 1}, {1, 0}}).moved.position == Plane32{3e37f, 1});
}

TEST_CASE("walls repeat on periodic axes, and agents look along the shortest way") {
  dynasoar::Obstacles<Plane32> obstacles({.lower = {0, 0}, .upper = {10, 10}, .cell = 1, .periodic = {true, false}});
  obstacles.add_segment({9.5f, 0}, {9.5f, 10});
  const auto answer = ask<Plane32>(obstacles, {{1, 5}, {-3, 0}, 2});
  CHECK(answer.moved.position.x > 9.5f);
  CHECK(is_near(answer.moved.position, {9.5f, 5}));
  CHECK(answer.ray.fraction == 0.5f);
  CHECK(answer.ray.normal == Plane32{1, 0});
  CHECK(is_near(answer.ray.point, {9.5f, 5}));
  CHECK(answer.nearest.offset == Plane32{-1.5f, 0});
  CHECK(ask<Plane32>(obstacles, {{1, 5}, {8, 0}}).cast.fraction == 0.75f);  // two to the left
  CHECK(!ask<Plane32>(obstacles, {{1, 5}, {4, 0}}).cast);
  CHECK(ask<Plane32>(obstacles, {{1, 5}, {9, 0}}).ray.fraction == doctest::Approx(8.5 / 9));
}

TEST_CASE("obstacles may be anywhere along an unbounded axis") {
  dynasoar::Obstacles<Plane64> obstacles({.lower = {0, 0}, .upper = {1, 1}, .cell = 0.5, .unbounded = {true, true}});
  obstacles.add_segment({-300, 400}, {-300, 600});
  obstacles.add_ball({2000, 0}, 1);
  CHECK(!ask<Plane64>(obstacles, {{1e7, 1e6}, {1, 1}}).moved.hit);
  CHECK(ask<Plane64>(obstacles, {{-1e6, 500}, {2e6, 0}}).ray.obstacle == 0);
  CHECK(ask<Plane64>(obstacles, {{-1e6, 500}, {2e6, 0}}).nearest.obstacle == 0);
  CHECK(ask<Plane64>(obstacles, {{2000, 10}, {1, 1}}).nearest.obstacle == 1);
}

TEST_CASE("obstacles may be changed between loops, and there may be none") {
  dynasoar::Obstacles<Plane64> obstacles(kSquare);
  const Question<Plane64> question{{1, 1}, {5, 0}};
  CHECK(ask(obstacles, question).moved.position == Plane64{6, 1});
  CHECK(!ask(obstacles, question).nearest);
  CHECK(ask(obstacles, question).is_free == true);
  CHECK(obstacles.add_ball({4, 1}, 1) == 0);
  CHECK(obstacles.add_room({0, 0}, {10, 10}) == 1);
  CHECK(obstacles.add_segment({3, 0}, {3, 1}) == 5);
  CHECK(obstacles.size() == 6);
  CHECK(obstacles.bytes() > 6 * 40);
  CHECK(ask(obstacles, question).ray.obstacle == 0);  // as far as the segment
  CHECK(ask(obstacles, question).nearest.obstacle == 1);
  obstacles.clear();
  CHECK(obstacles.size() == 0);
  CHECK(ask(obstacles, question).moved.position == Plane64{6, 1});
}

TEST_CASE("obstacles that make no sense are refused, and told why") {
  dynasoar::Obstacles<Plane64> obstacles(kSquare);
  obstacles.add_segment({1, 1}, {2, 2});
  const auto check_refused = [&](const auto& add, const char* why) {
    CHECK_THROWS_WITH_AS(add(), doctest::Contains(why), dynasoar::Error);
    CHECK(obstacles.size() == 1);
  };
  check_refused([&] { obstacles.add_segment({1, 1}, {1, 1}); }, "obstacle 1, a segment, has no length");
  check_refused([&] { obstacles.add_segment({1, kNan}, {1, 1}); }, "along axis 1 that is not finite");
  check_refused([&] { obstacles.add_segment({1, 1}, {kInfinity, 1}); }, "along axis 0 that is not finite");
  check_refused([&] { obstacles.add_box({1, 2}, {2, 1}); }, "is empty: its lower corner must not be greater");
  check_refused([&] { obstacles.add_box({1, 2}, {2, kNan}); }, "not finite");
  check_refused([&] { obstacles.add_box({1, 2}, {2, 10.5}); }, "along axis 1 it reaches from 2 to 10.5, and may reach");
  check_refused([&] { obstacles.add_ball({1, 2}, 0); }, "needs a radius greater than 0, not 0");
  check_refused([&] { obstacles.add_ball({1, 2}, kNan); }, "needs a radius greater than 0, not nan");
  check_refused([&] { obstacles.add_ball({1, 2}, 3); }, "Make the space larger, or the axis unbounded");
  check_refused([&] { obstacles.add_polygon({{1, 1}, {2, 2}}); }, "needs at least three corners");
  check_refused([&] { obstacles.add_polygon({{1, 1}, {2, 2}, {3, 11}}); }, "outside of the space");
  check_refused([&] { obstacles.add_room({1, 1}, {2, 11}); }, "outside of the space");
  CHECK_THROWS_WITH_AS(dynasoar::Obstacles<Plane64>({.lower = {0, 0}, .upper = {0, 1}, .cell = 1}),
                       doctest::Contains("lower must be less than upper"), dynasoar::Error);
  dynasoar::Obstacles<Plane32> periodic({.lower = {0, 0}, .upper = {8, 8}, .cell = 1, .periodic = {true, false}});
  CHECK_NOTHROW(periodic.add_box({-4, 0}, {12, 1}));
  CHECK_THROWS_WITH_AS(periodic.add_box({-4, 0}, {12.5f, 1}), doctest::Contains("Add it at a place in the space"),
                       dynasoar::Error);
}

}  // namespace obstacles_test
