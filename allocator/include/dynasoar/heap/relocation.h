/// @file
/// What users of relocation, compaction and sort, have in common: where pointers to objects that move may be. Used by
/// AllocatorHandle::compact and AllocatorHandle::sort.
///
/// A relocation moves objects, and then a single sweep over all fields and arrays that may hold pointers to them
/// rewrites these (pointer_updates.h). How objects are chosen and moved, and how the sweep finds out where one of them
/// went, is each user's own: compaction leaves forwarding information in the blocks that it empties (forwarding.h), a
/// sort has a table (sort_tasks.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/base/view.h>
#include <dynasoar/loops/block_lists.h>

namespace dynasoar::detail {

/// Pointers to objects in device memory, as the handles that they are.
struct HandleArray {
  std::uint64_t* handles;
  std::size_t size;
};

/// @throws Error if two arrays have a pointer in common, which a sort would update twice
void check_disjoint(View<HandleArray> arrays);

/// The objects of a class that is placed on a lattice: they do not move, but point to others.
struct PlacedBlocks {
  int type;
  char* base;  ///< of the blocks, which lie one after the other
  AllBlocks blocks;
};

/// Where pointers are to be updated, beside the fields of objects in the heap.
struct OtherPointers {
  View<HandleArray> arrays;
  View<PlacedBlocks> placed;  ///< classes with fields that may point to what moves
};

}  // namespace dynasoar::detail
