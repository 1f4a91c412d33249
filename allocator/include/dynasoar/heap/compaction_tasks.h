/// @file
/// The tasks of compaction on the device: they move objects from the emptiest blocks into free slots of other blocks.
/// Used by compaction.cpp.
///
/// Source: M. Springer and H. Masuhara, Massively Parallel GPU Memory Compaction, ISMM 2019. As in the paper, blocks
/// that are emptied hold the forwarding information while pointers are rewritten. Difference: the paper fills n blocks
/// from one, in several passes; here a group of up to 128 blocks is compacted at once. If F of its slots are free, any
/// F / 64 blocks can be emptied. These *sources* are chosen page by page, so that pages become free for other classes.
/// Pages with few objects per block come first. The other blocks are *targets*. The k-th object of the sources moves to
/// the k-th free slot of the targets. So for each block, only the numbers of objects and free slots before it have to
/// be known.
///
/// forwarding.h and pointer_updates.h update the pointers to the objects that have moved.
///
/// Compaction runs between loops. Each block belongs to one group, so objects move without a race. The operations of
/// block_transitions.h change the bitmaps, which groups share.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/checks/checks.h>
#include <dynasoar/classes/device_classes.h>
#include <dynasoar/classes/layout.h>
#include <dynasoar/heap/any_heap.h>
#include <dynasoar/heap/relocated_heap.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/copy.h>
#include <dynasoar/platform/order.h>
#include <dynasoar/platform/warp.h>
#include <dynasoar/tuning.h>

namespace dynasoar::detail {

// The steps, each a loop of teams.

/// Decides which classes are worth compacting, and resets the notes about moved objects.
struct ChooseClasses {
  using Counter = AnyHeap::Counter;
  struct Scratch {
    std::uint64_t counts[2 * Counter::kShards];  // created, deleted
  };

  RelocatedHeap heap;
  double above;  ///< at most this fraction of free slots is accepted

  __device__ int parts() const { return 1; }
  __device__ std::size_t count(int) const { return heap.heap.types.size(); }

  template <class Team>
  __device__ void operator()(const Team& team, Scratch& scratch, int, std::size_t index) const {
    const auto type = static_cast<int>(index);
    team.for_each(2 * Counter::kShards, [&](std::uint32_t i) {
      const AnyHeap::TypeState& counters = heap.heap.types[type];
      const Counter& counter = i < Counter::kShards ? counters.created : counters.deleted;
      scratch.counts[i] = counter.word(static_cast<int>(i % Counter::kShards)).load(Order::relaxed);
    });
    team.for_each(1, [&](std::uint32_t) {
      std::uint64_t objects = 0;
      for (int i = 0; i < Counter::kShards; ++i) objects += scratch.counts[i] - scratch.counts[Counter::kShards + i];
      const bool wanted = heap.wanted.has(index) && is_worth_it(type, objects);
      heap.flags[type].wanted.store(wanted ? 1 : 0, Order::relaxed);
      heap.flags[type].moved.store(0, Order::relaxed);
    });
  }

 private:
  __device__ bool is_worth_it(int type, std::uint64_t objects) const {
    const std::uint64_t slots = heap.lists[type].size->blocks * std::uint64_t{kSlotsPerBlock};
    const std::uint64_t free = slots - objects;
    return free >= kSlotsPerBlock && static_cast<double>(free) > above * static_cast<double>(slots);
  }
};

/// Moves the objects of each class within groups of consecutive blocks in its list. The list stays valid: the entries
/// of sources then have no objects. In the terms of team loops, a class is a part, and a group is a thing.
class MoveObjects {
 public:
  static constexpr std::uint32_t kGroup = kBlocksPerGroup;
  static_assert(kGroup * kSlotsPerBlock <= Forward::kNone);
  static constexpr std::uint32_t kMostMoving = kGroup * kSlotsPerBlock / 2;  // 64 per source, if they fit

  /// A group's plan.
  struct Scratch {
    std::uint64_t slots[kGroup];           // of each block
    std::uint32_t blocks[kGroup];          // their numbers in the heap
    std::uint32_t weights[kGroup];         // blocks with the least weights are emptied first; all weights differ
    std::uint16_t objects[kGroup];         // of each block
    std::uint16_t lighter[kGroup];         // number of blocks with less weight
    std::uint16_t objects_before[kGroup];  // of sources with lower numbers
    std::uint16_t free_before[kGroup];     // free slots of targets with lower numbers
    std::uint16_t sources[kGroup];         // their numbers, in order of weight
    std::uint32_t source_count;
    std::uint32_t moving;               // objects of all sources
    Forward destinations[kMostMoving];  // destination of each of these objects

    __device__ bool is_source(std::uint32_t i) const { return lighter[i] < source_count; }
    __device__ std::uint32_t free(std::uint32_t i) const { return kSlotsPerBlock - objects[i]; }
  };

  explicit MoveObjects(const RelocatedHeap& heap) : heap_(heap) {}

  __device__ int parts() const { return heap_.types(); }
  __device__ std::size_t count(int type) const {
    if (heap_.flags[type].wanted.load(Order::relaxed) == 0) return 0;
    return (heap_.lists[type].size->blocks + kGroup - 1) / kGroup;
  }

  template <class Team>
  __device__ void operator()(const Team& team, Scratch& plan, int type, std::size_t group) const {
    const BlockList list = heap_.lists[type];
    const auto first = static_cast<std::uint32_t>(group * kGroup);
    const std::uint32_t left = list.size->blocks - first;
    const std::uint32_t size = left < kGroup ? left : kGroup;
    team.for_each(size, [&](std::uint32_t i) { load(plan, i, list.entries[first + i]); });
    team.for_each(size, [&](std::uint32_t i) { weigh(plan, i, size); });
    team.for_each(size, [&](std::uint32_t i) { choose(plan, i, size); });
    if (plan.source_count == 0) return;
    team.for_each(size, [&](std::uint32_t i) { number(plan, i, size); });
    const std::uint32_t objects = plan.source_count * kSlots;
    team.for_each(size * kSlots, [&](std::uint32_t i) { list_free_slot(plan, i); });
    team.for_each(objects, [&](std::uint32_t i) { move(plan, i, type); });
    team.for_each(objects, [&](std::uint32_t i) { note_forward(plan, i, type); });
    team.for_each(size, [&](std::uint32_t i) { settle(plan, i, first, type); });
  }

 private:
  static constexpr std::uint32_t kSlots = kSlotsPerBlock;

  __device__ static void load(Scratch& plan, std::uint32_t i, const ListedBlock& entry) {
    plan.slots[i] = entry.slots;
    plan.blocks[i] = entry.block;
    plan.objects[i] = static_cast<std::uint16_t>(popcount(plan.slots[i]));
  }

  /// Computes the weight of block i from the objects per block of its page. Blocks of a page are consecutive, so blocks
  /// of pages with equal averages do not mix.
  __device__ void weigh(Scratch& plan, std::uint32_t i, std::uint32_t size) const {
    const std::uint32_t shift = heap_.heap.block_shift;
    std::uint32_t objects = 0;
    std::uint32_t blocks = 0;
    for (std::uint32_t other = 0; other < size; ++other) {
      const bool is_near = plan.blocks[other] >> shift == plan.blocks[i] >> shift;
      objects += is_near ? plan.objects[other] : 0;
      blocks += is_near ? 1 : 0;
    }
    constexpr std::uint32_t kPrecision = 256;
    plan.weights[i] = objects * kPrecision / blocks * kGroup + i;
  }

  /// Decides whether block i is a source: whether it is among the F / 64 blocks with the least weights.
  __device__ static void choose(Scratch& plan, std::uint32_t i, std::uint32_t size) {
    std::uint32_t free = 0;
    std::uint32_t lighter = 0;
    for (std::uint32_t other = 0; other < size; ++other) {
      free += plan.free(other);
      lighter += plan.weights[other] < plan.weights[i] ? 1 : 0;
    }
    const auto source_count = static_cast<std::uint32_t>(free / kSlotsPerBlock);
    plan.lighter[i] = static_cast<std::uint16_t>(lighter);
    if (lighter < source_count) plan.sources[lighter] = static_cast<std::uint16_t>(i);
    if (i == 0) plan.source_count = source_count;
  }

  /// Computes the numbers of objects and free slots before block i.
  __device__ static void number(Scratch& plan, std::uint32_t i, std::uint32_t size) {
    std::uint32_t objects = 0;
    std::uint32_t free = 0;
    for (std::uint32_t other = 0; other < i; ++other) {
      objects += plan.is_source(other) ? plan.objects[other] : 0;
      free += plan.is_source(other) ? 0 : plan.free(other);
    }
    plan.objects_before[i] = static_cast<std::uint16_t>(objects);
    plan.free_before[i] = static_cast<std::uint16_t>(free);
    if (i + 1 == size) plan.moving = objects + (plan.is_source(i) ? plan.objects[i] : 0);
  }

  /// Makes slot i, of all slots of the group, the destination of an object, if it is a free slot of a target.
  __device__ static void list_free_slot(Scratch& plan, std::uint32_t i) {
    const std::uint32_t block = i / kSlots;
    const std::uint64_t free = ~plan.slots[block];
    if (plan.is_source(block) || (free >> i % kSlots & 1) == 0) return;
    const std::uint32_t number = plan.free_before[block] + objects_below(free, i % kSlots);
    if (number < plan.moving) plan.destinations[number] = Forward::to(block, i % kSlots);
  }

  /// The destination of the object in slot i of all slots of the sources; none if there is no object.
  __device__ static Forward destination(const Scratch& plan, std::uint32_t i) {
    const std::uint32_t source = plan.sources[i / kSlots];
    const std::uint64_t objects = plan.slots[source];
    if ((objects >> i % kSlots & 1) == 0) return {Forward::kNone};
    return plan.destinations[plan.objects_before[source] + objects_below(objects, i % kSlots)];
  }

  /// Copies the object in slot i of all slots of the sources.
  __device__ void move(const Scratch& plan, std::uint32_t i, int type) const {
    const Forward to = destination(plan, i);
    if (to.is_none()) return;
    const std::uint32_t slot = i % kSlots;
    const std::uint32_t block = plan.blocks[plan.sources[i / kSlots]];
    const std::uint32_t new_block = plan.blocks[to.member()];
    copy_object(heap_.table.classes[type], heap_.memory_of(new_block, type), to.slot(), heap_.memory_of(block, type),
                slot);
    if (heap_.tags != nullptr) mark_moved(heap_.tag_of(block, slot), heap_.tag_of(new_block, to.slot()));
  }

  __device__ void copy_object(const CopiedClass& info, char* to, std::uint32_t to_slot, const char* from,
                              std::uint32_t from_slot) const {
    for (std::uint32_t number = info.first_field; number < info.end_field; ++number) {
      const CopiedField field = heap_.table.fields[number];
      for (std::uint32_t i = 0; i < field.count; ++i) {
        const std::size_t array = field.offset + std::size_t{i} * field.stride;
        copy_bytes(to + array + std::size_t{to_slot} * field.bytes, from + array + std::size_t{from_slot} * field.bytes,
                   field.bytes, field.alignment);
      }
    }
  }

  /// Increments the generation of the object's new slot, so that pointers with the old one are stale from now on.
  __device__ static void mark_moved(AtomicWord<std::uint32_t>& from, AtomicWord<std::uint32_t>& to) {
    const Tag old(from.load(Order::relaxed));  // relaxed: as in Checks::mark_created
    to.store(Tag(to.load(Order::relaxed)).created(old.loop()).bits(), Order::relaxed);
    from.store(old.deleted().bits(), Order::relaxed);
  }

  /// Stores the destination of the object in slot i. Overwrites old objects, all of which have been copied.
  __device__ void note_forward(const Scratch& plan, std::uint32_t i, int type) const {
    heap_.forwards_of(plan.blocks[plan.sources[i / kSlots]], type)[i % kSlots] = destination(plan, i);
  }

  /// Updates the heap and the list for the new contents of block i.
  __device__ void settle(const Scratch& plan, std::uint32_t i, std::uint32_t first, int type) const {
    const BlockList list = heap_.lists[type];
    const std::uint32_t block = plan.blocks[i];
    const std::uint64_t objects = plan.slots[i];
    const std::uint32_t warp_id = PlatformWarp{}.id();
    if (i == 0) {
      heap_.flags[type].moved.store(1, Order::relaxed);
      heap_.outdate_list(type);
    }
    if (plan.is_source(i)) {
      heap_.entry_of[block] = first + i;
      list.entries[first + i].slots = 0;
      heap_.heap.move_out(block, type, objects, warp_id);
    } else if (plan.free(i) > 0 && plan.free_before[i] < plan.moving) {
      const auto arrivals = static_cast<int>(plan.moving - plan.free_before[i]);
      const std::uint64_t taken = lowest_set_bits(~objects, arrivals);
      list.entries[first + i].slots = objects | taken;
      heap_.heap.move_in(block, type, taken, warp_id);
    }
  }

  RelocatedHeap heap_;
};

}  // namespace dynasoar::detail
