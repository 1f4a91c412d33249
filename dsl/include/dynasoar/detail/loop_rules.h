/// @file
/// The rules for callables and arguments of loops, as compile-time checks. Each message says which rule was broken and
/// how to fix it. Used by AllocatorHandle and UniformGrid, and by the callables of their loops (loop_calls.h).
///
/// Every thread gets a copy of the bytes of the callable and of the arguments. So it must be possible to copy them as
/// bytes, and changes of a copy are lost.
#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/checkpoint/items.h>
#include <dynasoar/classes/class_rules.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/lambdas.h>

namespace dynasoar::detail {

/// Whether a T can be copied as bytes.
template <class T>
inline constexpr bool is_copied_as_bytes_v =
    std::is_trivially_copy_constructible_v<T>&& std::is_trivially_destructible_v<T>;

/// Whether T is a std::reference_wrapper, for which std::make_tuple stores a reference.
template <class T>
inline constexpr bool is_reference_wrapper_v =
    std::is_reference_v<std::tuple_element_t<0, decltype(std::make_tuple(std::declval<T>()))>>;

/// Checks that a loop can have an argument of this type.
template <class Argument>
constexpr bool check_argument() {
  static_assert(
      is_copied_as_bytes_v<Argument>,
      "dynasoar: an argument of this loop is not trivially copyable (as std::vector and std::string are not): "
      "every thread gets a copy of its bytes. Pass numbers or plain structs; keep arrays in a "
      "dynasoar::DeviceArray and pass its data()");
  static_assert(
      !is_reference_wrapper_v<Argument>,
      "dynasoar: an argument of this loop is a std::ref: it refers to the caller's memory, which a GPU cannot "
      "reach and threads would change at once. Pass the value; return results with reduce, or in a "
      "dynasoar::DeviceArray");
  return true;
}

/// Checks that a loop can have a callable of this type.
template <class F>
constexpr bool check_callable() {
  static_assert(
      is_copied_as_bytes_v<F> || is_wrapped_lambda_v<F>,
      "dynasoar: the callable of this loop captures, or has as a member, a value that is not trivially copyable "
      "(as std::vector and std::string are not): every thread gets a copy of its bytes. Capture numbers or "
      "plain structs; keep arrays in a dynasoar::DeviceArray and capture its data()");
  return true;
}

/// Checks that a loop can have a callable and arguments of these types.
template <class F, class... Args>
constexpr bool check_given() {
  return (check_callable<F>() && ... && check_argument<Args>());
}

/// Checks that a loop can call an F with an object or index, and the arguments. Only device code may call this: nvcc's
/// host code does not know the signatures of lambdas.
template <class F, class First, class... Args>
__host__ __device__ constexpr bool check_call() {
  constexpr bool kTakesArguments = std::is_invocable_v<F, First&, Args&...>;
  static_assert(kTakesArguments,
                "dynasoar: the method does not take these arguments: a loop passes its arguments behind the "
                "object (parallel_do) or index (parallel_for), a loop of a grid behind the grid's view, and a callable "
                "must not be 'mutable'");
  if constexpr (kTakesArguments) {
    static_assert(std::is_invocable_v<F, First, Args...>,
                  "dynasoar: a parameter of the callable of this loop is a reference to a value that is not const, but "
                  "every thread passes a copy of its own, so that changes would be lost. Take the parameter by value; "
                  "put results into fields or a dynasoar::DeviceArray, or use reduce");
  }
  return true;
}

/// Checks that a reduction can have results of this type.
template <class R>
constexpr bool check_reduced() {
  static_assert(std::is_trivially_copyable_v<R>,
                "dynasoar: reduce copies its values between host and device: use a trivially copyable type");
  return true;
}

/// Checks that room for objects of T can be reserved in the heap of an allocator.
template <class A, class T>
constexpr bool check_reserved() {
  static_assert(A::Storage::kGrows,
                "dynasoar: the heap of an AosAllocator cannot grow: leave reserve out, and give the handle as many "
                "heap_bytes as it may need");
  check_listed<A, T>();
  check_not_placed<T>();
  return true;
}

/// Checks that a loop can create objects `T(i, args...)`, where i is a std::size_t.
template <class A, class T, class... Args>
constexpr bool check_creation() {
  check_listed<A, T>();
  check_not_placed<T>();
  static_assert((true && ... && check_argument<Args>()));
  check_constructible<T, std::size_t, const Args&...>();
  return true;
}

/// The items among the arguments of AllocatorHandle::save and load: items, or CheckpointItems.
template <std::derived_from<SavedItem>... Items>
std::vector<const SavedItem*> saved_items(const Items&... items) {
  return {&items...};
}
inline std::vector<const SavedItem*> saved_items(const CheckpointItems& items) {
  return items.saved();
}
template <class... Items>
std::vector<const CheckpointItem*> loaded_items(const Items&... items) {
  static_assert(
      (true && ... && std::is_same_v<Items, CheckpointItem>),
      "dynasoar: load takes the results of value(name, variable) and array(name, elements) for variables that "
      "can be changed: one of these arguments is constant, or something else");
  return {&items...};
}
inline std::vector<const CheckpointItem*> loaded_items(const CheckpointItems& items) {
  return items.loaded();
}

/// Checks that checkpoints can have the objects of an allocator.
template <class A>
constexpr bool check_saves() {
  static_assert(A::kSaves,
                "dynasoar: objects of an AosAllocator are addresses of one run, so they cannot be saved: use a "
                "SoaAllocator for programs that save and load checkpoints");
  return true;
}

}  // namespace dynasoar::detail
