/// @file
/// What AllocatorHandle::compact is told, and how it goes about it.
#pragma once

#include <cstddef>
#include <string>

#include <dynasoar/allocator/compaction.h>
#include <dynasoar/allocator/heap_storage.h>
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

/// Compacts the blocks of T and its subclasses, in five kinds of loops: lists of blocks are made; classes are chosen;
/// objects move; pointers in objects are updated, and those in arrays. All but the first leave at once if there is
/// nothing to do.
template <class A, class T, class... U>
void compact(Executor& executor, const HeapStorage<A>& storage, const CompactionOptions& options,
             const PointerArray<U>&... arrays) {
  using Moved = typename A::template Subtypes<T>;
  static_assert((true && ... && may_point_to_v<U, Moved>),
                "dynasoar: compact<T> got an array of pointers that cannot point to a T: their class is neither T, nor "
                "a base of T, nor derived from it");
  const CompactionState state = storage.compaction();
  storage.make_lists(executor);
  loop_over_teams<A>(executor, A::kTypes, ChooseClasses<A>{state, options.above});
  Moved::for_each([&]<class S>(std::type_identity<S>) {
    using Move = MoveObjects<A, S>;
    loop_over_teams<A>(executor, storage.list_capacity(A::template index_of<S>) / Move::kGroup + 1, Move(state));
  });
  A::Types::for_each([&]<class C>(std::type_identity<C>) {
    if constexpr (has_pointers_to<C, Moved>()) {
      using Update = UpdateObjects<A, T, C>;
      const std::size_t blocks = storage.list_capacity(A::template index_of<C>);
      loop_over_teams<A>(executor, blocks / Update::kBlocksPerTeam + 1, Update(state));
    }
  });
  (loop_over_teams<A>(executor, arrays.size / UpdateArray<A, T, U>::kPointersPerTeam + 1,
                      UpdateArray<A, T, U>(state, arrays.data, arrays.size)),
   ...);
}

}  // namespace detail

}  // namespace dynasoar
