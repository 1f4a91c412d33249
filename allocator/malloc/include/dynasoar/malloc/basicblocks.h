/// @file
/// Basicblocks: superblocks that are split into basicblocks of one size each, and lock-free lists of them by size. Used
/// by XMalloc.
///
/// Source: XMalloc (Huang et al. 2010) as Vinkler and Havran ("Register Efficient Dynamic Memory Allocator for GPUs",
/// section 2), ScatterAlloc (section 3) and DynaSOAr (section 6) describe it: requests are served from lists of freed
/// basicblocks, one for each size, and from a new superblock when the list is empty.
///
/// These papers leave the following open; this is our choice:
/// - Superblocks have 64 KiB; basicblocks 64 bytes to 16 KiB, in powers of two and halfway between them.
/// - The lists are stacks, in two levels: each superblock has a stack of its free basicblocks, and each size has a
///   stack of superblocks with free basicblocks. Heads carry a tag against ABA. A superblock with only free basicblocks
///   can be split into another size, even if it is in a list: when it reaches the list's head, it is moved to the right
///   list.
/// - Each multiprocessor has its own lists. If a thread finds its list empty, it searches all superblocks for one of
///   that size with free basicblocks, or one that is completely free. Only one warp of a multiprocessor at a time does
///   this.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/malloc/search_turn.h>
#include <dynasoar/malloc/size_steps.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// Sizes of basicblocks, by number: 64, 96, 128, 192, 256, ..., 16384.
struct BasicblockSize : SizeSteps<64> {
  static constexpr std::uint32_t kCount = 17;
};

/// The state in a superblock's word. All 0: never used.
struct SuperblockState {
  static constexpr std::uint32_t kUnused = 0;  ///< in place of a size
  static constexpr std::uint32_t kBusy = 1;    ///< in place of a size: a thread is changing the size
  static constexpr std::uint32_t kFirst = 2;   ///< size 0
  static constexpr std::uint32_t kBits = 12;   ///< of a basicblock's number, and of a count of them

  std::uint32_t head;   ///< first free basicblock, if there are any
  std::uint32_t free;   ///< free basicblocks
  std::uint32_t split;  ///< kFirst + number of the size
  bool listed;          ///< in a list, or held by a thread that will put it there or clear this
  std::uint32_t tag;    ///< changes with every change

  __device__ static SuperblockState of(std::uint64_t word) {
    const auto low = static_cast<std::uint32_t>(word);
    const std::uint32_t mask = (1u << kBits) - 1;
    return {low & mask, low >> kBits & mask, low >> 2 * kBits & 0x7F, low >> 31 != 0,
            static_cast<std::uint32_t>(word >> 32)};
  }
  __device__ std::uint64_t word() const {
    return std::uint64_t{tag} << 32 | std::uint64_t{listed} << 31 | split << 2 * kBits | free << kBits | head;
  }
  __device__ bool has(std::uint32_t size) const { return split == kFirst + size && free != 0; }
};

/// The superblocks of a heap.
///
/// A loop without a bound repeats a compare-and-swap that has failed because that of another thread succeeded.
///
/// @par Concurrency   everything may overlap; lock-free, with a bound after which a request is refused
class Basicblocks {
 public:
  static constexpr std::uint32_t kSuperblockBytes = 64 << 10;
  static constexpr std::uint32_t kMostBlocks = kSuperblockBytes / BasicblockSize::bytes(0);  ///< of a superblock
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

  using State = AtomicWord<std::uint64_t>;
  using Word = AtomicWord<std::uint32_t>;

  /// The list of a multiprocessor and a size, in a cache line of its own.
  struct alignas(128) List {
    State head;  ///< Head
    SearchTurn turn;
  };

  /// The number of a list's first superblock plus 1, or 0; and a count of removals.
  struct Head {
    std::uint32_t next;
    std::uint32_t tag;

    __device__ static Head of(std::uint64_t word) {
      return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
    }
    __device__ std::uint64_t word() const { return std::uint64_t{tag} << 32 | next; }
  };

  Basicblocks() = default;

  /// @param states, links   [superblocks], all 0
  /// @param blocks          [superblocks * kMostBlocks], all 0
  /// @param lists           [sets * BasicblockSize::kCount], all 0
  /// @param cursor          0
  Basicblocks(State* states, Word* links, Word* blocks, List* lists, Word* cursor, std::uint32_t superblocks,
              std::uint32_t sets)
      : states_(states),
        links_(links),
        blocks_(blocks),
        lists_(lists),
        cursor_(cursor),
        superblocks_(superblocks),
        sets_(sets) {}

  __host__ __device__ std::uint32_t superblocks() const { return superblocks_; }
  __host__ __device__ std::uint32_t sets() const { return sets_; }

  /// Takes a basicblock for the caller, divided into `parts` parts. @return its number, or kNone
  __device__ std::uint32_t take(std::uint32_t set, std::uint32_t size, std::uint32_t parts) const {
    const std::uint32_t block = find(list_of(set, size), size);
    // Threads get their parts only after this.
    if (block != kNone) blocks_[block].store(parts, Order::relaxed);
    return block;
  }

  /// Releases `parts` parts of a basicblock.
  __device__ void give(std::uint32_t set, std::uint32_t block, std::uint32_t parts) const {
    // acq_rel: the thread that releases the last part acquires the parts that the others have released.
    if (blocks_[block].fetch_add(0u - parts, Order::acq_rel) == parts) push_block(set, block);
  }

  /// The offset of a basicblock in the heap, in bytes.
  __device__ static std::size_t offset_of(std::uint32_t block, std::uint32_t size) {
    return std::size_t{block / kMostBlocks} * kSuperblockBytes + block % kMostBlocks * BasicblockSize::bytes(size);
  }

  /// The basicblock that contains a byte of the heap. @pre the basicblock is taken
  __device__ std::uint32_t block_at(std::size_t offset) const {
    const auto superblock = static_cast<std::uint32_t>(offset / kSuperblockBytes);
    // The size cannot change as long as not all basicblocks are free.
    const std::uint32_t size =
        SuperblockState::of(states_[superblock].load(Order::relaxed)).split - SuperblockState::kFirst;
    return superblock * kMostBlocks +
           static_cast<std::uint32_t>(offset % kSuperblockBytes) / BasicblockSize::bytes(size);
  }

 private:
  static constexpr int kRounds = 4 * PlatformAtomics::kPatience;  // tries with a list before a request gives up
  static constexpr int kTidies = 1 << 16;                         // outdated entries that one try corrects
  static constexpr std::uint32_t kLooks = 8;                      // superblocks with overlapping loads

  __device__ List& list_of(std::uint32_t set, std::uint32_t size) const {
    return lists_[set * BasicblockSize::kCount + size];
  }

  /// The number of basicblocks of a superblock. If a thread is changing its size, the number is greater than that of
  /// free ones can be.
  __device__ static std::uint32_t blocks_in(std::uint32_t split) {
    if (split == SuperblockState::kUnused) return 0;
    if (split == SuperblockState::kBusy) return kMostBlocks + 1;
    return kSuperblockBytes / BasicblockSize::bytes(split - SuperblockState::kFirst);
  }

  __device__ std::uint32_t find(List& list, std::uint32_t size) const {
    const std::uint32_t since = list.turn.now();
    for (int round = 0; round < kRounds; ++round) {
      std::uint32_t block = take_listed(list, size);
      if (block != kNone) return block;
      if (list.turn.try_begin()) {
        // The previous thread may have found one meanwhile.
        block = take_listed(list, size);
        if (block == kNone) block = search(list, size);
        list.turn.end(block != kNone);
        return block;
      }
      if (list.turn.has_failed_since(since)) return kNone;
      PlatformAtomics::pause(round);
    }
    return kNone;
  }

  /// A basicblock of the list's first superblock, after outdated entries in front of it have been corrected.
  __device__ std::uint32_t take_listed(List& list, std::uint32_t size) const {
    for (int i = 0; i < kTidies; ++i) {
      // Acquires the links from push_superblock.
      const Head head = Head::of(list.head.load(Order::acquire));
      if (head.next == 0) return kNone;
      const std::uint32_t block = take_from(head.next - 1, size);
      if (block != kNone) return block;
      put_right(list, head);
    }
    return kNone;
  }

  /// A basicblock of a superblock, if it has any of that size.
  __device__ std::uint32_t take_from(std::uint32_t superblock, std::uint32_t size) const {
    for (;;) {
      // Acquires the links from push_block.
      std::uint64_t found = states_[superblock].load(Order::acquire);
      SuperblockState state = SuperblockState::of(found);
      if (!state.has(size)) return kNone;
      const std::uint32_t block = superblock * kMostBlocks + state.head;
      state.head = (state.head + 1 + blocks_[block].load(Order::relaxed)) % (1u << SuperblockState::kBits);
      --state.free;
      ++state.tag;
      // Acquires the basicblock from push_block, after all accesses of its last owners.
      if (states_[superblock].compare_exchange(found, state.word(), Order::acquire)) return block;
    }
  }

  /// A basicblock of any superblock that has free ones, or is completely free. Checks each superblock once.
  __device__ std::uint32_t search(List& list, std::uint32_t size) const {
    const std::uint32_t start = cursor_->fetch_add(1, Order::relaxed) % superblocks_;
    for (std::uint32_t i = 0; i < superblocks_; i += kLooks) {
      // The loads are independent, so they overlap.
      std::uint32_t promising = 0;
      for (std::uint32_t k = 0; k < kLooks; ++k) {
        const auto state = SuperblockState::of(states_[(start + i + k) % superblocks_].load(Order::relaxed));
        promising |= std::uint32_t{state.has(size) || state.free == blocks_in(state.split)} << k;
      }
      for (; promising != 0; promising &= promising - 1) {
        const auto k = static_cast<std::uint32_t>(lowest_bit(promising));
        const std::uint32_t superblock = (start + i + k) % superblocks_;
        std::uint32_t block = take_from(superblock, size);
        if (block == kNone) block = split(list, superblock, size);
        if (block != kNone) return block;
      }
    }
    return kNone;
  }

  /// Splits a completely free superblock into basicblocks. @return the first one, for the caller, or kNone
  __device__ std::uint32_t split(List& list, std::uint32_t superblock, std::uint32_t size) const {
    State& word = states_[superblock];
    std::uint64_t found = word.load(Order::relaxed);
    SuperblockState state = SuperblockState::of(found);
    const std::uint32_t old_blocks = blocks_in(state.split);
    if (state.free != old_blocks) return kNone;
    state.split = SuperblockState::kBusy;
    ++state.tag;
    // Acquires the superblock from push_block, after all accesses of the last owners.
    if (!word.compare_exchange(found, state.word(), Order::acquire)) return kNone;
    // A link of 0 leads to the next basicblock.
    for (std::uint32_t i = 0; i < old_blocks; ++i) blocks_[superblock * kMostBlocks + i].store(0, Order::relaxed);
    found = state.word();
    SuperblockState ready{1, 0, SuperblockState::kFirst + size, true, 0};
    ready.free = blocks_in(ready.split) - 1;
    do {
      ready.tag = SuperblockState::of(found).tag + 1;
      // Releases the links to take_from. Meanwhile other threads may note that it is no longer in a list.
    } while (!word.compare_exchange(found, ready.word(), Order::release));
    if (!SuperblockState::of(found).listed) push_superblock(list, superblock);
    return superblock * kMostBlocks;
  }

  __device__ void push_block(std::uint32_t set, std::uint32_t block) const {
    const std::uint32_t superblock = block / kMostBlocks;
    std::uint64_t found = states_[superblock].load(Order::relaxed);
    SuperblockState before;
    SuperblockState state;
    do {
      before = state = SuperblockState::of(found);
      blocks_[block].store((before.head - block % kMostBlocks - 1) % (1u << SuperblockState::kBits), Order::relaxed);
      state.head = block % kMostBlocks;
      state.listed = true;
      ++state.free;
      ++state.tag;
      // Releases the link to take_from, and the basicblock to take_from and split.
    } while (!states_[superblock].compare_exchange(found, state.word(), Order::release));
    if (!before.listed) push_superblock(list_of(set, state.split - SuperblockState::kFirst), superblock);
  }

  __device__ void push_superblock(List& list, std::uint32_t superblock) const {
    std::uint64_t found = list.head.load(Order::relaxed);
    Head head;
    do {
      head = Head::of(found);
      links_[superblock].store(head.next, Order::relaxed);
      // Releases the link to take_listed.
    } while (!list.head.compare_exchange(found, Head{superblock + 1, head.tag}.word(), Order::release));
  }

  /// Removes a list's first superblock, which has no basicblock for this list. If it has been split again, moves it to
  /// the right list.
  __device__ void put_right(List& list, Head head) const {
    const std::uint32_t superblock = head.next - 1;
    std::uint64_t found = head.word();
    const Head next{links_[superblock].load(Order::relaxed), head.tag + 1};
    // relaxed: keeps the release of push_superblock for threads that acquire the head.
    if (!list.head.compare_exchange(found, next.word(), Order::relaxed)) return;
    found = states_[superblock].load(Order::relaxed);
    for (;;) {
      SuperblockState state = SuperblockState::of(found);
      if (state.split >= SuperblockState::kFirst && state.free != 0) {
        // The number of this list's multiprocessor: its lists are adjacent.
        const auto set = static_cast<std::uint32_t>(&list - lists_) / BasicblockSize::kCount;
        return push_superblock(list_of(set, state.split - SuperblockState::kFirst), superblock);
      }
      state.listed = false;
      ++state.tag;
      if (states_[superblock].compare_exchange(found, state.word(), Order::relaxed)) return;
    }
  }

  State* states_;
  Word* links_;
  Word* blocks_;  // free basicblock: link to the next; other: number of unreleased parts
  List* lists_;
  Word* cursor_;  // start of the next search
  std::uint32_t superblocks_;
  std::uint32_t sets_;
};

}  // namespace dynasoar::detail
