/// @file
/// What AllocatorHandle::compact is told, and how it goes about it.
#pragma once

#include <cstddef>
#include <string>

#include <dynasoar/allocator/compaction.h>
#include <dynasoar/allocator/heap_storage.h>
#include <dynasoar/allocator/pointer_updates.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/team_loops.h>

namespace dynasoar {

/// When to compact.
struct CompactionOptions {
  double above = 0;  ///< only classes of which more than this fraction of the slots is free; 0 to 1

  /// @throws Error if `above` is not from 0 to 1
  void check() const {
    if (above >= 0 && above <= 1) return;
    throw Error("dynasoar: CompactionOptions::above is a fraction of free slots, from 0 to 1, and not " +
                std::to_string(above));
  }
};

/// Pointers to objects in an array of the program's own, for AllocatorHandle::compact. Made by `pointers`.
template <class U>
struct PointerArray {
  U** data;
  std::size_t size;
};

/// `size` pointers in device memory; null pointers are allowed.
template <class U>
PointerArray<U> pointers(U** data, std::size_t size) {
  return {data, size};
}

namespace detail {

/// Runs the loops of a compaction.
///
/// @tparam Moved   T and its subclasses
/// @tparam All     all classes
template <class A, class T, class... Moved, class... All, class... U>
void run_compaction(Executor& executor, const HeapStorage<A>& storage, double above, TypeList<Moved...>,
                    TypeList<All...>, const PointerArray<U>&... arrays) {
  const CompactionState state = storage.compaction();
  storage.make_lists(executor);
  loop_over_teams<A>(executor, A::kTypes, ChooseClasses<A>{state, above});
  const std::size_t blocks = storage.heap().blocks();
  loop_over_teams<A>(executor, blocks / kBlocksPerGroup + sizeof...(Moved), MoveObjects<A, Moved>(state)...);
  if constexpr (sizeof...(U) > 0 || (has_pointers_to<All, TypeList<Moved...>>() || ...)) {
    const std::size_t pointers = (std::size_t{0} + ... + arrays.size);
    loop_over_teams<A>(executor, (blocks * kSlotsPerBlock + pointers) / kUpdatesPerTeam + 1,
                       UpdateObjects<A, T, All>(state)..., UpdateArray<A, T, U>(state, arrays.data, arrays.size)...);
  }
}

/// Compacts the blocks of T and its subclasses, in four kernels, of which all but the first two leave at once if there
/// is nothing to do.
template <class A, class T, class... U>
void compact(Executor& executor, const HeapStorage<A>& storage, const CompactionOptions& options,
             const PointerArray<U>&... arrays) {
  using Moved = typename A::template Subtypes<T>;
  static_assert((true && ... && may_point_to_v<U, Moved>),
                "dynasoar: compact<T> got an array of pointers that cannot point to a T: their class is neither T, nor "
                "a base of T, nor derived from it");
  run_compaction<A, T>(executor, storage, options.above, Moved{}, typename A::Types{}, arrays...);
}

}  // namespace detail

}  // namespace dynasoar
