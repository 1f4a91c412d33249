/// @file
/// AnyHeap: a BlockHeap of any number of types, for code that does not depend on the user's classes: it sets heaps up,
/// counts objects, saves and restores. Made by HeapMemory.
#pragma once

#include <dynasoar/heap/block_heap.h>

namespace dynasoar::detail {

using AnyHeap = BlockHeap<kAnyNumber>;

}  // namespace dynasoar::detail
