/// @file
/// Lists of the blocks of a type that have objects. Loops over objects visit these blocks. `make_lists` updates the
/// lists of types of which objects were created or deleted since the last list was made.
///
/// The loops of this folder are implemented twice, in cuda/ and in host/. On a GPU all of them update the binding of
/// this translation unit and then launch its kernels, so they have internal linkage (see binding.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/loops/lattice_shape.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/tuning.h>

namespace dynasoar::detail {

/// A block and its objects at the moment when a list was made: an entry of a loop's work list.
struct alignas(16) ListedBlock {
  std::uint64_t slots;
  std::uint32_t block;
  std::uint32_t before = 0;  ///< number of objects in the entries before it, if a sort has counted them; always
                             ///< written, because an entry is then a single store
};

/// The length of a list, and whether its blocks are sparse; initially zero.
struct alignas(8) ListSize {
  std::uint32_t blocks;
  std::uint32_t is_sparse;  ///< on a GPU: 1 if loops should distribute objects over lanes, else 0
};

/// Whether the blocks of a list with this number of objects are sparse.
__host__ __device__ inline std::uint32_t are_sparse(std::uint32_t blocks, std::uint64_t objects) {
  return objects < std::uint64_t{kLeastDenseObjects} * blocks ? 1 : 0;
}

/// The blocks of one type that have objects. The order is unspecified, but a sort puts the list into the order of the
/// blocks.
struct BlockList {
  ListedBlock* entries;
  ListSize* size;
};

/// Replaces a list for placed objects: all of their consecutive blocks, including those without objects.
struct AllBlocks {
  const std::uint64_t* slots;  ///< null if there is an object at every place
  std::uint32_t first;         ///< the number of the first block
  std::uint32_t blocks;
  PlacesOfWords places;
};

/// The length of a list, for device code.
__device__ inline std::uint32_t length_of(const BlockList& list) {
  return list.size->blocks;
}
__device__ inline std::uint32_t length_of(const AllBlocks& list) {
  return list.blocks;
}

/// An entry of AllBlocks. For a BlockList: see load_entry of the backends.
__device__ inline ListedBlock load_entry(const AllBlocks& list, std::uint32_t index) {
  const std::uint32_t block = list.first + index;
  return {list.slots != nullptr ? list.slots[block] : list.places(block), block};
}

/// Counters while a type's list is being made; initially zero.
struct ListProgress {
  AtomicWord<std::uint32_t> entries;        ///< entries written so far
  AtomicWord<std::uint32_t> thread_blocks;  ///< thread blocks that have finished
  AtomicWord<std::uint64_t> objects;        ///< objects of these entries
};

/// The memory that make_lists reads and writes for a type.
template <class Heap>
struct ListSource {
  typename Heap::Counter created, deleted;
  typename Heap::Bits allocated;
  BlockList list;
  ListProgress* progress;
  AtomicWord<std::uint64_t>* seen;  ///< [2 * shards] `created` and `deleted` alternately, at the last list
};

/// The same for several types.
template <class Heap, int kTypes>
struct ListSources {
  typename Heap::BlockWords slots;
  ListSource<Heap> types[kTypes];
  int count;  ///< number of used elements
};

}  // namespace dynasoar::detail

// make_lists(executor, sources): makes the lists of those types of which objects were created or deleted since their
// last list was made.
#include DYNASOAR_BACKEND_HEADER(block_lists.h)
