/// @file
/// SubstanceView: a substance in device code. Users name it Substance<...>::View.
#pragma once

#include <cstdint>
#include <limits>

#include <dynasoar/classes/placed.h>
#include <dynasoar/detail/diffusion.h>
#include <dynasoar/detail/field_values.h>
#include <dynasoar/detail/grid_space.h>
#include <dynasoar/detail/substance_space.h>
#include <dynasoar/place.h>
#include <dynasoar/platform/arithmetic.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/order.h>

namespace dynasoar {

template <auto kField, detail::Position P, class T>
class Substance;

namespace detail {

/// A substance in device code. A small value to pass to loops:
///
///     using Pheromone = dynasoar::Substance<&Cell::pheromone_, Vector>;
///
///     __device__ void walk(Pheromone::View pheromone) {
///       const Vector uphill = pheromone.gradient(position_);
///       ...
///       pheromone.deposit(position_, 0.5);
///     }
///
/// Cells are as wide as the space divided by the lattice's places, and a cell's concentration is that at its centre. A
/// position beyond a bounded end counts as the nearest position in the space; periodic axes wrap.
///
/// @par Concurrency   any number of threads may use a view. A loop does not see its own deposits, so the results do not
///                    depend on scheduling
template <auto kField, Position P, class T>
class SubstanceView {
 public:
  using Value = typename FieldValue<kField>::Type;
  using Amount = AtomicWord<std::uint64_t>;  // a whole number of units, modulo 2^64

  /// For the library.
  SubstanceView(const SubstanceSpace<P>& space, Value border, double units_per_amount, Amount* deposits, Amount* faults)
      : space_(space), border_(border), units_per_amount_(units_per_amount), deposits_(deposits), faults_(faults) {}

  /// The place of the cell in which a position lies; none if a coordinate is not finite.
  __device__ Place cell(const P& position) const {
    if (!space_.is_finite(position)) return {};
    LatticeVector at;
    for (int a = 0; a < kAxes; ++a) set(at, a, space_.axes[a].cell_of(coordinate(position, a)));
    return lattice_of<T>().place(at);
  }

  /// The concentration at a position: linear between the centres of cells along each axis. NaN if a coordinate is not
  /// finite. @par Cost   reads 4 cells, or 8 in space
  __device__ Value sample(const P& position) const {
    if (!space_.is_finite(position)) return std::numeric_limits<Value>::quiet_NaN();
    return along<kAxes - 1, kNone>(cells_at(position), {});
  }

  /// The gradient of the concentration, per length. Along each axis, it is the difference of `sample` half a cell
  /// behind and half a cell before the position, divided by the width of a cell. At the centre of a cell, this is the
  /// difference between its neighbours, divided by twice the width. NaN if a coordinate is not finite.
  /// @par Cost   reads 9 cells, or 27 in space, some of them several times
  __device__ P gradient(const P& position) const {
    P result = position;
    if (!space_.is_finite(position)) {
      for (int a = 0; a < kAxes; ++a) coordinate(result, a) = std::numeric_limits<Real>::quiet_NaN();
      return result;
    }
    const Cells cells = cells_at(position);
    result.x = slope_along<0>(cells, position.x);
    result.y = slope_along<1>(cells, position.y);
    if constexpr (kAxes == 3) result.z = slope_along<2>(cells, position.z);
    return result;
  }

  /// Adds an amount to the cell in which a position lies; a negative amount takes from it. The concentration of the
  /// cell changes by the amount divided by the volume of the cell, in the next call of Substance::diffuse.
  ///
  /// The amount is added as a whole number of units of SubstanceOptions::resolution, so that sums do not depend on the
  /// order of deposits. If the position or the amount is not finite, or the sum has no room in 64 bits, the next
  /// `synchronize` of the handle throws.
  /// @par Cost   an atomic operation
  __device__ void deposit(const P& position, double amount) const {
    const Place place = cell(position);
    const double units = separate_product(amount, units_per_amount_);
    if (!place.exists() || !(units > -kMostUnits && units < kMostUnits)) {
      report(place.exists() && is_finite(amount) ? kTooMuch : kNotFinite);
      return;
    }
    const auto added = static_cast<std::int64_t>(units + (units < 0 ? -0.5 : 0.5));
    if (added == 0) return;
    // relaxed: a sum; the end of the loop publishes it.
    const auto before = deposits_[place.slot()].fetch_add(static_cast<std::uint64_t>(added), Order::relaxed);
    const auto after = before + static_cast<std::uint64_t>(added);
    const auto changed_sign = (before ^ after) & (static_cast<std::uint64_t>(added) ^ after);
    if (static_cast<std::int64_t>(changed_sign) < 0) report(kTooMuch);
  }

 private:
  template <auto, Position, class>
  friend class dynasoar::Substance;

  static constexpr int kAxes = kDimensions<P>;
  static constexpr int kNone = -1;
  static constexpr double kMostUnits = 0x1p62;
  static constexpr int kNotFinite = 0, kTooMuch = 1;  // words of faults_
  using Real = Coordinate<P>;

  struct Cells {
    BetweenCells<Value> of_axis[kAxes];
  };

  __device__ static void set(LatticeVector& at, int axis, std::int32_t cell) {
    (axis == 0 ? at.x : axis == 1 ? at.y : at.z) = cell;
  }

  __device__ Cells cells_at(const P& position) const {
    Cells cells;
    for (int a = 0; a < kAxes; ++a) {
      cells.of_axis[a] = space_.axes[a].template between<Value>(coordinate(position, a));
    }
    return cells;
  }

  /// Interpolates along the axes up to `axis`, except along `except`, for which `at` has the cell.
  template <int axis, int except>
  __device__ Value along(const Cells& cells, LatticeVector at) const {
    if constexpr (axis < 0) {
      return concentration(at);
    } else if constexpr (axis == except) {
      return along<axis - 1, except>(cells, at);
    } else {
      const BetweenCells<Value>& between = cells.of_axis[axis];
      set(at, axis, between.cells[0]);
      const Value first = along<axis - 1, except>(cells, at);
      set(at, axis, between.cells[1]);
      return interpolated(first, along<axis - 1, except>(cells, at), between.share);
    }
  }

  template <int axis>
  __device__ Real slope_along(const Cells& cells, Real x) const {
    const auto around = space_.axes[axis].template around<Value>(x);
    Value values[3];
    for (int i = 0; i < 3; ++i) {
      LatticeVector at;
      set(at, axis, around.cells[i]);
      values[i] = along<kAxes - 1, axis>(cells, at);
    }
    const Value per_cell = slope(values[0], values[1], values[2], around.offset);
    return rounded_product(static_cast<Real>(per_cell), space_.axes[axis].cells_per_length);
  }

  __device__ Value concentration(LatticeVector at) const {
    if (at.x < 0 || at.y < 0 || at.z < 0) return border_;
    const std::uint64_t handle = placed_handle<T>(lattice_of<T>().place(at).slot()).bits();
    return FieldCells<kField, T>::in(reinterpret_cast<const T*>(handle));
  }

  /// relaxed: the host reads it when the device is idle.
  __device__ void report(int fault) const { faults_[fault].store(1, Order::relaxed); }

  SubstanceSpace<P> space_;
  Value border_;
  double units_per_amount_;
  Amount* deposits_;  // [slots]
  Amount* faults_;    // [2], in the host's memory
};

}  // namespace detail

}  // namespace dynasoar
