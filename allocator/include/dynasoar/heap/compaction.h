/// @file
/// Compaction: moves objects into as few blocks as possible, and updates the pointers to them. Used by
/// AllocatorHandle::compact. Implemented in compaction_tasks.h, forwarding.h and pointer_updates.h.
#pragma once

#include <dynasoar/classes/class_table.h>
#include <dynasoar/heap/heap_memory.h>
#include <dynasoar/heap/relocation.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

/// Compacts the blocks of some classes. Submits four kernels, one more if there are compressed pointers, and one more
/// for every eight arrays or placed classes after the first eight. All except the first kernel end immediately if there
/// is nothing to do.
///
/// @param classes   the classes to compact
/// @param above     compacts a class only if more than this fraction of its slots is free
/// @param pointers  pointers to update, in addition to those in fields of objects
/// @pre the lists of blocks are as of now
void compact(Executor& executor, const HeapMemory& memory, const ClassSet& classes, double above,
             const OtherPointers& pointers);

}  // namespace dynasoar::detail
