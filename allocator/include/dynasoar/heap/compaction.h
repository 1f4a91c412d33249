/// @file
/// Compaction: moves objects into as few blocks as possible, and updates the pointers to them. Used by
/// AllocatorHandle::compact. How: compaction_tasks.h and pointer_updates.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/base/view.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/heap/heap_memory.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

/// Pointers to objects in device memory, as the handles that they are.
struct HandleArray {
  std::uint64_t* handles;
  std::size_t size;
};

/// Compacts the blocks of some classes, in three kernels, and one for every eight arrays after the first eight. All but
/// the first leave at once if there is nothing to do.
///
/// @param classes   to compact
/// @param above     only classes of which more than this fraction of the slots is free
/// @param arrays    pointers to update, beside those in fields of objects
/// @pre the lists of blocks are as of now
void compact(Executor& executor, const HeapMemory& memory, const ClassSet& classes, double above,
             View<HandleArray> arrays);

}  // namespace dynasoar::detail
