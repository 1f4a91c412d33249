/// @file
/// compact: how AllocatorHandle::compact goes about it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <dynasoar/classes/class_table.h>
#include <dynasoar/classes/type_list.h>
#include <dynasoar/detail/placed_classes.h>
#include <dynasoar/handle_options.h>
#include <dynasoar/heap/compaction.h>
#include <dynasoar/heap/heap_storage.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

/// Whether a U* may point to an object of one of the listed classes.
template <class U, class Types>
inline constexpr bool may_point_to_v = false;
template <class U, class... Types>
inline constexpr bool may_point_to_v<U, TypeList<Types...>> = (false || ... ||
                                                               std::is_base_of_v<std::remove_cv_t<U>, Types>);

/// Compacts the blocks of T and its subclasses.
template <class A, class T, class... U>
void compact(Executor& executor, const HeapStorage<A>& storage, PlacedClasses& placed, const CompactionOptions& options,
             const PointerArray<U>&... arrays) {
  using Moved = typename A::template Subtypes<T>;
  static_assert((true && ... && may_point_to_v<U, Moved>),
                "dynasoar: compact<T> got an array of pointers that cannot point to a T: their class is neither T, nor "
                "a base of T, nor derived from it");
  const std::array<HandleArray, sizeof...(U)> handles{
      HandleArray{reinterpret_cast<std::uint64_t*>(arrays.data), arrays.size}...};
  storage.make_lists(executor, class_set_v<A, void>);
  constexpr ClassSet kMoved = class_set_v<A, T>;
  compact(executor, storage, kMoved, options.above, {handles, placed.blocks_pointing_to(kMoved)});
}

}  // namespace dynasoar::detail
