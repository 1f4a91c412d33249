/// @file
/// ObstacleSearch: finds the first obstacle on a straight way, and the obstacles near a point, in spaces that may be
/// periodic. Used by obstacle_view.h.
///
/// On a periodic axis, an obstacle stays where the program put it, and the way is moved beside it by a multiple of the
/// period. If this cannot be computed exactly, StraightPath has the error. The way then counts as blocked if any way
/// within this error is blocked.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <dynasoar/detail/grid_space.h>
#include <dynasoar/detail/obstacle_cells.h>
#include <dynasoar/detail/obstacle_shapes.h>
#include <dynasoar/detail/side_of_line.h>
#include <dynasoar/platform/arithmetic.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

inline constexpr std::uint32_t kNoObstacle = ~std::uint32_t{0};

template <Position P>
struct ObstacleSearch {
  static constexpr int kAxes = kDimensions<P>;
  using Real = Coordinate<P>;
  using Point = Coordinates<kAxes>;

  /// Coordinates beyond this limit are excluded, so that no square is infinite.
  static constexpr double kFar = std::is_same_v<Real, float> ? 1e37 : 1e140;

  /// A straight way. Its exact end is `end`, moved by a number of periods; `to` is this position, rounded.
  struct Way {
    Point from, end, to;
    int turns[kAxes];
  };

  struct Found {
    std::uint32_t obstacle = kNoObstacle;
    Contact<kAxes> contact{2, {}};
  };

  GridSpace<P> space;
  ObstacleCells<kAxes> cells;
  const ObstacleShape<kAxes>* shapes;
  const std::uint32_t* starts;  // [cells + 1] index of the first entry of each cell
  const ObstacleEntry* entries;

  __host__ __device__ static Point point_of(const P& position) {
    Point point;
    for (int i = 0; i < kAxes; ++i) point[i] = coordinate(position, i);
    return point;
  }
  __host__ __device__ static P position_of(const Point& point, P result) {
    for (int i = 0; i < kAxes; ++i) coordinate(result, i) = static_cast<Real>(point[i]);
    return result;
  }

  /// Whether a way may begin at a point. False if the point is not finite, or too far away.
  __host__ __device__ bool can_start(const Point& point) const {
    for (int i = 0; i < kAxes; ++i) {
      if (!(std::abs(point[i]) < kFar)) return false;
    }
    return cells.can_visit(point, point);
  }

  /// The fraction of a displacement that is searched.
  __host__ __device__ double share_of(const Point& by) const {
    double share = 1;
    for (int i = 0; i < kAxes; ++i) {
      const double period = cells.axes[i].period;
      const double most = period > 0 ? ObstacleCells<kAxes>::kMostTurns * period : kFar;
      if (std::abs(by[i]) > most && most / std::abs(by[i]) < share) share = most / std::abs(by[i]);
    }
    return share;
  }

  /// Computes the way to a target, or to its nearest image. @return false if there is no way, because the target is the
  /// same position or too far away
  __host__ __device__ bool way_to(const P& from, const Point& target, Way& way) const {
    const P end = space.wrapped(position_of(target, from));
    way.from = point_of(from);
    way.end = point_of(end);
    if (!can_start(way.end)) return false;
    bool moves = false;
    for (int i = 0; i < kAxes; ++i) {
      const double period = cells.axes[i].period;
      way.turns[i] = period > 0 ? static_cast<int>(std::rint((target[i] - way.end[i]) / period)) : 0;
      way.to[i] = way.end[i] + separate_product(way.turns[i], period);
      moves = moves || way.turns[i] != 0 || way.end[i] != way.from[i];
    }
    return moves && cells.can_visit(way.from, way.to);
  }

  /// The first obstacle that blocks a way. Of several obstacles at the same place, it is the one with the least number.
  __host__ __device__ Found first(const Way& way) const {
    Found found;
    cells.for_each_on_path(way.from, way.to, [&](std::int64_t cell, const int* turns) {
      for (std::uint32_t i = starts[cell]; i < starts[cell + 1]; ++i) {
        const ObstacleEntry entry = entries[i];
        const ObstacleShape<kAxes>& shape = shapes[entry.obstacle()];
        const StraightPath<kAxes> path = beside(way, turns, entry);
        if (!shape.blocks(path)) continue;
        const Contact<kAxes> contact = shape.contact(path);
        if (contact.fraction < found.contact.fraction ||
            (contact.fraction == found.contact.fraction && entry.obstacle() < found.obstacle)) {
          found = {entry.obstacle(), contact};
        }
      }
    });
    return found;
  }

  /// Calls `visit(obstacle, offset)`, with the vector to the nearest point, for all obstacles within a distance. May
  /// also visit some that are further away, and may visit an obstacle several times.
  template <class Visit>
  __host__ __device__ void for_each_near(const Point& point, double reach, const Visit& visit) const {
    Point from = point;
    Point to = point;
    for (int i = 0; i < kAxes; ++i) {
      const double period = cells.axes[i].period;
      const double most = period > 0 ? period / 2 : 2 * kFar;
      from[i] -= reach < most ? reach : most;
      to[i] += reach < most ? reach : most;
    }
    cells.for_each_in_box(from, to, [&](std::int64_t cell, const int* turns) {
      for (std::uint32_t i = starts[cell]; i < starts[cell + 1]; ++i) {
        double slack = 0;
        Point here;
        for (int a = 0; a < kAxes; ++a) here[a] = shifted(point[a], turns[a] - entries[i].turn(a), a, slack);
        visit(entries[i].obstacle(), difference(shapes[entries[i].obstacle()].nearest(here), here));
      }
    });
  }

 private:
  /// A way, moved beside an obstacle that a cell lists.
  __host__ __device__ StraightPath<kAxes> beside(const Way& way, const int* turns, const ObstacleEntry& entry) const {
    StraightPath<kAxes> path;
    for (int a = 0; a < kAxes; ++a) {
      const int periods = turns[a] - entry.turn(a);
      path.from[a] = shifted(way.from[a], periods, a, path.slack_from);
      path.to[a] = shifted(way.end[a], periods - way.turns[a], a, path.slack_to);
    }
    return path;
  }

  /// x minus a number of periods. Enlarges `slack` if the error of the result is greater.
  __host__ __device__ double shifted(double x, int periods, int axis, double& slack) const {
    if (periods == 0) return x;
    const double period = cells.axes[axis].period;
    const double shift = separate_product(periods, period);
    const ExactPair result = exact_sum(x, -shift);
    const double error = 2 * (std::abs(result.rest) + std::abs(std::fma(static_cast<double>(periods), period, -shift)));
    slack = error > slack ? error : slack;
    return result.value;
  }
};

}  // namespace dynasoar::detail
