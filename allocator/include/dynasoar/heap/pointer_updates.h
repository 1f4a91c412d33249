/// @file
/// Pointer updates: rewrite pointers to objects that compaction has moved. Used by compaction.cpp, after
/// compaction_tasks.h.
///
/// Source: M. Springer and H. Masuhara, Massively Parallel GPU Memory Compaction, ISMM 2019: one look at all fields
/// that may hold such a pointer, as their types say; a bitmap tells most pointers that stay as they are. Changed: it is
/// the bitmap of open blocks that does: a pointer into a closed block means that its object has moved.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/base/view.h>
#include <dynasoar/checks/checks.h>
#include <dynasoar/classes/device_classes.h>
#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/layout.h>
#include <dynasoar/heap/compacted_heap.h>
#include <dynasoar/heap/compaction.h>
#include <dynasoar/heap/compaction_tasks.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/platform/order.h>
#include <dynasoar/tuning.h>

namespace dynasoar::detail {

/// Finds out where objects are that have moved.
class Forwarding {
 public:
  explicit Forwarding(const CompactedHeap& heap) : heap_(heap) {}

  __device__ const CompactedHeap& heap() const { return heap_; }

  /// Whether any object has moved.
  __device__ bool is_needed() const {
    bool needed = false;
    for (int type = 0; type < heap_.types(); ++type) {
      needed = needed || heap_.flags[type].moved.load(Order::relaxed) != 0;
    }
    return needed;
  }

  /// Whether the pointer points to an object that has moved, or, as a stale one, into a block that is closed.
  __device__ bool may_have_moved(std::uint64_t pointer) const {
    const Handle handle(pointer);
    const int type = handle.type_index();
    if (type < 0 || type >= heap_.types() || !heap_.wanted.has(static_cast<std::size_t>(type))) return false;
    const std::uint32_t block = block_of(handle, type);
    return block != kNoPosition && !heap_.heap.types[static_cast<std::size_t>(type)].allocated.get(block);
  }

  /// Makes a pointer to an object that has moved point to where it is now. Others stay as they are. @pre may_have_moved
  __device__ void update(std::uint64_t& pointer) const {
    const Handle handle(pointer);
    const int type = handle.type_index();
    const BlockList list = heap_.lists[type];
    const std::uint32_t block = block_of(handle, type);
    // If the block is not a source, both values are stale or undefined, and the check below rejects them. Issuing both
    // loads before it overlaps their latency.
    const std::uint32_t entry = heap_.entry_of[block];
    const Forward to = heap_.forwards_of(block, type)[handle.slot()];
    const std::uint32_t new_entry = entry / kBlocksPerGroup * kBlocksPerGroup + to.member();
    if (to.is_none() || entry >= list.size->blocks || new_entry >= list.size->blocks) return;
    const std::uint32_t source = list.entries[entry].block;
    const std::uint32_t target = list.entries[new_entry].block;
    if (source != block) return;  // it was closed when the list was made
    if (generation_of(block, handle.slot()) != handle.generation()) return;
    pointer = Handle::make(heap_.offset_of(target, type), to.slot(), type, generation_of(target, to.slot())).bits();
  }

 private:
  /// The block of a handle, or kNoPosition if there is no such place.
  __device__ std::uint32_t block_of(Handle handle, int type) const {
    const CopiedClass& info = heap_.table.classes[type];
    const std::uint64_t page = handle.block_offset() / heap_.page_bytes;
    const auto within = static_cast<std::uint32_t>(handle.block_offset() - page * heap_.page_bytes);
    const std::uint32_t index = within / info.block_bytes;
    const bool exists = page < heap_.heap.pages && index < info.blocks_per_page && within == index * info.block_bytes;
    return exists ? (static_cast<std::uint32_t>(page) << heap_.heap.block_shift) + index : kNoPosition;
  }

  /// The generation of a slot; 0 but in checked builds.
  __device__ std::uint32_t generation_of(std::uint32_t block, std::uint32_t slot) const {
    return heap_.tags == nullptr ? 0 : Tag(heap_.tag_of(block, slot).load(Order::relaxed)).generation();
  }

  CompactedHeap heap_;
};

/// Updates pointers: those in the objects of each class, which is a part of the loop, and those in arrays and in the
/// objects of placed classes, each another part. They are looked at as handles.
class UpdatePointers {
 public:
  static constexpr std::size_t kMost = 8;
  struct Scratch {};

  /// @param objects   whether to look at the objects in the heap
  /// @param arrays    up to kMost
  /// @param placed    up to kMost, all with fields that may point to what has moved
  UpdatePointers(const CompactedHeap& heap, bool objects, View<HandleArray> arrays, View<PlacedBlocks> placed)
      : forwarding_(heap), classes_(objects ? static_cast<int>(heap.heap.types.size()) : 0) {
    for (const HandleArray& array : arrays) arrays_[array_count_++] = array;
    for (const PlacedBlocks& of_class : placed) placed_[placed_count_++] = of_class;
  }

  __device__ int parts() const { return forwarding_.is_needed() ? classes_ + array_count_ + placed_count_ : 0; }

  __device__ std::size_t count(int part) const {
    if (part < classes_) return has_pointers(part) ? teams_for(length_of(heap().lists[part]), kBlocksPerTeam) : 0;
    const int array = part - classes_;
    if (array < array_count_) return teams_for(arrays_[array].size, kUpdatesPerTeam);
    return teams_for(placed_[array - array_count_].blocks.blocks, kBlocksPerTeam);
  }

  template <class Team>
  __device__ void operator()(const Team& team, Scratch&, int part, std::size_t index) const {
    const int array = part - classes_;
    if (array < 0) {
      update_objects(team, heap().lists[part], part, index,
                     [&](std::uint32_t block) { return heap().memory_of(block, part); });
    } else if (array < array_count_) {
      update_array(team, arrays_[array], index);
    } else {
      const PlacedBlocks& placed = placed_[array - array_count_];
      const std::size_t bytes = heap().table.classes[placed.type].block_bytes;
      update_objects(team, placed.blocks, placed.type, index,
                     [&](std::uint32_t block) { return placed.base + block * bytes; });
    }
  }

 private:
  static constexpr std::uint32_t kBlocksPerTeam = kUpdatesPerTeam / kSlotsPerBlock;

  __device__ const CompactedHeap& heap() const { return forwarding_.heap(); }

  __device__ static std::size_t teams_for(std::size_t things, std::size_t per_team) {
    return (things + per_team - 1) / per_team;
  }

  /// Whether objects of a class have fields that may point to what has moved.
  __device__ bool has_pointers(int type) const {
    const CopiedClass& info = heap().table.classes[type];
    bool found = false;
    for (std::uint32_t i = info.first_pointer_field; i < info.end_pointer_field; ++i) {
      found = found || heap().table.pointer_fields[i].targets.overlaps(heap().wanted);
    }
    return found;
  }

  /// @param memory_of   called with a block of the list: where it is
  template <class Team, class List, class MemoryOf>
  __device__ void update_objects(const Team& team, const List& list, int type, std::size_t index,
                                 const MemoryOf& memory_of) const {
    const auto first = static_cast<std::uint32_t>(index * kBlocksPerTeam);
    const std::uint32_t left = length_of(list) - first;
    const std::uint32_t blocks = left < kBlocksPerTeam ? left : kBlocksPerTeam;
    team.for_each(blocks * static_cast<std::uint32_t>(kSlotsPerBlock), [&](std::uint32_t i) {
      const ListedBlock entry = load_entry(list, first + i / kSlotsPerBlock);
      const std::uint32_t slot = i % kSlotsPerBlock;
      if ((entry.slots >> slot & 1) != 0) update_object(memory_of(entry.block), slot, type);
    });
  }

  __device__ void update_object(char* memory, std::uint32_t slot, int type) const {
    const CopiedClass& info = heap().table.classes[type];
    for (std::uint32_t number = info.first_pointer_field; number < info.end_pointer_field; ++number) {
      const PointerField& pointers = heap().table.pointer_fields[number];
      if (!pointers.targets.overlaps(heap().wanted)) continue;
      for (std::uint32_t i = 0; i < pointers.field.count; ++i) {
        char* const value = memory + pointers.field.offset + std::size_t{i} * pointers.field.stride +
                            std::size_t{slot} * pointers.field.bytes;
        auto* const handles = reinterpret_cast<std::uint64_t*>(value);
        for (std::uint32_t j = 0; j < pointers.pointers; ++j) {
          if (forwarding_.may_have_moved(handles[j])) forwarding_.update(handles[j]);
        }
      }
    }
  }

  template <class Team>
  __device__ void update_array(const Team& team, const HandleArray& array, std::size_t index) const {
    constexpr std::uint32_t kApart = kUpdatesPerTeam / kUpdatesAtOnce;
    std::uint64_t* const first = array.handles + index * kUpdatesPerTeam;
    const std::size_t left = array.size - index * kUpdatesPerTeam;
    team.for_each(kApart, [&](std::uint32_t i) {
      std::uint64_t values[kUpdatesAtOnce];
      bool moved[kUpdatesAtOnce];
      for (std::uint32_t k = 0; k < kUpdatesAtOnce; ++k) values[k] = i + k * kApart < left ? first[i + k * kApart] : 0;
      for (std::uint32_t k = 0; k < kUpdatesAtOnce; ++k) moved[k] = forwarding_.may_have_moved(values[k]);
      for (std::uint32_t k = 0; k < kUpdatesAtOnce; ++k) {
        if (moved[k]) forwarding_.update(first[i + k * kApart]);
      }
    });
  }

  Forwarding forwarding_;
  HandleArray arrays_[kMost] = {};
  PlacedBlocks placed_[kMost] = {};
  int array_count_ = 0;
  int placed_count_ = 0;
  int classes_;
};

}  // namespace dynasoar::detail
