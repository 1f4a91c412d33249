/// @file
/// Reduction: the finished result of device_reduce, which a method returns to its loop. The loop divides the work among
/// threads: see loops/pair_loops.h.
#pragma once

#include <type_traits>

#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// A reduction over the objects of U, and the function that gets its result.
template <class U, class R, class Op, class Load, class Map, class Finish>
struct Reduction {
  using Other = U;
  using Result = R;
  static_assert(std::is_invocable_v<const Load&, U*>,
                "dynasoar: the load function of device_reduce must take a pointer to an object of the class that it "
                "looks at, and must not be 'mutable'");
  using Source = std::decay_t<std::invoke_result_t<const Load&, U*>>;
  static_assert(std::is_trivially_copyable_v<R> && std::is_trivially_copyable_v<Source>,
                "dynasoar: device_reduce passes its values and what is loaded of an object from thread to thread: use "
                "trivially copyable types");
  static_assert(
      sizeof(Source) <= 64,
      "dynasoar: device_reduce keeps what is loaded of hundreds of objects in shared memory: load at most 64 bytes");
  static_assert(std::is_default_constructible_v<R>,
                "dynasoar: the values of device_reduce need a default constructor, to be passed from thread to thread");
  static_assert(std::is_invocable_v<const Map&, const Source&>,
                "dynasoar: the last function of device_reduce must take what the load function returns (or, without "
                "one, a pointer to an object) by value or as a reference to const, and must not be 'mutable'");
  static_assert(std::is_invocable_v<const Op&, R, R>,
                "dynasoar: the operation of device_reduce must take two values of the type of init, by value or as "
                "references to const, and must not be 'mutable'");
  static_assert(std::is_invocable_v<const Finish&, R>,
                "dynasoar: the function passed to 'then' of device_reduce must take the result, by value or as a "
                "reference to const, and must not be 'mutable'");
  static_assert(std::is_convertible_v<std::invoke_result_t<const Map&, const Source&>, R>,
                "dynasoar: the last function of device_reduce must return what init is, a value to be combined");

  static_assert(
      std::is_empty_v<Load> && std::is_default_constructible_v<Load>,
      "dynasoar: the load function of device_reduce must capture nothing: it runs once for all observing objects");

  __device__ static Source load(U* other) { return Load{}(other); }

  R init;
  Op op;
  Map map;
  Finish finish;
};

/// A reduction without a function that gets its result.
template <class U, class R, class Op, class Load, class Map>
struct UnfinishedReduction {
  R init;
  Op op;
  Map map;

  /// @param finish   called as `finish(result)` by one thread, once all threads have seen all objects. It may change
  ///                 its own object
  template <class Finish>
  __device__ Reduction<U, R, Op, Load, Map, Finish> then(Finish finish) const {
    return {init, op, map, finish};
  }
};

/// Loads nothing in advance, but returns the pointer itself.
struct LoadPointer {
  template <class U>
  __device__ U* operator()(U* object) const {
    return object;
  }
};

template <class>
inline constexpr bool is_reduction_v = false;
template <class... Parts>
inline constexpr bool is_reduction_v<Reduction<Parts...>> = true;

template <class>
inline constexpr bool is_unfinished_reduction_v = false;
template <class... Parts>
inline constexpr bool is_unfinished_reduction_v<UnfinishedReduction<Parts...>> = true;

}  // namespace dynasoar::detail
