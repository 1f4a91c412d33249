/// @file
/// Compaction: moves objects out of the emptiest blocks into free slots of the others, so that fewer blocks hold them.
/// Used by AllocatorHandle::compact.
///
/// Source: M. Springer and H. Masuhara, Massively Parallel GPU Memory Compaction, ISMM 2019. As there, blocks that are
/// emptied hold the forwarding information while pointers are rewritten. Changed: where the paper fills n blocks from
/// one, and takes several passes, here a group of up to 128 blocks is compacted at once. If F of its slots are free,
/// F / 64 blocks can go, whichever they are. Those that go, the *sources*, are chosen page by page, so that pages
/// become free for other classes, and pages with few objects per block come first. The others are *targets*. The k-th
/// object of the sources takes the k-th free slot of the targets, so all that has to be known is how many of them come
/// before a block.
///
/// pointer_updates.h makes pointers follow.
///
/// It runs between loops. Blocks belong to one group, so objects move without a race; the bitmaps, which groups share,
/// are changed by the same operations as ever (see block_heap.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <dynasoar/allocator/checks.h>
#include <dynasoar/allocator/compaction_state.h>
#include <dynasoar/allocator/layout.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/copy.h>
#include <dynasoar/platform/loops.h>
#include <dynasoar/platform/team_loops.h>
#include <dynasoar/platform/warp.h>

namespace dynasoar::detail {

inline constexpr std::uint32_t kBlocksPerGroup = 128;

/// Where an object of a source goes: which block of its group, which slot.
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

/// The memory of a block of class S.
template <class A, class S>
__device__ char* memory_of(std::uint32_t block) {
  return bound_state<A>().base + A::template handle_of<S>(block, 0, 0).block_offset();
}

/// The forwarding information of a source, which lies where its objects were.
template <class A, class S>
__device__ Forward* forwards_of(std::uint32_t block) {
  static_assert(block_bytes_v<S> >= kSlotsPerBlock * sizeof(Forward));
  return reinterpret_cast<Forward*>(memory_of<A, S>(block));
}

// The steps, each a loop of teams.

/// Decides for which classes compaction is worth it, and begins to note what moves.
template <class A>
struct ChooseClasses {
  using Counter = typename A::Heap::Counter;
  struct Scratch {
    std::uint64_t counts[2 * Counter::kShards];  // created, deleted
  };

  CompactionState state;
  double above;  ///< at most this fraction of free slots is accepted

  __device__ std::size_t count() const { return A::kTypes; }

  template <class Team>
  __device__ void operator()(const Team& team, Scratch& scratch, std::size_t index) const {
    const auto type = static_cast<int>(index);
    team.for_each(2 * Counter::kShards, [&](std::uint32_t i) {
      const auto& counters = bound_state<A>().heap.types[type];
      const Counter& counter = i < Counter::kShards ? counters.created : counters.deleted;
      scratch.counts[i] = counter.word(static_cast<int>(i % Counter::kShards)).load(Order::relaxed);
    });
    team.for_each(1, [&](std::uint32_t) {
      std::uint64_t objects = 0;
      for (int i = 0; i < Counter::kShards; ++i) objects += scratch.counts[i] - scratch.counts[Counter::kShards + i];
      state.flags[type].wanted.store(is_worth_it(type, objects) ? 1 : 0, Order::relaxed);
      state.flags[type].moved.store(0, Order::relaxed);
    });
  }

 private:
  __device__ bool is_worth_it(int type, std::uint64_t objects) const {
    const std::uint64_t slots = *bound_state<A>().lists[type].count * std::uint64_t{kSlotsPerBlock};
    const std::uint64_t free = slots - objects;
    return free >= kSlotsPerBlock && static_cast<double>(free) > above * static_cast<double>(slots);
  }
};

/// Moves the objects of class S within groups of blocks that follow one another in its list, which stays right: the
/// entries of sources say that they have no objects.
template <class A, class S>
class MoveObjects {
 public:
  static constexpr std::uint32_t kGroup = kBlocksPerGroup;
  static_assert(kGroup * kSlotsPerBlock <= Forward::kNone);
  static constexpr std::uint32_t kMostMoving = kGroup * kSlotsPerBlock / 2;  // n blocks go: at most 64 n, and what fits

  /// A group's plan.
  struct Scratch {
    std::uint64_t slots[kGroup];           // of each block
    std::uint32_t blocks[kGroup];          // their numbers in the heap
    std::uint32_t weights[kGroup];         // blocks of little weight go first; all different
    std::uint16_t objects[kGroup];         // of each block
    std::uint16_t lighter[kGroup];         // how many blocks have less weight
    std::uint16_t objects_before[kGroup];  // of sources with lower numbers
    std::uint16_t free_before[kGroup];     // free slots of targets with lower numbers
    std::uint16_t sources[kGroup];         // their numbers, the lightest first
    std::uint32_t source_count;
    std::uint32_t moving;               // objects of all sources
    Forward destinations[kMostMoving];  // of each of them

    __device__ bool is_source(std::uint32_t i) const { return lighter[i] < source_count; }
    __device__ std::uint32_t free(std::uint32_t i) const { return kSlotsPerBlock - objects[i]; }
  };

  explicit MoveObjects(const CompactionState& state) : state_(state) {}

  __device__ std::size_t count() const {
    return state_.flags[kType].wanted.load(Order::relaxed) != 0 ? (*list().count + kGroup - 1) / kGroup : 0;
  }

  template <class Team>
  __device__ void operator()(const Team& team, Scratch& plan, std::size_t group) const {
    const auto first = static_cast<std::uint32_t>(group * kGroup);
    const std::uint32_t left = *list().count - first;
    const std::uint32_t size = left < kGroup ? left : kGroup;
    team.for_each(size, [&](std::uint32_t i) { load(plan, i, first); });
    team.for_each(size, [&](std::uint32_t i) { weigh(plan, i, size); });
    team.for_each(size, [&](std::uint32_t i) { choose(plan, i, size); });
    if (plan.source_count == 0) return;
    team.for_each(size, [&](std::uint32_t i) { number(plan, i, size); });
    const std::uint32_t objects = plan.source_count * kSlots;
    team.for_each(size * kSlots, [&](std::uint32_t i) { list_free_slot(plan, i); });
    team.for_each(objects, [&](std::uint32_t i) { move(plan, i); });
    team.for_each(objects, [&](std::uint32_t i) { note_forward(plan, i); });
    team.for_each(size, [&](std::uint32_t i) { settle(plan, i, first); });
  }

 private:
  static constexpr int kType = A::template index_of<S>;
  static constexpr std::uint32_t kSlots = kSlotsPerBlock;

  __device__ static const BlockList& list() { return bound_state<A>().lists[kType]; }

  __device__ static void load(Scratch& plan, std::uint32_t i, std::uint32_t first) {
    plan.slots[i] = list().entries[first + i].slots;
    plan.blocks[i] = list().entries[first + i].block;
    plan.objects[i] = static_cast<std::uint16_t>(popcount(plan.slots[i]));
  }

  /// Weighs block i by the objects per block of its page. Blocks of a page follow one another, so equal pages stay
  /// apart.
  __device__ static void weigh(Scratch& plan, std::uint32_t i, std::uint32_t size) {
    const std::uint32_t shift = bound_state<A>().heap.block_shift;
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

  /// Finds out whether block i is a source: whether it is among the lightest of as many as can go.
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

  /// Adds up what comes before block i.
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

  /// Makes slot i, of all slots of the group, the destination of an object, if it is a free one of a target.
  __device__ static void list_free_slot(Scratch& plan, std::uint32_t i) {
    const std::uint32_t block = i / kSlots;
    const std::uint64_t free = ~plan.slots[block];
    if (plan.is_source(block) || (free >> i % kSlots & 1) == 0) return;
    const std::uint32_t number = plan.free_before[block] + set_below(free, i % kSlots);
    if (number < plan.moving) plan.destinations[number] = Forward::to(block, i % kSlots);
  }

  /// Where the object in slot i, of all slots of the sources, goes; none if there is no object.
  __device__ static Forward destination(const Scratch& plan, std::uint32_t i) {
    const std::uint32_t source = plan.sources[i / kSlots];
    const std::uint64_t objects = plan.slots[source];
    if ((objects >> i % kSlots & 1) == 0) return {Forward::kNone};
    return plan.destinations[plan.objects_before[source] + set_below(objects, i % kSlots)];
  }

  /// Number of set bits below a bit.
  __device__ static std::uint32_t set_below(std::uint64_t mask, std::uint32_t bit) {
    return static_cast<std::uint32_t>(popcount(mask & first_bits(static_cast<int>(bit))));
  }

  /// Copies the object in slot i, of all slots of the sources.
  __device__ static void move(const Scratch& plan, std::uint32_t i) {
    const Forward to = destination(plan, i);
    if (to.is_none()) return;
    const std::uint32_t slot = i % kSlots;
    const std::uint32_t block = plan.blocks[plan.sources[i / kSlots]];
    const std::uint32_t new_block = plan.blocks[to.member()];
    copy_object(memory_of<A, S>(new_block), to.slot(), memory_of<A, S>(block), slot);
    if constexpr (kChecked) A::Checks::mark_moved(block, slot, new_block, to.slot());
  }

  __device__ static void copy_object(char* to, std::uint32_t to_slot, const char* from, std::uint32_t from_slot) {
    for_each_field<S>([&]<class Field>(Field) {
      using Element = typename Field::Element;
      for (std::size_t i = 0; i < Field::kCount; ++i) {
        const std::size_t array = Field::kOffset + i * Field::kStride;
        copy_value(reinterpret_cast<Element*>(to + array) + to_slot,
                   reinterpret_cast<const Element*>(from + array) + from_slot);
      }
    });
  }

  /// Writes down where the object in slot i went, over the objects: all of them are copied.
  __device__ static void note_forward(const Scratch& plan, std::uint32_t i) {
    forwards_of<A, S>(plan.blocks[plan.sources[i / kSlots]])[i % kSlots] = destination(plan, i);
  }

  /// Makes the heap and the list say what is in block i now.
  __device__ void settle(const Scratch& plan, std::uint32_t i, std::uint32_t first) const {
    const typename A::Heap& heap = bound_state<A>().heap;
    const std::uint32_t block = plan.blocks[i];
    const std::uint64_t objects = plan.slots[i];
    const std::uint32_t who = PlatformWarp{}.id();
    if (i == 0) {
      state_.flags[kType].moved.store(1, Order::relaxed);
      state_.outdate_list(kType);
    }
    if (plan.is_source(i)) {
      state_.entry_of[block] = first + i;
      list().entries[first + i].slots = 0;
      heap.move_out(block, kType, objects, who);
    } else if (plan.free(i) > 0 && plan.free_before[i] < plan.moving) {
      const auto arrivals = static_cast<int>(plan.moving - plan.free_before[i]);
      const std::uint64_t taken = lowest_set_bits(~objects, arrivals);
      list().entries[first + i].slots = objects | taken;
      heap.move_in(block, kType, taken, who);
    }
  }

  CompactionState state_;
};

}  // namespace dynasoar::detail
