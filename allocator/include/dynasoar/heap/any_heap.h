/// @file
/// AnyHeap: a BlockHeap with any number of types, for code that does not depend on the user's classes, such as
/// initialization, counting, saving and restoring. Made by HeapMemory.
#pragma once

#include <dynasoar/heap/block_heap.h>

namespace dynasoar::detail {

using AnyHeap = BlockHeap<kAnyNumber>;

}  // namespace dynasoar::detail
