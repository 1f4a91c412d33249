/// @file
/// Obstacles: walls, boxes and balls in continuous space, through which agents cannot move or see. See
/// docs/how-to/obstacles.md. Not included by dynasoar.h, because many programs do not need it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/base/number_text.h>
#include <dynasoar/detail/grid_options.h>
#include <dynasoar/detail/grid_space.h>
#include <dynasoar/detail/obstacle_cells.h>
#include <dynasoar/detail/obstacle_index.h>
#include <dynasoar/detail/obstacle_search.h>
#include <dynasoar/detail/obstacle_shapes.h>
#include <dynasoar/detail/obstacle_view.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar {

/// The obstacles of a space: line segments (only in the plane), boxes parallel to the axes, and balls (in the plane,
/// discs).
///
///     dynasoar::Obstacles<Vector> walls({.lower = {0, 0}, .upper = {20, 10}, .cell = 1});
///     walls.add_room({0, 0}, {20, 10});
///     walls.add_segment({10, 0}, {10, 4});
///     handle.parallel_do<&Walker::walk>(walls.view(), 0.1f);   // void walk(dynasoar::ObstacleView<Vector>, float)
///
/// Obstacles are numbered from 0 in the order in which they are added. Each function that adds obstacles returns the
/// number of the first one that it added. Walls that meet leave no gap if they have exactly the same coordinates at
/// their common end.
///
/// @tparam P   the type of positions: a struct with members x and y, or x, y and z, all float or all double
template <detail::Position P>
class Obstacles {
  static constexpr int kAxes = detail::kDimensions<P>;
  using Search = detail::ObstacleSearch<P>;
  using Point = detail::Coordinates<kAxes>;

 public:
  using Real = detail::Coordinate<P>;
  using View = ObstacleView<P>;

  /// Creates an empty set of obstacles.
  ///
  /// @param options   the space and its cells, as for a UniformGrid; `capacity` is not used. Obstacles must lie within
  ///                  the space, except along unbounded axes. Along a periodic axis, they may reach beyond its ends by
  ///                  up to half its length. A good cell width is the distance that agents usually move or look
  /// @throws Error if the space is empty or not finite, or would have too many cells
  explicit Obstacles(const GridOptions<P>& options)
      : space_(options.space()), lower_(options.lower), upper_(options.upper) {}

  /// Adds a line segment, which blocks agents from both sides. Only in the plane.
  /// @throws Error if a coordinate is not finite or outside the space, or if there are 2^26 obstacles already, as all
  ///         functions that add obstacles do; also if the two ends are the same
  std::uint32_t add_segment(const P& from, const P& to) requires(kAxes == 2) {
    const Point a = Search::point_of(from);
    const Point b = Search::point_of(to);
    if (a[0] == b[0] && a[1] == b[1]) {
      refuse("a segment", "has no length: give it two ends that differ");
    }
    return add({a, b, detail::ShapeKind::segment}, "a segment");
  }

  /// Adds the sides of a closed polygon: the last side leads from the last corner to the first one. The sides block
  /// agents from both sides, so agents that are inside cannot leave, and agents that are outside cannot enter. Only in
  /// the plane.
  /// @throws Error also if there are fewer than three corners, or two consecutive ones are the same. No side has been
  ///         added then
  std::uint32_t add_polygon(const std::vector<P>& corners) requires(kAxes == 2) {
    if (corners.size() < 3) refuse("a polygon", "needs at least three corners: use add_segment for a single wall");
    const std::size_t before = shapes_.size();
    const bool was_current = is_current_;
    try {
      for (std::size_t i = 0; i < corners.size(); ++i) add_segment(corners[i], corners[(i + 1) % corners.size()]);
    } catch (...) {
      shapes_.resize(before);
      is_current_ = was_current;
      throw;
    }
    return static_cast<std::uint32_t>(before);
  }

  /// Adds a solid box. If its lower and upper coordinates along an axis are the same, the box is flat, and blocks
  /// agents from both sides.
  /// @throws Error also if a lower coordinate is greater than the upper one along the same axis
  std::uint32_t add_box(const P& lower, const P& upper) {
    const Point a = Search::point_of(lower);
    const Point b = Search::point_of(upper);
    for (int i = 0; i < kAxes; ++i) {
      if (a[i] > b[i]) {
        refuse("a box", "is empty: its lower corner must not be greater than the upper one along axis " + number(i) +
                            "; exchange the coordinates");
      }
    }
    return add({a, b, detail::ShapeKind::box}, "a box");
  }

  /// Adds the sides of a box as flat boxes: four in the plane, six in space. Agents that are inside cannot leave.
  std::uint32_t add_room(const P& lower, const P& upper) {
    const std::uint32_t first = static_cast<std::uint32_t>(shapes_.size());
    const bool was_current = is_current_;
    try {
      for (int i = 0; i < kAxes; ++i) {
        P side = upper;
        detail::coordinate(side, i) = detail::coordinate(lower, i);
        add_box(lower, side);
        side = lower;
        detail::coordinate(side, i) = detail::coordinate(upper, i);
        add_box(side, upper);
      }
    } catch (...) {
      shapes_.resize(first);
      is_current_ = was_current;
      throw;
    }
    return first;
  }

  /// Adds a solid ball; in the plane, this is a disc.
  /// @throws Error also if the radius is not greater than 0
  std::uint32_t add_ball(const P& center, Real radius) {
    if (!(radius > 0)) refuse("a ball", "needs a radius greater than 0, not " + number(radius));
    Point b{};
    b[0] = radius;
    return add({Search::point_of(center), b, detail::ShapeKind::ball}, "a ball");
  }

  /// Removes all obstacles.
  void clear() {
    shapes_.clear();
    is_current_ = false;
  }

  /// The number of obstacles.
  std::size_t size() const { return shapes_.size(); }

  /// Returns the value to pass to loops. It is valid as long as these Obstacles exist. If obstacles are added or
  /// removed, it becomes invalid at the next call of `view`.
  ///
  /// @throws Error if obstacles have changed since the last call, and there is not enough memory or the caller is code
  ///         that a loop runs
  /// @pre if obstacles have changed since the last call, the call is not part of a recorded step
  /// @par Cost   if obstacles have changed, sorts all of them into cells on the host, and copies them to the device
  View view() {
    if (!is_current_) update();
    return View(Search{space_, cells_, device_shapes_.data(), device_starts_.data(), device_entries_.data()});
  }

  /// The number of bytes of device memory: 4 per cell, 4 for each cell that an obstacle touches, and for each obstacle
  /// 8 plus 16 per axis.
  std::size_t bytes() {
    if (!is_current_) update();
    return device_shapes_.bytes() + device_starts_.bytes() + device_entries_.bytes();
  }

 private:
  using Shape = detail::ObstacleShape<kAxes>;

  template <class T>
  static std::string number(T value) {
    return detail::number_text(value);
  }

  [[noreturn]] void refuse(const char* what, const std::string& why) const {
    std::string message = "dynasoar: obstacle ";
    message += number(shapes_.size());
    message += ", ";
    message += what;
    message += ", ";
    throw Error(message + why);
  }

  std::uint32_t add(const Shape& shape, const char* what) {
    if (shapes_.size() >= detail::ObstacleEntry::kMostObstacles) {
      refuse(what, "is one too many: Obstacles can have 2^26. Combine small ones to larger ones");
    }
    for (int i = 0; i < kAxes; ++i) check_axis(shape, i, what);
    shapes_.push_back(shape);
    is_current_ = false;
    return static_cast<std::uint32_t>(shapes_.size() - 1);
  }

  void check_axis(const Shape& shape, int axis, const char* what) const {
    const double least = shape.lower(axis);
    const double most = shape.upper(axis);
    if (!(std::abs(least) < Search::kFar && std::abs(most) < Search::kFar)) {
      refuse(what, "has a coordinate along axis " + number(axis) + " that is not finite, or not less than " +
                       number(Search::kFar) + ": check how it was computed");
    }
    const detail::GridAxis<Real>& its = space_.axes[axis];
    const bool is_periodic = std::isfinite(its.half_period);
    if (its.period > 0 && !is_periodic) return;  // unbounded
    const double beyond = is_periodic ? double{its.half_period} : 0;
    const double first = detail::coordinate(lower_, axis) - beyond;
    const double last = detail::coordinate(upper_, axis) + beyond;
    if (least >= first && most <= last) return;
    refuse(what, "is outside of the space: along axis " + number(axis) + " it reaches from " +
                     number(static_cast<Real>(least)) + " to " + number(static_cast<Real>(most)) +
                     ", and may reach from " + number(static_cast<Real>(first)) + " to " +
                     number(static_cast<Real>(last)) +
                     (is_periodic ? ". Add it at a place in the space, or in pieces"
                                  : ". Make the space larger, or the axis unbounded"));
  }

  void update() {
    const detail::ObstacleCells<kAxes> cells = detail::obstacle_cells(space_, shapes_);
    const detail::ObstacleLists lists = detail::obstacle_lists(cells, shapes_);
    DeviceArray<Shape> shapes(shapes_.size());
    DeviceArray<std::uint32_t> starts(lists.starts.size());
    DeviceArray<detail::ObstacleEntry> entries(lists.entries.size());
    shapes.upload(shapes_);
    starts.upload(lists.starts);
    entries.upload(lists.entries);
    cells_ = cells;
    device_shapes_ = std::move(shapes);
    device_starts_ = std::move(starts);
    device_entries_ = std::move(entries);
    is_current_ = true;
  }

  GridSpace<P> space_;
  P lower_;
  P upper_;
  std::vector<Shape> shapes_;
  bool is_current_ = false;
  detail::ObstacleCells<kAxes> cells_;
  DeviceArray<Shape> device_shapes_;
  DeviceArray<std::uint32_t> device_starts_;
  DeviceArray<detail::ObstacleEntry> device_entries_;
};

}  // namespace dynasoar
