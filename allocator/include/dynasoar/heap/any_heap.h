/// @file
/// AnyHeap: a BlockHeap of any number of types, as code sees it that is the same for all of them: what sets heaps up,
/// counts objects, saves and restores. Made by HeapMemory.
#pragma once

#include <dynasoar/heap/block_heap.h>

namespace dynasoar::detail {

using AnyHeap = BlockHeap<kAnyNumber>;

}  // namespace dynasoar::detail
