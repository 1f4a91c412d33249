/// @file
/// The tasks on the device that change the class of objects: they number objects, and update the pointers to them. Used
/// by class_change.cpp.
///
/// An object and its successor both exist until the pointers have been updated. So the slot of the object is not reused
/// until then, and a pointer to the object cannot be confused with a pointer to a later object in the slot.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/classes/handle.h>
#include <dynasoar/heap/class_change.h>
#include <dynasoar/heap/pointer_updates.h>
#include <dynasoar/heap/relocated_heap.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/order.h>

namespace dynasoar::detail {

/// Notes the index of each block in the list of the class.
struct NoteBlocks {
  BlockList list;
  std::uint32_t* entry_of;
  std::uint32_t* blocks;

  __device__ void operator()(std::size_t entry) const {
    const std::uint32_t block = list.entries[entry].block;
    blocks[entry] = block;
    entry_of[block] = static_cast<std::uint32_t>(entry);
  }
};

/// Counts the objects of each block that change.
struct CountChanging {
  ChangingObjects objects;
  std::uint32_t* counts;

  /// @param index   of a block, or one past the last block, for which the count is 0
  __device__ void operator()(std::size_t index) const {
    const bool exists = index < objects.entries;
    counts[index] = exists ? static_cast<std::uint32_t>(popcount(objects.slots[index].load(Order::relaxed))) : 0;
  }
};

/// Finds the successors of objects; a Relocation.
class Successors {
 public:
  /// @param heap   its `wanted` is the class of the successors: fields that cannot point to them do not change
  Successors(const RelocatedHeap& heap, const ChangingObjects& objects, int from)
      : heap_(heap), objects_(objects), from_(from) {}

  __host__ __device__ const RelocatedHeap& heap() const { return heap_; }

  __device__ bool is_needed() const { return true; }

  __device__ bool may_have_moved(std::uint64_t pointer) const { return Handle(pointer).type_index() == from_; }

  __device__ void update(std::uint64_t& pointer) const {
    const Handle handle(pointer);
    const std::uint32_t block = heap_.block_of(handle, from_);
    if (block == kNoPosition) return;
    const std::uint32_t number = objects_.number_of(block, handle.slot());
    if (number == ChangingObjects::kNone || objects_.successors[number] == 0) return;
    if (heap_.generation_of(block, handle.slot()) != handle.generation()) return;
    pointer = objects_.successors[number];
  }

 private:
  RelocatedHeap heap_;
  ChangingObjects objects_;
  int from_;
};
static_assert(Relocation<Successors>);

}  // namespace dynasoar::detail
