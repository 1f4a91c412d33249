/// @file
/// HeapSnapshot: the state of a heap in host memory, without the objects, as a checkpoint stores it. Used by save.cpp
/// and load.cpp.
///
/// All bitmaps can be restored from the open blocks and their owners. The other members, such as counts and the places
/// where each warp searches first, let a program continue exactly as without the checkpoint.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <dynasoar/checkpoint/snapshot_tasks.h>
#include <dynasoar/checks/checks.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/heap/any_heap.h>
#include <dynasoar/heap/heap_growth.h>
#include <dynasoar/heap/heap_memory.h>
#include <dynasoar/heap/heap_tasks.h>
#include <dynasoar/heap/refusal.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

/// Numbers in a checkpoint.
struct HeapNumbers {
  std::uint64_t pages;             ///< of the heap
  std::uint64_t used_pages;        ///< number of pages up to the last one with an open block
  std::uint64_t current_count;     ///< see BlockHeap
  std::uint64_t is_checked;        ///< 1 if a checked build wrote it
  std::uint64_t first_generation;  ///< of a slot that was never used; checked builds
  std::uint64_t attempts;          ///< calls of make_new, if some shall fail; checked builds
  std::uint64_t loops;             ///< loops that the handle has run; checked builds
  GrowthNotes growth;
};

/// The tags of a block's slots; checked builds.
struct SavedTags {
  std::uint32_t block;
  std::uint32_t tags[kSlotsPerBlock];
};

struct HeapSnapshot {
  using Counter = AnyHeap::Counter;

  HeapNumbers numbers{};
  std::vector<SavedBlock> blocks;
  std::vector<std::uint64_t> counters;  ///< per class: its tallies, refusals, proof; then those of the heap
  std::vector<std::uint32_t> hints;     ///< page hints; then, per class, current blocks
  std::vector<std::uint64_t> lists;     ///< per class: seen, length, entries of two words
  std::vector<SavedTags> tags;          ///< of blocks with a slot that has been used

  static constexpr std::size_t kShards = Counter::kShards;
  static constexpr std::size_t kSeen = 2 * kShards;
  static constexpr std::size_t kCountersOfType = 6 * kShards + kRefusals + 1;
  static std::size_t counters_for(std::size_t types) { return types * kCountersOfType + 2 * kShards; }

  /// Takes a snapshot of a heap. @pre the device is idle
  static HeapSnapshot of(Executor& executor, const HeapMemory& memory) {
    HeapSnapshot snapshot;
    snapshot.take_numbers(memory);
    snapshot.take_blocks(executor, memory.any_heap());
    snapshot.take_counters(executor, memory);
    snapshot.take_hints(memory);
    snapshot.take_lists(memory);
    if (memory.is_checked()) snapshot.take_tags(memory);
    return snapshot;
  }

  /// The snapshot of an empty heap.
  static HeapSnapshot empty(const HeapMemory& memory) {
    HeapSnapshot snapshot;
    snapshot.take_numbers(memory);
    snapshot.numbers.current_count = 0;
    const std::size_t types = memory.classes().classes.size();
    snapshot.counters.resize(counters_for(types));
    snapshot.counters[types * kCountersOfType] = memory.pages();  // they are free
    return snapshot;
  }

  /// Restores the state of the heap, except for the objects, and replaces its previous state. If the heap has another
  /// size, or if another number of warps uses it, searches begin at other places than without the checkpoint.
  /// @pre the device is idle, the snapshot has no contradictions (see snapshot_checks.h), and the heap has at least
  ///      `used_pages` pages
  /// @return whether there are lists of objects; if not, they are out of date
  bool restore(Executor& executor, HeapMemory& memory) const {
    const bool same_size = memory.heap().pages == numbers.pages && memory.heap().current_count == numbers.current_count;
    memory.clear(executor, static_cast<std::uint32_t>(numbers.is_checked != 0 ? numbers.first_generation : 0));
    restore_blocks(executor, memory.any_heap(), same_size);
    restore_counters(executor, memory, same_size);
    if (same_size) restore_hints(memory);
    const bool has_lists = restore_lists(executor, memory, same_size);
    if (memory.is_checked()) restore_tags(executor, memory);
    executor.wait();
    return has_lists;
  }

 private:
  using Word64 = AtomicWord<std::uint64_t>;

  static constexpr std::size_t kBlocksAtOnce = std::size_t{1} << 16;
  static constexpr std::size_t kTagBlocksAtOnce = std::size_t{1} << 14;

  template <class T, class Word>
  static std::vector<T> download(const Word* words, std::size_t count) {
    static_assert(sizeof(T) == sizeof(Word));
    std::vector<T> values(count);
    copy_from_device(static_cast<void*>(values.data()), words, count * sizeof(T));
    return values;
  }
  template <class T, class Word>
  static void upload(Word* words, const T* values, std::size_t count) {
    static_assert(sizeof(T) == sizeof(Word));
    copy_to_device(static_cast<void*>(words), values, count * sizeof(T));
  }

  void take_numbers(const HeapMemory& memory) {
    numbers.pages = memory.pages();
    numbers.current_count = memory.heap().current_count;
    if (memory.is_checked()) {
      numbers.is_checked = 1;
      numbers.first_generation = memory.first_generation();
      numbers.attempts = download<std::uint64_t>(memory.checks().faults.attempts, 1).front();
    }
  }

  void take_blocks(Executor& executor, const AnyHeap& heap) {
    DeviceArray<SavedBlock> found(std::min<std::size_t>(kBlocksAtOnce, heap.blocks()));
    for (std::uint64_t first = 0; first < heap.blocks(); first += found.size()) {
      const std::size_t count = std::min<std::size_t>(found.size(), heap.blocks() - first);
      executor.for_each_index(count, DescribeBlocks{heap, static_cast<std::uint32_t>(first), found.data()});
      executor.wait();
      for (const SavedBlock& block : download<SavedBlock>(found.data(), count)) {
        if (block.type != kNoType) blocks.push_back(block);
      }
    }
    if (!blocks.empty()) numbers.used_pages = (blocks.back().number >> heap.block_shift) + 1;
  }

  static std::array<Counter, 6> tallies_of(const AnyHeap::TypeState& type) {
    return {type.created, type.deleted, type.opened, type.closed, type.emptied, type.reused};
  }

  void take_counters(Executor& executor, const HeapMemory& memory) {
    const auto& heap = memory.heap();
    DeviceArray<std::uint64_t> words(kShards);
    const auto append = [&](const auto& more) { counters.insert(counters.end(), more.begin(), more.end()); };
    const auto append_tally = [&](const Counter& tally) {
      executor.for_each_index(kShards, ReadTally{tally, words.data()});
      executor.wait();
      append(words.download());
    };
    for (int i = 0; i < memory.types(); ++i) {
      const AnyHeap::TypeState& type = memory.type(static_cast<std::size_t>(i));
      for (const Counter& tally : tallies_of(type)) append_tally(tally);
      append(download<std::uint64_t>(heap.refusals + i * kRefusals, kRefusals));
      append(download<std::uint64_t>(heap.full_at + i, 1));
    }
    append_tally(heap.pages_freed);
    append_tally(heap.pages_taken);
  }

  void restore_counters(Executor& executor, const HeapMemory& memory, bool same_size) const {
    const auto& heap = memory.heap();
    std::vector<std::uint64_t> values = counters;
    // Pages that only one of the two heaps has are free. The first shard of pages_freed accounts for them.
    values[static_cast<std::size_t>(memory.types()) * kCountersOfType] += heap.pages - numbers.pages;
    DeviceArray<std::uint64_t> all(values.size());
    all.upload(values);
    const std::uint64_t* from = all.data();
    const auto set_tally = [&](const Counter& tally) {
      executor.for_each_index(kShards, WriteTally{tally, std::exchange(from, from + kShards)});
    };
    for (int i = 0; i < memory.types(); ++i) {
      const AnyHeap::TypeState& type = memory.type(static_cast<std::size_t>(i));
      for (const Counter& tally : tallies_of(type)) set_tally(tally);
      const auto at = static_cast<std::size_t>(from - all.data());
      upload(heap.refusals + i * kRefusals, counters.data() + at, kRefusals);
      // A proof that the heap was full does not hold for a larger heap.
      if (same_size) upload(heap.full_at + i, counters.data() + at + kRefusals, 1);
      from += kRefusals + 1;
    }
    set_tally(heap.pages_freed);
    set_tally(heap.pages_taken);
    executor.wait();
  }

  using WarpWords = AnyHeap::WarpWords;

  void take_hints(const HeapMemory& memory) {
    const auto append = [&](const WarpWords& table) {
      const auto words = download<std::uint32_t>(table.words, memory.heap().current_count * WarpWords::kStride);
      for (std::size_t i = 0; i < words.size(); i += WarpWords::kStride) hints.push_back(words[i]);
    };
    append(memory.heap().page_hint);
    for (int i = 0; i < memory.types(); ++i) append(memory.type(static_cast<std::size_t>(i)).current);
  }

  void restore_hints(const HeapMemory& memory) const {
    auto from = hints.begin();
    const auto set = [&](const WarpWords& table) {
      std::vector<std::uint32_t> words(memory.heap().current_count * WarpWords::kStride, kNoPosition);
      for (std::size_t i = 0; i < words.size(); i += WarpWords::kStride) words[i] = *from++;
      upload(table.words, words.data(), words.size());
    };
    set(memory.heap().page_hint);
    for (int i = 0; i < memory.types(); ++i) set(memory.type(static_cast<std::size_t>(i)).current);
  }

  void take_lists(const HeapMemory& memory) {
    for (std::size_t type = 0; type < memory.classes().classes.size(); ++type) {
      const auto seen = download<std::uint64_t>(memory.listed_shards(type), kSeen);
      lists.insert(lists.end(), seen.begin(), seen.end());
      const BlockList& list = memory.list(type);
      const std::uint32_t count = download<ListSize>(list.size, 1).front().blocks;
      lists.push_back(count);
      for (const ListedBlock& entry : download<ListedBlock>(list.entries, count)) {
        lists.push_back(entry.slots);
        lists.push_back(entry.block);
      }
    }
  }

  /// If the heap has another size, the lists have to be made again.
  bool restore_lists(Executor& executor, const HeapMemory& memory, bool same_size) const {
    const std::size_t types = memory.classes().classes.size();
    if (!same_size || lists.empty()) {
      executor.fill_bytes(memory.listed_shards(0), 0xff, types * kSeen * sizeof(std::uint64_t));
      return false;
    }
    const std::uint64_t* from = lists.data();
    for (std::size_t type = 0; type < types; ++type) {
      upload(memory.listed_shards(type), from, kSeen);
      from += kSeen;
      const auto count = static_cast<std::uint32_t>(*from++);
      std::vector<ListedBlock> entries;
      std::uint64_t objects = 0;
      for (std::uint32_t i = 0; i < count; ++i, from += 2) {
        entries.push_back({from[0], static_cast<std::uint32_t>(from[1])});
        objects += static_cast<std::uint64_t>(popcount(from[0]));
      }
      const ListSize size{count, are_sparse(count, objects)};
      upload(memory.list(type).entries, entries.data(), count);
      upload(memory.list(type).size, &size, 1);
    }
    return true;
  }

  void restore_blocks(Executor& executor, const AnyHeap& heap, bool same_size) const {
    executor.fill_bytes(heap.page_type, FinishPages::kNoTypeByte, heap.pages * sizeof(std::uint32_t));
    DeviceArray<SavedBlock> some(std::min(kBlocksAtOnce, blocks.size()));
    for (std::size_t first = 0; first < blocks.size(); first += some.size()) {
      const std::size_t count = std::min(some.size(), blocks.size() - first);
      executor.wait();
      upload(some.data(), blocks.data() + first, count);
      executor.for_each_index(count, RestoreBlocks{heap, some.data(), same_size});
    }
    executor.for_each_index(AnyHeap::Bits::containers(heap.pages), FinishPages{heap});
    executor.wait();
  }

  void take_tags(const HeapMemory& memory) {
    const std::uint32_t unused = Tag::unused(static_cast<std::uint32_t>(numbers.first_generation)).bits();
    const std::uint64_t end = memory.heap().blocks();
    for (std::uint64_t first = 0; first < end; first += kTagBlocksAtOnce) {
      const std::size_t count = std::min<std::size_t>(kTagBlocksAtOnce, end - first);
      const auto words = download<std::uint32_t>(memory.checks().tags + first * kSlotsPerBlock, count * kSlotsPerBlock);
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t* const of_block = words.data() + i * kSlotsPerBlock;
        const auto is_used = [unused](std::uint32_t tag) { return tag != unused; };
        if (std::none_of(of_block, of_block + kSlotsPerBlock, is_used)) continue;
        SavedTags& saved = tags.emplace_back();
        saved.block = static_cast<std::uint32_t>(first + i);
        std::copy_n(of_block, kSlotsPerBlock, saved.tags);
      }
    }
  }

  void restore_tags(Executor& executor, const HeapMemory& memory) const {
    executor.wait();
    const std::uint64_t attempts = numbers.attempts;
    upload(memory.checks().faults.attempts, &attempts, 1);
    if (numbers.is_checked == 0) return restore_tags_of_unchecked(memory);
    for (const SavedTags& saved : tags) {
      // A smaller heap has no room for the tags of closed blocks behind its end.
      if (saved.block < memory.heap().blocks()) {
        upload(memory.checks().tags + std::size_t{saved.block} * kSlotsPerBlock, saved.tags, kSlotsPerBlock);
      }
    }
  }

  /// Sets all generations to 0, like in the pointers of builds without checks.
  void restore_tags_of_unchecked(const HeapMemory& memory) const {
    const Tag alive = Tag::unused(Handle::kGenerations - 1).created(Tag::kNoLoop);
    for (const SavedBlock& block : blocks) {
      std::uint32_t words[kSlotsPerBlock];
      for (std::size_t slot = 0; slot < kSlotsPerBlock; ++slot) {
        words[slot] = (block.slots >> slot & 1) != 0 ? alive.bits() : Tag::unused(0).bits();
      }
      upload(memory.checks().tags + std::size_t{block.number} * kSlotsPerBlock, words, kSlotsPerBlock);
    }
  }
};

}  // namespace dynasoar::detail
