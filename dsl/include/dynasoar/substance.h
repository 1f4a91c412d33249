/// @file
/// Substance: a concentration on a lattice, such as that of a pheromone, oxygen or a nutrient, which diffuses and
/// decays, and which agents in continuous space sense and change. See docs/how-to/substances.md. Not in dynasoar.h,
/// because many programs have no use for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <dynasoar/allocator_handle.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/classes/layout.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/classes/type_list.h>
#include <dynasoar/detail/attachment.h>
#include <dynasoar/detail/diffusion.h>
#include <dynasoar/detail/field_names.h>
#include <dynasoar/detail/field_values.h>
#include <dynasoar/detail/grid_space.h>
#include <dynasoar/detail/substance_shape.h>
#include <dynasoar/detail/substance_space.h>
#include <dynasoar/detail/taken_words.h>
#include <dynasoar/lattice.h>
#include <dynasoar/place.h>
#include <dynasoar/platform/arithmetic.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/order.h>
#include <dynasoar/soa_field.h>

namespace dynasoar {

/// Where the places of a substance's lattice lie, and what is beyond them.
///
/// @tparam P   positions: x and y, or x, y and z, float or double
template <detail::Position P>
struct SubstanceOptions {
  P lower;  ///< the lower corner of the first place's cell
  P upper;  ///< the upper corner of the last place's cell
  /// The concentration of the cells beyond the bounded ends of the lattice. By default, nothing flows through these
  /// ends. The lattice says which axes are bounded and which are periodic.
  std::optional<double> border = std::nullopt;
  /// Deposits are rounded to multiples of this amount. The deposits into a cell between two calls of `diffuse` must add
  /// up to less than 2^63 times the resolution; by default, to less than 2^31.
  double resolution = 0x1p-32;
};

/// What a call of Substance::diffuse computes. Units are those of the model.
struct DiffusionOptions {
  double diffusion = 0;  ///< the diffusion coefficient, in length^2 per time
  double decay = 0;      ///< the rate of decay, per time: exp(-decay * step) is left after a step
  double step = 0;       ///< the time from the last call to this one
  int substeps = 2;      ///< explicit steps that a call takes: an even number. 0: as many as stability needs
};

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
/// @par Concurrency   any number of threads may use a view. A loop does not see its own deposits, so what it senses
/// does
///                    not depend on scheduling
template <auto kField, detail::Position P, class T>
class SubstanceView {
 public:
  using Value = typename detail::FieldValue<kField>::Type;
  using Amount = AtomicWord<std::uint64_t>;  // a whole number of units, modulo 2^64

  /// For the library.
  SubstanceView(const detail::SubstanceSpace<P>& space, Value border, double units_per_amount, Amount* deposits,
                Amount* faults)
      : space_(space), border_(border), units_per_amount_(units_per_amount), deposits_(deposits), faults_(faults) {}

  /// The place of the cell in which a position lies; none if a coordinate is not finite.
  __device__ Place cell(const P& position) const {
    if (!space_.is_finite(position)) return {};
    LatticeVector at;
    for (int a = 0; a < kAxes; ++a) set(at, a, space_.axes[a].cell_of(detail::coordinate(position, a)));
    return lattice_of<T>().place(at);
  }

  /// The concentration at a position: linear between the centres of cells along each axis. NaN if a coordinate is not
  /// finite. @par Cost   reads 4 cells, or 8 in space
  __device__ Value sample(const P& position) const {
    if (!space_.is_finite(position)) return std::numeric_limits<Value>::quiet_NaN();
    return along<kAxes - 1, kNone>(cells_at(position), {});
  }

  /// The gradient of the concentration, per length: along each axis, the difference of `sample` half a cell before and
  /// half a cell behind the position, divided by the width of a cell. At the centre of a cell, this is the difference
  /// between its neighbours over twice the width. NaN if a coordinate is not finite.
  /// @par Cost   reads 9 cells, or 27 in space, some of them several times
  __device__ P gradient(const P& position) const {
    P result = position;
    if (!space_.is_finite(position)) {
      for (int a = 0; a < kAxes; ++a) detail::coordinate(result, a) = std::numeric_limits<Real>::quiet_NaN();
      return result;
    }
    const Cells cells = cells_at(position);
    result.x = slope<0>(cells, position.x);
    result.y = slope<1>(cells, position.y);
    if constexpr (kAxes == 3) result.z = slope<2>(cells, position.z);
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
    const double units = detail::separate_product(amount, units_per_amount_);
    if (!place.exists() || !(units > -kMostUnits && units < kMostUnits)) {
      report(place.exists() && detail::is_finite(amount) ? kTooMuch : kNotFinite);
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
  template <auto, detail::Position, class>
  friend class Substance;

  static constexpr int kAxes = detail::kDimensions<P>;
  static constexpr int kNone = -1;
  static constexpr double kMostUnits = 0x1p62;
  static constexpr int kNotFinite = 0, kTooMuch = 1;  // words of faults_
  using Real = detail::Coordinate<P>;

  struct Cells {
    detail::BetweenCells<Value> of_axis[kAxes];
  };

  __device__ static void set(LatticeVector& at, int axis, std::int32_t cell) {
    (axis == 0 ? at.x : axis == 1 ? at.y : at.z) = cell;
  }

  __device__ Cells cells_at(const P& position) const {
    Cells cells;
    for (int a = 0; a < kAxes; ++a) {
      cells.of_axis[a] = space_.axes[a].template between<Value>(detail::coordinate(position, a));
    }
    return cells;
  }

  /// Interpolates along the axes up to `axis`, but not along `except`, where `at` says the cell already.
  template <int axis, int except>
  __device__ Value along(const Cells& cells, LatticeVector at) const {
    if constexpr (axis < 0) {
      return concentration(at);
    } else if constexpr (axis == except) {
      return along<axis - 1, except>(cells, at);
    } else {
      const detail::BetweenCells<Value>& between = cells.of_axis[axis];
      set(at, axis, between.cells[0]);
      const Value first = along<axis - 1, except>(cells, at);
      set(at, axis, between.cells[1]);
      return detail::interpolated(first, along<axis - 1, except>(cells, at), between.share);
    }
  }

  template <int axis>
  __device__ Real slope(const Cells& cells, Real x) const {
    const auto around = space_.axes[axis].template around<Value>(x);
    Value values[3];
    for (int i = 0; i < 3; ++i) {
      LatticeVector at;
      set(at, axis, around.cells[i]);
      values[i] = along<kAxes - 1, axis>(cells, at);
    }
    const Value per_cell = detail::slope(values[0], values[1], values[2], around.offset);
    return detail::rounded_product(static_cast<Real>(per_cell), space_.axes[axis].cells_per_length);
  }

  __device__ Value concentration(LatticeVector at) const {
    if (at.x < 0 || at.y < 0 || at.z < 0) return border_;
    const std::uint64_t handle = detail::placed_handle<T>(lattice_of<T>().place(at).slot()).bits();
    return detail::FieldCells<kField, T>::in(reinterpret_cast<const T*>(handle));
  }

  /// relaxed: the host reads it when the device is idle.
  __device__ void report(int fault) const { faults_[fault].store(1, Order::relaxed); }

  detail::SubstanceSpace<P> space_;
  Value border_;
  double units_per_amount_;
  Amount* deposits_;  // [slots]
  Amount* faults_;    // [2], in the host's memory
};

/// The concentration of a substance in the cells of a lattice of two or three axes.
///
///     class Cell final : public dynasoar::SoaBase<AllocatorT> {
///      public:
///       static constexpr bool kPlaced = true;
///       static constexpr bool kAtEveryPlace = true;
///       DYNASOAR_FIELDS(Cell, (pheromone_, float));
///       __device__ Cell() : pheromone_(0) {}
///     };
///
///     dynasoar::Lattice<Cell> ground(handle, {256, 256});
///     dynasoar::Substance<&Cell::pheromone_, Vector> pheromone(ground, {.lower = {0, 0}, .upper = {100, 100}});
///     ...
///     handle.parallel_do<&Ant::walk>(pheromone.view());
///     pheromone.diffuse({.diffusion = 0.5, .decay = 0.01, .step = 1});
///
/// The concentration is a field of the class, so everything that works for fields works for it: loops over the cells
/// that change it, rasters, columns, reductions, logs and checkpoints. A class may have fields for several substances.
/// The results of all operations have the same bits on both backends and for any number of threads, unless compilers
/// fuse products and sums: see docs/how-to/reproducible.md.
///
/// @tparam kField   a field of T, float or double
/// @tparam P        positions of agents: x and y, or x, y and z, float or double
/// @tparam T        a class with an object at every place (kAtEveryPlace); by default, the class that declares the
/// field
/// @par Concurrency   all operations are ordered like loops, and can be recorded
template <auto kField, detail::Position P, class T = typename detail::FieldValue<kField>::Class>
class Substance final : detail::Attachment {
 public:
  using Allocator = typename T::Allocator;
  using View = SubstanceView<kField, P, T>;
  using Value = typename View::Value;
  static_assert(std::is_floating_point_v<Value>, "dynasoar: the concentration of a Substance is a float or a double");
  static_assert(
      detail::is_placed<T>() && detail::is_at_every_place<T>(),
      "dynasoar: a Substance needs a cell at every place of its lattice: write 'static constexpr bool kPlaced "
      "= true;' and 'static constexpr bool kAtEveryPlace = true;' in the class, behind 'public:'");

  /// @pre the lattice outlives the substance
  /// @throws Error if the options are invalid, the lattice has another number of axes than positions, or there is not
  ///         enough memory
  template <class... Ts>
  Substance(Lattice<Ts...>& lattice, const SubstanceOptions<P>& options);
  Substance(const Substance&) = delete;
  Substance& operator=(const Substance&) = delete;
  ~Substance() { handle_.loops().attachments().remove(*this); }

  /// Lets the substance diffuse and decay for some time, with explicit steps:
  ///
  ///     new = exp(-decay * dt) * (old + dt * diffusion * sum over axes of (before - 2 * old + behind) / width^2)
  ///
  /// where dt is step / substeps. The deposits since the last call are added at the end of the first of these steps.
  /// If `diffusion` is 0, there is one step: the concentration is multiplied by exp(-decay * step), and then the
  /// deposits are added. So `diffuse({})` only adds the deposits.
  ///
  /// An explicit step is stable if dt <= 1 / (2 * diffusion * sum over axes of 1 / width^2), whatever the decay. Then
  /// no concentration becomes negative, and none exceeds the greatest one around it.
  ///
  /// @throws Error if options are negative, not finite or unstable; with the longest stable step. Nothing has happened
  ///         then
  /// @par Cost   a kernel for each explicit step. Steps go from the field into an array and back, so their number is
  ///             even and nothing is copied
  void diffuse(const DiffusionOptions& options);

  /// The value to pass to loops. Valid as long as the substance.
  View view() const {
    return {space_, static_cast<Value>(shape_.border.value_or(0)), 1 / shape_.resolution, deposits(),
            reinterpret_cast<Amount*>(const_cast<std::uint64_t*>(faults_.data()))};
  }

  /// Bytes of device memory in addition to the field: 8 for deposits, and those of a Value, for each slot of the
  /// lattice.
  std::size_t bytes() const { return deposits_.bytes() + after_.bytes(); }

 private:
  using Amount = typename View::Amount;

  template <class Field>
  struct FieldNumber;
  template <class C, int I>
  struct FieldNumber<SoaField<C, I> C::*> {
    static constexpr std::size_t kValue = detail::inherited_fields_v<C> + std::size_t{I};
  };

  Amount* deposits() const { return reinterpret_cast<Amount*>(deposits_.data()); }

  using Cells = detail::FieldCells<kField, T>;

  template <class From, class To>
  void run(const detail::StepOfPlace<T, From, To>& step);

  static detail::SubstanceShape shape_of(const LatticeShape& lattice, const SubstanceOptions<P>& options);
  static detail::SubstanceSpace<P> space_of(const detail::SubstanceShape& shape);

  void forget_deposits() { handle_.executor().fill_bytes(deposits_.data(), 0, deposits_.bytes()); }

  detail::Shortage loops_done() override;
  void objects_replaced() override { forget_deposits(); }

  AllocatorHandle<Allocator>& handle_;
  detail::SubstanceShape shape_;
  detail::SubstanceSpace<P> space_;
  DeviceArray<std::uint64_t> deposits_;  // [slots] units
  DeviceArray<Value> after_;             // [slots] concentrations after an odd number of steps
  MailedWords faults_{2};
  bool has_blocks_in_rows_;
};

template <auto kField, detail::Position P, class T>
template <class... Ts>
Substance<kField, P, T>::Substance(Lattice<Ts...>& lattice, const SubstanceOptions<P>& options)
    : handle_(lattice.handle()),
      shape_(shape_of(lattice.shape(), options)),
      space_(space_of(shape_)),
      has_blocks_in_rows_(lattice.shape().has_blocks_in_rows()) {
  detail::check_at_places<T>();
  static_assert(detail::index_of_v<T, Ts...> >= 0,
                "dynasoar: the class of this substance's cells is not one of the lattice's: name it in Lattice<...>");
  handle_.executor().check_may_wait();  // memory may not be allocated in a step
  const auto slots = static_cast<std::size_t>(lattice.shape().words()) * 64;
  deposits_ = DeviceArray<std::uint64_t>(slots);
  after_ = DeviceArray<Value>(slots);
  forget_deposits();
  handle_.loops().attachments().add(*this);
}

template <auto kField, detail::Position P, class T>
void Substance<kField, P, T>::diffuse(const DiffusionOptions& options) {
  const detail::DiffusionPlan plan = shape_.plan(options);
  const auto remaining = static_cast<Value>(plan.remaining);
  const Cells cells;
  detail::Deposits deposits{this->deposits(), shape_.resolution / shape_.volume_of_cell()};
  if (plan.steps == 0) {
    handle_.template parallel_do<T>(detail::Decay<T, Cells>{remaining, cells, deposits});
    return;
  }
  const detail::ExplicitStep<Value> step{
      {static_cast<Value>(plan.rates[0]), static_cast<Value>(plan.rates[1]), static_cast<Value>(plan.rates[2])},
      remaining,
      static_cast<Value>(shape_.border.value_or(0)),
      !shape_.border.has_value()};
  const detail::ArrayCells<Value> array{after_.data()};
  for (int i = 0; i < plan.steps; i += 2) {
    run(detail::StepOfPlace<T, Cells, detail::ArrayCells<Value>>{step, cells, array, deposits});
    deposits.units = nullptr;  // they have been added
    run(detail::StepOfPlace<T, detail::ArrayCells<Value>, Cells>{step, array, cells, deposits});
  }
}

template <auto kField, detail::Position P, class T>
template <class From, class To>
void Substance<kField, P, T>::run(const detail::StepOfPlace<T, From, To>& step) {
  if constexpr (!kCudaBackend) {
    if (has_blocks_in_rows_) {
      handle_.parallel_for(after_.size() / 64, detail::StepOfBlock<T, From, To>{step});
      return;
    }
  }
  handle_.template parallel_do<T>(step);
}

template <auto kField, detail::Position P, class T>
detail::Shortage Substance<kField, P, T>::loops_done() {
  const bool is_not_finite = faults_[View::kNotFinite] != 0;
  const bool is_too_much = faults_[View::kTooMuch] != 0;
  for (const int fault : {View::kNotFinite, View::kTooMuch}) faults_.data()[fault] = 0;
  if (!is_not_finite && !is_too_much) return {};
  return {detail::deposit_fault(shape_, is_not_finite, is_too_much), false};
}

template <auto kField, detail::Position P, class T>
detail::SubstanceShape Substance<kField, P, T>::shape_of(const LatticeShape& lattice,
                                                         const SubstanceOptions<P>& options) {
  detail::SubstanceShape shape;
  constexpr auto kNumber = FieldNumber<std::remove_const_t<decltype(kField)>>::kValue;
  shape.name = detail::field_text(detail::field_infos_v<Allocator, T>[kNumber]);
  shape.axes = detail::kDimensions<P>;
  shape.cells = {lattice.width(), lattice.height(), lattice.depth()};
  for (int a = 0; a < shape.axes; ++a) {
    const auto axis = static_cast<std::size_t>(a);
    shape.lower[axis] = detail::coordinate(options.lower, a);
    shape.upper[axis] = detail::coordinate(options.upper, a);
    shape.periodic[axis] = lattice.is_periodic(a);
  }
  shape.border = options.border;
  shape.resolution = options.resolution;
  shape.check(lattice.axes());
  return shape;
}

template <auto kField, detail::Position P, class T>
detail::SubstanceSpace<P> Substance<kField, P, T>::space_of(const detail::SubstanceShape& shape) {
  using Real = detail::Coordinate<P>;
  detail::SubstanceSpace<P> space;
  for (int a = 0; a < shape.axes; ++a) {
    const auto axis = static_cast<std::size_t>(a);
    space.axes[a] = {static_cast<Real>(shape.lower[axis]),
                     static_cast<Real>(1 / shape.width(a)),
                     static_cast<Real>(shape.cells[axis]),
                     shape.cells[axis],
                     shape.periodic[axis],
                     shape.border ? detail::BeyondSubstance::fixed : detail::BeyondSubstance::mirrored};
  }
  return space;
}

}  // namespace dynasoar
