/// @file
/// Plus, Least and Greatest: operations that combine values. device_reduce: lets several threads combine the values of
/// all objects of a class on behalf of one object.
///
/// Source: device_reduce extends DynaSOAr's device_do (section 2.1). There, one thread visits all objects, which leaves
/// most of a GPU idle if there are only ten thousand objects.
#pragma once

#include <dynasoar/detail/pair_reduction.h>
#include <dynasoar/platform/config.h>

namespace dynasoar {

/// a + b, for the reductions of handles, objects and grids.
struct Plus {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return static_cast<T>(a + b);
  }
};

/// The lesser of two values.
struct Least {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};

/// The greater of two values.
struct Greatest {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};

/// Combines `map(load(other))` over all objects of U and its subclasses that existed when the loop began, this one
/// included. A method that parallel_do runs returns the result, and the library divides the work among a number of
/// threads that suits the number of objects:
///
///     __device__ auto compute_force() {
///       return dynasoar::device_reduce<Body>(
///                  Vector{}, [](Vector a, Vector b) { return a + b; },
///                  [](Body* other) { return other->attraction(); },
///                  [at = position_.get()](const Attraction& other) { return other.force_on(at); })
///           .then([this](Vector sum) { force_ = sum; });
///     }
///
/// @param init   neutral to `op`, which must be associative and commutative. The order of the objects is
///               unspecified, so floating-point sums differ in their last bits from run to run
/// @param load   returns what `map` needs of another object. It is called once for many objects, into memory that their
///               threads share. It must capture nothing, and return at most 64 bytes; 16 bytes that are aligned to 16
///               are fastest
/// @param map    runs for every object, so capture by value what it needs of this object
/// @return       call `.then(finish)` on it, and return the result of that from the method
/// @pre          The method itself, `load` and `map` change nothing, because several threads run them for one object.
///               `finish` changes its own object only, and no field that `load` or `map` reads: it runs as soon as its
///               own object has seen all others, while other objects may still read. No thread deletes objects of U
///               meanwhile
template <class U, class R, class Op, class Load, class Map>
__device__ detail::UnfinishedReduction<U, R, Op, Load, Map> device_reduce(R init, Op op, [[maybe_unused]] Load load,
                                                                          Map map) {
  return {init, op, map};
}

/// The same with `map(other)` for a U*, without loading anything in advance.
template <class U, class R, class Op, class Map>
__device__ detail::UnfinishedReduction<U, R, Op, detail::LoadPointer, Map> device_reduce(R init, Op op, Map map) {
  return {init, op, map};
}

}  // namespace dynasoar
