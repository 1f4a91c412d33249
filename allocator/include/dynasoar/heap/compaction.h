/// @file
/// Compaction: moves objects into as few blocks as possible, and updates the pointers to them. Used by
/// AllocatorHandle::compact. How: compaction_tasks.h and pointer_updates.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/base/view.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/heap/heap_memory.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

/// Pointers to objects in device memory, as the handles that they are.
struct HandleArray {
  std::uint64_t* handles;
  std::size_t size;
};

/// The objects of a class that is placed on a lattice: they do not move, but point to others.
struct PlacedBlocks {
  int type;
  char* base;  ///< of the blocks, which lie one after the other
  AllBlocks blocks;
};

/// Compacts the blocks of some classes, in three kernels, and one for every eight arrays or placed classes after the
/// first eight. All but the first leave at once if there is nothing to do.
///
/// @param classes   to compact
/// @param above     only classes of which more than this fraction of the slots is free
/// @param arrays    pointers to update, beside those in fields of objects
/// @param placed    placed classes with fields that may point to these classes
/// @pre the lists of blocks are as of now
void compact(Executor& executor, const HeapMemory& memory, const ClassSet& classes, double above,
             View<HandleArray> arrays, View<PlacedBlocks> placed);

}  // namespace dynasoar::detail
