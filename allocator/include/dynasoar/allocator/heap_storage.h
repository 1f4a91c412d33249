/// @file
/// HeapStorage: owns the memory of a heap, the objects' and the state's, and sets it up. Used by AllocatorHandle.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <dynasoar/allocator/block_heap.h>
#include <dynasoar/allocator/checks.h>
#include <dynasoar/allocator/compaction_state.h>
#include <dynasoar/allocator/handle.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/loops.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

/// Counts the handles that a process has made, of whatever types.
struct HandleCount {
  inline static std::atomic<std::uint64_t> made{0};
};

/// Stores one value to many words.
struct FillWords {
  AtomicWord<std::uint32_t>* words;
  std::uint32_t value;
  __device__ void operator()(std::size_t index) const { words[index].store(value, Order::relaxed); }
};

/// Counts the objects and blocks of one container of an allocated bitmap.
template <class Heap>
struct CountObjects {
  Heap heap;
  std::uint32_t containers;
  AtomicWord<std::uint64_t>* totals;  // [2 * types] objects, blocks

  __device__ void operator()(std::size_t index) const {
    const auto type = static_cast<int>(index / containers);
    const auto container = static_cast<std::uint32_t>(index % containers);
    std::uint64_t bits = heap.types[type].allocated.container(0, container);
    if (bits == 0) return;
    const int blocks = popcount(bits);
    int objects = 0;
    for (; bits != 0; bits &= bits - 1) {
      const std::uint32_t block = container * 64 + static_cast<std::uint32_t>(lowest_bit(bits));
      objects += popcount(heap.slots[block].load(Order::relaxed));
    }
    totals[2 * type].fetch_add(static_cast<std::uint64_t>(objects), Order::relaxed);
    totals[2 * type + 1].fetch_add(static_cast<std::uint64_t>(blocks), Order::relaxed);
  }
};

/// The memory behind one allocator's State.
///
/// The heap is divided into pages; the state lies beside it, so that field arrays keep their alignment.
///
/// @tparam A   a SoaAllocator of complete types
template <class A>
class HeapStorage {
  using Heap = typename A::Heap;

 public:
  /// @param heap_bytes   for objects, rounded down to whole pages; the state takes some percent more
  /// @param faults       for checked builds: which allocations fail
  /// @throws Error if that is less than one page per type, more than a handle can address, or not to be had
  HeapStorage(Executor& executor, std::size_t heap_bytes, const FaultPlan& faults) {
    constexpr auto kPages = A::pages();
    const std::size_t pages = heap_bytes / kPages.bytes;
    if (pages < static_cast<std::size_t>(A::kTypes)) {
      throw Error("dynasoar: a heap of " + std::to_string(heap_bytes) + " bytes is too small: " +
                  std::to_string(A::kTypes) + " classes in pages of " + std::to_string(kPages.bytes) +
                  " bytes need at least " + std::to_string(A::kTypes * kPages.bytes) + " bytes");
    }
    if (heap_bytes > Handle::kMaxHeapBytes || pages * kPages.block_stride >= kStalePosition) {
      throw Error("dynasoar: a heap of " + std::to_string(heap_bytes) +
                  " bytes is too large for 48-bit offsets and 32-bit block numbers");
    }
    objects_ = DeviceArray<char>(pages * kPages.bytes);
    state_.base = objects_.data();
    set_up_heap(state_.heap, static_cast<std::uint32_t>(pages), executor.concurrent_warps());
    for (int type = 0; type < A::kTypes; ++type) {
      entries_.emplace_back(list_capacity(type));
      state_.lists[type] = {entries_.back().data(), words32(1, 0)};
    }
    if constexpr (kChecked) set_up_checks(executor, faults);
    progress_ = DeviceArray<ListProgress>(A::kTypes);
    progress_.fill_bytes(0);
    seen_ = DeviceArray<std::uint64_t>(kShardsOfType * A::kTypes);
    seen_.fill_bytes(0);
    entry_of_ = DeviceArray<std::uint32_t>(state_.heap.blocks());
    entry_of_.fill_bytes(0);
    compaction_flags_ = DeviceArray<CompactionFlags>(A::kTypes);
    compaction_flags_.fill_bytes(0);
    list_sources_.slots = state_.heap.slots;
    for (int type = 0; type < A::kTypes; ++type) {
      const typename Heap::TypeState& source = state_.heap.types[type];
      list_sources_.types[type] = {
          source.created,     source.deleted,          source.allocated,
          state_.lists[type], progress_.data() + type, reinterpret_cast<Word64*>(seen_.data() + kShardsOfType * type)};
    }
  }

  const typename A::State& state() const { return state_; }

  /// Makes the lists of blocks for the next loop over objects.
  void make_lists(Executor& executor) const { detail::make_lists(executor, list_sources_); }

  /// What compaction keeps beside the heap.
  CompactionState compaction() const {
    return {entry_of_.data(), compaction_flags_.data(), reinterpret_cast<Word64*>(seen_.data()), kShardsOfType};
  }

  /// What tells lists of different objects apart. Waits for the device.
  std::vector<std::uint64_t> listed_at() const { return seen_.download(); }

  /// An upper bound on the listed blocks of a type.
  std::size_t list_capacity(int type) const {
    return std::size_t{state_.heap.pages} * state_.heap.types[type].blocks_per_page;
  }

  /// Live objects and blocks, two numbers per type. Waits for the device.
  std::vector<std::uint64_t> count_objects(Executor& executor) const {
    const std::uint32_t containers = state_.heap.types[0].allocated.level_size(0);
    DeviceArray<std::uint64_t> totals(2 * A::kTypes);
    totals.fill_bytes(0);
    executor.for_each_index(
        std::size_t{containers} * A::kTypes,
        CountObjects<Heap>{state_.heap, containers, reinterpret_cast<AtomicWord<std::uint64_t>*>(totals.data())});
    executor.synchronize();
    return totals.download();
  }

  /// Objects refused since the start: kRefusals numbers per type. Waits for the device.
  std::vector<std::uint64_t> refusals() const { return pieces64_[refusals_piece_].download(); }

  /// Objects created since the start, per type. Waits for the device.
  std::vector<std::uint64_t> created() const {
    using Counter = typename Heap::Counter;
    const std::vector<std::uint64_t> words = pieces64_[counts_piece_].download();
    std::vector<std::uint64_t> totals(A::kTypes);
    for (std::size_t i = 0; i < words.size(); i += Counter::kStride) totals[i / Counter::kWords] += words[i];
    return totals;
  }

  /// The misuse noted since the last call, which empties the record. @pre the device is idle
  std::vector<MisuseReport> take_misuse() {
    std::vector<MisuseReport> reports;
    if constexpr (kChecked) {
      const MisuseRecord record = misuse_.download().front();
      for (int kind = 0; kind < kMisuses; ++kind) {
        const std::uint64_t count = record.count[kind].load(Order::relaxed);
        if (count > 0) reports.push_back({static_cast<Misuse>(kind), count, record.first[kind], {}});
      }
      if (!reports.empty()) misuse_.fill_bytes(0);
    }
    return reports;
  }

  static constexpr std::size_t page_bytes() { return A::pages().bytes; }
  std::uint64_t pages() const { return state_.heap.pages; }

  /// Pages that belong to no type. Waits for the device.
  std::uint64_t count_free_pages() const {
    const std::vector<std::uint64_t> words = pieces64_[free_pages_piece_].download();
    std::uint64_t count = 0;
    for (std::uint32_t i = 0; i < Heap::Bits::containers(state_.heap.pages); ++i) {
      count += static_cast<std::uint64_t>(popcount(words[i]));
    }
    return count;
  }

  std::size_t heap_bytes() const { return objects_.bytes(); }

  /// Bytes of the state: bitmaps, tokens, lists.
  std::size_t state_bytes() const {
    std::size_t bytes = progress_.bytes() + seen_.bytes() + entry_of_.bytes() + compaction_flags_.bytes();
    for (const auto& piece : entries_) bytes += piece.bytes();
    for (const auto& piece : pieces64_) bytes += piece.bytes();
    for (const auto& piece : pieces32_) bytes += piece.bytes();
    return bytes;
  }

 private:
  using Word64 = AtomicWord<std::uint64_t>;
  using Word32 = AtomicWord<std::uint32_t>;

  static constexpr std::size_t kShardsOfType = 2 * static_cast<std::size_t>(Heap::Counter::kShards);

  void set_up_heap(Heap& heap, std::uint32_t pages, std::uint32_t warps) {
    constexpr auto kPages = A::pages();
    heap.pages = pages;
    heap.block_shift = static_cast<std::uint32_t>(std::countr_zero(kPages.block_stride));
    // Current blocks are partly full: all types' together may hold back an eighth of the pages at most.
    heap.current_count = std::clamp<std::uint32_t>(pages / (8 * A::kTypes), 1, warps);
    // With a page for each warp that starts, there would be none left; or three of four are taken.
    heap.plenty = pages < warps ? 64 : 16;
    heap.slots = reinterpret_cast<Word64*>(words64(heap.blocks(), 0xff));
    heap.token = atomics32(heap.blocks(), 0);
    heap.page_type = atomics32(pages, 0);
    heap.page_hint = page_hints(pages, heap.current_count);
    heap.full_at = reinterpret_cast<Word64*>(words64(A::kTypes, 0));
    // What is created and what is deleted is counted side by side: who makes lists looks at all of it.
    counts_piece_ = pieces64_.size();
    auto* const counts = reinterpret_cast<Word64*>(words64(A::kTypes * Heap::Counter::kWords, 0));
    refusals_piece_ = pieces64_.size();
    heap.refusals = reinterpret_cast<Word64*>(words64(A::kTypes * kRefusals, 0));
    heap.changes = counter();
    free_pages_piece_ = pieces64_.size();
    heap.free_pages = bitmap(pages, pages);
    for (int type = 0; type < A::kTypes; ++type) {
      typename Heap::TypeState& state = heap.types[type];
      state.empty = bitmap(heap.blocks(), 0);
      state.active = bitmap(heap.blocks(), 0);
      state.allocated = bitmap(heap.blocks(), 0);
      Word64* const counts_of_type = counts + static_cast<std::size_t>(type) * Heap::Counter::kWords;
      state.created = Heap::Counter::over(counts_of_type);
      state.deleted = Heap::Counter::over(counts_of_type + Heap::Counter::kStride / 2);
      state.open_blocks = counter();
      state.current = atomics32(heap.current_count, 0xff);  // kNoPosition
      state.fetching = atomics32(heap.current_count, 0);
      state.blocks_per_page = kPages.blocks_per_page[static_cast<std::size_t>(type)];
    }
  }

  void set_up_checks(Executor& executor, const FaultPlan& faults) {
    const std::size_t slots = std::size_t{state_.heap.blocks()} * kSlotsPerBlock;
    CheckState& checks = state_.checks;
    checks.tags = atomics32(slots, 0);
    // Generations of different handles start apart; 37 is odd, so that 256 handles start at 256 numbers.
    const auto first = static_cast<std::uint32_t>(HandleCount::made.fetch_add(1) * 37);
    executor.for_each_index(slots, FillWords{checks.tags, Tag::unused(first).bits()});
    executor.synchronize();
    misuse_ = DeviceArray<MisuseRecord>(1);
    misuse_.fill_bytes(0);
    checks.misuse = misuse_.data();
    loop_ = DeviceArray<LoopRecord>(1);
    loop_.fill_bytes(0);
    checks.loop = loop_.data();
    if constexpr (kCudaBackend) {
      scratch_ = DeviceArray<char>(A::largest_block_bytes());
      checks.scratch = scratch_.data();
    }
    checks.faults = {reinterpret_cast<Word64*>(words64(1, 0)), faults.first, faults.every};
  }

  /// A bitmap of `size` bits of which the first `set` are set.
  typename Heap::Bits bitmap(std::uint32_t size, std::uint32_t set) {
    using Bits = typename Heap::Bits;
    std::uint64_t* const words = words64(Bits::words_needed(size), 0);
    if (set > 0) {
      std::vector<std::uint64_t> values(pieces64_.back().size());
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = Bits::filled_word(size, set, i);
      pieces64_.back().upload(values);
    }
    return Bits::over(reinterpret_cast<Word64*>(words), size);
  }

  typename Heap::Counter counter() {
    return Heap::Counter::over(reinterpret_cast<Word64*>(words64(Heap::Counter::kWords, 0)));
  }

  /// Every warp starts to look for free pages in its own part of the heap.
  Word32* page_hints(std::uint32_t pages, std::uint32_t count) {
    Word32* const hints = atomics32(count, 0);
    std::vector<std::uint32_t> values(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      values[i] = static_cast<std::uint32_t>(std::uint64_t{pages} * i / count);
    }
    pieces32_.back().upload(values);
    return hints;
  }

  Word32* atomics32(std::size_t count, unsigned char fill) { return reinterpret_cast<Word32*>(words32(count, fill)); }

  std::uint64_t* words64(std::size_t count, unsigned char fill) {
    pieces64_.emplace_back(count).fill_bytes(fill);
    return pieces64_.back().data();
  }
  std::uint32_t* words32(std::size_t count, unsigned char fill) {
    pieces32_.emplace_back(count).fill_bytes(fill);
    return pieces32_.back().data();
  }

  typename A::State state_{};
  DeviceArray<MisuseRecord> misuse_;
  DeviceArray<LoopRecord> loop_;
  DeviceArray<char> scratch_;
  ListSources<Heap, A::kTypes> list_sources_{};
  DeviceArray<char> objects_;
  DeviceArray<ListProgress> progress_;
  DeviceArray<std::uint64_t> seen_;  // [types * kShardsOfType] see ListSources
  DeviceArray<std::uint32_t> entry_of_;
  DeviceArray<CompactionFlags> compaction_flags_;
  std::vector<DeviceArray<ListedBlock>> entries_;
  std::vector<DeviceArray<std::uint64_t>> pieces64_;
  std::vector<DeviceArray<std::uint32_t>> pieces32_;
  std::size_t counts_piece_ = 0;
  std::size_t refusals_piece_ = 0;
  std::size_t free_pages_piece_ = 0;
};

}  // namespace dynasoar::detail
