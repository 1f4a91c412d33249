/// @file
/// RelocatedHeap: the state of a heap for code that moves objects, and the additional memory of this code. Made by
/// HeapMemory, used by compaction_tasks.h, sort_tasks.h and pointer_updates.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/checks/tag.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/classes/device_classes.h>
#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/layout.h>
#include <dynasoar/heap/any_heap.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/order.h>

namespace dynasoar::detail {

/// The progress of the compaction of a class.
struct CompactionFlags {
  AtomicWord<std::uint32_t> wanted;  ///< 1 if the class is to be compacted
  AtomicWord<std::uint32_t> moved;   ///< 1 if objects have moved
};

/// The destination of an object of a source: a block of its group, and a slot.
struct Forward {
  std::uint16_t bits;

  static constexpr std::uint16_t kNone = 0xffff;  ///< there was no object

  __device__ static Forward to(std::uint32_t member, std::uint32_t slot) {
    return {static_cast<std::uint16_t>(member * kSlotsPerBlock + slot)};
  }
  __device__ bool is_none() const { return bits == kNone; }
  __device__ std::uint32_t member() const { return bits / kSlotsPerBlock; }
  __device__ std::uint32_t slot() const { return bits % kSlotsPerBlock; }
};

/// The number of objects of a block in the slots below `slot`.
__device__ inline std::uint32_t objects_below(std::uint64_t objects, std::uint32_t slot) {
  return static_cast<std::uint32_t>(popcount(objects & first_bits(static_cast<int>(slot))));
}

/// The heap, as seen by all steps of a compaction or a sort.
struct RelocatedHeap {
  AnyHeap heap;
  char* base;
  std::size_t page_bytes;
  const BlockList* lists;  ///< [types]
  ClassView table;
  AtomicWord<std::uint32_t>* tags;  ///< [blocks * 64] of slots, see checks.h; null except in checked builds
  ClassSet wanted;                  ///< classes whose objects may move

  // Additional memory.
  std::uint32_t* entry_of;          ///< [blocks] for a block that was emptied or sorted, its index in its class's list
  CompactionFlags* flags;           ///< [types]
  AtomicWord<std::uint64_t>* seen;  ///< [types * shards] see ListSources
  std::size_t shards;

  __device__ int types() const { return static_cast<int>(heap.types.size()); }

  /// The block of a handle of class `type`, or kNoPosition if the heap has no such block.
  __device__ std::uint32_t block_of(Handle handle, int type) const {
    const CopiedClass& info = table.classes[type];
    const std::uint64_t page = handle.block_offset() / page_bytes;
    const auto within = static_cast<std::uint32_t>(handle.block_offset() - page * page_bytes);
    const std::uint32_t index = within / info.block_bytes;
    const bool exists = page < heap.pages && index < info.blocks_per_page && within == index * info.block_bytes;
    return exists ? (static_cast<std::uint32_t>(page) << heap.block_shift) + index : kNoPosition;
  }

  /// The handle of an object of class `type`.
  __device__ std::uint64_t handle_of(std::uint32_t block, std::uint32_t slot, int type,
                                     std::uint32_t generation) const {
    return Handle::make(offset_of(block, type), slot, type, generation).bits();
  }

  /// The memory of a block.
  __device__ char* memory_of(std::uint32_t block, int type) const { return base + offset_of(block, type); }

  __device__ std::uint64_t offset_of(std::uint32_t block, int type) const {
    const std::uint32_t in_page = block & (heap.block_stride() - 1);
    return std::uint64_t{block >> heap.block_shift} * page_bytes +
           std::uint64_t{in_page} * table.classes[type].block_bytes;
  }

  /// The forwarding information of a source, in the memory of its old objects.
  __device__ Forward* forwards_of(std::uint32_t block, int type) const {
    static_assert(kArrayAlignment >= kSlotsPerBlock * sizeof(Forward), "no block is smaller");
    return reinterpret_cast<Forward*>(memory_of(block, type));
  }

  __device__ AtomicWord<std::uint32_t>& tag_of(std::uint32_t block, std::uint32_t slot) const {
    return tags[block * std::size_t{kSlotsPerBlock} + slot];
  }

  /// The generation of a slot; 0 unless the build is checked.
  __device__ std::uint32_t generation_of(std::uint32_t block, std::uint32_t slot) const {
    return tags == nullptr ? 0 : Tag(tag_of(block, slot).load(Order::relaxed)).generation();
  }

  /// Invalidates the list of a class, so that it is made again before the next loop, although no object was created or
  /// deleted.
  __device__ void outdate_list(int type) const {
    constexpr std::uint64_t kNever = ~std::uint64_t{0};  // no counter reaches this
    seen[static_cast<std::size_t>(type) * shards].store(kNever, Order::relaxed);
  }
};

}  // namespace dynasoar::detail
