/// @file
/// OtherPointers: pointers to relocated objects outside of the heap. Used by AllocatorHandle::compact and
/// AllocatorHandle::sort.
///
/// A relocation moves objects. A single sweep over all fields and arrays that may hold pointers to these objects then
/// rewrites the pointers (pointer_updates.h). Compaction and sort choose and move objects in different ways. They also
/// record the new places of objects in different ways: compaction leaves forwarding information in the blocks that it
/// empties (forwarding.h), and a sort has a table (sort_tasks.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/base/view.h>
#include <dynasoar/loops/block_lists.h>

namespace dynasoar::detail {

/// An array of pointers to objects, in device memory, as handles.
struct HandleArray {
  std::uint64_t* handles;
  std::size_t size;
};

/// @throws Error if two arrays have a pointer in common, which a sort would update twice
void check_disjoint(View<HandleArray> arrays);

/// The objects of a class that is placed on a lattice. They do not move, but may point to objects that do.
struct PlacedBlocks {
  int type;
  char* base;  ///< of the blocks, which are consecutive
  AllBlocks blocks;
};

/// Pointers to update in addition to those in objects of the heap.
struct OtherPointers {
  View<HandleArray> arrays;
  View<PlacedBlocks> placed;  ///< classes with fields that may point to objects that move
};

}  // namespace dynasoar::detail
