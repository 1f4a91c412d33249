/// @file
/// ObstacleCells: the cells that list obstacles. Finds the cells that a path or a box touches. Used by obstacle_view.h
/// to search, and by obstacle_index.h to enter obstacles.
///
/// A few more cells are found than necessary, so that rounding cannot miss one. The results of searches do not depend
/// on the division into cells.
#pragma once

#include <cmath>
#include <cstdint>

#include <dynasoar/detail/obstacle_shapes.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// One axis of the cells.
struct ObstacleAxis {
  double lower = 0;
  double cells_per_length = 1;
  double period = 0;  ///< 0: not periodic; there are no obstacles beyond the ends
  std::int64_t cells = 1;

  /// The place of a coordinate, in cells.
  __host__ __device__ double place_of(double x) const { return separate_product(x - lower, cells_per_length); }

  /// The greatest rounding error of a place, or of the border of a cell.
  __host__ __device__ double rounding(double x) const {
    return 1e-6 + separate_product(separate_product(1e-14, std::abs(x) + std::abs(lower)), cells_per_length);
  }
};

/// A cell, and the number of its period.
struct CellAndTurn {
  std::int64_t cell;
  int turn;
};

template <int kAxes>
struct ObstacleCells {
  using Point = Coordinates<kAxes>;

  static constexpr double kMostTurns = 16;  ///< maximum length of a path, in lengths of a periodic axis

  ObstacleAxis axes[kAxes];

  __host__ __device__ std::int64_t size() const {
    std::int64_t product = 1;
    for (int i = 0; i < kAxes; ++i) product *= axes[i].cells;
    return product;
  }

  /// Whether a path is so short, and so near, that its cells can be counted. False for numbers that are not finite.
  __host__ __device__ bool can_visit(const Point& from, const Point& to) const {
    for (int i = 0; i < kAxes; ++i) {
      if (!(std::abs(from[i]) < 1e300 && std::abs(to[i]) < 1e300)) return false;
      if (axes[i].period > 0 && !(std::abs(from[i] - axes[i].lower) < 1e6 * axes[i].period &&
                                  std::abs(to[i] - from[i]) <= (kMostTurns + 1) * axes[i].period)) {
        return false;
      }
    }
    return true;
  }

  /// Calls `visit(cell, turns)` for the cells that a path touches, and possibly for some cells beside it.
  /// @pre can_visit(from, to)
  template <class Visit>
  __host__ __device__ void for_each_on_path(const Point& from, const Point& to, const Visit& visit) const {
    Places places;
    for (int i = 0; i < kAxes; ++i) {
      places.from[i] = axes[i].place_of(from[i]);
      places.way[i] = axes[i].place_of(to[i]) - places.from[i];
      const double rounding = axes[i].rounding(std::abs(from[i]) + std::abs(to[i]));
      places.rounding[i] = rounding + 1e-12 * std::abs(places.way[i]);
    }
    int turns[kAxes];
    visit_rows<kAxes - 1>(places, {0, 1}, 0, turns, visit);
  }

  /// The same for the cells that the box around a path touches.
  template <class Visit>
  __host__ __device__ void for_each_in_box(const Point& from, const Point& to, const Visit& visit) const {
    Places places;
    for (int i = 0; i < kAxes; ++i) {
      places.from[i] = axes[i].place_of(from[i]);
      places.way[i] = axes[i].place_of(to[i]) - places.from[i];
      places.rounding[i] = axes[i].rounding(std::abs(from[i]) + std::abs(to[i]));
    }
    places.is_box = true;
    int turns[kAxes];
    visit_rows<kAxes - 1>(places, {0, 1}, 0, turns, visit);
  }

 private:
  struct Places {
    Point from, way, rounding;
    bool is_box = false;
  };
  struct Part {  // of a path, as fractions of it
    double begin, end;
  };

  template <int kAxis, class Visit>
  __host__ __device__ void visit_rows(const Places& places, const Part& part, std::int64_t row, int (&turns)[kAxes],
                                      const Visit& visit) const {
    const ObstacleAxis& axis = axes[kAxis];
    const double a = places.from[kAxis] + places.way[kAxis] * part.begin;
    const double b = places.from[kAxis] + places.way[kAxis] * part.end;
    double first = std::floor((a < b ? a : b) - places.rounding[kAxis]);
    double last = std::floor((a < b ? b : a) + places.rounding[kAxis]);
    if (axis.period == 0) {
      first = first > 0 ? first : 0;
      last = last < static_cast<double>(axis.cells - 1) ? last : static_cast<double>(axis.cells - 1);
    }
    if (!(first <= last)) return;
    CellAndTurn at = cell_at(axis, static_cast<std::int64_t>(first));
    const std::int64_t count = static_cast<std::int64_t>(last - first) + 1;
    for (std::int64_t i = 0; i < count; ++i) {
      turns[kAxis] = at.turn;
      const std::int64_t cell = row * axis.cells + at.cell;
      if constexpr (kAxis == 0) {
        visit(cell, turns);
      } else {
        visit_rows<kAxis - 1>(places, part_in_row<kAxis>(places, part, first + static_cast<double>(i)), cell, turns,
                              visit);
      }
      if (++at.cell == axis.cells) at = {0, at.turn + 1};
    }
  }

  __host__ __device__ static CellAndTurn cell_at(const ObstacleAxis& axis, std::int64_t place) {
    std::int64_t turn = place / axis.cells;
    if (turn * axis.cells > place) --turn;
    return {place - turn * axis.cells, static_cast<int>(turn)};
  }

  /// The part of a path that is in a row of cells.
  template <int kAxis>
  __host__ __device__ static Part part_in_row(const Places& places, const Part& part, double row) {
    const double way = places.way[kAxis];
    if (places.is_box || !(std::abs(way) > 1e-3)) return part;
    const double a = (row - places.rounding[kAxis] - places.from[kAxis]) / way;
    const double b = (row + 1 + places.rounding[kAxis] - places.from[kAxis]) / way;
    return {clamped(a < b ? a : b, part.begin, part.end), clamped(a < b ? b : a, part.begin, part.end)};
  }
};

/// An entry of a cell's list: an obstacle, and the number of its period along each axis, from -1 to 2.
struct ObstacleEntry {
  static constexpr std::uint32_t kMostObstacles = 1u << 26;

  std::uint32_t bits;

  __host__ __device__ static ObstacleEntry of(std::uint32_t obstacle, const int* turns, int axes) {
    std::uint32_t bits = obstacle;
    for (int i = 0; i < axes; ++i) bits |= static_cast<std::uint32_t>(turns[i] + 1) << (26 + 2 * i);
    return {bits};
  }
  __host__ __device__ std::uint32_t obstacle() const { return bits & (kMostObstacles - 1); }
  __host__ __device__ int turn(int axis) const { return static_cast<int>(bits >> (26 + 2 * axis) & 3) - 1; }
};

}  // namespace dynasoar::detail
