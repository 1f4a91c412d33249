/// @file
/// The callables of AllocatorHandle's reductions, which return the values of fields and predicates.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include <dynasoar/detail/loop_rules.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/order.h>

namespace dynasoar::detail {

/// The type in which the values of a field are added up.
template <class T>
using sum_t = std::conditional_t<!std::is_integral_v<T>, double,
                                 std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

template <class>
struct FieldPointer;
template <class C, class Field>
struct FieldPointer<Field C::*> {
  using Class = C;
  using Type = typename Field::T;
};

/// The number in a field's value: the value itself, or that of an AtomicWord.
template <class T>
struct NumberIn {
  using Type = T;
  __device__ static T of(const T& value) { return value; }
};
template <class T>
struct NumberIn<AtomicWord<T>> {
  using Type = T;
  __device__ static T of(const AtomicWord<T>& word) { return word.load(Order::relaxed); }  // earlier loops are done
};

/// The value of a field that is known at compile time.
template <auto kField>
struct FieldValue {
  using Class = typename FieldPointer<decltype(kField)>::Class;
  using Number = NumberIn<typename FieldPointer<decltype(kField)>::Type>;
  using Type = typename Number::Type;
  using Sum = sum_t<Type>;
  static_assert(std::is_arithmetic_v<Type>,
                "dynasoar: sum, minimum, maximum, rasters and substances are for fields that are numbers; use reduce "
                "or a loop for "
                "others");

  template <class T>
  __device__ Type operator()(T* object) const {
    const Class* const declared_in = object;
    return Number::of((declared_in->*kField).get());
  }
};

/// A value, or no value yet.
template <class T>
struct Found {
  T value{};
  bool any = false;
};

template <class Value>
struct FoundValue {
  template <class T>
  __device__ Found<typename Value::Type> operator()(T* object) const {
    return {Value{}(object), true};
  }
};

/// Applies `op` to two values, either of which may not exist yet.
template <class Op>
struct OfFound {
  Op op;
  template <class T>
  __host__ __device__ Found<T> operator()(const Found<T>& a, const Found<T>& b) const {
    if (!a.any) return b;
    if (!b.any) return a;
    return {op(a.value, b.value), true};
  }
};

/// The value of a field that `op` chooses among the values of all objects of its class; empty if there are no objects.
template <auto kField, class Handle, class Op>
auto extreme(Handle& handle, Op op) {
  using Value = FieldValue<kField>;
  using T = typename Value::Type;
  const Found<T> found =
      handle.template reduce<typename Value::Class>(Found<T>{}, OfFound<Op>{op}, FoundValue<Value>{});
  return found.any ? std::optional<T>(found.value) : std::nullopt;
}

/// Returns 1 if a predicate is true, else 0.
template <class F>
struct OneIf {
  F predicate;
  template <class T>
  __device__ std::uint64_t operator()(T* object) const {
    static_assert(check_call<const F&, T*>());
    return predicate(object) ? 1 : 0;
  }
};

}  // namespace dynasoar::detail
