/// @file
/// HeapStorage: the memory of a heap with the types of its allocator. Used by AllocatorHandle.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/classes/class_table.h>
#include <dynasoar/heap/heap_memory.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

/// @tparam A   a SoaAllocator of complete types
template <class A>
class HeapStorage : public HeapMemory {
 public:
  /// As the constructor of HeapMemory.
  HeapStorage(Executor& executor, const HeapSize& size, const FaultPlan& faults)
      : HeapMemory(executor, class_table_v<A>, kChecked, size, faults) {}

  /// The current state of the heap, for device code.
  [[gnu::noinline]] typename A::State state() const {
    typename A::State state{};
    state.base = base();
    static_cast<HeapState<PlatformAtomics, 64>&>(state.heap) = heap();
    if constexpr (!kCudaBackend) state.heap.types = any_heap().types;
    for (std::size_t i = 0; i < A::kTypes; ++i) {
      if constexpr (kCudaBackend) state.heap.types[i] = type(i);
      state.lists[i] = list(i);
    }
    if constexpr (kChecked) state.checks = checks();
    return state;
  }

  /// Makes the lists of blocks of some classes for the next loop over objects.
  [[gnu::noinline]] void make_lists(Executor& executor, const ClassSet& classes) const {
    ListSources<AnyHeap, A::kTypes> sources;
    sources.slots = heap().slots;
    sources.count = 0;
    for (std::size_t i = 0; i < A::kTypes; ++i) {
      // Placed objects are not in the heap.
      if (classes.has(i) && !A::is_placed_type(static_cast<int>(i))) sources.types[sources.count++] = list_source(i);
    }
    detail::make_lists(executor, sources);
  }
};

}  // namespace dynasoar::detail
