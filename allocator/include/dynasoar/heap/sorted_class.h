/// @file
/// SortedClass: a class of objects that are being sorted. KeysOfObjects: the memory for their keys. Used by sort.h, and
/// by the function that AllocatorHandle::sort calls for each object.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/heap/relocated_heap.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/platform/atomic.h>

namespace dynasoar::detail {

/// A class of objects that are being sorted, with the list that determines their ranks.
struct SortedClass {
  RelocatedHeap heap;
  BlockList list;  ///< in the order of its blocks; each entry has the number of objects before it
  int type;
  const std::uint32_t* entry_count;   ///< in device memory
  const std::uint32_t* object_count;  ///< in device memory

  __device__ std::uint32_t entries() const { return *entry_count; }
  __device__ std::uint32_t objects() const { return *object_count; }

  __device__ const AnyHeap::Bits& allocated() const {
    return heap.heap.types[static_cast<std::size_t>(type)].allocated;
  }

  /// 1 if any object has to move.
  __device__ AtomicWord<std::uint32_t>& moved() const { return heap.flags[type].moved; }
};

/// The arrays to which the keys of a class are written, indexed by rank.
///
/// @tparam Key   std::uint32_t or std::uint64_t
template <class Key>
struct KeysOfObjects {
  SortedClass sorted;
  Key* keys;
  std::uint32_t* ranks;

  /// Sets the key of an object of the class.
  __device__ void set(std::uint32_t block, std::uint32_t slot, Key key) const {
    const ListedBlock entry = sorted.list.entries[sorted.heap.entry_of[block]];
    const std::uint32_t rank = entry.before + objects_below(entry.slots, slot);
    keys[rank] = key;
    ranks[rank] = rank;
  }
};

}  // namespace dynasoar::detail
