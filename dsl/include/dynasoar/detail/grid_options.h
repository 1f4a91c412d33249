/// @file
/// GridOptions: a space and its division into cells. Options of a UniformGrid and of Obstacles.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include <dynasoar/detail/grid_space.h>
#include <dynasoar/platform/error.h>

namespace dynasoar {

/// The space of a UniformGrid, and its division into cells.
///
/// @tparam P   the type of positions
template <detail::Position P>
struct GridOptions {
  static constexpr std::size_t kAxes = detail::kDimensions<P>;
  using Real = detail::Coordinate<P>;

  P lower;                                ///< one corner of the space
  P upper;                                ///< the opposite one
  Real cell;                              ///< the minimum width of a cell; a good choice is the usual radius
  std::array<bool, kAxes> periodic = {};  ///< axes whose ends meet
  /// Axes along which objects may be anywhere, because the cells repeat beyond the ends. Objects may also leave the
  /// space along an axis that is neither periodic nor unbounded, but all of them are then in the cells at the border.
  std::array<bool, kAxes> unbounded = {};
  std::size_t capacity = 0;  ///< initial room, in objects; 0: twice as many as there are now, at least 1024

  /// The geometry. @throws Error if the space is empty or not finite, or there would be too many cells
  GridSpace<P> space() const;

 private:
  // Limits that let a float distinguish the cells of an axis, and 32 bits number the cells of the grid.
  static constexpr double kMostCellsOfAxis = 1 << 20;
  static constexpr double kMostCells = 1 << 30;

  detail::Beyond beyond(std::size_t axis) const {
    if (periodic[axis] && unbounded[axis]) {
      throw Error("dynasoar: axis " + std::to_string(axis) +
                  " of a UniformGrid cannot be periodic and unbounded: choose one");
    }
    return periodic[axis]    ? detail::Beyond::other_end
           : unbounded[axis] ? detail::Beyond::the_same_cells
                             : detail::Beyond::nothing;
  }
};

template <detail::Position P>
GridSpace<P> GridOptions<P>::space() const {
  GridSpace<P> result;
  double product = 1;
  for (int a = 0; a < result.kAxes; ++a) {
    const Real from = detail::coordinate(lower, a);
    const Real to = detail::coordinate(upper, a);
    if (!(from < to) || !detail::is_finite(to - from)) {
      throw Error("dynasoar: a UniformGrid needs a space: lower must be less than upper, and both finite, along axis " +
                  std::to_string(a));
    }
    if (!(cell > 0)) throw Error("dynasoar: the cells of a UniformGrid must be wider than 0");
    const double cells = std::max(1.0, std::floor(double{to - from} / double{cell}));
    product *= cells;
    if (cells > kMostCellsOfAxis || product > kMostCells) {
      throw Error("dynasoar: a UniformGrid may have 2^20 cells along an axis and 2^30 in all: make them wider than " +
                  std::to_string(cell));
    }
    result.axes[a] = {from, to, static_cast<std::int32_t>(cells), beyond(static_cast<std::size_t>(a))};
  }
  return result;
}

}  // namespace dynasoar
