/// @file
/// HeapStorage: owns the memory of a heap, the objects' and the state's, sets it up and lets it grow. Used by
/// AllocatorHandle.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <dynasoar/allocator/block_heap.h>
#include <dynasoar/allocator/checks.h>
#include <dynasoar/allocator/compaction_state.h>
#include <dynasoar/allocator/handle.h>
#include <dynasoar/allocator/heap_size.h>
#include <dynasoar/allocator/heap_tasks.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/growing_memory.h>
#include <dynasoar/platform/loops.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

/// Counts the handles that a process has made, of whatever types.
struct HandleCount {
  inline static std::atomic<std::uint64_t> made{0};
};

/// The memory behind one allocator's State.
///
/// The heap is divided into pages; the state lies beside it, so that field arrays keep their alignment. Both can grow,
/// between loops, to a limit that is set at the start: addresses are reserved, and the levels of bitmaps laid out, for
/// the limit, so nothing ever moves.
///
/// @tparam A   a SoaAllocator of complete types
template <class A>
class HeapStorage {
 public:
  using Heap = typename A::Heap;
  static constexpr int kTypes = A::kTypes;
  static constexpr bool kGrows = true;

  /// @param size     in bytes for objects, rounded down to whole pages; the state takes some percent more. With a
  /// limit,
  ///                 or nothing given, the heap can grow
  /// @param faults   for checked builds: which allocations fail
  /// @throws Error if that is less than one page per type, more than a handle can address, or not to be had
  HeapStorage(Executor& executor, const HeapSize& size, const FaultPlan& faults) {
    constexpr auto kPages = A::pages();
    const bool grows = !size.bytes || size.limit;
    const std::size_t limit = size.limit ? *size.limit : grows ? affordable_bytes() : *size.bytes;
    const std::size_t bytes = size.bytes ? *size.bytes : std::min(limit, HeapSize::kDefault);
    if (bytes > limit) {
      throw Error("dynasoar: heap_bytes, " + std::to_string(bytes) + ", is more than heap_limit_bytes, " +
                  std::to_string(limit) + "; raise the limit or leave it out");
    }
    if (bytes / kPages.bytes < static_cast<std::size_t>(A::kTypes)) {
      throw Error("dynasoar: a heap of " + std::to_string(bytes) + " bytes is too small: " + std::to_string(A::kTypes) +
                  " classes in pages of " + std::to_string(kPages.bytes) + " bytes need at least " +
                  std::to_string(A::kTypes * kPages.bytes) + " bytes");
    }
    if (limit > Handle::kMaxHeapBytes || limit / kPages.bytes > most_pages()) {
      throw Error("dynasoar: a heap of " + std::to_string(limit) +
                  " bytes is too large for 48-bit offsets and 32-bit block numbers");
    }
    limit_pages_ = static_cast<std::uint32_t>(limit / kPages.bytes);
    grows_ = grows;
    lay_out(executor);
    if constexpr (kChecked) set_up_checks(faults);
    grow_to(executor, static_cast<std::uint32_t>(bytes / kPages.bytes));
    growths_ = 0;
    executor.synchronize();
  }

  const typename A::State& state() const { return state_; }

  /// Makes the lists of blocks for the next loop over objects.
  void make_lists(Executor& executor) const { detail::make_lists(executor, list_sources_); }

  /// What compaction keeps beside the heap.
  CompactionState compaction() const {
    return {entry_of_, compaction_flags_.data(), reinterpret_cast<Word64*>(seen_.data()), kShardsOfType};
  }

  /// What tells lists of different objects apart. Waits for the device.
  std::vector<std::uint64_t> listed_at() const { return seen_.download(); }

  /// An upper bound on the listed blocks of a type.
  std::size_t list_capacity(int type) const {
    return std::size_t{state_.heap.pages} * state_.heap.types[type].blocks_per_page;
  }

  /// Pages that the heap may have.
  std::uint64_t limit_pages() const { return limit_pages_; }

  /// How often the heap has grown.
  std::uint64_t growths() const { return growths_; }

  /// Gives the heap memory for `pages` pages in all, while loops run; those submitted from now on use it, once the new
  /// state is bound. Nothing happens if it has so many. @pre pages <= limit_pages(), nothing is being recorded
  /// @throws Error if there is no memory; then the heap is as it was
  void grow_to(Executor& executor, std::uint32_t pages) {
    const std::uint32_t before = state_.heap.pages;
    if (pages <= before) return;
    commit(pages);
    for (const Part& part : parts_) {
      if (part.fill == kLeftAlone) continue;
      executor.fill_bytes(part.memory.data() + part.bytes(before), static_cast<unsigned char>(part.fill),
                          part.bytes(pages) - part.bytes(before));
    }
    if constexpr (kChecked) {
      const std::size_t slots = kSlotsPerBlock << state_.heap.block_shift;
      executor.for_each_index(slots * (pages - before),
                              FillWords{state_.checks.tags + slots * before, Tag::unused(first_generation_).bits()});
    }
    set_sizes(executor, pages);
    Heap& heap = state_.heap;
    executor.for_each_index(heap.current_count, SpreadHints<Heap>{heap.page_hint, heap.current_count, before, pages});
    executor.for_each_index((pages - 1) / 64 - before / 64 + 1,
                            AddFreePages<Heap>{heap.free_pages, heap.changes, before, pages});
    ++growths_;
  }

  /// Makes the heap what it is at first, but for its size: no block is open, and there are no lists. Which pages are
  /// free, and that slots have never been used, is all that a checkpoint adds to it. @pre the device is idle
  ///
  /// @param first_generation   of slots; for checked builds
  void clear(Executor& executor, std::uint32_t first_generation) {
    Heap& heap = state_.heap;
    for (const Part& part : parts_) {
      if (part.fill == kLeftAlone) continue;
      executor.fill_bytes(part.memory.data(), static_cast<unsigned char>(part.fill), part.bytes(heap.pages));
      executor.fill_bytes(part.memory.data() + part.bytes(limit_pages_), 0, part.tail_bytes);
    }
    if constexpr (kChecked) {
      first_generation_ = first_generation;
      executor.for_each_index((kSlotsPerBlock << heap.block_shift) * heap.pages,
                              FillWords{state_.checks.tags, Tag::unused(first_generation).bits()});
    }
    executor.for_each_index(heap.current_count, SpreadHints<Heap>{heap.page_hint, heap.current_count, 0, heap.pages});
    executor.fill_bytes(heap.full_at, 0, A::kTypes * sizeof(std::uint64_t));
    for (int type = 0; type < A::kTypes; ++type) {
      const std::size_t words = heap.current_count * Heap::WarpWords::kStride;
      executor.fill_bytes(heap.types[type].current.words, 0xff, words * sizeof(std::uint32_t));  // kNoPosition
      executor.fill_bytes(state_.lists[type].count, 0, sizeof(std::uint32_t));
    }
  }

  /// That of slots that were never used; for checked builds.
  std::uint32_t first_generation() const { return first_generation_; }

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

  /// Bytes of the pages that so many objects of T need.
  template <class T>
  static constexpr std::size_t bytes_for(std::size_t objects) {
    return A::template heap_bytes_for<T>(objects);
  }

  std::uint64_t pages() const { return state_.heap.pages; }

  /// Pages that belong to no type. Waits for the device.
  std::uint64_t count_free_pages() const {
    std::uint64_t count = 0;
    std::vector<std::uint64_t> words(Heap::Bits::containers(state_.heap.pages));
    copy_from_device(words.data(), parts_[free_pages_part_].memory.data(), words.size() * sizeof(std::uint64_t));
    for (const std::uint64_t word : words) count += static_cast<std::uint64_t>(popcount(word));
    return count;
  }

  std::size_t heap_bytes() const { return pages() * page_bytes(); }
  std::size_t limit_bytes() const { return limit_pages() * page_bytes(); }

  /// Bytes of the state: bitmaps, tokens, lists.
  std::size_t state_bytes() const {
    std::size_t bytes = progress_.bytes() + seen_.bytes() + compaction_flags_.bytes();
    for (std::size_t i = 1; i < parts_.size(); ++i) bytes += parts_[i].memory.bytes();
    for (const auto& piece : pieces64_) bytes += piece.bytes();
    for (const auto& piece : pieces32_) bytes += piece.bytes();
    return bytes;
  }

 private:
  using Word64 = AtomicWord<std::uint64_t>;
  using Word32 = AtomicWord<std::uint32_t>;

  static constexpr std::size_t kShardsOfType = 2 * static_cast<std::size_t>(Heap::Counter::kShards);

  /// So many that all block numbers are positions.
  static constexpr std::size_t most_pages() { return (kStalePosition - 1) / A::pages().block_stride; }
  static constexpr int kLeftAlone = -1;  // not filled

  /// An array that grows with the number of pages.
  struct Part {
    GrowingMemory memory;
    std::size_t bits_per_page;
    int fill;                    ///< value of new bytes, or kLeftAlone
    std::size_t group;           ///< words that come together
    std::size_t tail_bytes = 0;  ///< behind those for the limit: upper levels of a bitmap

    /// For so many pages, in whole groups.
    std::size_t bytes(std::uint64_t pages) const {
      return (words_for(pages * bits_per_page) + group - 1) / group * group * sizeof(std::uint64_t);
    }
  };

  static constexpr std::size_t words_for(std::uint64_t bits) { return (bits + 63) / 64; }

  /// Bits of the state that a page needs, about.
  static constexpr std::size_t state_bits_per_page() {
    constexpr auto kPages = A::pages();
    std::size_t bits = 64 + kPages.block_stride * (64 + 32 + 32 + 4 * A::kTypes);
    for (const auto blocks : kPages.blocks_per_page) bits += blocks * 8 * sizeof(ListedBlock);
    return bits + (kChecked ? kPages.block_stride * kSlotsPerBlock * 32 : 0);
  }

  /// Most of the memory that is free, less what the state would take.
  static std::size_t affordable_bytes() {
    const std::size_t most = free_memory() / 16 * 15;
    const std::size_t pages = most / (A::pages().bytes + state_bits_per_page() / 8 + 1);
    return std::min<std::size_t>({pages, most_pages(), Handle::kMaxHeapBytes / A::pages().bytes}) * A::pages().bytes;
  }

  /// Reserves addresses for the limit, and makes views of 0 pages.
  void lay_out(Executor& executor) {
    constexpr auto kPages = A::pages();
    Heap& heap = state_.heap;
    heap.block_shift = static_cast<std::uint32_t>(std::countr_zero(kPages.block_stride));
    state_.base = part(8 * kPages.bytes, kLeftAlone);
    heap.slots = {reinterpret_cast<Word64*>(part(64 * kPages.block_stride, 0xff, Heap::BlockWords::kGroup))};
    heap.token = reinterpret_cast<Word32*>(part(32 * kPages.block_stride, 0));
    heap.page_type = reinterpret_cast<Word32*>(part(32, 0));
    const std::uint32_t most_current = current_count_for(limit_pages_, executor);
    heap.page_hint = warp_words(most_current, 0);
    heap.full_at = reinterpret_cast<Word64*>(words64(A::kTypes, 0));
    // What is created and what is deleted is counted side by side: who makes lists looks at all of it.
    counts_piece_ = pieces64_.size();
    auto* const counts = reinterpret_cast<Word64*>(words64(A::kTypes * Heap::Counter::kWords, 0));
    refusals_piece_ = pieces64_.size();
    heap.refusals = reinterpret_cast<Word64*>(words64(A::kTypes * kRefusals, 0));
    heap.changes = counter();
    free_pages_part_ = parts_.size();
    heap.free_pages = bitmap(executor, 1);
    for (std::size_t type = 0; type < A::kTypes; ++type) {
      typename Heap::TypeState& state = heap.types[type];
      state.empty = bitmap(executor, kPages.block_stride);
      state.active = bitmap(executor, kPages.block_stride);
      state.allocated = bitmap(executor, kPages.block_stride);
      Word64* const counts_of_type = counts + type * Heap::Counter::kWords;
      state.created = Heap::Counter::over(counts_of_type);
      state.deleted = Heap::Counter::over(counts_of_type + Heap::Counter::kStride / 2);
      state.open_blocks = counter();
      state.current = warp_words(most_current, 0xff);  // kNoPosition
      state.fetching = warp_words(most_current, 0);
      state.blocks_per_page = kPages.blocks_per_page[type];
      state_.lists[type] = {
          reinterpret_cast<ListedBlock*>(part(8 * sizeof(ListedBlock) * state.blocks_per_page, kLeftAlone)),
          words32(1, 0)};
    }
    entry_of_ = reinterpret_cast<std::uint32_t*>(part(32 * kPages.block_stride, 0));
    compaction_flags_ = DeviceArray<CompactionFlags>(A::kTypes);
    compaction_flags_.fill_bytes(0);
    progress_ = DeviceArray<ListProgress>(A::kTypes);
    progress_.fill_bytes(0);
    seen_ = DeviceArray<std::uint64_t>(kShardsOfType * A::kTypes);
    seen_.fill_bytes(0);
  }

  void set_up_checks(const FaultPlan& faults) {
    CheckState& checks = state_.checks;
    checks.tags = reinterpret_cast<Word32*>(part(32 * kSlotsPerBlock * A::pages().block_stride, kLeftAlone));
    // Generations of different handles start apart; 37 is odd, so that 256 handles start at 256 numbers.
    first_generation_ = static_cast<std::uint32_t>(HandleCount::made.fetch_add(1) * 37);
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

  /// Gets memory for all parts, or for none.
  void commit(std::uint32_t pages) {
    try {
      for (Part& part : parts_) part.memory.commit(part.bytes(pages));
    } catch (...) {
      for (Part& part : parts_) part.memory.take_back(part.bytes(state_.heap.pages));
      throw;
    }
  }

  /// Views of a heap of so many pages.
  void set_sizes(const Executor& executor, std::uint32_t pages) {
    Heap& heap = state_.heap;
    const std::uint32_t warps = executor.concurrent_warps();
    heap.pages = pages;
    heap.current_count = current_count_for(pages, executor);
    // With a page for each warp that starts, there would be none left; or three of four are taken.
    heap.plenty = pages < warps ? 64 : 16;
    heap.free_pages = heap.free_pages.first(pages);
    list_sources_.slots = heap.slots;
    for (int type = 0; type < A::kTypes; ++type) {
      typename Heap::TypeState& state = heap.types[type];
      state.empty = state.empty.first(heap.blocks());
      state.active = state.active.first(heap.blocks());
      state.allocated = state.allocated.first(heap.blocks());
      list_sources_.types[type] = {
          state.created,      state.deleted,           state.allocated,
          state_.lists[type], progress_.data() + type, reinterpret_cast<Word64*>(seen_.data() + kShardsOfType * type)};
    }
  }

  /// Current blocks are partly full: all types' together may hold back an eighth of the pages at most.
  static std::uint32_t current_count_for(std::uint32_t pages, const Executor& executor) {
    return std::clamp<std::uint32_t>(pages / (8 * A::kTypes), 1, executor.concurrent_warps());
  }

  /// An array of so many bits per page. @return its address
  char* part(std::size_t bits_per_page, int fill, std::size_t group = 1, std::size_t tail_bytes = 0) {
    Part part{{}, bits_per_page, fill, group, tail_bytes};
    part.memory = GrowingMemory(part.bytes(limit_pages_) + tail_bytes, tail_bytes, grows_);
    parts_.push_back(std::move(part));
    return parts_.back().memory.data();
  }

  /// A bitmap of so many bits per page, as yet without any. Its upper levels are there from the beginning.
  typename Heap::Bits bitmap(Executor& executor, std::uint32_t bits_per_page) {
    using Bits = typename Heap::Bits;
    const std::uint32_t limit = limit_pages_ * bits_per_page;
    const std::size_t upper_bytes = (Bits::words_needed(limit) - Bits::containers(limit)) * sizeof(std::uint64_t);
    char* const words = part(bits_per_page, 0, 1, upper_bytes);
    executor.fill_bytes(words + parts_.back().bytes(limit_pages_), 0, upper_bytes);
    return Bits::over(reinterpret_cast<Word64*>(words), limit).first(0);
  }

  typename Heap::Counter counter() {
    return Heap::Counter::over(reinterpret_cast<Word64*>(words64(Heap::Counter::kWords, 0)));
  }

  typename Heap::WarpWords warp_words(std::size_t count, unsigned char fill) {
    return {reinterpret_cast<Word32*>(words32(count * Heap::WarpWords::kStride, fill))};
  }

  std::uint64_t* words64(std::size_t count, unsigned char fill) {
    pieces64_.emplace_back(count).fill_bytes(fill);
    return pieces64_.back().data();
  }
  std::uint32_t* words32(std::size_t count, unsigned char fill) {
    pieces32_.emplace_back(count).fill_bytes(fill);
    return pieces32_.back().data();
  }

  typename A::State state_{};
  std::uint32_t limit_pages_ = 0;
  bool grows_ = false;
  std::uint64_t growths_ = 0;
  std::uint32_t first_generation_ = 0;
  DeviceArray<MisuseRecord> misuse_;
  DeviceArray<LoopRecord> loop_;
  DeviceArray<char> scratch_;
  ListSources<Heap, A::kTypes> list_sources_{};
  DeviceArray<ListProgress> progress_;
  DeviceArray<std::uint64_t> seen_;  // [types * kShardsOfType] see ListSources
  DeviceArray<CompactionFlags> compaction_flags_;
  std::uint32_t* entry_of_ = nullptr;  // see CompactionState
  std::vector<Part> parts_;            // the objects come first
  std::vector<DeviceArray<std::uint64_t>> pieces64_;
  std::vector<DeviceArray<std::uint32_t>> pieces32_;
  std::size_t counts_piece_ = 0;
  std::size_t refusals_piece_ = 0;
  std::size_t free_pages_part_ = 0;
};

}  // namespace dynasoar::detail
