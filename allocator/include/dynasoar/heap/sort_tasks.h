/// @file
/// The tasks on the device that sort the objects of a class. Objects move only among the slots that they occupy, so
/// only the contents of slots change. Used by sort.cpp.
///
/// The *rank* of an object is its number in the order of blocks and slots. Keys are sorted together with the ranks
/// (platform/sort.h), which yields `order`: the object of rank order[i] gets the slot of rank i. A *team* handles the
/// objects of some consecutive blocks, and moves four words (16 bytes) of each object at a time:
///
///   - WriteDestinations notes the new place of each object.
///   - PackLeavers copies the words of objects that go to another team's blocks to records in memory, by rank.
///   - PlaceObjects reads the words of objects that stay into shared memory, and then fills each slot from there or
///     from a record.
///
/// So all random reads are those of 16-byte records, for all classes. Objects that stay within their team's blocks are
/// read and written once. Most objects stay if the keys have changed little.
///
/// All of this runs between loops.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/checks/tag.h>
#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/layout.h>
#include <dynasoar/heap/pointer_updates.h>
#include <dynasoar/heap/relocated_heap.h>
#include <dynasoar/heap/sorted_class.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/copy.h>
#include <dynasoar/platform/order.h>
#include <dynasoar/tuning.h>

namespace dynasoar::detail {

/// Counts for each container of the bitmap of allocated blocks: first of its own blocks and objects, later of those in
/// all containers before it.
struct ContainerCounts {
  std::uint32_t* blocks;
  std::uint32_t* objects;
};

/// Counts the blocks of each container, and the objects in these blocks.
struct CountContainers {
  SortedClass sorted;
  ContainerCounts counts;

  /// @param index   a container, or one past the last, for which the counts are 0
  __device__ void operator()(std::size_t index) const {
    const auto container = static_cast<std::uint32_t>(index);
    const bool exists = container < sorted.allocated().level_size(0);
    const std::uint64_t bits = exists ? sorted.allocated().container(0, container) : 0;
    std::uint32_t objects = 0;
    for (std::uint64_t left = bits; left != 0; left &= left - 1) {
      const std::uint32_t block = container * 64 + static_cast<std::uint32_t>(lowest_bit(left));
      objects += static_cast<std::uint32_t>(popcount(sorted.heap.heap.slots[block].load(Order::relaxed)));
    }
    counts.blocks[index] = static_cast<std::uint32_t>(popcount(bits));
    counts.objects[index] = objects;
  }
};

/// Writes the entries of the list in the order of their blocks, and resets the flag `moved`.
struct WriteSortedList {
  SortedClass sorted;
  ContainerCounts before;

  __device__ void operator()(std::size_t index) const {
    if (index == 0) sorted.moved().store(0, Order::relaxed);
    const auto container = static_cast<std::uint32_t>(index);
    std::uint32_t entry = before.blocks[index];
    std::uint32_t objects = before.objects[index];
    for (std::uint64_t left = sorted.allocated().container(0, container); left != 0; left &= left - 1) {
      const std::uint32_t block = container * 64 + static_cast<std::uint32_t>(lowest_bit(left));
      const std::uint64_t slots = sorted.heap.heap.slots[block].load(Order::relaxed);
      sorted.list.entries[entry] = {slots, block, objects};
      sorted.heap.entry_of[block] = entry++;
      objects += static_cast<std::uint32_t>(popcount(slots));
    }
  }
};

/// Calls functions for the objects of a team's blocks.
struct TeamBlocks {
  static constexpr std::uint32_t kSlots = kBlocksPerSortTeam * kSlotsPerBlock;

  std::uint32_t first_entry, end_entry;
  std::uint32_t first_rank, end_rank;

  __device__ TeamBlocks(const SortedClass& sorted, std::size_t team, std::uint32_t blocks = kBlocksPerSortTeam)
      : first_entry(static_cast<std::uint32_t>(team) * blocks),
        end_entry(first_entry + blocks),
        first_rank(sorted.list.entries[first_entry].before) {
    const std::uint32_t entries = sorted.entries();
    end_entry = end_entry < entries ? end_entry : entries;
    end_rank = end_entry < entries ? sorted.list.entries[end_entry].before : sorted.objects();
  }

  __device__ bool have(std::uint32_t rank) const { return first_rank <= rank && rank < end_rank; }
  __device__ bool have_place(std::uint32_t place) const {
    const std::uint32_t entry = place / static_cast<std::uint32_t>(kSlotsPerBlock);
    return first_entry <= entry && entry < end_entry;
  }

  /// A phase: `function(rank, entry, block, slot)`.
  template <class Team, class F>
  __device__ void for_each_object(const Team& team, const SortedClass& sorted, const F& function) const {
    team.for_each((end_entry - first_entry) * static_cast<std::uint32_t>(kSlotsPerBlock), [&](std::uint32_t i) {
      const std::uint32_t number = first_entry + i / static_cast<std::uint32_t>(kSlotsPerBlock);
      const std::uint32_t slot = i % static_cast<std::uint32_t>(kSlotsPerBlock);
      const ListedBlock entry = sorted.list.entries[number];
      if ((entry.slots >> slot & 1) == 0) return;
      function(entry.before + objects_below(entry.slots, slot), number, entry.block, slot);
    });
  }
};

/// The base of all steps of a sort that teams run.
struct SortStep {
  struct Scratch {};

  SortedClass sorted;
  const std::uint32_t* order;

  __device__ int parts() const { return 1; }
  __device__ std::size_t count(int) const { return (sorted.entries() + kBlocksPerSortTeam - 1) / kBlocksPerSortTeam; }
};

/// The number of a slot: 64 times its list entry, plus its number in the block.
__device__ inline std::uint32_t place_of(std::uint32_t entry, std::uint32_t slot) {
  return entry * static_cast<std::uint32_t>(kSlotsPerBlock) + slot;
}

/// Stores the new place of each object, by rank, and notes whether any object moves. Random writes of 4 bytes take
/// several times as long in memory as in the L2 cache, which does not have room for the places of all objects.
/// Therefore each *window* of ranks has its own loop. The first loop also does all the work of teams whose objects stay
/// near.
struct WriteDestinations : SortStep {
  std::uint32_t first_rank, end_rank;  ///< the window
  std::uint32_t near_ranks;            ///< objects that move further move far
  std::uint32_t* destinations;
  std::uint8_t* moves_far;  ///< for each team: whether it has objects that move far

  __device__ std::size_t count(int) const {
    if (first_rank >= sorted.objects()) return 0;
    return (sorted.entries() + kBlocksPerDestinationTeam - 1) / kBlocksPerDestinationTeam;
  }

  template <class Team>
  __device__ void operator()(const Team& team, Scratch&, int, std::size_t index) const {
    const TeamBlocks blocks(sorted, index, kBlocksPerDestinationTeam);
    bool all = false;
    if (first_rank == 0) {
      all = !find_moves(team, blocks, index);
    } else if (moves_far[index] == 0) {
      return;
    }
    blocks.for_each_object(team, sorted,
                           [&](std::uint32_t rank, std::uint32_t entry, std::uint32_t, std::uint32_t slot) {
                             const std::uint32_t from = order[rank];
                             if (all || (first_rank <= from && from < end_rank))
                               destinations[from] = place_of(entry, slot);
                           });
  }

 private:
  /// @return whether any of the team's objects moves far
  template <class Team>
  __device__ bool find_moves(const Team& team, const TeamBlocks& blocks, std::size_t index) const {
    const auto any_further_than = [&](std::uint32_t most) {
      return team.any(blocks.end_rank - blocks.first_rank, [&](std::uint32_t i) {
        const std::uint32_t rank = blocks.first_rank + i, from = order[rank];
        return (from < rank ? rank - from : from - rank) > most;
      });
    };
    const bool moves = any_further_than(0), far = moves && any_further_than(near_ranks);
    team.for_each(1, [&](std::uint32_t) {
      if (moves) sorted.moved().store(1, Order::relaxed);
      moves_far[index] = far ? 1 : 0;
    });
    return far;
  }
};

/// The part of an object that moves at a time.
struct alignas(16) Record {
  static constexpr int kWords = 4;
  std::uint32_t words[kWords];
};

/// Up to four words of an object, each of them up to 4 bytes of a field.
struct FieldWords {
  struct Word {
    std::uint32_t offset;  ///< in a block, of slot 0
    std::uint32_t stride;  ///< bytes from slot to slot
    std::uint32_t bytes;   ///< 1, 2 or 4; 0 if there is no such word
  };
  Word words[Record::kWords];

  __device__ Record load(const SortedClass& sorted, std::uint32_t block, std::uint32_t slot) const {
    const char* const memory = sorted.heap.memory_of(block, sorted.type);
    Record record;
    for (int i = 0; i < Record::kWords; ++i) record.words[i] = load(memory + words[i].offset, words[i], slot);
    return record;
  }

  __device__ void store(const SortedClass& sorted, std::uint32_t block, std::uint32_t slot,
                        const Record& record) const {
    char* const memory = sorted.heap.memory_of(block, sorted.type);
    for (int i = 0; i < Record::kWords; ++i) store(memory + words[i].offset, words[i], slot, record.words[i]);
  }

 private:
  __device__ static std::uint32_t load(const char* first, const Word& word, std::uint32_t slot) {
    const char* const from = first + std::size_t{word.stride} * slot;
    switch (word.bytes) {
      case 1: return load_as<std::uint8_t>(from);
      case 2: return load_as<std::uint16_t>(from);
      case 4: return load_as<std::uint32_t>(from);
      default: return 0;
    }
  }
  __device__ static void store(char* first, const Word& word, std::uint32_t slot, std::uint32_t value) {
    char* const to = first + std::size_t{word.stride} * slot;
    switch (word.bytes) {
      case 1: return store_as<std::uint8_t>(to, value);
      case 2: return store_as<std::uint16_t>(to, value);
      case 4: return store_as<std::uint32_t>(to, value);
      default: return;
    }
  }

  template <class T>
  __device__ static std::uint32_t load_as(const char* from) {
    T value;
    copy_bytes(reinterpret_cast<char*>(&value), from, sizeof(T), sizeof(T));
    return value;
  }
  template <class T>
  __device__ static void store_as(char* to, std::uint32_t value) {
    const T part = static_cast<T>(value);
    copy_bytes(to, reinterpret_cast<const char*>(&part), sizeof(T), sizeof(T));
  }
};

/// The tag of an object, in checked builds. The object's new slot gets the next generation, so pointers to the slot's
/// previous object are stale from now on. The number of the loop that created the object moves with it.
struct TagWords {
  __device__ Record load(const SortedClass& sorted, std::uint32_t block, std::uint32_t slot) const {
    return {{sorted.heap.tag_of(block, slot).load(Order::relaxed), 0, 0, 0}};
  }
  __device__ void store(const SortedClass& sorted, std::uint32_t block, std::uint32_t slot,
                        const Record& record) const {
    AtomicWord<std::uint32_t>& tag = sorted.heap.tag_of(block, slot);
    tag.store(Tag(tag.load(Order::relaxed)).created(Tag(record.words[0]).loop()).bits(), Order::relaxed);
  }
};

/// Copies the words of objects that go to another team's blocks.
template <class Words>
struct PackLeavers : SortStep {
  const std::uint32_t* destinations;
  Words words;
  Record* records;  // by rank

  template <class Team>
  __device__ void operator()(const Team& team, Scratch&, int, std::size_t index) const {
    const TeamBlocks blocks(sorted, index);
    blocks.for_each_object(team, sorted,
                           [&](std::uint32_t rank, std::uint32_t, std::uint32_t block, std::uint32_t slot) {
                             if (!blocks.have_place(destinations[rank]))
                               records[rank] = words.load(sorted, block, slot);
                           });
  }
};

/// Puts the words of objects into their new slots.
template <class Words>
struct PlaceObjects : SortStep {
  struct Scratch {
    Record stay[TeamBlocks::kSlots];  // by rank, of objects that do not leave
  };

  const std::uint32_t* destinations;
  Words words;
  const Record* records;  // by rank, of objects that leave

  template <class Team>
  __device__ void operator()(const Team& team, Scratch& scratch, int, std::size_t index) const {
    const TeamBlocks blocks(sorted, index);
    blocks.for_each_object(team, sorted,
                           [&](std::uint32_t rank, std::uint32_t entry, std::uint32_t block, std::uint32_t slot) {
                             const std::uint32_t to = destinations[rank];
                             if (to == place_of(entry, slot) || !blocks.have_place(to)) return;
                             scratch.stay[rank - blocks.first_rank] = words.load(sorted, block, slot);
                           });
    blocks.for_each_object(
        team, sorted, [&](std::uint32_t rank, std::uint32_t, std::uint32_t block, std::uint32_t slot) {
          const std::uint32_t from = order[rank];
          if (from == rank) return;
          // One load of 16 bytes: from a pointer to either shared or global memory, it would be loaded word by word.
          const Record record =
              blocks.have(from) ? scratch.stay[from - blocks.first_rank] : Record(load_at_once(records[from]));
          words.store(sorted, block, slot, record);
        });
  }
};

/// Finds the places to which a sort has moved the objects of a class; a Relocation.
class SortedPlaces {
 public:
  /// @pre tags have not been moved yet
  SortedPlaces(const SortedClass& sorted, const std::uint32_t* destinations)
      : sorted_(sorted), destinations_(destinations) {}

  __host__ __device__ const RelocatedHeap& heap() const { return sorted_.heap; }

  __device__ bool is_needed() const { return sorted_.moved().load(Order::relaxed) != 0; }

  __device__ bool may_have_moved(std::uint64_t pointer) const { return Handle(pointer).type_index() == sorted_.type; }

  __device__ void update(std::uint64_t& pointer) const {
    const Handle handle(pointer);
    const std::uint32_t block = heap().block_of(handle, sorted_.type);
    if (block == kNoPosition) return;
    const std::uint32_t number = heap().entry_of[block];
    if (number >= sorted_.entries()) return;
    const ListedBlock entry = sorted_.list.entries[number];
    if (entry.block != block || (entry.slots >> handle.slot() & 1) == 0) return;  // a stale pointer
    const std::uint32_t to = destinations_[entry.before + objects_below(entry.slots, handle.slot())];
    const std::uint32_t new_block = sorted_.list.entries[to / kSlotsPerBlock].block;
    const std::uint32_t new_slot = to % kSlotsPerBlock;
    if (new_block == block && new_slot == handle.slot()) return;
    if (heap().generation_of(block, handle.slot()) != handle.generation()) return;
    pointer = heap().handle_of(new_block, new_slot, sorted_.type, next_generation(new_block, new_slot));
  }

 private:
  /// The generation that a slot will get; 0 unless the build is checked.
  __device__ std::uint32_t next_generation(std::uint32_t block, std::uint32_t slot) const {
    if (heap().tags == nullptr) return 0;
    return Tag(heap().tag_of(block, slot).load(Order::relaxed)).created(0).generation();
  }

  SortedClass sorted_;
  const std::uint32_t* destinations_;
};
static_assert(Relocation<SortedPlaces>);

}  // namespace dynasoar::detail
