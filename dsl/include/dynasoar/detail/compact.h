/// @file
/// compact: implements AllocatorHandle::compact.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <dynasoar/classes/class_rules.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/classes/type_list.h>
#include <dynasoar/detail/loop_runner.h>
#include <dynasoar/handle_options.h>
#include <dynasoar/heap/compaction.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

/// Whether a U* may point to an object of one of the listed classes.
template <class U, class Types>
inline constexpr bool may_point_to_v = false;
template <class U, class... Types>
inline constexpr bool may_point_to_v<U, TypeList<Types...>> = (false || ... ||
                                                               std::is_base_of_v<std::remove_cv_t<U>, Types>);

/// The program's arrays of pointers, as arrays of handles.
template <class... U>
std::array<HandleArray, sizeof...(U)> handles_in(const PointerArray<U>&... arrays) {
  return {HandleArray{reinterpret_cast<std::uint64_t*>(arrays.data), arrays.size}...};
}

/// Implements AllocatorHandle::compact.
template <class A, class T, class... U>
void compact(LoopRunner<A>& loops, const CompactionOptions& options, const PointerArray<U>&... arrays) {
  check_listed_or_base<A, T>();
  static_assert(!is_placed<T>(), "dynasoar: objects of a placed class are at their places and cannot be compacted");
  using Moved = typename A::template Subtypes<T>;
  static_assert((true && ... && may_point_to_v<U, Moved>),
                "dynasoar: compact<T> got an array of pointers that cannot point to a T: their class is neither T, nor "
                "a base of T, nor derived from it");
  Executor::check_may_submit();
  options.check();
  if constexpr (A::kCompacts) {
    loops.storage().make_lists(loops.executor(), class_set_v<A, void>);
    constexpr ClassSet kMoved = class_set_v<A, T>;
    compact(loops.executor(), loops.storage(), kMoved, options.above,
            {handles_in(arrays...), loops.placed().blocks_pointing_to(kMoved)});
  }
}

}  // namespace dynasoar::detail
