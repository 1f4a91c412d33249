/// @file
/// The loops of UniformGrid::parallel_do: over the objects of a grid, cell by cell, with a thread for each, or with a
/// few threads that share a NeighbourReduction.
///
///     loop_over_places(executor, capacity, function)
///
/// calls a CallByPlace for all places of its grid; `capacity` is an upper bound on their number, which only the device
/// knows. On a GPU, this submits one kernel, or two if the function returns a NeighbourReduction; one of the two is for
/// few objects. Like the loops of loops/, those of a GPU have internal linkage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <dynasoar/classes/handle.h>
#include <dynasoar/detail/grid_view.h>
#include <dynasoar/detail/loop_calls.h>
#include <dynasoar/detail/neighbour_reduction.h>
#include <dynasoar/objects.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// The objects of a grid that a loop visits.
enum class Visited {
  class_and_subclasses,  ///< objects that are a U
  class_alone            ///< objects of class U itself
};

/// Calls a callable for the object at a place of a grid, if the loop visits this object.
template <class T, class U, class Seen, class Call, Visited kVisited = Visited::class_and_subclasses>
struct CallByPlace {
  /// The result type of the call. Only device code may use it (see object_loops.h).
  template <class C = Call>
  using Result = std::remove_cvref_t<decltype(std::declval<const C&>()(std::declval<U*>()))>;

  GridView<T, Seen> view;
  Call call;

  __device__ std::uint32_t size() const { return view.size(); }

  __device__ void operator()(std::uint32_t place) const {
    visit(place, [&](U* object) { call_alone(call, object); });
  }

  /// Calls `f(object)`, if the object is visited.
  template <class F>
  __device__ void visit(std::uint32_t place, const F& f) const {
    T* const object = view.object(place);
    const auto bits = reinterpret_cast<std::uint64_t>(object);
    if constexpr (kVisited == Visited::class_alone) {
      if (Handle(bits).type_index() != T::Allocator::template index_of<U>) return;
    } else if constexpr (!std::is_same_v<T, U>) {
      if (!is_a<U>(object)) return;
    }
    [[maybe_unused]] const ScopeFor<typename T::Allocator> scope(bits);
    f(static_cast<U*>(reinterpret_cast<T*>(opaque(bits))));  // opaque as in SlotCall
  }
};

}  // namespace dynasoar::detail

#include DYNASOAR_BACKEND_HEADER(grid_loops.h)
