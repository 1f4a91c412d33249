/// @file
/// The loops of Substance::diffuse: explicit steps of diffusion and decay from a field into an array, and back. On a
/// GPU, each thread computes a place. On a CPU, it computes the places of a block together if they are in one row, in
/// loops that compilers vectorize. Both give the same bits.
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
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/order.h>

namespace dynasoar::detail {

/// One explicit step. @tparam Value   float or double
template <class Value>
struct ExplicitStep {
  Value rates[3];
  Value remaining;
  Value border;      ///< the concentration beyond bounded ends
  bool is_mirrored;  ///< true: beyond a bounded end, the last cell's own concentration replaces `border`

  /// The inflow along an axis. The sum is symmetric, so that a mirrored field stays mirrored.
  __device__ Value along(int axis, Value here, Value before, Value behind) const {
    return rounded_product(rates[axis], (before - here) + (behind - here));
  }
  __device__ Value after(Value here, Value change) const { return rounded_product(remaining, here + change); }
};

/// Concentrations in a field of objects.
template <auto kField, class T>
struct FieldCells {
  using Class = typename FieldValue<kField>::Class;
  using Value = typename FieldValue<kField>::Type;
  static constexpr std::size_t kBlockBytes = placed_block_bytes_v<T>;
  static constexpr bool kHasPositions = !kLooksFirst<T>;
  static constexpr bool kIsContiguous = !kLooksFirst<T> && !kCountsAccesses;  // 64 values of a block

  __device__ static Value in(const Class* object) { return (object->*kField).get(); }

  __device__ Value at(std::uint64_t slot) const { return in(object_at(slot)); }
  __device__ Value at_position(std::uint64_t position) const {
    return in(reinterpret_cast<const T*>(placed_handle_at<T>(position).bits()));
  }
  __device__ Value of(const T* object, std::uint64_t) const { return in(object); }
  __device__ void set(T* object, std::uint64_t, Value value) const {
    Class* const declared_in = object;
    declared_in->*kField = value;
  }

  /// The values of the first `count` places of a block.
  __device__ void load(std::uint64_t block, int count, Value* to) const {
    if constexpr (kIsContiguous) {
      const Class* const first = object_at(block * 64);
      const Value* const values = &(first->*kField);
      for (int i = 0; i < count; ++i) to[i] = values[i];
    } else {
      for (int i = 0; i < count; ++i) to[i] = at(block * 64 + static_cast<std::uint64_t>(i));
    }
  }
  __device__ void store(std::uint64_t block, int count, const Value* from) const {
    if constexpr (kIsContiguous) {
      Class* const first = object_at(block * 64);
      Value* const values = &(first->*kField);
      for (int i = 0; i < count; ++i) values[i] = from[i];
    } else {
      for (int i = 0; i < count; ++i) set(object_at(block * 64 + static_cast<std::uint64_t>(i)), 0, from[i]);
    }
  }

 private:
  __device__ static T* object_at(std::uint64_t slot) { return reinterpret_cast<T*>(placed_handle<T>(slot).bits()); }
};

/// Concentrations in an array with a value for each slot.
template <class ValueT>
struct ArrayCells {
  using Value = ValueT;
  static constexpr std::size_t kBlockBytes = 64;  // then the position of a place is its slot
  static constexpr bool kHasPositions = true;

  Value* values;

  __device__ Value at(std::uint64_t slot) const { return values[slot]; }
  __device__ Value at_position(std::uint64_t slot) const { return values[slot]; }
  __device__ Value of(const void*, std::uint64_t slot) const { return values[slot]; }
  __device__ void set(void*, std::uint64_t slot, Value value) const { values[slot] = value; }

  __device__ void load(std::uint64_t block, int count, Value* to) const {
    for (int i = 0; i < count; ++i) to[i] = values[block * 64 + static_cast<std::uint64_t>(i)];
  }
  __device__ void store(std::uint64_t block, int count, const Value* from) const {
    for (int i = 0; i < count; ++i) values[block * 64 + static_cast<std::uint64_t>(i)] = from[i];
  }
};

/// The deposits at the places, in fixed point. If the pointers are null, there are none to add.
struct Deposits {
  AtomicWord<std::uint64_t>* units;  ///< [slots]
  double concentration_of_unit;

  /// Takes the deposits at a slot. @return their sum as a concentration
  __device__ double take(std::uint64_t slot) const {
    // relaxed, and not one operation: no loop deposits while this one runs.
    const auto sum = static_cast<std::int64_t>(units[slot].load(Order::relaxed));
    if (sum == 0) return 0;
    units[slot].store(0, Order::relaxed);
    return separate_product(static_cast<double>(sum), concentration_of_unit);
  }
};

/// A step for one place: called with each object.
template <class T, class From, class To>
struct StepOfPlace {
  using Value = typename From::Value;
  ExplicitStep<Value> step;
  From from;
  To to;
  Deposits deposits;

  __device__ void operator()(T* object) const {
    const LatticeShape& shape = lattice_of<T>();
    const Place place = place_of(object);
    const std::uint64_t slot = place.slot();
    const Value here = from.of(object, slot);
    Value after = step.after(here, change(shape, place, here));
    if (deposits.units != nullptr) after += static_cast<Value>(deposits.take(slot));
    to.set(object, slot, after);
  }

 private:
  __device__ Value change(const LatticeShape& shape, Place place, Value here) const {
    if constexpr (From::kHasPositions) {
      Value near[4];  // row by row
      int count = 0;
      const bool is_inside = InnerNeighbours<From::kBlockBytes>::for_each(
          shape, place, VonNeumann<>{}, [&](std::uint64_t position) { near[count++] = from.at_position(position); });
      if (is_inside) return step.along(0, here, near[1], near[2]) + step.along(1, here, near[0], near[3]);
    }
    const auto next = [&](Direction direction) {
      const Place there = shape.neighbour(place, direction);
      return there.exists() ? from.at(there.slot()) : step.is_mirrored ? here : step.border;
    };
    Value sum = step.along(0, here, next(Direction::left), next(Direction::right));
    sum += step.along(1, here, next(Direction::up), next(Direction::down));
    if (shape.axes() > 2) sum += step.along(2, here, next(Direction::front), next(Direction::back));
    return sum;
  }
};

/// The same for the places of a block: called with the number of each block. @pre no block has places of two rows
template <class T, class From, class To>
struct StepOfBlock {
  using Value = typename From::Value;
  StepOfPlace<T, From, To> call;

  __device__ void operator()(std::size_t block) const {
    const LatticeShape& shape = lattice_of<T>();
    const int count = popcount(shape.places_of_word(block));
    const Place first(block * 64);
    Value row[kRow + 2];  // including the neighbours of both ends
    Value sums[kRow];
    Value* const here = row + 1;
    const ExplicitStep<Value> step = call.step;  // a copy, which no store can change
    call.from.load(block, count, here);
    row[0] = beside(shape.left(first), here[0]);
    here[count] = beside(shape.right(Place(block * 64 + static_cast<std::uint64_t>(count - 1))), here[count - 1]);
    for (int i = 0; i < count; ++i) sums[i] = step.along(0, here[i], row[i], row[i + 2]);
    add(step, 1, shape.up(first), shape.down(first), count, here, sums);
    if (shape.axes() > 2) add(step, 2, shape.front(first), shape.back(first), count, here, sums);
    for (int i = 0; i < count; ++i) sums[i] = step.after(here[i], sums[i]);
    if (call.deposits.units != nullptr) {
      for (int i = 0; i < count; ++i) {
        sums[i] += static_cast<Value>(call.deposits.take(block * 64 + static_cast<std::uint64_t>(i)));
      }
    }
    call.to.store(block, count, sums);
  }

 private:
  static constexpr int kRow = 64;

  __device__ Value beside(Place next, Value here) const {
    return next.exists() ? call.from.at(next.slot()) : call.step.is_mirrored ? here : call.step.border;
  }

  /// The values of another row, at the same columns.
  __device__ void load_beside(Place first, int count, const Value* here, Value* to) const {
    if (first.exists()) {
      call.from.load(first.slot() / 64, count, to);
    } else {
      for (int i = 0; i < count; ++i) to[i] = call.step.is_mirrored ? here[i] : call.step.border;
    }
  }

  __device__ void add(const ExplicitStep<Value>& step, int axis, Place before, Place behind, int count,
                      const Value* here, Value* sums) const {
    Value values[2][kRow];
    load_beside(before, count, here, values[0]);
    load_beside(behind, count, here, values[1]);
    for (int i = 0; i < count; ++i) sums[i] += step.along(axis, here[i], values[0][i], values[1][i]);
  }
};

/// Decay alone.
template <class T, class Cells>
struct Decay {
  typename Cells::Value remaining;
  Cells cells;
  Deposits deposits;

  __device__ void operator()(T* object) const {
    using Value = typename Cells::Value;
    const std::uint64_t slot = place_of(object).slot();
    const Value left = rounded_product(remaining, cells.of(object, slot));
    cells.set(object, slot, left + static_cast<Value>(deposits.take(slot)));
  }
};

}  // namespace dynasoar::detail
