/// @file
/// SubstanceSpace: the positions of a lattice's places in the coordinates of agents. Used by Substance. All results
/// have the same bits on host and GPU.
#pragma once

#include <cmath>
#include <cstdint>

#include <dynasoar/detail/grid_space.h>
#include <dynasoar/platform/arithmetic.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// The condition at the bounded ends of a substance's axes.
enum class BeyondSubstance {
  mirrored,  ///< the same concentration as in the last cell, so that nothing flows
  fixed      ///< a fixed concentration
};

/// Two adjacent cells; a coordinate lies between their centres. A cell is kBeyond if it is beyond a fixed border.
template <class Value>
struct BetweenCells {
  std::int32_t cells[2];
  Value share;  ///< position between the first centre (0) and the second (1)
};

/// A cell, the two cells next to it, and the distance of a coordinate from its centre.
template <class Value>
struct AroundCell {
  std::int32_t cells[3];
  Value offset;  ///< from -1/2 to 1/2, in cells
};

/// One axis of a substance.
template <class Real>
struct SubstanceAxis {
  static constexpr std::int32_t kBeyond = -1;

  Real lower;
  Real cells_per_length;
  Real length;  ///< in cells
  std::int32_t cells;
  bool is_periodic;
  BeyondSubstance beyond;

  /// The distance from the lower end in cells, from 0 to `length`. @pre the coordinate is finite
  __host__ __device__ Real along(Real x) const {
    const Real way = rounded_product(x - lower, cells_per_length);
    if (way >= 0 && way <= length) return way;
    if (!is_periodic) return way < 0 ? 0 : length;
    const Real wrapped = way - rounded_product(length, std::floor(way / length));
    return wrapped >= 0 && wrapped <= length ? wrapped : 0;  // 0 if it is too far away to tell
  }

  __host__ __device__ std::int32_t cell_of(Real x) const {
    const auto cell = static_cast<std::int32_t>(along(x));
    return cell < cells ? cell : is_periodic ? 0 : cells - 1;
  }

  /// The cell that replaces a cell that may be one step beyond the ends.
  __host__ __device__ std::int32_t existing(std::int32_t cell) const {
    if (cell >= 0 && cell < cells) return cell;
    if (is_periodic) return cell < 0 ? cells - 1 : 0;
    return beyond == BeyondSubstance::fixed ? kBeyond : cell < 0 ? 0 : cells - 1;
  }

  template <class Value>
  __host__ __device__ BetweenCells<Value> between(Real x) const {
    const Real way = along(x) - Real{0.5};
    const Real first = std::floor(way);
    const auto cell = static_cast<std::int32_t>(first);
    return {{existing(cell), existing(cell + 1)}, static_cast<Value>(way - first)};
  }

  template <class Value>
  __host__ __device__ AroundCell<Value> around(Real x) const {
    const Real way = along(x);
    const std::int32_t cell = cell_of(x);
    const Real offset = (way < length || !is_periodic ? way - static_cast<Real>(cell) : 0) - Real{0.5};
    return {{existing(cell - 1), cell, existing(cell + 1)}, static_cast<Value>(offset)};
  }
};

/// @tparam P   the type of positions
template <Position P>
struct SubstanceSpace {
  static constexpr int kAxes = kDimensions<P>;
  using Real = Coordinate<P>;

  SubstanceAxis<Real> axes[kAxes];

  __host__ __device__ static bool is_finite(const P& position) {
    bool finite = true;
    for (int a = 0; a < kAxes; ++a) finite = finite && detail::is_finite(coordinate(position, a));
    return finite;
  }
};

/// Interpolates linearly between two values. @param share   from 0 to 1
template <class Value>
__host__ __device__ Value interpolated(Value from, Value to, Value share) {
  return from + rounded_product(share, to - from);
}

/// The mean slope, per cell, between half a cell before and half a cell behind a coordinate, of a function that is
/// linear between the centres of cells.
template <class Value>
__host__ __device__ Value slope(Value before, Value here, Value behind, Value offset) {
  constexpr Value kHalf{0.5};
  return rounded_product(kHalf - offset, here - before) + rounded_product(kHalf + offset, behind - here);
}

}  // namespace dynasoar::detail
