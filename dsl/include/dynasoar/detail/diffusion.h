/// @file
/// The loops of Substance::diffuse: explicit steps of diffusion and decay from a field into an array, and back.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/classes/placed.h>
#include <dynasoar/detail/field_values.h>
#include <dynasoar/detail/taken_words.h>
#include <dynasoar/loops/inner_neighbours.h>
#include <dynasoar/loops/lattice_shape.h>
#include <dynasoar/loops/places.h>
#include <dynasoar/place.h>
#include <dynasoar/platform/arithmetic.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/order.h>

namespace dynasoar::detail {

/// One explicit step. @tparam Value   float or double
template <class Value>
struct ExplicitStep {
  Value rates[3];
  Value remaining;
  Value border;      ///< the concentration beyond bounded ends
  bool is_mirrored;  ///< it is that of the last cell instead

  /// The concentration after a step. The sums over two neighbours are symmetric, so that a mirrored field stays so.
  /// @param inner   calls its argument with the four neighbours' concentrations, row by row, if that is so simple
  /// @param read    the concentration at a slot
  template <class Inner, class Read>
  __device__ Value after(const LatticeShape& shape, Place place, Value here, const Inner& inner,
                         const Read& read) const {
    Value near[4];
    int count = 0;
    if (inner([&](Value value) { near[count++] = value; })) {
      return changed(here, along(0, here, near[1], near[2]) + along(1, here, near[0], near[3]));
    }
    const auto next = [&](Direction direction) {
      const Place there = shape.neighbour(place, direction);
      return there.exists() ? read(there.slot()) : is_mirrored ? here : border;
    };
    Value change = along(0, here, next(Direction::left), next(Direction::right));
    if (shape.axes() > 1) change += along(1, here, next(Direction::up), next(Direction::down));
    if (shape.axes() > 2) change += along(2, here, next(Direction::front), next(Direction::back));
    return changed(here, change);
  }

 private:
  __device__ Value along(int axis, Value here, Value before, Value behind) const {
    return rounded_product(rates[axis], (before - here) + (behind - here));
  }
  __device__ Value changed(Value here, Value change) const { return rounded_product(remaining, here + change); }
};

/// The concentration in an object.
template <auto kField>
__device__ auto concentration_of(const typename FieldValue<kField>::Class* object) {
  return (object->*kField).get();
}

/// What was deposited at the places, in fixed point. All null: nothing is to be added.
struct Deposits {
  AtomicWord<std::uint64_t>* units;  ///< [slots]
  double concentration_of_unit;

  /// Takes what was deposited at a slot. @return the concentration
  __device__ double take(std::uint64_t slot) const {
    if (units == nullptr) return 0;
    // relaxed, and not one operation: no loop deposits while this one runs.
    const auto sum = static_cast<std::int64_t>(units[slot].load(Order::relaxed));
    if (sum == 0) return 0;
    units[slot].store(0, Order::relaxed);
    return separate_product(static_cast<double>(sum), concentration_of_unit);
  }
};

/// From the field into an array, which has a value for each slot; adds deposits.
template <auto kField, class T, class Value>
struct StepIntoArray {
  ExplicitStep<Value> step;
  Deposits deposits;
  Value* after;

  __device__ void operator()(T* object) const {
    const LatticeShape& shape = lattice_of<T>();
    const Place place = place_of(object);
    const auto inner = [&](const auto& f) {
      if constexpr (kLooksFirst<T>) {
        return false;
      } else {
        return InnerNeighbours<placed_block_bytes_v<T>>::for_each(
            shape, place, VonNeumann<>{}, [&](std::uint64_t position) { f(read(placed_handle_at<T>(position))); });
      }
    };
    const Value value = step.after(shape, place, concentration_of<kField>(object), inner,
                                   [](std::uint64_t slot) { return read(placed_handle<T>(slot)); });
    after[place.slot()] = value + static_cast<Value>(deposits.take(place.slot()));
  }

 private:
  __device__ static Value read(Handle handle) {
    return concentration_of<kField>(reinterpret_cast<const T*>(handle.bits()));
  }
};

/// Back from the array into the field.
template <auto kField, class T, class Value>
struct StepFromArray {
  ExplicitStep<Value> step;
  const Value* before;

  __device__ void operator()(T* object) const {
    const LatticeShape& shape = lattice_of<T>();
    const Place place = place_of(object);
    const auto inner = [&](const auto& f) {  // slots are positions in blocks of 64 bytes, one for each slot
      return InnerNeighbours<64>::for_each(shape, place, VonNeumann<>{}, [&](std::uint64_t slot) { f(before[slot]); });
    };
    typename FieldValue<kField>::Class* const declared_in = object;
    declared_in->*kField =
        step.after(shape, place, before[place.slot()], inner, [&](std::uint64_t slot) { return before[slot]; });
  }
};

/// Decay alone.
template <auto kField, class T, class Value>
struct Decay {
  Value remaining;
  Deposits deposits;

  __device__ void operator()(T* object) const {
    const Value value = rounded_product(remaining, concentration_of<kField>(object));
    typename FieldValue<kField>::Class* const declared_in = object;
    declared_in->*kField = value + static_cast<Value>(deposits.take(place_of(object).slot()));
  }
};

}  // namespace dynasoar::detail
