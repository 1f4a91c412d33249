/// @file
/// ObstacleShape: a segment, a box or a ball. Finds where a straight path meets it. Used by obstacle_view.h.
///
/// Everything is computed as double, whatever the type of the positions, with products that no compiler fuses. So the
/// results have the same bits on both backends.
#pragma once

#include <cmath>
#include <cstdint>

#include <dynasoar/detail/side_of_line.h>
#include <dynasoar/platform/arithmetic.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

template <int kAxes>
struct Coordinates {
  double at[kAxes];

  __host__ __device__ double& operator[](int axis) { return at[axis]; }
  __host__ __device__ const double& operator[](int axis) const { return at[axis]; }
};

template <int kAxes>
__host__ __device__ Coordinates<kAxes> difference(const Coordinates<kAxes>& a, const Coordinates<kAxes>& b) {
  Coordinates<kAxes> result;
  for (int i = 0; i < kAxes; ++i) result[i] = a[i] - b[i];
  return result;
}
template <int kAxes>
__host__ __device__ double dot(const Coordinates<kAxes>& a, const Coordinates<kAxes>& b) {
  double sum = 0;
  for (int i = 0; i < kAxes; ++i) sum += separate_product(a[i], b[i]);
  return sum;
}
/// a + factor * b.
template <int kAxes>
__host__ __device__ Coordinates<kAxes> along(const Coordinates<kAxes>& a, double factor, const Coordinates<kAxes>& b) {
  Coordinates<kAxes> result;
  for (int i = 0; i < kAxes; ++i) result[i] = a[i] + separate_product(factor, b[i]);
  return result;
}
template <int kAxes>
__host__ __device__ double sum_of_absolutes(const Coordinates<kAxes>& a) {
  double sum = 0;
  for (int i = 0; i < kAxes; ++i) sum += std::abs(a[i]);
  return sum;
}
/// The vector with length 1; zero if it is too short to have a direction.
template <int kAxes>
__host__ __device__ Coordinates<kAxes> normalized(Coordinates<kAxes> a) {
  const double most = sum_of_absolutes(a);
  if (!(most > 0)) return Coordinates<kAxes>{};
  for (int i = 0; i < kAxes; ++i) a[i] /= most;  // so that no square is rounded to 0
  const double length = std::sqrt(dot(a, a));
  for (int i = 0; i < kAxes; ++i) a[i] /= length;
  return a;
}
__host__ __device__ inline double clamped(double value, double least, double most) {
  return value > least ? (value < most ? value : most) : least;
}

/// A straight path beside a shape; in a periodic space, the image of the path that is beside it.
template <int kAxes>
struct StraightPath {
  Coordinates<kAxes> from, to;
  double slack_from = 0, slack_to = 0;  ///< greatest rounding error of a coordinate of each end

  __host__ __device__ double slack() const { return slack_from > slack_to ? slack_from : slack_to; }
  __host__ __device__ Coordinates<kAxes> vector() const { return difference(to, from); }
};

/// The position at which a path meets a shape, and the normal there.
template <int kAxes>
struct Contact {
  double fraction;
  Coordinates<kAxes> normal;
};

enum class ShapeKind : std::uint32_t { segment, box, ball };

/// @tparam kAxes   2 or 3; segments exist in the plane only
template <int kAxes>
struct ObstacleShape {
  using Point = Coordinates<kAxes>;
  using Path = StraightPath<kAxes>;

  Point a;  ///< segment: one end; box: lower corner; ball: center
  Point b;  ///< segment: other end; box: upper corner; ball: the first coordinate is the radius
  ShapeKind kind;

  __host__ __device__ double lower(int axis) const {
    return kind == ShapeKind::ball ? a[axis] - b[0] : a[axis] < b[axis] ? a[axis] : b[axis];
  }
  __host__ __device__ double upper(int axis) const {
    return kind == ShapeKind::ball ? a[axis] + b[0] : a[axis] < b[axis] ? b[axis] : a[axis];
  }

  /// Whether the path touches the shape. If this is undecided because of rounding, the result is true. A path that
  /// starts on the shape may leave it: a segment and a flat box to both sides, other shapes to the outside.
  __host__ __device__ bool blocks(const Path& path) const {
    if (kind == ShapeKind::ball) return ball_blocks(path);
    for (int i = 0; i < kAxes; ++i) {
      const double from = path.from[i];
      const double to = path.to[i];
      const double most = (from < to ? to : from) + path.slack();
      const double least = (from < to ? from : to) - path.slack();
      if (most < lower(i) || least > upper(i)) return false;
    }
    if constexpr (kAxes == 2) {
      if (kind == ShapeKind::segment) return segment_blocks(path);
    }
    return box_blocks(path);
  }

  /// The contact of a path that the shape blocks. The normal points to the side from which the path comes.
  __host__ __device__ Contact<kAxes> contact(const Path& path) const {
    if constexpr (kAxes == 2) {
      if (kind == ShapeKind::segment) return segment_contact(path);
    }
    return kind == ShapeKind::box ? box_contact(path) : ball_contact(path);
  }

  /// The point of the shape that is nearest to a point: the point itself, if it is inside.
  __host__ __device__ Point nearest(const Point& point) const {
    if (kind == ShapeKind::segment) {
      const Point along_it = difference(b, a);
      return along(a, clamped(dot(difference(point, a), along_it) / dot(along_it, along_it), 0, 1), along_it);
    }
    if (kind == ShapeKind::ball) {
      const Point outwards = difference(point, a);
      const double distance = std::sqrt(dot(outwards, outwards));
      return distance > b[0] ? along(a, b[0] / distance, outwards) : point;
    }
    Point result;
    for (int i = 0; i < kAxes; ++i) result[i] = clamped(point[i], a[i], b[i]);
    return result;
  }

 private:
  __host__ __device__ static PlanePoint plane_point(const Point& point, int i, int j) { return {point[i], point[j]}; }

  /// A contact for paths that have no other: they start at the shape, or run along it.
  __host__ __device__ static Contact<kAxes> head_on(const Path& path, double fraction) {
    Point back = normalized(path.vector());
    for (int i = 0; i < kAxes; ++i) back[i] = -back[i];
    return {fraction, back};
  }

  // Two segments touch if, and only if, their bounding boxes do and neither is on one side of the other.
  __host__ __device__ bool segment_blocks(const Path& path) const {
    const PlanePoint p = plane_point(a, 0, 1);
    const PlanePoint q = plane_point(b, 0, 1);
    const PlanePoint from = plane_point(path.from, 0, 1);
    const PlanePoint to = plane_point(path.to, 0, 1);
    const Side start = side_of_line(p, q, from, path.slack_from);
    if (are_together(start, side_of_line(p, q, to, path.slack_to))) return false;
    if (are_together(side_of_line(from, to, p, path.slack()), side_of_line(from, to, q, path.slack()))) return false;
    return !(start == Side::on_line && holds(path.from));
  }

  // A segment and a box are apart if, and only if, an axis separates them, or a line through the segment that is
  // parallel to an axis separates it from all corners.
  __host__ __device__ bool box_blocks(const Path& path) const {
    for (int i = 0; i < kAxes; ++i) {
      for (int j = i + 1; j < kAxes; ++j) {
        const PlanePoint from = plane_point(path.from, i, j);
        const PlanePoint to = plane_point(path.to, i, j);
        const Side first = side_of_line(from, to, {a[i], a[j]}, path.slack());
        if (are_together(first, side_of_line(from, to, {b[i], a[j]}, path.slack())) &&
            are_together(first, side_of_line(from, to, {a[i], b[j]}, path.slack())) &&
            are_together(first, side_of_line(from, to, {b[i], b[j]}, path.slack()))) {
          return false;
        }
      }
    }
    if (path.slack_from > 0 || !holds(path.from)) return true;
    for (int i = 0; i < kAxes; ++i) {
      if (path.from[i] == a[i] && path.to[i] + path.slack_to <= a[i]) return false;
      if (path.from[i] == b[i] && path.to[i] - path.slack_to >= b[i]) return false;
    }
    return true;
  }

  /// Whether the point is in the bounding box.
  __host__ __device__ bool holds(const Point& point) const {
    for (int i = 0; i < kAxes; ++i) {
      if (point[i] < lower(i) || point[i] > upper(i)) return false;
    }
    return true;
  }

  // This is not exact, so the path must keep a distance that is larger than the rounding error. A path that starts
  // within this distance may lead away from the center.
  __host__ __device__ bool ball_blocks(const Path& path) const {
    constexpr double kRounding = 1.5e-14;
    const Point vector = path.vector();
    const Point to_center = difference(a, path.from);
    const double size = sum_of_absolutes(a) + sum_of_absolutes(path.from) + sum_of_absolutes(path.to) + b[0];
    const double unsure = separate_product(kRounding, size) + 8 * path.slack();
    const double towards = dot(vector, to_center);
    const double squared = dot(vector, vector);
    const double fraction = squared > 0 ? clamped(towards / squared, 0, 1) : 0;
    const Point shortest = along(to_center, -fraction, vector);
    const double reach = b[0] + unsure;
    if (dot(shortest, shortest) > separate_product(reach, reach)) return false;
    return !(towards < -separate_product(unsure, 4 * (sum_of_absolutes(vector) + path.slack())));
  }

  __host__ __device__ Contact<kAxes> segment_contact(const Path& path) const {
    const Point vector = path.vector();
    const Point wall = difference(b, a);
    const Point to_wall = difference(a, path.from);
    const double slope = separate_product(vector[0], wall[1]) - separate_product(vector[1], wall[0]);
    const double distance = separate_product(to_wall[0], wall[1]) - separate_product(to_wall[1], wall[0]);
    const double fraction = distance / slope;
    if (!(std::abs(fraction) < 2)) {  // parallel
      const double squared = dot(vector, vector);
      const double p = dot(to_wall, vector) / squared;
      const double q = dot(difference(b, path.from), vector) / squared;
      return head_on(path, clamped(p < q ? p : q, 0, 1));
    }
    Point normal{};
    normal[0] = slope > 0 ? -wall[1] : wall[1];
    normal[1] = slope > 0 ? wall[0] : -wall[0];
    return {clamped(fraction, 0, 1), normalized(normal)};
  }

  __host__ __device__ Contact<kAxes> box_contact(const Path& path) const {
    const Point vector = path.vector();
    double latest = 0;
    int axis = -1;
    for (int i = 0; i < kAxes; ++i) {
      const double entered = vector[i] > 0   ? (a[i] - path.from[i]) / vector[i]
                             : vector[i] < 0 ? (b[i] - path.from[i]) / vector[i]
                                             : -1;
      if (entered >= latest) {
        latest = entered;
        axis = i;
      }
    }
    if (axis < 0) return head_on(path, 0);
    Point normal{};
    normal[axis] = vector[axis] > 0 ? -1 : 1;
    return {clamped(latest, 0, 1), normal};
  }

  __host__ __device__ Contact<kAxes> ball_contact(const Path& path) const {
    const Point vector = path.vector();
    const Point to_center = difference(a, path.from);
    const double squared = dot(vector, vector);
    const double towards = dot(vector, to_center) / squared;
    const Point shortest = along(to_center, -towards, vector);
    const double half = (separate_product(b[0], b[0]) - dot(shortest, shortest)) / squared;
    const double fraction = clamped(towards - std::sqrt(half > 0 ? half : 0), 0, 1);
    const Point normal = normalized(difference(along(path.from, fraction, vector), a));
    return sum_of_absolutes(normal) > 0 ? Contact<kAxes>{fraction, normal} : head_on(path, 0);
  }
};

}  // namespace dynasoar::detail
