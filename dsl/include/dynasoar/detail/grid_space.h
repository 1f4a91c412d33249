/// @file
/// GridSpace: the geometry of a UniformGrid. It finds the cell of a position, the cells near it, and the distance
/// between two positions. For host and device.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <dynasoar/platform/arithmetic.h>
#include <dynasoar/platform/config.h>

namespace dynasoar {

namespace detail {

/// The type of positions in a UniformGrid: a class with members x and y, or x, y and z, all float or all double.
template <class P>
concept Position = std::is_trivially_copyable_v<P> && requires(P p) {
  requires std::is_floating_point_v<std::remove_cvref_t<decltype(p.x)>>;
  requires std::is_same_v<decltype(p.x), decltype(p.y)>;
};

template <class P>
inline constexpr int kDimensions = 2;
template <class P>
requires requires(P p) {
  p.z;
}
inline constexpr int kDimensions<P> = 3;

template <class P>
using Coordinate = std::remove_cvref_t<decltype(std::declval<P>().x)>;

/// Coordinate number `axis` of a position.
template <class P>
__host__ __device__ auto& coordinate(P& position, int axis) {
  if constexpr (kDimensions<P> == 3) {
    if (axis == 2) return position.z;
  }
  return axis == 0 ? position.x : position.y;
}

/// Whether a number is neither infinite nor a NaN.
template <class Real>
__host__ __device__ bool is_finite(Real value) {
  return value - value == 0;
}

/// Consecutive cells of an axis. If the axis is periodic, or if cells repeat, the first cell follows the last one: a
/// range may begin at a negative number, or end behind the last cell.
struct CellRange {
  std::int32_t first;
  std::int32_t count;
  bool is_all = false;  ///< all cells of an axis on which the first follows the last
};

/// A cell of a CellRange.
template <class Real>
struct CellOfRange {
  std::int32_t cell;
  Real shift;  ///< subtract it from the offset to an object in the cell, if its nearest image is the one at the cell
};

/// The space beyond the ends of an axis.
enum class Beyond {
  nothing,        ///< objects may be there, and are in the first or the last cell
  other_end,      ///< the other end: the axis is periodic
  the_same_cells  ///< more space, in which the cells repeat
};

/// One axis of a grid. If cells repeat, cells are found as on a periodic axis, but distances as on any other axis.
template <class Real>
struct GridAxis {
  Real lower = 0;
  Real period = 0;                                           ///< of the cells; 0: none
  Real half_period = std::numeric_limits<Real>::infinity();  ///< infinite: not periodic
  Real image = 0;  ///< distance between images of an object: the period, or 0 if there are none
  Real periods_per_length = 0;
  Real cells_per_length = 0;
  Real rounding = 0;  ///< greatest rounding error of a place, or of the border of a cell
  std::int32_t cells = 1;

  GridAxis() = default;
  /// @pre lower < upper, all finite; at least one cell
  GridAxis(Real from, Real to, std::int32_t cell_count, Beyond beyond)
      : lower(from),
        period(beyond != Beyond::nothing ? to - from : 0),
        half_period(beyond == Beyond::other_end ? (to - from) / 2 : std::numeric_limits<Real>::infinity()),
        image(beyond == Beyond::other_end ? to - from : 0),
        periods_per_length(beyond != Beyond::nothing ? 1 / (to - from) : 0),
        cells_per_length(static_cast<Real>(cell_count) / (to - from)),
        rounding(32 * kEpsilon * (std::abs(from) + std::abs(to) + (to - from))),
        cells(cell_count) {}

  /// The cell of a coordinate. Beyond the ends of an axis that is not periodic, it is the cell at this end.
  __host__ __device__ std::int32_t cell_of(Real x) const { return cell_at(place_of(x)); }

  /// The first cell of a range.
  __host__ __device__ CellOfRange<Real> first_of(const CellRange& range) const {
    if (range.first < 0) return {range.first + cells, image};
    return range.first < cells ? CellOfRange<Real>{range.first, 0} : CellOfRange<Real>{range.first - cells, -image};
  }

  /// Advances to the next cell of the range.
  __host__ __device__ void advance(CellOfRange<Real>& at) const {
    if (++at.cell < cells) return;
    at.cell = 0;
    at.shift -= image;
  }

  /// The offset from one coordinate to another; the shortest one on a periodic axis.
  __host__ __device__ Real offset(Real from, Real to) const {
    return nearest_remainder(to - from, period, half_period, periods_per_length);
  }

  /// The coordinate, moved between the ends of the axis if the axis is periodic.
  __host__ __device__ Real wrapped(Real x) const {
    const bool is_periodic = half_period < std::numeric_limits<Real>::infinity();
    if (!is_periodic || (x >= lower && x - lower < period)) return x;
    const Real place = place_of(x);
    return place < period ? lower + place : lower;  // below `lower` by less than the precision of the period
  }

  /// The cells of all coordinates `to` with |offset(x, to)| <= reach, each once, and possibly more cells.
  ///
  /// The range is wider by the greatest rounding errors of the offset, of places and of the borders of cells.
  /// `rounding` covers the errors that depend on the axis. The other terms cover those that depend on x and reach; the
  /// last term is for distances so small that their squares are 0. There are no cells if x is not finite.
  __host__ __device__ CellRange near(Real x, Real reach) const {
    const Real wide = reach + (rounding + 32 * kEpsilon * (std::abs(x) + reach) + kVanishing);
    const Real place = place_of(x);
    if (period == 0) {
      const std::int32_t first = cell_at(place - wide);
      return {first, is_finite(x) ? cell_at(place + wide) - first + 1 : 0};
    }
    // Otherwise, all cells are near, or x is so far away that its place is not a number.
    if (!(2 * wide < period && place + wide < 2 * period)) return {0, is_finite(x) ? cells : 0, true};
    const std::int32_t first = rounded_down(rounded_product(place - wide, cells_per_length));
    const std::int32_t count = rounded_down(rounded_product(place + wide, cells_per_length)) - first + 1;
    if (count >= cells) return {0, cells, true};
    return {first, count};
  }

 private:
  static constexpr Real kEpsilon = std::numeric_limits<Real>::epsilon();
  static constexpr Real kVanishing = std::is_same_v<Real, float> ? Real(1e-22) : Real(1e-161);

  /// The distance from the lower end, modulo the period of the cells.
  __host__ __device__ Real place_of(Real x) const {
    const Real place = x - lower;
    if (period == 0 || (place >= 0 && place < period)) return place;
    return place - rounded_product(period, std::floor(rounded_product(place, periods_per_length)));
  }

  __host__ __device__ std::int32_t cell_at(Real place) const {
    return rounded_down_within(rounded_product(place, cells_per_length), cells - 1);
  }
};

}  // namespace detail

/// The space that a UniformGrid divides.
///
/// @tparam P   positions: x and y, or x, y and z, float or double
template <detail::Position P>
struct GridSpace {
  static constexpr int kAxes = detail::kDimensions<P>;
  using Real = detail::Coordinate<P>;

  detail::GridAxis<Real> axes[kAxes];

  /// The offset from one position to another; the shortest one along periodic axes.
  __host__ __device__ P offset(const P& from, const P& to) const {
    P result = to;
    for (int a = 0; a < kAxes; ++a) {
      detail::coordinate(result, a) = axes[a].offset(detail::coordinate(from, a), detail::coordinate(to, a));
    }
    return result;
  }

  /// The same if `shift`, from GridAxis::first_of and advance, leads to the nearest image of `to`.
  __host__ __device__ static P shifted_offset(const P& from, const P& to, const P& shift) {
    P result = to;
    for (int a = 0; a < kAxes; ++a) {
      Real& along = detail::coordinate(result, a);
      along = (along - detail::coordinate(from, a)) - detail::coordinate(shift, a);
    }
    return result;
  }

  /// Whether no image of an object is nearer than the one at this offset.
  __host__ __device__ bool is_nearest(const P& offset) const {
    bool is_nearest = true;
    for (int a = 0; a < kAxes; ++a) {
      is_nearest = is_nearest & (std::abs(detail::coordinate(offset, a)) <= axes[a].half_period);
    }
    return is_nearest;
  }

  /// A squared length up to which is_nearest is true for every offset; negative if it cannot be computed.
  Real surely_nearest() const {
    Real least = std::numeric_limits<Real>::infinity();
    for (int a = 0; a < kAxes; ++a) least = axes[a].half_period < least ? axes[a].half_period : least;
    if (!detail::is_finite(least)) return least;
    // Squares are rounded, and some are too small or too large for the type.
    constexpr Real kLeast = std::is_same_v<Real, float> ? Real(1e-12) : Real(1e-140);
    const Real square = least * least;
    return least > kLeast && detail::is_finite(square) ? square * (1 - 4 * std::numeric_limits<Real>::epsilon()) : -1;
  }

  /// The same position, moved between the ends of the periodic axes. Use it for objects that have left the space.
  __host__ __device__ P wrapped(P position) const {
    for (int a = 0; a < kAxes; ++a) {
      detail::coordinate(position, a) = axes[a].wrapped(detail::coordinate(position, a));
    }
    return position;
  }

  /// Squared length of an offset; the same bits on host and GPU.
  __host__ __device__ static Real squared_length(const P& offset) {
    Real sum = detail::rounded_product(offset.x, offset.x) + detail::rounded_product(offset.y, offset.y);
    if constexpr (kAxes == 3) sum += detail::rounded_product(offset.z, offset.z);
    return sum;
  }

  __host__ __device__ static bool is_finite(const P& position) {
    bool finite = true;
    for (int a = 0; a < kAxes; ++a) finite = finite && detail::is_finite(detail::coordinate(position, a));
    return finite;
  }

  /// Number of cells.
  __host__ __device__ std::uint32_t cells() const {
    std::uint32_t product = 1;
    for (int a = 0; a < kAxes; ++a) product *= static_cast<std::uint32_t>(axes[a].cells);
    return product;
  }

  /// The least width of a cell.
  __host__ __device__ Real cell_width() const {
    Real most = axes[0].cells_per_length;
    for (int a = 1; a < kAxes; ++a) most = axes[a].cells_per_length > most ? axes[a].cells_per_length : most;
    return 1 / most;
  }

  /// The sum of the lengths of the axes. Searches with a greater radius look at all cells.
  __host__ __device__ Real reach() const {
    Real sum = 0;
    for (int a = 0; a < kAxes; ++a) sum += static_cast<Real>(axes[a].cells) / axes[a].cells_per_length;
    return sum;
  }

  /// The cell of a position; `cells()`, which is no cell, if a coordinate is not finite.
  __host__ __device__ std::uint32_t cell_of(const P& position) const {
    if (!is_finite(position)) return cells();
    std::uint32_t cell = 0;
    for (int a = kAxes - 1; a >= 0; --a) {
      cell = cell * static_cast<std::uint32_t>(axes[a].cells) +
             static_cast<std::uint32_t>(axes[a].cell_of(detail::coordinate(position, a)));
    }
    return cell;
  }
};

}  // namespace dynasoar
