/// @file
/// Substance: a concentration on a lattice, for example of a pheromone, oxygen or a nutrient, that diffuses and decays,
/// and that agents in continuous space sense and change. See docs/how-to/substances.md. Not included by dynasoar.h,
/// because many programs do not need it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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
#include <dynasoar/detail/substance_view.h>
#include <dynasoar/detail/taken_words.h>
#include <dynasoar/lattice.h>
#include <dynasoar/place.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/soa_field.h>

namespace dynasoar {

/// The position of a substance's lattice in the coordinates of agents, the concentration beyond its ends, and the unit
/// of deposits.
///
/// @tparam P   the type of positions: a struct with members x and y, or x, y and z, all float or all double
template <detail::Position P>
struct SubstanceOptions {
  P lower;  ///< the lower corner of the cell at the first place
  P upper;  ///< the upper corner of the cell at the last place
  /// The concentration of the cells beyond the bounded ends of the lattice. By default, nothing flows through these
  /// ends. The lattice determines which axes are bounded and which are periodic.
  std::optional<double> border = std::nullopt;
  /// Deposits are rounded to multiples of this amount. Between two calls of `diffuse`, the sum of the deposits into a
  /// cell must stay within 2^63 times the resolution, which is 2^31 by default.
  double resolution = 0x1p-32;
};

/// What a call of Substance::diffuse computes, in the units of the model.
struct DiffusionOptions {
  double diffusion = 0;  ///< the diffusion coefficient, in length^2 per time
  double decay = 0;      ///< the decay rate, per time: in a step, the concentration decays by exp(-decay * step)
  double step = 0;       ///< the time by which the call advances the concentration
  int substeps = 2;      ///< the number of explicit steps, which must be even; 0: the number that stability requires
};

/// The concentration of a substance in the cells of a lattice with two or three axes.
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
/// The concentration is a field of the class, so you can use it like any other field: in loops over the cells, which
/// may change it, and in rasters, columns, reductions, logs and checkpoints. A class may have several fields that are
/// substances. The results of all operations have the same bits on both backends and with any number of threads, unless
/// the compiler fuses products with sums: see docs/how-to/reproducible.md.
///
/// @tparam kField   a field of T, of type float or double
/// @tparam P        the type of agents' positions: a struct with members x and y, or x, y and z, all float or all
///                  double
/// @tparam T        a class with an object at every place (kAtEveryPlace). Default: the class that declares the field
/// @par Concurrency   all operations are ordered like loops, and can be recorded
template <auto kField, detail::Position P, class T = typename detail::FieldValue<kField>::Class>
class Substance final : detail::Attachment {
 public:
  using Allocator = typename T::Allocator;
  using View = detail::SubstanceView<kField, P, T>;  ///< detail/substance_view.h says what it can do
  using Value = typename View::Value;
  static_assert(std::is_floating_point_v<Value>, "dynasoar: the concentration of a Substance is a float or a double");
  static_assert(
      detail::is_placed<T>() && detail::is_at_every_place<T>(),
      "dynasoar: a Substance needs a cell at every place of its lattice: write 'static constexpr bool kPlaced "
      "= true;' and 'static constexpr bool kAtEveryPlace = true;' in the class, behind 'public:'");

  /// Creates a substance for a field of the cells of a lattice.
  ///
  /// @pre the lattice outlives the substance
  /// @throws Error if the options are invalid, if the lattice and the positions have different numbers of axes, or if
  ///         there is not enough memory
  template <class... Ts>
  Substance(Lattice<Ts...>& lattice, const SubstanceOptions<P>& options);
  Substance(const Substance&) = delete;
  Substance& operator=(const Substance&) = delete;
  ~Substance() { handle_.loops().attachments().remove(*this); }

  /// Advances the concentration by the time `step`, during which the substance diffuses and decays, with explicit steps
  /// of the duration dt = step / substeps:
  ///
  ///     new = exp(-decay * dt) * (old + dt * diffusion * sum over axes of (before - 2 * old + behind) / width^2)
  ///
  /// Adds the deposits since the last call at the end of the first explicit step. If `diffusion` is 0, there is only
  /// one step, which multiplies the concentration by exp(-decay * step) and then adds the deposits. Therefore
  /// `diffuse({})` only adds the deposits.
  ///
  /// An explicit step is stable if dt <= 1 / (2 * diffusion * sum over axes of 1 / width^2), whatever the decay rate.
  /// Up to rounding, and before deposits are added, a stable step makes no concentration negative, and none greater
  /// than the greatest one around it.
  ///
  /// @throws Error if an option is negative or not finite, or if the steps would be unstable; the message then contains
  ///         the longest stable step. The concentration is unchanged
  /// @par Cost   a kernel for each explicit step. Every other step goes from the field to an array, and the next one
  ///             from the array to the field, so the number of steps is even and nothing is copied
  void diffuse(const DiffusionOptions& options);

  /// Returns the value to pass to loops, which is valid as long as the substance exists.
  View view() const {
    return {space_, static_cast<Value>(shape_.border.value_or(0)), 1 / shape_.resolution, deposits(),
            reinterpret_cast<Amount*>(const_cast<std::uint64_t*>(faults_.data()))};
  }

  /// The number of bytes of device memory that the substance takes in addition to the field: 8 + sizeof(Value) for each
  /// slot of the lattice.
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
  void objects_replaced() override {
    forget_deposits();
    static_cast<void>(loops_done());  // drops their errors
  }

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
    const detail::Decay<T, Cells> decay{remaining, cells, deposits};
    handle_.loops().template run_over_places<T>(detail::ObjectCall<detail::Decay<T, Cells>>{decay, {}});
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
  using Step = detail::StepOfPlace<T, From, To>;
  handle_.loops().template run_over_places<T>(detail::ObjectCall<Step>{step, {}});
}

template <auto kField, detail::Position P, class T>
detail::Shortage Substance<kField, P, T>::loops_done() {
  const bool is_not_finite = faults_[View::kNotFinite] != 0;
  const bool is_too_much = faults_[View::kTooMuch] != 0;
  for (const int fault : {View::kNotFinite, View::kTooMuch}) faults_.data()[fault] = 0;
  if (!is_not_finite && !is_too_much) return {};
  return {.text = detail::deposit_fault(shape_, is_not_finite, is_too_much), .has_room = false, .is_mistake = true};
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
