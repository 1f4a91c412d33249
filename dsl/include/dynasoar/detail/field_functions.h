/// @file
/// max, min, clamp, swap and exchange of namespace std for fields: `std::max(age_, 3)`. The templates of the standard
/// library cannot do this, because they deduce the type of the values from the types of the arguments.
///
/// The C++ standard reserves its namespace. But functions that are found for `std::max(field, value)` can be nowhere
/// else. All of these are viable only if an argument is a SoaField, so nothing changes for other types.
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>

#include <dynasoar/soa_field.h>

namespace dynasoar::detail {

/// The type of a field's value; for other types, the type itself.
template <class T>
struct ValueOf : std::type_identity<T> {};
template <class C, int I>
struct ValueOf<SoaField<C, I>> : std::type_identity<typename SoaField<C, I>::T> {};
template <class T>
using value_t = typename ValueOf<std::remove_cv_t<T>>::type;

template <class T>
concept AnyField = !std::is_same_v<value_t<T>, std::remove_cv_t<T>>;

/// Checks that these values, at least one of which is a field, have the same type.
template <class First, class... Others>
constexpr bool check_same_values() {
  static_assert((std::is_same_v<value_t<First>, value_t<Others>> && ...),
                "dynasoar: std::max, min and clamp take a field and values of its type only: convert the others, for "
                "example with static_cast, or write the constant with its suffix, as 2.0f");
  return true;
}

}  // namespace dynasoar::detail

namespace std {  // NOLINT(cert-dcl58-cpp): see above

template <class A, class B>
requires(dynasoar::detail::AnyField<A> || dynasoar::detail::AnyField<B>)  //
    __device__ constexpr auto max(const A& a, const B& b) {
  static_assert(dynasoar::detail::check_same_values<A, B>());
  const dynasoar::detail::value_t<A> x = a;
  const dynasoar::detail::value_t<A> y = b;
  return x < y ? y : x;
}

template <class A, class B>
requires(dynasoar::detail::AnyField<A> || dynasoar::detail::AnyField<B>)  //
    __device__ constexpr auto min(const A& a, const B& b) {
  static_assert(dynasoar::detail::check_same_values<A, B>());
  const dynasoar::detail::value_t<A> x = a;
  const dynasoar::detail::value_t<A> y = b;
  return y < x ? y : x;
}

// For the values of one field in two objects: more specialized than the templates of the standard library.
template <class C, int I>
__device__ constexpr auto max(const dynasoar::SoaField<C, I>& a, const dynasoar::SoaField<C, I>& b) {
  return max(a.get(), b.get());
}
template <class C, int I>
__device__ constexpr auto min(const dynasoar::SoaField<C, I>& a, const dynasoar::SoaField<C, I>& b) {
  return min(a.get(), b.get());
}

template <class A, class Low, class High>
requires(dynasoar::detail::AnyField<A> || dynasoar::detail::AnyField<Low> || dynasoar::detail::AnyField<High>)  //
    __device__ constexpr auto clamp(const A& a, const Low& low, const High& high) {
  static_assert(dynasoar::detail::check_same_values<A, Low, High>());
  const dynasoar::detail::value_t<A> value = a;
  const dynasoar::detail::value_t<A> least = low;
  const dynasoar::detail::value_t<A> greatest = high;
  return value < least ? least : greatest < value ? greatest : value;
}
template <class C, int I>
__device__ constexpr auto clamp(const dynasoar::SoaField<C, I>& a, const dynasoar::SoaField<C, I>& low,
                                const dynasoar::SoaField<C, I>& high) {
  return clamp(a.get(), low, high);
}

template <class A, class B>
requires(dynasoar::detail::AnyField<A> || dynasoar::detail::AnyField<B>)  //
    __device__ constexpr void swap(A& a, B& b) {
  static_assert(dynasoar::detail::check_same_values<A, B>());
  const dynasoar::detail::value_t<A> old = a;
  a = static_cast<dynasoar::detail::value_t<A>>(b);
  b = old;
}
template <class C, int I>
__device__ constexpr void swap(dynasoar::SoaField<C, I>& a, dynasoar::SoaField<C, I>& b) {
  const auto old = a.get();
  a = b;
  b = old;
}

template <class C, int I, class Value>
__device__ constexpr auto exchange(dynasoar::SoaField<C, I>& field, Value&& value) {
  const typename dynasoar::SoaField<C, I>::T old = field;
  field = static_cast<typename dynasoar::SoaField<C, I>::T>(std::forward<Value>(value));
  return old;
}

}  // namespace std
