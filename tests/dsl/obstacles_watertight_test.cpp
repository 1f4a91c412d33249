/// @file
/// Obstacles: no agent gets through a wall, whatever rounding does, and walks have the same bits everywhere.

#include <dynasoar/obstacles.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../platform/test_support.h"
#include "obstacle_types.h"

namespace obstacles_test {

using dynasoar::detail::Side;

/// Agents that run about at random. Many of their moves aim at corners, or along a coordinate.
template <class P>
struct Wander {
  View<P> view;
  P* agents;
  const P* targets;
  std::size_t target_count;
  std::uint64_t seed;
  std::uint32_t moves;
  RealOf<P> longest;
  std::uint64_t* hits;

  __device__ void operator()(std::size_t number) const {
    Dice dice(seed, number);
    P at = agents[number];
    std::uint64_t hit = 0;
    for (std::uint32_t i = 0; i < moves; ++i) {
      const std::uint64_t word = dice.word();
      P by = at;
      // Lengths of all sizes, down to a few units in the last place.
      const double length = static_cast<double>(longest) * (word % 8 == 0 ? 1e-6 : word % 8 < 5 ? 0.1 : 1);
      for (int a = 0; a < kDimensions<P>; ++a) {
        coordinate(by, a) = static_cast<RealOf<P>>(length * dice.number());
        if ((word >> (8 + 2 * a) & 3) == 0) coordinate(by, a) = 0;
      }
      if ((word >> 16 & 3) == 0) {
        const double share = (word >> 18 & 3) == 0 ? 1 : 1.5;
        const P to_target = view.space().offset(at, targets[(word >> 24) % target_count]);
        for (int a = 0; a < kDimensions<P>; ++a) {
          coordinate(by, a) = static_cast<RealOf<P>>(share * static_cast<double>(coordinate(to_target, a)));
        }
      }
      const auto moved = view.move(at, by, static_cast<AtWall>((word >> 20) % 3));
      hit += moved.hit ? 1 : 0;
      at = moved.position;
    }
    agents[number] = at;
    hits[number] += hit;
  }
};

constexpr std::size_t kAgents = 64;
constexpr std::uint32_t kRounds = 4;

/// Lets agents run about, and counts, after each round, those for which `is_inside` does not hold.
/// @return a hash of all positions
template <class P, class IsInside>
std::uint64_t check_watertight(dynasoar::Obstacles<P>& obstacles, const P& start, const std::vector<P>& targets,
                               RealOf<P> longest, std::uint64_t seed, std::uint32_t moves, const IsInside& is_inside) {
  auto agents = on_device(std::vector<P>(kAgents, start));
  const auto device_targets = on_device(targets);
  auto hits = dynasoar::test::zeroed<std::uint64_t>(kAgents);
  std::uint64_t hash = 0;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    run_loop(kAgents, Wander<P>{obstacles.view(), agents.data(), device_targets.data(), targets.size(), seed + round,
                                moves / kRounds, longest, hits.data()});
    std::size_t outside = 0;
    for (const P& agent : agents.download()) {
      if (!is_inside(agent)) ++outside;
      for (int a = 0; a < kDimensions<P>; ++a) {
        hash = (hash ^ std::bit_cast<std::uint64_t>(double{coordinate(agent, a)})) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
      }
    }
    CHECK(outside == 0);
  }
  const std::vector<std::uint64_t> contacts = hits.download();
  CHECK(std::count(contacts.begin(), contacts.end(), 0) < static_cast<std::ptrdiff_t>(kAgents));
  return hash;
}

/// Whether a point is strictly inside a polygon, decided exactly.
template <class P>
bool is_in(const std::vector<P>& polygon, const P& point) {
  int turns = 0;
  const auto plane_point = [](const P& p) { return dynasoar::detail::PlanePoint{p.x, p.y}; };
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const P& a = polygon[i];
    const P& b = polygon[(i + 1) % polygon.size()];
    const Side side = dynasoar::detail::side_of_line(plane_point(a), plane_point(b), plane_point(point));
    if (side == Side::on_line && std::min(a.x, b.x) <= point.x && point.x <= std::max(a.x, b.x) &&
        std::min(a.y, b.y) <= point.y && point.y <= std::max(a.y, b.y)) {
      return false;
    }
    if (a.y <= point.y && b.y > point.y && side == Side::left) ++turns;
    if (a.y > point.y && b.y <= point.y && side == Side::right) --turns;
  }
  return turns != 0;
}

/// A star whose points are so thin that rounding matters in them.
template <class P>
std::vector<P> star(double x, double y, double size, int points) {
  std::vector<P> corners;
  for (int i = 0; i < 2 * points; ++i) {
    const double angle = 3.14159265358979 * i / points + 0.1;
    const double radius = i % 2 == 0 ? size : 0.2 * size;
    corners.push_back(
        {static_cast<RealOf<P>>(x + radius * std::cos(angle)), static_cast<RealOf<P>>(y + radius * std::sin(angle))});
  }
  return corners;
}

constexpr std::uint32_t kMoves = 1600 / kSlowdown;  // of each agent

template <class P>
void check_star(double x, double y, double size, double cell, std::uint32_t moves = kMoves) {
  CAPTURE(x);
  CAPTURE(size);
  const auto real = [](double value) { return static_cast<RealOf<P>>(value); };
  dynasoar::Obstacles<P> obstacles({.lower = {real(x - 1.1 * size), real(y - 1.1 * size)},
                                    .upper = {real(x + 1.1 * size), real(y + 1.1 * size)},
                                    .cell = real(cell * size)});
  const std::vector<P> corners = star<P>(x, y, size, 7);
  obstacles.add_polygon(corners);
  check_watertight<P>(obstacles, {real(x), real(y)}, corners, real(size), dynasoar::test::test_seed(), moves,
                      [&](const P& agent) { return is_in(corners, agent); });
}

TEST_CASE("no agent gets out of a closed polygon") {
  check_star<Plane32>(0, 0, 1, 0.1);
  check_star<Plane32>(-700, 33, 1, 0.1);
  check_star<Plane64>(0.1, 0.1, 1, 0.03);
  check_star<Plane64>(1e9, -1e9, 1, 5);
}

TEST_CASE("no agent gets out of a polygon that is tiny, or far away for its size") {
  check_star<Plane32>(0, 0, 1e-30, 0.1, kMoves / 4);
  check_star<Plane32>(0, 0, 1e30, 0.1, kMoves / 4);
  check_star<Plane32>(1e6, 1e6, 3, 0.2, kMoves / 4);  // 50 numbers across
  check_star<Plane64>(0, 0, 1e-100, 0.1, kMoves / 4);
  check_star<Plane64>(0, 0, 1e130, 0.1, kMoves / 4);
  check_star<Plane64>(1e15, 1e15, 4, 0.2, kMoves / 16);
}

template <class P>
void check_room(double x, double size) {
  CAPTURE(x);
  P lower{}, upper{}, middle{}, space_lower{}, space_upper{};
  for (int a = 0; a < kDimensions<P>; ++a) {
    coordinate(lower, a) = static_cast<RealOf<P>>(x);
    coordinate(upper, a) = static_cast<RealOf<P>>(x + size);
    coordinate(middle, a) = static_cast<RealOf<P>>(x + size / 2);
    coordinate(space_lower, a) = static_cast<RealOf<P>>(x - size);
    coordinate(space_upper, a) = static_cast<RealOf<P>>(x + 2 * size);
  }
  dynasoar::Obstacles<P> obstacles(
      {.lower = space_lower, .upper = space_upper, .cell = static_cast<RealOf<P>>(0.2 * size)});
  obstacles.add_room(lower, upper);
  // A pillar and a ball in the room.
  P a = middle, b = upper, c = lower;
  for (int i = 0; i < kDimensions<P>; ++i) {
    coordinate(a, i) += static_cast<RealOf<P>>(0.1 * size);
    coordinate(b, i) -= static_cast<RealOf<P>>(0.2 * size);
    coordinate(c, i) += static_cast<RealOf<P>>(0.2 * size);
  }
  obstacles.add_box(a, b);
  obstacles.add_ball(c, static_cast<RealOf<P>>(0.15 * size));
  check_watertight<P>(obstacles, middle, {lower, upper, a, b, c}, static_cast<RealOf<P>>(2 * size),
                      dynasoar::test::test_seed(), kMoves / 2, [&](const P& agent) {
                        bool is_inside = true;
                        bool is_in_pillar = true;
                        double squared = 0;
                        for (int i = 0; i < kDimensions<P>; ++i) {
                          const RealOf<P> at = coordinate(agent, i);
                          is_inside = is_inside && at > coordinate(lower, i) && at < coordinate(upper, i);
                          is_in_pillar = is_in_pillar && at >= coordinate(a, i) && at <= coordinate(b, i);
                          squared += std::pow(double{at} - double{coordinate(c, i)}, 2);
                        }
                        return is_inside && !is_in_pillar && squared > std::pow(0.15 * size * (1 - 1e-6), 2);
                      });
}

TEST_CASE("no agent gets out of a room, or into the obstacles in it") {
  check_room<Plane32>(0, 1);
  check_room<Plane64>(-77.7, 10);
  check_room<Solid32>(-0.3, 1);
  check_room<Solid64>(1000, 3);
}

TEST_CASE("no agent gets through walls at the ends of a periodic space") {
  for (const double x : {0.3, 9.7, 5.0}) {
    for (const double y : {0.1, 9.99}) {
      dynasoar::Obstacles<Plane32> obstacles(
          {.lower = {0, 0}, .upper = {10, 10}, .cell = 0.7f, .periodic = {true, true}});
      const std::vector<Plane32> corners = star<Plane32>(x, y, 3, 5);
      obstacles.add_polygon(corners);
      const dynasoar::GridSpace<Plane32> space = obstacles.view().space();
      const Plane32 center{static_cast<float>(x), static_cast<float>(y)};
      // The image beside the center is rounded, so it may be outside by that.
      const std::vector<Plane64> room = star<Plane64>(x, y, 3.0001, 5);
      check_watertight<Plane32>(obstacles, center, corners, 8, dynasoar::test::test_seed(), kMoves / 4,
                                [&](const Plane32& agent) {
                                  const Plane32 offset = space.offset(center, agent);
                                  return agent.x >= 0 && agent.x < 10 && agent.y >= 0 && agent.y < 10 &&
                                         is_in(room, Plane64{x + double{offset.x}, y + double{offset.y}});
                                });
    }
  }
  // A wall exactly at the end closes the space.
  dynasoar::Obstacles<Solid64> rooms(
      {.lower = {0, 0, 0}, .upper = {0.1, 1, 1}, .cell = 0.03, .periodic = {true, true, true}});
  rooms.add_box({0.1, 0, 0}, {0.1, 1, 1});
  rooms.add_box({0.05, 0, 0}, {0.05, 1, 1});
  check_watertight<Solid64>(rooms, {0.07, 0.5, 0.5}, {{0, 0, 0}, {0.05, 0.5, 0.5}}, 0.4, dynasoar::test::test_seed(),
                            kMoves / 4, [](const Solid64& agent) { return agent.x > 0.05 && agent.x < 0.1; });
}

TEST_CASE("no agent gets through walls on unbounded axes") {
  dynasoar::Obstacles<Plane64> obstacles({.lower = {0, 0}, .upper = {1, 1}, .cell = 0.5, .unbounded = {true, true}});
  const std::vector<Plane64> corners = star<Plane64>(-300, 500, 20, 6);
  obstacles.add_polygon(corners);
  check_watertight<Plane64>(obstacles, {-300, 500}, corners, 50, dynasoar::test::test_seed(), kMoves / 4,
                            [&](const Plane64& agent) { return is_in(corners, agent); });
}

TEST_CASE("walks have the same bits with every compiler and on both backends") {
  dynasoar::Obstacles<Plane32> obstacles({.lower = {-2, -2}, .upper = {2, 2}, .cell = 0.1f, .periodic = {true, false}});
  const std::vector<Plane32> corners{{-1, -1}, {0.5f, -1.5f}, {1, -0.25f}, {0.125f, 0}, {1.5f, 1}, {-0.5f, 1.75f}};
  obstacles.add_polygon(corners);
  obstacles.add_ball({0, -0.5f}, 0.25f);
  obstacles.add_box({-0.25f, 0.75f}, {0, 1});
  const std::uint64_t hash = check_watertight<Plane32>(obstacles, {-0.5f, 0}, corners, 1, 38, 400,
                                                       [&](auto& agent) { return is_in(corners, agent); });
  CHECK(hash == 11027611353799933117u);
}

TEST_CASE("the side of a line is exact") {
  __extension__ using Wide = __int128;
  constexpr double kUnit = 0x1p-53;
  const auto expected = [](const std::int64_t(&p)[6]) {
    const Wide sum = Wide{p[2] - p[0]} * (p[5] - p[1]) - Wide{p[3] - p[1]} * (p[4] - p[0]);
    return sum > 0 ? Side::left : sum < 0 ? Side::right : Side::on_line;
  };
  Dice dice(dynasoar::test::test_seed(), 1);
  std::size_t wrong = 0;
  std::size_t on_line = 0;
  for (int i = 0; i < 100000; ++i) {
    // Points that are nearly on the line from (12, 12) to (24, 24), or exactly.
    const std::int64_t one = std::int64_t{1} << 53;
    const std::int64_t p[6] = {12 * one,
                               12 * one,
                               24 * one,
                               24 * one,
                               one / 2 + static_cast<std::int64_t>(dice.word() % 64),
                               one / 2 + static_cast<std::int64_t>(dice.word() % 64)};
    const auto number = [&](int at) { return static_cast<double>(p[at]) * kUnit; };
    const Side side =
        dynasoar::detail::side_of_line({number(0), number(1)}, {number(2), number(3)}, {number(4), number(5)});
    wrong += side != expected(p) ? 1 : 0;
    on_line += side == Side::on_line ? 1 : 0;
  }
  CHECK(wrong == 0);
  CHECK(on_line > 0);
  CHECK(dynasoar::detail::side_of_line({0, 0}, {1e-200, 1e-200}, {2e-200, 2e-200}) == Side::undecided);
  CHECK(dynasoar::detail::side_of_line({0, 0}, {1e200, 1e200}, {2e200, 2e200}) == Side::undecided);
}

}  // namespace obstacles_test
