/// @file
/// ObjectTable: pointers to all objects of a class, without gaps at the beginning of a loop. Parallel loops need it
/// because an allocator of plain memory cannot enumerate objects. Used by AosAllocator.
///
/// Source: DynaSOAr, section 7, "Parallel Do-all in Custom Allocators": pointers are appended as objects are created,
/// and those of deleted objects are removed before the next loop. Difference: an object knows its place in the table,
/// so its removal is one store, and only the last pointers move into the gaps, at most one per deleted object.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/classes/handle.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/malloc/aos_layout.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

/// A view of the table of one class.
///
/// @par Concurrency   `append` and `remove` may overlap; `compact` must not overlap with them
struct ObjectTable {
  /// Numbers that change; initially zero.
  struct Counts {
    AtomicWord<std::uint32_t> end;            ///< entries in use, deleted ones included; may exceed the capacity
    AtomicWord<std::uint32_t> removed;        ///< number of these that were deleted since the last compaction
    AtomicWord<std::uint32_t> gaps;           ///< number of these below the new end
    AtomicWord<std::uint32_t> movers;         ///< live entries beyond the new end
    AtomicWord<std::uint32_t> thread_blocks;  ///< thread blocks that have finished
    AtomicWord<std::uint32_t> unused;         ///< the next member is aligned
    AtomicWord<std::uint64_t> all_removed;    ///< objects deleted since the start, up to the last compaction
  };

  std::uint64_t* objects;         ///< [capacity] handles; 0 for an object that was deleted
  std::uint32_t* removed_places;  ///< [capacity] places of deleted objects
  std::uint32_t* gap_places;      ///< [capacity] scratch of compaction
  std::uint32_t* mover_places;    ///< [capacity] scratch of compaction
  Counts* counts;
  BlockList list;  ///< the table as blocks of 64 entries, as of the last compaction
  std::uint32_t capacity;

  static constexpr std::uint32_t kNoPlace = ~std::uint32_t{0};

  /// Entries in use. @pre no thread appends
  __device__ std::uint32_t end() const {
    const std::uint32_t found = counts->end.load(Order::relaxed);
    return found < capacity ? found : capacity;
  }

  /// Makes room for one object for each lane of a group that calls it together. @return the place of the lane's object,
  /// or kNoPlace if the table has no free entry since its last compaction
  template <class Warp>
  __device__ std::uint32_t append(Warp warp) const {
    const auto group = warp.coalesce();
    std::uint32_t first = capacity;
    // relaxed: only uniqueness matters; the end of the loop publishes the entries. The load before prevents refused
    // requests from advancing the end, which could overflow.
    if (group.rank() == 0 && counts->end.load(Order::relaxed) < capacity) {
      first = counts->end.fetch_add(static_cast<std::uint32_t>(group.size()), Order::relaxed);
    }
    const std::uint32_t place = group.broadcast(first) + static_cast<std::uint32_t>(group.rank());
    return place < capacity ? place : kNoPlace;
  }

  /// The object at a place, 0 if it was deleted, for threads that run while other threads may delete it.
  __device__ std::uint64_t alive_at(std::uint32_t place) const {
    return entry(place).load(Order::relaxed);  // relaxed: a program must not race with the deletion anyway
  }

  /// Removes an object. @return false if it was removed before: it is being deleted twice then
  template <class Warp>
  __device__ bool remove(std::uint32_t place, Warp warp) const {
    if (entry(place).exchange(0, Order::relaxed) == 0) return false;
    const auto group = warp.coalesce();
    std::uint32_t first = 0;
    if (group.rank() == 0) first = counts->removed.fetch_add(static_cast<std::uint32_t>(group.size()), Order::relaxed);
    removed_places[group.broadcast(first) + static_cast<std::uint32_t>(group.rank())] = place;
    return true;
  }

  // Compaction, in two steps over i < removed. The first step lists the remaining gaps, and the entries that fill them;
  // their numbers are equal. The second step moves entries.

  /// @param removed   counts->removed
  __device__ void list_gap_and_mover(std::uint32_t i, std::uint32_t removed) const {
    const std::uint32_t new_end = end() - removed;
    const std::uint32_t gap = removed_places[i];
    if (gap < new_end) gap_places[counts->gaps.fetch_add(1, Order::relaxed)] = gap;
    if (objects[new_end + i] != 0) mover_places[counts->movers.fetch_add(1, Order::relaxed)] = new_end + i;
  }

  __device__ void move_entry(std::uint32_t i) const {
    const std::uint64_t object = objects[mover_places[i]];
    objects[gap_places[i]] = object;
    reinterpret_cast<AosHeader*>(object & kAddressMask)->index = gap_places[i];
  }

  /// Updates the numbers after the two steps. @pre both have ended
  __device__ void finish_compaction(std::uint32_t removed) const {
    const std::uint32_t new_end = end() - removed;
    const std::uint32_t old_blocks = list.size->blocks;
    if (old_blocks > 0) list.entries[old_blocks - 1].slots = first_bits(64);
    const std::uint32_t blocks = (new_end + 63) / 64;
    if (blocks > 0) list.entries[blocks - 1].slots = first_bits(static_cast<int>(new_end - (blocks - 1) * 64));
    list.size->blocks = blocks;
    counts->end.store(new_end, Order::relaxed);
    counts->removed.store(0, Order::relaxed);
    counts->gaps.store(0, Order::relaxed);
    counts->movers.store(0, Order::relaxed);
    counts->all_removed.fetch_add(removed, Order::relaxed);
  }

 private:
  __device__ AtomicWord<std::uint64_t>& entry(std::uint32_t place) const {
    return *reinterpret_cast<AtomicWord<std::uint64_t>*>(objects + place);
  }
};

/// The tables of an allocator's classes.
template <int kTypes>
struct ObjectTables {
  ObjectTable of[kTypes];
};

/// Some of these tables.
template <int kTypes>
struct ChosenTables {
  ObjectTable tables[kTypes];
  int count;
};

/// Initializes the list of a table: each entry has all its objects.
struct FillList {
  ListedBlock* entries;
  __device__ void operator()(std::size_t i) const { entries[i] = {first_bits(64), static_cast<std::uint32_t>(i)}; }
};

/// The memory of a table.
class TableStorage {
 public:
  /// @param capacity   objects that can be created between two compactions, live ones included
  TableStorage(Executor& executor, std::uint32_t capacity)
      : objects_(capacity),
        places_(3 * std::size_t{capacity}),
        counts_(1),
        entries_((capacity + std::size_t{63}) / 64),
        list_size_(1) {
    counts_.fill_bytes(0);
    list_size_.fill_bytes(0);
    view_ = {objects_.data(),
             places_.data(),
             places_.data() + capacity,
             places_.data() + 2 * std::size_t{capacity},
             counts_.data(),
             {entries_.data(), list_size_.data()},
             capacity};
    executor.for_each_index(entries_.size(), FillList{entries_.data()});
    executor.synchronize();
  }

  const ObjectTable& view() const { return view_; }

  /// Live objects, objects created since the start, and entries in use. Waits for the device.
  struct Numbers {
    std::uint64_t live;
    std::uint64_t created;
    std::uint64_t end;
  };
  Numbers numbers() const {
    const ObjectTable::Counts counts = counts_.download().front();
    const std::uint64_t end = std::min(counts.end.load(Order::relaxed), view_.capacity);
    return {end - counts.removed.load(Order::relaxed), end + counts.all_removed.load(Order::relaxed), end};
  }

  std::size_t bytes() const {
    return objects_.bytes() + places_.bytes() + counts_.bytes() + entries_.bytes() + list_size_.bytes();
  }

 private:
  DeviceArray<std::uint64_t> objects_;
  DeviceArray<std::uint32_t> places_;
  DeviceArray<ObjectTable::Counts> counts_;
  DeviceArray<ListedBlock> entries_;
  DeviceArray<ListSize> list_size_;
  ObjectTable view_{};
};

}  // namespace dynasoar::detail

// make_lists(executor, chosen): compacts the tables and makes their lists.
#include DYNASOAR_BACKEND_HEADER(object_table.h)
