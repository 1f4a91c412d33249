/// @file
/// NeighbourReduction: a reduction over the neighbours of an object that several threads can compute together. A method
/// returns it, see GridView::reduce. The loop that has the threads is in grid_loops.h.
///
/// If a grid has few objects, neighbours are divided into sixteen parts, by their places in the grid modulo 16; if it
/// has some more, into four. The results of the parts are combined in pairs: 0 with 1, 2 with 3, ...; then the results
/// of these pairs, and so on. A thread of a GPU computes one part; a thread of a CPU computes all of them. If there are
/// many objects, there is only one part, because the objects' threads fill a GPU anyway. So the order of combination
/// depends only on the objects, and sums of floating-point numbers have the same bits everywhere.
#pragma once

#include <cstdint>
#include <type_traits>

#include <dynasoar/platform/config.h>
#include <dynasoar/tuning.h>

namespace dynasoar::detail {

/// The number of parts of a reduction in a grid with this number of objects.
__host__ __device__ constexpr std::uint32_t neighbour_parts(std::uint32_t objects) {
  return objects <= kFewObjects ? kPartsOfFew : objects <= kSomeObjects ? kPartsOfSome : 1;
}

/// A reduction over the neighbours of a position, and the function that gets its result.
///
/// @tparam View   a GridView
template <class View, class R, class Op, class Map, class Finish>
struct NeighbourReduction {
  static_assert(
      std::is_trivially_copyable_v<R> && std::is_default_constructible_v<R>,
      "dynasoar: GridView::reduce passes its values from thread to thread: use a trivially copyable type with "
      "a default constructor");
  static_assert(
      std::is_invocable_v<const Map&, const typename View::Neighbour&>,
      "dynasoar: the last function of GridView::reduce must take a neighbour as 'const auto&', and must not be "
      "'mutable'");
  static_assert(std::is_invocable_v<const Op&, R, R>,
                "dynasoar: the operation of GridView::reduce must take two values of the type of init, by value or as "
                "references to const, and must not be 'mutable'");
  static_assert(std::is_invocable_v<const Finish&, R>,
                "dynasoar: the function passed to 'then' of GridView::reduce must take the result, by value or as a "
                "reference to const, and must not be 'mutable'");

  using Result = R;

  View view;
  typename View::Position center;
  typename View::Real radius;
  R init;
  Op op;
  Map map;
  Finish finish;

  /// Computes one of kParts parts.
  template <std::uint32_t kParts>
  __device__ R part(std::uint32_t number) const {
    R result = init;
    view.template for_each_dealt<kParts>(center, radius, number,
                                         [&](const auto& other, std::uint32_t) { add(result, other); });
    return result;
  }

  /// Computes the reduction in the calling thread, and calls `finish`.
  __device__ void run() const {
    const std::uint32_t count = neighbour_parts(view.size());
    if (count == 1) {
      finish(part<1>(0));
      return;
    }
    R parts[kPartsOfFew];
    for (R& part : parts) part = init;
    view.template for_each_dealt<1>(
        center, radius, 0, [&](const auto& other, std::uint32_t place) { add(parts[place & (count - 1)], other); });
    for (std::uint32_t step = 1; step < count; step *= 2) {
      for (std::uint32_t i = 0; i < count; i += 2 * step) parts[i] = op(parts[i], parts[i + step]);
    }
    finish(parts[0]);
  }

 private:
  __device__ void add(R& result, const typename View::Neighbour& other) const {
    result = op(result, static_cast<R>(map(other)));
  }
};

/// A reduction without a function that gets its result.
template <class View, class R, class Op, class Map>
struct [[nodiscard]] UnfinishedNeighbourReduction {
  View view;
  typename View::Position center;
  typename View::Real radius;
  R init;
  Op op;
  Map map;

  /// @param finish   called as `finish(result)` by one thread, once all neighbours were seen. It may change objects
  template <class Finish>
  [[nodiscard]] __device__ NeighbourReduction<View, R, Op, Map, Finish> then(Finish finish) const {
    return {view, center, radius, init, op, map, finish};
  }
};

template <class>
inline constexpr bool is_neighbour_reduction_v = false;
template <class... Parts>
inline constexpr bool is_neighbour_reduction_v<NeighbourReduction<Parts...>> = true;

template <class>
inline constexpr bool is_unfinished_neighbour_reduction_v = false;
template <class... Parts>
inline constexpr bool is_unfinished_neighbour_reduction_v<UnfinishedNeighbourReduction<Parts...>> = true;

/// Calls a callable with an object. If that returns a NeighbourReduction, the calling thread carries it out.
template <class Call, class T>
__device__ void call_alone(const Call& call, T* object) {
  using Result = std::remove_cvref_t<decltype(call(object))>;
  static_assert(!is_unfinished_neighbour_reduction_v<Result>,
                "dynasoar: the method returns the reduce of a grid without a function for the result: "
                "return grid.reduce(...).then([this](auto result) { ... })");
  if constexpr (is_neighbour_reduction_v<Result>) {
    call(object).run();
  } else {
    call(object);
  }
}

}  // namespace dynasoar::detail
