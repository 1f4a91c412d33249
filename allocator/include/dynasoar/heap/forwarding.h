/// @file
/// Forwarding: finds the new places of objects that compaction has moved. Used by compaction.cpp for
/// pointer_updates.h.
///
/// Source: M. Springer and H. Masuhara, Massively Parallel GPU Memory Compaction, ISMM 2019: a bitmap identifies
/// most pointers that need no update. Difference: this bitmap is that of the open blocks. If a pointer points into a
/// closed block, its object has moved.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/classes/handle.h>
#include <dynasoar/heap/pointer_updates.h>
#include <dynasoar/heap/relocated_heap.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/platform/order.h>
#include <dynasoar/tuning.h>

namespace dynasoar::detail {

/// Finds the new places of moved objects; a Relocation.
class Forwarding {
 public:
  explicit Forwarding(const RelocatedHeap& heap) : heap_(heap) {}

  __host__ __device__ const RelocatedHeap& heap() const { return heap_; }

  /// Whether any object has moved.
  __device__ bool is_needed() const {
    bool needed = false;
    for (int type = 0; type < heap_.types(); ++type) {
      needed = needed || heap_.flags[type].moved.load(Order::relaxed) != 0;
    }
    return needed;
  }

  /// Whether the pointer points to an object that has moved, or is stale and points into a closed block.
  __device__ bool may_have_moved(std::uint64_t pointer) const {
    const Handle handle(pointer);
    const int type = handle.type_index();
    if (type < 0 || type >= heap_.types() || !heap_.wanted.has(static_cast<std::size_t>(type))) return false;
    const std::uint32_t block = heap_.block_of(handle, type);
    return block != kNoPosition && !heap_.heap.types[static_cast<std::size_t>(type)].allocated.get(block);
  }

  /// Updates a pointer to an object that has moved. Does not change other pointers. @pre may_have_moved
  __device__ void update(std::uint64_t& pointer) const {
    const Handle handle(pointer);
    const int type = handle.type_index();
    const BlockList list = heap_.lists[type];
    const std::uint32_t block = heap_.block_of(handle, type);
    // If the block is not a source, both values are stale or undefined, and the check below rejects them. Issuing both
    // loads before it overlaps their latency.
    const std::uint32_t entry = heap_.entry_of[block];
    const Forward to = heap_.forwards_of(block, type)[handle.slot()];
    const std::uint32_t new_entry = entry / kBlocksPerGroup * kBlocksPerGroup + to.member();
    if (to.is_none() || entry >= list.size->blocks || new_entry >= list.size->blocks) return;
    const std::uint32_t source = list.entries[entry].block;
    const std::uint32_t target = list.entries[new_entry].block;
    if (source != block) return;  // it was closed when the list was made
    if (heap_.generation_of(block, handle.slot()) != handle.generation()) return;
    pointer = heap_.handle_of(target, to.slot(), type, heap_.generation_of(target, to.slot()));
  }

 private:
  RelocatedHeap heap_;
};
static_assert(Relocation<Forwarding>);

}  // namespace dynasoar::detail
