/// @file
/// The tasks of checkpoints on the device: they describe blocks, copy objects, and restore a heap. Used by
/// heap_snapshot.h and saved_objects.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <dynasoar/classes/device_classes.h>
#include <dynasoar/classes/layout.h>
#include <dynasoar/heap/any_heap.h>
#include <dynasoar/heap/bitmap.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/copy.h>
#include <dynasoar/platform/order.h>

namespace dynasoar::detail {

/// An open block in a checkpoint.
struct SavedBlock {
  std::uint64_t slots;   ///< the slots with objects
  std::uint32_t number;  ///< of the block
  std::uint16_t type;    ///< index in the list of classes
  std::uint16_t owned;   ///< 1 if it has its ownership token: it is a warp's current block, and not listed as active
};
static_assert(sizeof(SavedBlock) == 16);

inline constexpr std::uint16_t kNoType = 0xffff;  ///< of a closed block, while blocks are described

/// Describes blocks.
struct DescribeBlocks {
  AnyHeap heap;
  std::uint32_t first;
  SavedBlock* found;

  __device__ void operator()(std::size_t index) const {
    const std::uint32_t block = first + static_cast<std::uint32_t>(index);
    const int type = heap.type_of(block);
    const bool is_open = heap.types[type].allocated.get(block);
    found[index] = {is_open ? heap.slots[block].load(Order::relaxed) : 0, block,
                    is_open ? static_cast<std::uint16_t>(type) : kNoType,
                    static_cast<std::uint16_t>(is_open && heap.token[block].load(Order::relaxed) != 0 ? 1 : 0)};
  }
};

/// Opens blocks of an empty heap. @pre pages have no type, see FinishPages
struct RestoreBlocks {
  AnyHeap heap;
  const SavedBlock* blocks;
  bool keeps_owners;  ///< false: blocks that warps own become active ones

  __device__ void operator()(std::size_t index) const {
    const SavedBlock block = blocks[index];
    // relaxed, here and below: no other thread reads a block before the next loop.
    heap.page_type[block.number >> heap.block_shift].store(block.type, Order::relaxed);
    heap.slots[block.number].store(block.slots, Order::relaxed);
    heap.types[block.type].allocated.set(block.number);
    if (block.slots == AnyHeap::kAllSlots) return;
    if (block.owned != 0 && keeps_owners) {
      heap.token[block.number].store(AnyHeap::token_of(block.type), Order::relaxed);
    } else {
      heap.types[block.type].active.set(block.number);
    }
  }
};

/// Sets the bits of free and of empty pages, for 64 pages, after RestoreBlocks.
struct FinishPages {
  static constexpr unsigned char kNoTypeByte = 0xff;  ///< initial value of the types of pages

  AnyHeap heap;

  __device__ void operator()(std::size_t container) const {
    const auto first = static_cast<std::uint32_t>(container * 64);
    std::uint64_t free = 0;
    for (std::uint32_t page = first; page < heap.pages && page < first + 64; ++page) {
      const std::uint32_t type = heap.page_type[page].load(Order::relaxed);
      if (type == ~std::uint32_t{0}) {
        heap.page_type[page].store(0, Order::relaxed);
        free |= std::uint64_t{1} << (page - first);
      } else if (heap.types[type].blocks_per_page > 1) {
        list_empty_blocks(page, type);
      }
    }
    if (free != 0) heap.free_pages.set_many(first, free);
  }

  __device__ void list_empty_blocks(std::uint32_t page, std::uint32_t type) const {
    const std::uint32_t first = page << heap.block_shift;
    for (std::uint32_t block = first; block < first + heap.types[type].blocks_per_page; ++block) {
      if (!heap.types[type].allocated.get(block)) heap.types[type].empty.set(block);
    }
  }
};

/// Copies the shards of a tally to an array, or back.
struct ReadTally {
  AnyHeap::Counter tally;
  std::uint64_t* words;
  __device__ void operator()(std::size_t shard) const {
    words[shard] = tally.word(static_cast<int>(shard)).load(Order::relaxed);
  }
};
struct WriteTally {
  AnyHeap::Counter tally;
  const std::uint64_t* words;
  __device__ void operator()(std::size_t shard) const {
    const std::uint64_t now = tally.word(static_cast<int>(shard)).load(Order::relaxed);
    tally.add(static_cast<std::uint32_t>(shard), words[shard] - now, Order::relaxed);
  }
};

/// The positions of a block's contents in the heap and in a buffer.
struct PlacedBlock {
  SavedBlock block;
  std::uint64_t in_heap;
  std::uint64_t in_buffer;
};

enum class CopyDirection { to_buffer, to_heap };

/// Copies objects between blocks and a buffer with the layout of blocks. On a GPU, a task copies a slot, and the tasks
/// of a block are consecutive. On the host, a task copies a block.
///
/// The other bytes of a block are zero in the buffer, so that equal objects make equal files, independently of earlier
/// contents of their blocks. A GPU's buffer is already zero.
struct CopyObjects {
  static constexpr std::uint32_t kSlotsPerTask = kCudaBackend ? 1 : kSlotsPerBlock;
  static constexpr std::size_t kTasksPerBlock = kSlotsPerBlock / kSlotsPerTask;

  ClassView table;
  const PlacedBlock* blocks;
  char* heap;
  char* buffer;
  CopyDirection direction;

  __device__ void operator()(std::size_t task) const {
    const PlacedBlock& at = blocks[task / kTasksPerBlock];
    const std::uint32_t first = static_cast<std::uint32_t>(task % kTasksPerBlock) * kSlotsPerTask;
    const CopiedClass info = table.classes[at.block.type];
    char* const in_heap = heap + at.in_heap;
    char* const in_buffer = buffer + at.in_buffer;
    const bool is_full = at.block.slots == ~std::uint64_t{0};
    if constexpr (!kCudaBackend) {
      if (direction == CopyDirection::to_buffer && (!is_full || info.has_gaps))
        std::memset(in_buffer, 0, info.block_bytes);
    }
    for (std::uint32_t i = info.first_field; i < info.end_field; ++i) {
      const CopiedField field = table.fields[i];
      for (std::uint32_t element = 0; element < field.count; ++element) {
        const std::size_t array = field.offset + std::size_t{element} * field.stride;
        const bool to_buffer = direction == CopyDirection::to_buffer;
        copy_array((to_buffer ? in_buffer : in_heap) + array, (to_buffer ? in_heap : in_buffer) + array, field,
                   at.block.slots, first);
      }
    }
  }

 private:
  __device__ static void copy_array(char* to, const char* from, const CopiedField& field, std::uint64_t slots,
                                    std::uint32_t first) {
    if constexpr (!kCudaBackend) {
      if (slots == ~std::uint64_t{0}) {
        std::memcpy(to, from, field.stride);
        return;
      }
    }
    for (std::uint32_t slot = first; slot < first + kSlotsPerTask; ++slot) {
      if ((slots >> slot & 1) == 0) continue;
      copy_bytes(to + slot * std::size_t{field.bytes}, from + slot * std::size_t{field.bytes}, field.bytes,
                 field.alignment);
    }
  }
};

}  // namespace dynasoar::detail
