/// @file
/// ObstacleView: the interface of Obstacles in device code. Used by methods that move agents or check lines of sight.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include <dynasoar/detail/grid_space.h>
#include <dynasoar/detail/obstacle_cells.h>
#include <dynasoar/detail/obstacle_search.h>
#include <dynasoar/detail/obstacle_shapes.h>
#include <dynasoar/platform/backend.h>
#include <dynasoar/platform/config.h>

namespace dynasoar {

/// The behaviour of an agent at an obstacle.
enum class AtWall {
  stop,    ///< it stops there
  slide,   ///< it continues along the wall, with the part of its displacement that does not lead into the wall
  reflect  ///< it bounces off, like a ball
};

/// The obstacles of a space. A small value to pass to loops:
///
///     __device__ void walk(dynasoar::ObstacleView<Vector> walls, float dt) {
///       const auto moved = walls.move(position_, {velocity_->x * dt, velocity_->y * dt});
///       position_ = moved.position;
///     }
///
/// On periodic axes, the obstacles repeat with the space. All functions compute with double, and their results have the
/// same bits on both backends.
///
/// @tparam P   positions: x and y, or x, y and z, float or double
/// @par Concurrency   any number of threads may use a view
template <detail::Position P>
class ObstacleView {
  static constexpr int kAxes = detail::kDimensions<P>;
  using Point = detail::Coordinates<kAxes>;
  using Search = detail::ObstacleSearch<P>;

 public:
  using Real = detail::Coordinate<P>;
  static constexpr std::uint32_t kNone = detail::kNoObstacle;

  /// The first contact of a straight way with an obstacle. Converts to true if there is one.
  struct Hit {
    P point;                         ///< the position of the contact, between the ends of periodic axes
    P normal;                        ///< of the surface there, with length 1, on the side from which the way comes
    Real fraction = 1;               ///< the fraction of the way before the point, from 0 to 1
    std::uint32_t obstacle = kNone;  ///< what the obstacle's Obstacles::add function returned; kNone: none
    __host__ __device__ explicit operator bool() const { return obstacle != kNone; }
  };

  /// The result of a move.
  struct Moved {
    P position;  ///< the new position
    P by;        ///< the whole displacement, turned by each wall on the way: zero, along the wall, or reflected
    Hit hit;     ///< the first contact; its fraction is one of the displacement
  };

  /// An obstacle near a point. Converts to true if there is one.
  struct Nearest {
    P offset;                        ///< the vector to its nearest point; zero if the point is inside
    Real distance;                   ///< the length of `offset`
    std::uint32_t obstacle = kNone;  ///< what the obstacle's Obstacles::add function returned; kNone: none
    __host__ __device__ explicit operator bool() const { return obstacle != kNone; }
  };

  explicit ObstacleView(const Search& search) : search_(search) {}

  /// Moves an agent, which is a point, by a displacement, but not through obstacles.
  ///
  /// The agent never crosses an obstacle and does not end on one. Rounding cannot change this: each straight part of
  /// its way is proven to touch no obstacle. It stops before the wall, at a distance of about 4e-6 (float) or 1e-11
  /// (double) of the size of its coordinates. An agent that starts exactly on a segment or on a flat box may leave it
  /// to either side. An agent that starts on the surface of another box, or of a ball, may leave it to the outside. An
  /// agent that starts inside a box stays there, and an agent inside a ball can only move away from the center.
  ///
  /// @param by        may be longer than a cell. At most 16 lengths of a periodic axis are walked
  /// @param at_wall   `slide` stops at the fourth wall on the way, `reflect` at the sixteenth
  /// @return          the position, between the ends of periodic axes. If `from` or `by` is not finite, or `from` is a
  ///                  million lengths of a periodic axis outside of the space, the agent stays, and its `by` is zero
  /// @par Cost        examines the obstacles of the cells on the way; twice or more often for each wall that it meets
  __device__ Moved move(const P& from, const P& by, AtWall at_wall = AtWall::slide) const {
    Moved moved{from, Search::position_of(Point{}, by), no_hit(from)};
    Point velocity = Search::point_of(by);
    if (!search_.can_start(Search::point_of(from)) || !detail::is_finite(detail::sum_of_absolutes(velocity))) {
      return moved;
    }
    const double share = search_.share_of(velocity);
    Point rest = detail::along(Point{}, share, velocity);
    const int most_walls = at_wall == AtWall::stop ? 1 : at_wall == AtWall::slide ? 4 : 16;
    for (int wall = 0; wall < most_walls; ++wall) {
      typename Search::Way way;
      if (!search_.way_to(moved.position, target(moved.position, rest), way)) break;
      const typename Search::Found found = search_.first(way);
      if (found.obstacle == kNone) {
        moved.position = Search::position_of(way.end, from);
        break;
      }
      const double fraction = found.contact.fraction;
      const Point touching = detail::along(way.from, fraction, rest);
      if (!moved.hit) moved.hit = hit_of(found, touching, fraction * share, from);
      moved.position = position_before(moved.position, rest, touching, found.contact);
      rest = turned(detail::along(rest, -fraction, rest), found.contact.normal, at_wall);
      velocity = turned(velocity, found.contact.normal, at_wall);
    }
    moved.by = Search::position_of(velocity, by);
    return moved;
  }

  /// The first obstacle between two positions. If there is none, one can be seen from the other. On periodic axes,
  /// looks along the shortest way. Obstacles on which `from` lies count as for `move`. No hit if a coordinate is not
  /// finite.
  /// @par Cost   examines the obstacles of the cells on the way
  __device__ Hit cast(const P& from, const P& to) const {
    typename Search::Way way{Search::point_of(from), Search::point_of(to), Search::point_of(to), {}};
    const Point offset = Search::point_of(search_.space.offset(from, to));
    for (int i = 0; i < kAxes; ++i) {
      const double period = search_.cells.axes[i].period;
      if (!(period > 0)) continue;
      const double turns = std::rint((way.from[i] + offset[i] - way.end[i]) / period);
      if (!(std::abs(turns) < 1e6)) return no_hit(from);
      way.turns[i] = static_cast<int>(turns);
      way.to[i] = way.end[i] + detail::separate_product(turns, period);
    }
    return first_hit(way, 1, from);
  }

  /// The first obstacle on the way from a position along a displacement, which may be longer than a periodic axis, but
  /// is shortened to 16 times its length. Otherwise as `cast`.
  __device__ Hit ray(const P& from, const P& by) const {
    const Point start = Search::point_of(from);
    const double share = search_.share_of(Search::point_of(by));
    const Point end = detail::along(start, share, Search::point_of(by));
    return first_hit({start, end, end, {}}, share, from);
  }

  /// Whether no obstacle is within a distance of a point: with radius 0, whether the point is on none and in none.
  /// False if the point is not finite, or the radius is negative or a NaN.
  /// @par Cost   examines the obstacles of the cells that the radius touches
  __device__ bool is_free(const P& point, Real radius = 0) const {
    const Point center = Search::point_of(point);
    if (!search_.can_start(center) || !(radius >= 0)) return false;
    const double most = squared(radius);
    bool is_free = true;
    search_.for_each_near(center, radius, [&](std::uint32_t, const Point& offset) {
      is_free = is_free && detail::dot(offset, offset) > most;
    });
    return is_free;
  }

  /// The obstacle nearest to a point, of those within a distance; of several, the one with the least number. None if
  /// the point is not finite, or the distance is negative or a NaN.
  /// @param reach   may be infinite
  /// @par Cost      searches within the width of a cell, then doubles this distance until there is an obstacle
  __device__ Nearest nearest(const P& point, Real reach) const {
    Nearest result{Search::position_of(Point{}, point), 0, kNone};
    const Point center = Search::point_of(point);
    if (!search_.can_start(center) || !(reach >= 0)) return result;
    double whole = 0;  // no obstacle is further away
    double width = 0;
    for (int i = 0; i < kAxes; ++i) {
      const detail::ObstacleAxis& axis = search_.cells.axes[i];
      const double length = static_cast<double>(axis.cells) / axis.cells_per_length;
      whole += axis.period > 0 ? length : std::abs(center[i] - axis.lower) + 2 * length;
      width = i == 0 || 1 / axis.cells_per_length < width ? 1 / axis.cells_per_length : width;
    }
    Point best{};
    for (bool is_last = false; !is_last && !result; width *= 2) {
      is_last = !(width < reach && width < whole);
      double least = squared(is_last ? reach : width);
      search_.for_each_near(center, is_last ? (reach < whole ? reach : whole) : width,
                            [&](std::uint32_t obstacle, const Point& offset) {
                              const double distance = detail::dot(offset, offset);
                              if (!(distance < least || (distance == least && obstacle < result.obstacle))) return;
                              least = distance;
                              best = offset;
                              result.obstacle = obstacle;
                            });
    }
    result.offset = Search::position_of(best, point);
    result.distance = static_cast<Real>(std::sqrt(detail::dot(best, best)));
    return result;
  }

  /// Calls `f(obstacle)`, with a `const Nearest&`, for all obstacles within a distance of a point. For example, a disc
  /// in a corner touches two walls, and each of them pushes it back:
  ///
  ///     walls.for_each_obstacle(position_, kRadius, [&](const auto& wall) {
  ///       if (wall.distance > 0) push = push - (kRadius / wall.distance - 1) * wall.offset;
  ///     });
  ///
  /// Each obstacle is visited once, in the order of the numbers. On periodic axes, only its nearest image counts. The
  /// function visits no obstacles if the point is not finite or a million lengths of a periodic axis outside of the
  /// space, or if the distance is negative or a NaN.
  ///
  /// @param reach   may be infinite
  /// @par Cost      examines the obstacles of the cells that `reach` touches: once if fewer than four obstacles are
  ///                within reach, and once more for each four that are
  template <class F>
  __device__ void for_each_obstacle(const P& point, Real reach, F&& f) const {
    const Point center = Search::point_of(point);
    if (!search_.can_start(center) || !(reach >= 0)) return;
    constexpr int kAtOnce = 4;
    const double most = squared(reach);
    for (std::uint32_t from = 0; from != kNone;) {
      Near least[kAtOnce];  // those with the least numbers from `from` on, in order
      search_.for_each_near(center, reach, [&](std::uint32_t obstacle, const Point& offset) {
        const double distance = detail::dot(offset, offset);
        if (obstacle < from || !(distance <= most)) return;
        Near next{obstacle, distance, offset};
        DYNASOAR_UNROLL(4)
        for (int i = 0; i < kAtOnce; ++i) {
          if (next.obstacle == least[i].obstacle) {
            if (next.squared_distance < least[i].squared_distance) least[i] = next;
            next.obstacle = kNone;
          } else if (next.obstacle < least[i].obstacle) {
            const Near after = least[i];
            least[i] = next;
            next = after;
          }
        }
      });
      for (int i = 0; i < kAtOnce && least[i].obstacle != kNone; ++i) {
        f(Nearest{Search::position_of(least[i].offset, point), static_cast<Real>(std::sqrt(least[i].squared_distance)),
                  least[i].obstacle});
      }
      from = least[kAtOnce - 1].obstacle == kNone ? kNone : least[kAtOnce - 1].obstacle + 1;
    }
  }

  /// The geometry of the space.
  __host__ __device__ const GridSpace<P>& space() const { return search_.space; }

 private:
  struct Near {
    std::uint32_t obstacle = kNone;
    double squared_distance = 0;
    Point offset{};
  };

  __device__ static double squared(double value) { return detail::separate_product(value, value); }
  __device__ static Hit no_hit(const P& from) { return {from, Search::position_of(Point{}, from), 1, kNone}; }
  __device__ static Point target(const P& from, const Point& by) {
    return detail::along(Search::point_of(from), 1, by);
  }

  __device__ Hit hit_of(const typename Search::Found& found, const Point& point, double fraction, const P& from) const {
    return {search_.space.wrapped(Search::position_of(point, from)), Search::position_of(found.contact.normal, from),
            static_cast<Real>(fraction), found.obstacle};
  }

  __device__ Hit first_hit(const typename Search::Way& way, double share, const P& from) const {
    if (!search_.can_start(way.from) || !search_.cells.can_visit(way.from, way.to)) return no_hit(from);
    const typename Search::Found found = search_.first(way);
    if (found.obstacle == kNone) return no_hit(from);
    const double fraction = found.contact.fraction;
    return hit_of(found, detail::along(way.from, fraction, detail::difference(way.to, way.from)), fraction * share,
                  from);
  }

  /// The displacement after contact with a wall.
  __device__ static Point turned(const Point& by, const Point& normal, AtWall at_wall) {
    const double inwards = detail::dot(by, normal);
    if (at_wall == AtWall::stop) return Point{};
    if (!(inwards < 0)) return by;
    return detail::along(by, at_wall == AtWall::slide ? -inwards : -2 * inwards, normal);
  }

  /// A position that the agent can reach in front of a wall: a little in front of it or, if that is impossible, further
  /// back on the way. If the agent can reach none of these positions, its own position.
  __device__ P position_before(const P& from, const Point& by, const Point& touching,
                               const detail::Contact<kAxes>& contact) const {
    constexpr double kGap = std::is_same_v<Real, float> ? 4e-6 : 1e-11;  // relative; exceeds rounding errors
    constexpr int kTries = 5;
    double size = 0;
    for (int i = 0; i < kAxes; ++i) size = std::abs(touching[i]) > size ? std::abs(touching[i]) : size;
    const Point start = Search::point_of(from);
    double share = 1;
    for (int i = 0; i < kTries; ++i) {
      const Point there = i == 0 ? detail::along(touching, kGap * size, contact.normal)
                                 : detail::along(start, share * contact.fraction, by);
      typename Search::Way way;
      if (search_.way_to(from, there, way) && search_.first(way).obstacle == kNone) {
        return Search::position_of(way.end, from);
      }
      share = i == 0 ? 0.999 : share * 0.5;
    }
    return from;
  }

  Search search_;
};

}  // namespace dynasoar
