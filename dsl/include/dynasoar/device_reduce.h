/// @file
/// device_reduce: what a method returns to see all objects of a class with the help of several threads.
///
/// Source: extends DynaSOAr's device_do (section 2.1), which visits all objects from one thread: with some ten thousand
/// objects that leaves most of a GPU idle. The loops are in loops/pair_loops.h.
#pragma once

#include <type_traits>
#include <utility>

#include <dynasoar/platform/config.h>

namespace dynasoar {

namespace detail {

/// A reduction over the objects of U, and what becomes of its result.
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
                "dynasoar: the function that 'then' of device_reduce is given must take the result, by value or as a "
                "reference to const, and must not be 'mutable'");
  static_assert(std::is_convertible_v<std::invoke_result_t<const Map&, const Source&>, R>,
                "dynasoar: the last function of device_reduce must return what init is, a value to be combined");

  static_assert(
      std::is_empty_v<Load> && std::is_default_constructible_v<Load>,
      "dynasoar: the load function of device_reduce may capture nothing: it runs once for all objects that look on");

  __device__ static Source load(U* other) { return Load{}(other); }

  R init;
  Op op;
  Map map;
  Finish finish;
};

/// A reduction of which nobody has said yet what becomes of its result.
template <class U, class R, class Op, class Load, class Map>
struct UnfinishedReduction {
  R init;
  Op op;
  Map map;

  /// @param finish   called as `finish(result)` by one thread, once all have seen all objects: the place for changes
  template <class Finish>
  __device__ Reduction<U, R, Op, Load, Map, Finish> then(Finish finish) const {
    return {init, op, map, finish};
  }
};

/// Loads nothing in advance: the pointer itself.
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

}  // namespace detail

/// Combines `map(load(other))` over all objects of U and its subclasses that existed when the loop began, this one
/// included. A method that parallel_do runs returns it, and the library shares the work among as many threads as suit
/// the number of objects:
///
///     __device__ auto compute_force() {
///       return dynasoar::device_reduce<Body>(
///                  Vector{}, [](Vector a, Vector b) { return a + b; },
///                  [](Body* other) { return other->attraction(); },
///                  [at = position_.get()](const Attraction& other) { return other.force_on(at); })
///           .then([this](Vector sum) { force_ = sum; });
///     }
///
/// @param init   neutral to `op`, which must be associative and commutative: the order of the objects is nobody's, so
///               floating-point sums differ in their last bits from run to run
/// @param load   what `map` needs of another object; read once for many objects, into memory that their threads share.
///               It may capture nothing. At most 64 bytes, and quickest with 16 that are aligned to 16
/// @param map    everything of this object that it needs should be captured by value: it runs for every other object
/// @return       say `.then(finish)` to get what the method has to return
/// @pre          the method itself, `load` and `map` change nothing: several threads run them for one object. `finish`
///               changes its own object only, and nothing that `load` (or `map`, given a pointer) reads of objects: it
///               runs as soon as this object has seen all others; nobody deletes objects of U meanwhile
template <class U, class R, class Op, class Load, class Map>
__device__ detail::UnfinishedReduction<U, R, Op, Load, Map> device_reduce(R init, Op op, [[maybe_unused]] Load load,
                                                                          Map map) {
  return {init, op, map};
}

/// The same with `map(other)` for a U* of which nothing is loaded in advance.
template <class U, class R, class Op, class Map>
__device__ detail::UnfinishedReduction<U, R, Op, detail::LoadPointer, Map> device_reduce(R init, Op op, Map map) {
  return {init, op, map};
}

}  // namespace dynasoar
