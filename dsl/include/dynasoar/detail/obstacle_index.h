/// @file
/// obstacle_cells, obstacle_lists: compute the cells for some obstacles, and the obstacles that each cell lists. On the
/// host; used by obstacles.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <dynasoar/detail/grid_space.h>
#include <dynasoar/detail/obstacle_cells.h>
#include <dynasoar/detail/obstacle_shapes.h>
#include <dynasoar/platform/error.h>

namespace dynasoar::detail {

/// The cells of a space. On unbounded axes, they reach from the first obstacle to the last. If there would be too many
/// cells, they are made wider.
template <Position P>
ObstacleCells<kDimensions<P>> obstacle_cells(const GridSpace<P>& space,
                                             const std::vector<ObstacleShape<kDimensions<P>>>& shapes) {
  constexpr int kAxes = kDimensions<P>;
  constexpr double kMostCells = 1 << 24;
  constexpr double kMostCellsOfAxis = 1 << 20;
  ObstacleCells<kAxes> result;
  double counts[kAxes];
  double lengths[kAxes];
  double all = 1;
  for (int i = 0; i < kAxes; ++i) {
    const GridAxis<Coordinate<P>>& axis = space.axes[i];
    const bool is_periodic = std::isfinite(axis.half_period);
    double least = axis.lower;
    lengths[i] = axis.cells / double{axis.cells_per_length};
    if (axis.period > 0) lengths[i] = axis.period;
    if (axis.period > 0 && !is_periodic && !shapes.empty()) {  // unbounded
      double most = -std::numeric_limits<double>::infinity();
      least = -most;
      for (const auto& shape : shapes) {
        least = std::min(least, shape.lower(i));
        most = std::max(most, shape.upper(i));
      }
      lengths[i] = std::max(most - least, 1 / double{axis.cells_per_length});
    }
    counts[i] = std::clamp(std::floor(lengths[i] * double{axis.cells_per_length}), 1.0, kMostCellsOfAxis);
    all *= counts[i];
    result.axes[i].lower = least;
    result.axes[i].period = is_periodic ? double{axis.period} : 0;
  }
  while (all > kMostCells) {
    double& most = *std::max_element(counts, counts + kAxes);
    all /= most;
    most = std::ceil(most / 2);
    all *= most;
  }
  for (int i = 0; i < kAxes; ++i) {
    result.axes[i].cells = static_cast<std::int64_t>(counts[i]);
    result.axes[i].cells_per_length = counts[i] / lengths[i];
  }
  return result;
}

/// The entries of all cells, and the index of the first entry of each cell.
struct ObstacleLists {
  std::vector<std::uint32_t> starts;
  std::vector<ObstacleEntry> entries;
};

/// @throws Error if there are 2^32 entries or more
template <int kAxes>
ObstacleLists obstacle_lists(const ObstacleCells<kAxes>& cells, const std::vector<ObstacleShape<kAxes>>& shapes) {
  const auto for_each = [&](const auto& visit) {
    for (std::uint32_t number = 0; number < shapes.size(); ++number) {
      const ObstacleShape<kAxes>& shape = shapes[number];
      const auto enter = [&](std::int64_t cell, const int* turns) {
        visit(static_cast<std::size_t>(cell), ObstacleEntry::of(number, turns, kAxes));
      };
      if (shape.kind == ShapeKind::segment) {
        cells.for_each_on_path(shape.a, shape.b, enter);
      } else {
        Coordinates<kAxes> lower;
        Coordinates<kAxes> upper;
        for (int i = 0; i < kAxes; ++i) {
          lower[i] = shape.lower(i);
          upper[i] = shape.upper(i);
        }
        cells.for_each_in_box(lower, upper, enter);
      }
    }
  };
  std::vector<std::uint64_t> ends(static_cast<std::size_t>(cells.size()) + 1);
  for_each([&](std::size_t cell, ObstacleEntry) { ++ends[cell + 1]; });
  for (std::size_t cell = 0; cell + 1 < ends.size(); ++cell) ends[cell + 1] += ends[cell];
  if (ends.back() > std::numeric_limits<std::uint32_t>::max()) {
    throw Error("dynasoar: cells list more than 2^32 obstacles in all: make the cells of the Obstacles wider");
  }
  ObstacleLists result;
  result.starts.assign(ends.begin(), ends.end());
  result.entries.resize(ends.back());
  for_each([&](std::size_t cell, ObstacleEntry entry) { result.entries[ends[cell]++] = entry; });
  return result;
}

}  // namespace dynasoar::detail
