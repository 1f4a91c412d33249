/// @file
/// Lists of the blocks of a type that have objects: what loops over objects go through. `make_lists` brings those up to
/// date of whose types objects were created or deleted since.
///
/// The loops of this folder are implemented twice, in cuda/ and in host/. On a GPU all of them bring this translation
/// unit's binding up to date and then launch this unit's kernels, so they have internal linkage (see binding.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/loops/lattice_shape.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/tuning.h>

namespace dynasoar::detail {

/// A block and its objects at the moment that a list was made: one entry of a loop's work list.
struct alignas(16) ListedBlock {
  std::uint64_t slots;
  std::uint32_t block;
  std::uint32_t before = 0;  ///< how many objects the entries before it have, if a sort has counted them; always
                             ///< written, because an entry is then a single store
};

/// How long a list is, and how full its blocks are; zero at first.
struct alignas(8) ListSize {
  std::uint32_t blocks;
  std::uint32_t is_sparse;  ///< on a GPU: 1 if so many slots are free that loops should deal objects out, else 0
};

/// Says whether the blocks of a list with so many objects are sparse.
__host__ __device__ inline std::uint32_t are_sparse(std::uint32_t blocks, std::uint64_t objects) {
  return objects < std::uint64_t{kLeastDenseObjects} * blocks ? 1 : 0;
}

/// The blocks of one type that have objects. The order is unspecified, but a sort puts the list into the order of the
/// blocks.
struct BlockList {
  ListedBlock* entries;
  ListSize* size;
};

/// In the place of a list: blocks of placed objects, which lie one after the other, all of them, also those without
/// objects.
struct AllBlocks {
  const std::uint64_t* slots;  ///< null if there is an object at every place
  std::uint32_t first;         ///< the number of the first one
  std::uint32_t blocks;
  PlacesOfWords places;
};

/// How long a list is, in a loop.
__device__ inline std::uint32_t length_of(const BlockList& list) {
  return list.size->blocks;
}
__device__ inline std::uint32_t length_of(const AllBlocks& list) {
  return list.blocks;
}

/// An entry of all blocks. That of a list: see the backends' load_entry.
__device__ inline ListedBlock load_entry(const AllBlocks& list, std::uint32_t index) {
  const std::uint32_t block = list.first + index;
  return {list.slots != nullptr ? list.slots[block] : list.places(block), block};
}

/// The making of a type's list; zero at first.
struct ListProgress {
  AtomicWord<std::uint32_t> entries;        ///< entries written so far
  AtomicWord<std::uint32_t> thread_blocks;  ///< thread blocks that are done
  AtomicWord<std::uint64_t> objects;        ///< objects of these entries
};

/// What the making of a type's list reads and writes.
template <class Heap>
struct ListSource {
  typename Heap::Counter created, deleted;
  typename Heap::Bits allocated;
  BlockList list;
  ListProgress* progress;
  AtomicWord<std::uint64_t>* seen;  ///< [2 * shards] of `created` and `deleted`, by turns, when it was made last
};

/// The same for some types.
template <class Heap, int kTypes>
struct ListSources {
  typename Heap::BlockWords slots;
  ListSource<Heap> types[kTypes];
  int count;  ///< of them that are used
};

}  // namespace dynasoar::detail

// make_lists(executor, sources): makes the lists of those of the types of which objects were created or deleted since
// their last list.
#include DYNASOAR_BACKEND_HEADER(block_lists.h)
