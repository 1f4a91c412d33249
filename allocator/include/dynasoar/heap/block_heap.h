/// @file
/// BlockHeap: the lock-free state machine that hands out slots. Used by SoaAllocator, which knows the C++ types.
///
/// Source: DynaSOAr, sections 3 and 5, algorithms 1, 2, 6 and 7, with three changes: blocks are grouped in pages, so
/// that all of them have 64 slots whatever the type; every warp keeps one *current block* per type, so that most
/// requests search nothing; and a request ends when the heap is full.
///
/// A block is
///   - closed: no object in it, all its slot bits set (which is what makes stale hints harmless); it lies in a free
///     page, or is listed among its type's empty blocks;
///   - open: its bit is set in `allocated` of its type. If it has a free slot it is either listed in `active`, or owned
///     by the warp that opened it and has it as its current block, which its *ownership token* says; never both. If
///     it is full it is neither. A block that a search found may be a warp's current block as well; then the entry is a
///     hint, which says nothing about the block.
/// Whoever makes a slot bitmap full, not full any more or empty (it learns so from the value its atomic returns) does
/// the bookkeeping for that change alone. See docs/allocator.md for every transition and the atomic that makes it.
///
/// What is free is counted: pages, empty blocks of a type, and slots in its open blocks. Whatever goes from one of
/// these to another, or into use, is counted where it goes before it is no longer counted where it was. So who reads
/// first how much has left, and then how much has come, may find too much that is free, but never too little.
#pragma once

#include <cstdint>
#include <type_traits>

#include <dynasoar/heap/bitmap.h>
#include <dynasoar/heap/heap_state.h>
#include <dynasoar/heap/refusal.h>
#include <dynasoar/heap/tally.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/backend.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/view.h>

namespace dynasoar {

/// Slots of one block that belong to the caller; none if `slots` is 0.
struct Reservation {
  std::uint32_t block;
  std::uint64_t slots;
  Refusal refusal;
};

/// What makes requests fast; each can be left out, to measure what it is worth (DynaSOAr, section 7.3). See
/// ReducedSoaAllocator.
struct AllFeatures {
  static constexpr bool kCombines = true;            ///< lanes of a warp ask as one; SoaAllocator does that
  static constexpr bool kRotates = true;             ///< each warp starts its searches at another place
  static constexpr bool kKeepsCurrentBlocks = true;  ///< each warp keeps the block that it opened or found last
};

/// Instead of a number of types: any, as many as `types` has, which lie elsewhere.
inline constexpr int kAnyNumber = 0;

/// The operations on a heap.
///
/// On a CPU, programs use the one of any number of types, which is compiled once (block_heap.cpp). On a GPU the number
/// is known, so that the whole state fits into constant memory.
///
/// @tparam kTypes          number of types, or kAnyNumber
/// @tparam Atomics         atomics policy, see PlatformAtomics
/// @tparam kSlots          slots per block, 64 but in model checking
/// @tparam kContainerBits  bits per bitmap container, likewise
/// @tparam Features        AllFeatures, or a struct with the same members
/// @par Concurrency   all operations may overlap; lock-free but for the waits described in Bitmap
template <int kTypes, class Atomics = PlatformAtomics, int kSlots = 64, int kContainerBits = 64,
          class Features = AllFeatures>
class BlockHeap : public HeapState<Atomics, kContainerBits> {
  using State = HeapState<Atomics, kContainerBits>;

 public:
  using typename State::Bits;
  using typename State::BlockWords;
  using typename State::Counter;
  using typename State::TypeState;
  using typename State::WarpWords;
  template <class T>
  using Word = typename State::template Word<T>;

  using State::block_shift, State::block_stride, State::blocks, State::current_count, State::free_pages, State::full_at,
      State::kHalfFree, State::page_hint, State::page_type, State::pages, State::pages_freed, State::pages_taken,
      State::plenty, State::refusals, State::slots, State::token, State::token_of, State::type_of_token;

  static constexpr std::uint64_t kAllSlots = detail::first_bits(kSlots);

  std::conditional_t<kTypes == kAnyNumber, detail::View<TypeState>, TypeState[kTypes == kAnyNumber ? 1 : kTypes]> types;

  /// Reserves up to `want` slots in one block of a type.
  ///
  /// @param want   number of slots, 1 to 64
  /// @param who    the requesting warp: equal requesters search in equal order
  /// @return       at least one slot, or none and the reason
  /// @par Progress   at most kRounds rounds, each lock-free but for the waits described in Bitmap
  /// @par Cost       6 loads and 1 atomic while the warp's current block lasts
  __device__ Reservation allocate(int type, int want, std::uint32_t who) const;

  /// Blocks of which the caller has all slots: bit i stands for block `first + i`.
  using Blocks = typename Bits::Candidates;

  /// Opens closed blocks with all of their slots reserved, where there is nothing better: while blocks are listed that
  /// have free slots, or pages are scarce, there are none for who wants whole ones. Then `allocate` is the way.
  ///
  /// @param want   number of blocks, 1 to 64
  /// @return       up to so many, or none
  /// @par Cost     three atomics, and one per block that nobody waits for
  __device__ Blocks allocate_blocks(int type, int want, std::uint32_t who) const;

  /// What slots of a block were taken a moment ago, for who is about to release some of them: on a GPU, it is there
  /// when it is needed if it is asked for early. 0: unknown.
  __device__ std::uint64_t taken(std::uint32_t block) const {
    // relaxed: a hint. A CPU would have to fetch the line twice, to read it and to change it.
    return Atomics::kReadsAhead ? slots[block].load(Order::relaxed) : 0;
  }

  /// Gives slots of a block of `type` back. @pre the caller owns them, and objects in them are not used any more
  ///
  /// @param taken   from the function of that name, or 0
  __device__ void release(std::uint32_t block, int type, std::uint64_t mask, std::uint32_t who,
                          std::uint64_t taken) const;

  /// Fills free slots of an open block with objects that come from other blocks of its type; for compaction, which runs
  /// while nobody asks for slots. They are not counted as created. @pre the slots of the mask are free
  __device__ void move_in(std::uint32_t block, int type, std::uint64_t mask, std::uint32_t who) const;

  /// Gives slots back whose objects are in other blocks now; they are not counted as deleted.
  __device__ void move_out(std::uint32_t block, int type, std::uint64_t mask, std::uint32_t who) const;

  /// Type index of the page of a block. @pre the caller holds a slot of the block
  __device__ int type_of(std::uint32_t block) const {
    if constexpr (kTypes == 1) return 0;  // also keeps g++ from warning about types[1] in allocators of one class
    // relaxed: holding a slot (acquire in take_slots) orders it after the opener.
    return static_cast<int>(page_type[block >> block_shift].load(Order::relaxed));
  }

  /// Adds to the record of refused objects.
  __device__ void record_refusal(int type, Refusal why, int objects) const {
    // relaxed: a count, read when the device is idle.
    refusals[type * kRefusals + static_cast<int>(why)].add(static_cast<std::uint64_t>(objects), Order::relaxed);
  }

 private:
  // More searches and tries fill more of the listed blocks, and cost time where many warps compete for them. Warps that
  // share a starting point fill blocks to the brim while others drain, but compete.
  static constexpr int kSearches = 2;           // searches for a listed block before a new one is opened
  static constexpr int kTriesPerContainer = 2;  // listed blocks tried per search
  static constexpr int kTakeTries = 8;          // tries to take an empty block or a free page in one round
  static constexpr int kSharingRounds = Atomics::kPatience / 2;        // rounds that leave it to another to get a page
  static constexpr int kRounds = Atomics::kPatience + kSharingRounds;  // after which a request gives up as contended
  static constexpr std::uint32_t kWarpsPerMultiprocessor = 64;         // numbers of warps of one
  static constexpr std::uint32_t kFewWarps = 8;          // so many of them read ahead what all others read, too
  static constexpr std::uint32_t kSpread = 2654435761u;  // 2^32 / golden ratio: multiples lie evenly apart
  static constexpr int kHalf = kSlots / 2;
  static constexpr std::uint64_t kUpperHalf = kAllSlots & ~detail::first_bits(kSlots - kHalf);

  /// What a request has read when it comes to search: read early, because each takes a while. Hints.
  struct Surroundings {
    std::uint32_t page;  ///< where the warp's searches for pages start
    std::uint64_t near;  ///< free pages in its container
    bool any_listed;     ///< whether it is worth looking for listed blocks of the type
    bool has_current;    ///< whether the warp has a current block
  };

  enum class Verdict { found, full, unsettled };

  static __device__ Reservation nothing() { return {kNoPosition, 0, Refusal::contended}; }

  /// Nothing yet, but another warp is about to bring empty blocks.
  static __device__ Reservation nothing_yet() { return {kStalePosition, 0, Refusal::contended}; }

  /// Whether a warp is among the first of its multiprocessor, going by how CudaWarp::id() numbers them. All warps
  /// together would read the roots of bitmaps faster than one place in memory can be read; where there are few of them,
  /// none need wait for that.
  __device__ static bool is_one_of_few(std::uint32_t who) { return who % kWarpsPerMultiprocessor < kFewWarps; }

  /// A warp's entry in tables of current_count entries; in small heaps, several warps share one.
  __device__ std::uint32_t current_slot(std::uint32_t who) const {
    const auto shared = static_cast<std::uint32_t>((std::uint64_t{who * kSpread} * current_count) >> 32);
    return who < current_count ? who : shared;
  }

  /// Where a warp's searches start, as a fraction of the bitmap; see Bitmap::position_at.
  __device__ static std::uint32_t starting_point(std::uint32_t who) { return Features::kRotates ? who * kSpread : 0; }

  __device__ static std::uint64_t number_of(std::uint64_t slots) {
    return static_cast<std::uint64_t>(detail::popcount(slots));
  }

  /// Counts the slots that a request got in a block that was open. @return its argument
  __device__ Reservation counted(int type, const Reservation& found) const {
    // In the order of changes of this word, the opener's release came before; see open. kCounted: partner is the
    // acquire of a search, which, if it knows of an object, must know of the deletion that made room for it.
    if (found.slots != 0) types[type].created.add(found.block, number_of(found.slots), Atomics::kCounted);
    return found;
  }

  /// One round of an allocation.
  ///
  /// What most requests do comes before any loop, and calls nothing that is not inlined: at the head of a loop and of a
  /// function, a GPU may let go of the lanes that wait for this one. From then on they run, and ask, apart from it.
  ///
  /// @param shares   whether to leave it to another warp to get a page, if one is about to: then nothing_yet()
  __device__ Reservation look_around(int type, int want, std::uint32_t who, bool shares) const {
    Surroundings around;
    const Reservation found = from_hints(type, want, who, around);
    return found.slots != 0 ? found : from_search(type, want, who, around, shares);
  }

  /// More rounds, until one finds something, or the heap is full, or there were kRounds of them.
  ///
  /// Not inlined: in every call of make_new it would be half of the machine code, and take registers.
  ///
  /// @param[in,out] found   what the first round found, which is nothing
  [[gnu::noinline]] __device__ void keep_looking(int type, int want, std::uint32_t who, Reservation& found) const {
    for (int round = 0; found.slots == 0; found = look_around(type, want, who, round < kSharingRounds)) {
      const bool waits = found.block == kStalePosition;
      if (!waits && (round % Atomics::kRoundsPerSearch == 0 || round + 1 == kRounds)) {
        const Verdict verdict = search_exhaustively(type, want, who, found);
        if (verdict == Verdict::full) found = {kNoPosition, 0, Refusal::heap_full};
        if (verdict != Verdict::unsettled) return;
      }
      Atomics::pause(waits && round > 3 ? 3 : round);  // a page takes a few us
      if (++round == kRounds) {
        found = nothing();
        return;
      }
    }
  }

  /// Where most requests succeed: a block listed in the warp's own container of the active bitmap, which no other warp
  /// looks at first, else the warp's current block.
  ///
  /// @param[out] around   for the search, if it comes to that
  __device__ Reservation from_hints(int type, int want, std::uint32_t who, Surroundings& around) const {
    const Bits& active = types[type].active;
    const std::uint32_t start = active.position_at(starting_point(who));
    const std::uint32_t container = start / kContainerBits;
    // relaxed: hints; reserve finds out what became of the blocks. Read together, because each takes a while.
    const std::uint64_t listed = active.container(0, container);
    const std::uint32_t current = types[type].current[current_slot(who)].load(Order::relaxed);
    around.page = free_pages.position_at(starting_point(who));
    around.near = free_pages.container(0, around.page / kContainerBits);
    around.any_listed = !is_one_of_few(who) || !active.seems_empty();
    around.has_current = current != kNoPosition;
    Reservation found = from_container(type, want, who, {container * kContainerBits, listed}, start);
    if (found.slots == 0 && current != kNoPosition) {
      const std::uint32_t block = current & ~kHalfFree;
      const bool has_half = want == kHalf && block != current;
      found = {block, has_half ? reserve_half(block, type, who) : reserve(block, type, want, who), {}};
    }
    return counted(type, found);
  }

  /// Searches the bitmaps: a listed block, else a new one.
  __device__ Reservation from_search(int type, int want, std::uint32_t who, Surroundings around, bool shares) const {
    const TypeState& state = types[type];
    // relaxed: hints, all under way together. Here, because from_listed_block has a loop, see look_around.
    typename Bits::Overview listed{0, 0};
    if (around.any_listed) listed = state.active.overview(state.active.position_at(starting_point(who)));
    const bool any_closed = state.blocks_per_page > 1 && !state.empty.seems_empty();
    if (around.near == 0) {  // nothing left where the warp looks first: where it found its last page
      around.page = page_hint[current_slot(who)].load(Order::relaxed);
      around.near = free_pages.container(0, around.page / kContainerBits);
    }
    if (listed.top != 0) {
      const Reservation found = counted(type, from_listed_block(type, want, who, listed));
      if (found.slots != 0) {
        // Where there was less than what was asked for, hardly anything is left.
        if (detail::popcount(found.slots) == want) adopt(found.block, type, who, around.has_current);
        return found;
      }
    }
    return from_new_block(type, want, who, any_closed, around.page, around.near, shares);
  }

  /// A listed block anywhere, from one starting point after the other.
  ///
  /// @param seen   the bitmap's overview from the first of them
  __device__ Reservation from_listed_block(int type, int want, std::uint32_t who, typename Bits::Overview seen) const {
    const Bits& active = types[type].active;
    std::uint32_t point = starting_point(who);
    std::uint32_t start = active.position_at(point);
    for (int i = 1;; ++i) {
      const typename Bits::Candidates listed = active.find_container(start, seen);
      if (listed.first == kNoPosition) return nothing();
      if (listed.first != kStalePosition) {
        const Reservation found = from_container(type, want, who, listed, start);
        if (found.slots != 0) return found;
      }
      if (i == kSearches) return nothing();
      point += kSpread;
      start = active.position_at(point);
      seen = active.overview(start);
    }
  }

  /// One of a few listed blocks of a container.
  __device__ Reservation from_container(int type, int want, std::uint32_t who, typename Bits::Candidates listed,
                                        std::uint32_t start) const {
    DYNASOAR_UNROLL()
    for (int i = 0; i < kTriesPerContainer; ++i) {
      if (listed.bits == 0) break;
      const std::uint32_t offset = Bits::first_of(listed.bits, start);
      listed.bits &= ~(std::uint64_t{1} << offset);
      const std::uint32_t block = listed.first + offset;
      if (const std::uint64_t got = reserve(block, type, want, who); got != 0) return {block, got, {}};
    }
    return nothing();
  }

  /// An empty block of the type, if it is worth looking for one, else the first block of a free page; counted.
  ///
  /// @param page     where to look for a free page first
  /// @param near     the bits of its container
  /// @param shares   whether to take a page only if no other warp of the group is about to; see fetches
  __device__ Reservation from_new_block(int type, int want, std::uint32_t who, bool any_closed, std::uint32_t page,
                                        std::uint64_t near, bool shares) const {
    const TypeState& state = types[type];
    if (!any_closed && near == 0 && free_pages.seems_empty()) return nothing();  // quick when the heap is full
    shares = shares && detail::popcount(near) <= plenty;
    const bool fetches_page = shares && !any_closed;
    const bool leaves_pages = shares && any_closed;
    if (fetches_page && !fetches(type, who)) return nothing_yet();
    std::uint32_t block = kNoPosition;
    if (any_closed) block = state.empty.clear_any(state.empty.position_at(starting_point(who)), kTakeTries);
    const bool was_empty = is_position(block);
    if (!was_empty && !leaves_pages) block = first_block_of_free_page(type, page, near, who);
    if (!is_position(block)) {
      if (fetches_page) fetching(type, who).store(0, Order::relaxed);
      return leaves_pages ? nothing_yet() : nothing();
    }
    const Reservation found = {block, open(block, type, want, who), {}};
    if (fetches_page) fetching(type, who).store(0, Order::relaxed);
    count_taken(type, was_empty, block, 1);
    return found;
  }

  /// Whether it is for the caller to get a page for its group: as many warps as a page has blocks, or, in small heaps,
  /// more.
  ///
  /// Thousands of warps that start together would take a page each, for one block of it. The others wait instead: what
  /// the page has is soon among the type's empty blocks, and where warps share a current block, in that. All types are
  /// treated alike: one whose warps take pages as they please would leave none to the others. They wait for
  /// kSharingRounds rounds at most, so the word says only who waits. relaxed: as for any hint.
  __device__ bool fetches(int type, std::uint32_t who) const {
    if (fetching(type, who).exchange(1, Order::relaxed) != 0) return false;
    if (types[type].empty.seems_empty()) return true;
    fetching(type, who).store(0, Order::relaxed);  // the last one's page came between the two looks
    return false;
  }

  __device__ Word<std::uint32_t>& fetching(int type, std::uint32_t who) const {
    return types[type].fetching[current_slot(who / types[type].blocks_per_page)];
  }

  /// Makes a free page one of `type`; its other blocks become empty blocks. @return its first block, or kNoPosition
  ///
  /// @param hint   a page to start from
  /// @param near   the bits of its container
  __device__ std::uint32_t first_block_of_free_page(int type, std::uint32_t hint, std::uint64_t near,
                                                    std::uint32_t who) const {
    const std::uint32_t page = free_pages.clear_any(hint, near, kTakeTries);
    if (!is_position(page)) return kNoPosition;
    if (page != hint) page_hint[current_slot(who)].store(page, Order::relaxed);
    // relaxed: published by the releases of set_many and open.
    page_type[page].store(static_cast<std::uint32_t>(type), Order::relaxed);
    const std::uint32_t block = page << block_shift;
    if (types[type].blocks_per_page > 1) {
      // relaxed: published by the releases of set_many, and by that of open for who knows that the page is taken.
      types[type].emptied.add(block, types[type].blocks_per_page - 1, Order::relaxed);
      types[type].empty.set_many(block, page_mask(block, type) & ~(std::uint64_t{1} << block % kContainerBits));
      if (types[type].blocks_per_page > kContainerBits) {
        list_blocks(block + kContainerBits, block + types[type].blocks_per_page, type);
      }
    }
    return block;
  }

  /// Takes closed blocks of one container: empty ones of the type, or those of free pages, or of a page. Whatever else
  /// is in a page becomes an empty block.
  ///
  /// @param[out] were_empty   whether they are no blocks of free pages; see count_taken
  __device__ Blocks take_closed_blocks(int type, int want, std::uint32_t who, bool& were_empty) const {
    const TypeState& state = types[type];
    were_empty = false;
    const std::uint32_t hint = page_hint[current_slot(who)].load(Order::relaxed);
    if (block_shift == 0) {  // a page is a block
      const Blocks taken = free_pages.clear_some(hint, want);
      if (taken.bits == 0) return taken;
      if (taken.first != hint) page_hint[current_slot(who)].store(taken.first, Order::relaxed);
      // relaxed: published by the fence of open_full.
      for_each_block(taken, [&](std::uint32_t block) {
        page_type[block].store(static_cast<std::uint32_t>(type), Order::relaxed);
      });
      return taken;
    }
    if (state.blocks_per_page > 1 && !state.empty.seems_empty()) {
      were_empty = true;
      return state.empty.clear_some(state.empty.position_at(starting_point(who)), want);
    }
    const std::uint64_t near = free_pages.container(0, hint / kContainerBits);
    if (detail::popcount(near) <= plenty) return {kNoPosition, 0};
    const std::uint32_t block = first_block_of_free_page(type, hint, near, who);
    if (!is_position(block)) return {kNoPosition, 0};
    const std::uint32_t offset = block % kContainerBits;
    return {block - offset, std::uint64_t{1} << offset};
  }

  template <class F>
  static __device__ void for_each_block(const Blocks& blocks, const F& function) {
    for (std::uint64_t left = blocks.bits; left != 0; left &= left - 1) {
      function(blocks.first + static_cast<std::uint32_t>(detail::lowest_bit(left)));
    }
  }

  /// Counts that blocks are no free pages, or empty blocks, any more. @pre they have been counted as open, and a
  /// release fence came after that: partner is the acquire of a search
  __device__ void count_taken(int type, bool were_empty, std::uint32_t key, std::uint64_t number) const {
    (were_empty ? types[type].reused : pages_taken).add(key, number, Order::relaxed);
  }

  /// Opens closed blocks that the caller has taken, with all of their slots reserved. As `open`, but what is full need
  /// be nobody's current block, so there is no token; the slot bits stay as they are; a block is listed when the first
  /// of its slots is given back.
  __device__ void open_full(const Blocks& blocks, int type) const {
    types[type].allocated.set_many(blocks.first, blocks.bits);
    for_each_block(blocks, [&](std::uint32_t block) { types[type].opened.add(block, 1, Order::relaxed); });
    // Partner is the acquire of a search, as in open; and whoever is given an object by the caller, and passes its slot
    // on, has seen the type. On a GPU, where completing a change is relaxed, this is also what that needs.
    Atomics::fence(Order::release);
    types[type].created.add(blocks.first, number_of(blocks.bits) * kSlots, Order::relaxed);
  }

  /// Lists blocks of a page as empty: those from `begin`, where a container begins, or the page, to `end`.
  [[gnu::noinline]] __device__ void list_blocks(std::uint32_t begin, std::uint32_t end, int type) const {
    for (; begin < end; begin += kContainerBits) types[type].empty.set_many(begin, page_mask(begin, type));
  }

  /// Opens a closed block that the caller has taken, with its own slots reserved. @return those slots
  __device__ std::uint64_t open(std::uint32_t block, int type, int want, std::uint32_t who) const {
    const std::uint64_t mine = detail::first_bits(want < kSlots ? want : kSlots);
    // What has no order of its own is under way together, because each takes a while.
    const std::uint64_t before = types[type].allocated.begin_set(block, Order::relaxed);
    types[type].opened.add(block, 1, Order::relaxed);
    // kCounted: partner is the acquire of a replacer, which may have had the block in an earlier life, and lists it
    // under the type that the token says: after that life's end, which the opener has seen.
    token[block].store(token_of(type), Atomics::kCounted);
    Atomics::fence(Order::release);
    // Partner is the acquire of a search: who knows of objects in the block, from this or from who takes slots after
    // the store, knows that the block is open.
    types[type].created.add(block, number_of(mine), Order::relaxed);
    // Partner is the acquire in take_slots: who gets a slot sees the type, the token, the allocated bit and that the
    // block is counted as open.
    slots[block].store(mine, Atomics::kFenced);
    replace_current(block, type, who, want == kHalf ? kHalfFree : 0);
    types[type].allocated.finish_set(block, before, Order::relaxed);
    if (mine == kAllSlots) settle_filled(block, type, who);
    return mine;
  }

  /// Makes `block` the warp's current block and lists the one it replaces, if nobody else has dealt with that.
  ///
  /// @param half   kHalfFree or 0
  /// @pre if the caller has opened the block: a release fence since it got its token
  __device__ void replace_current(std::uint32_t block, int type, std::uint32_t who, std::uint32_t half) const {
    std::uint32_t old = block;  // is listed at once if there are no current blocks
    if constexpr (Features::kKeepsCurrentBlocks) {
      // acquire: partner is the fence in open: who replaces a block finds its token.
      old = types[type].current[current_slot(who)].exchange(block | half, Order::acquire);
      if (old == kNoPosition) return;
      old &= ~kHalfFree;
      if (old == block) return;
    }
    list_owned(old, take_token(old, Order::acquire));
  }

  /// Lists a block with free slots whose token the caller has taken, if it has.
  ///
  /// @param token   what it said, 0 if it was not there. The block's type may have changed since it was the caller's;
  ///                it is stable from here on, for who closes the block waits until it is listed.
  __device__ void list_owned(std::uint32_t block, std::uint32_t token) const {
    // relaxed: the caller's last look at the block is its exchange of the token. Who closes the block exchanges the
    // token, too, and comes after it, or would have taken it.
    if (token != 0) types[owner_of(token)].active.set(block, Order::relaxed);
  }

  __device__ static int owner_of(std::uint32_t token) {
    if constexpr (kTypes == 1) return 0;  // as in type_of
    return type_of_token(token);
  }

  /// Makes a block that a search found the warp's current one, so that the next request finds it without a search.
  /// The block's own state stays as it is, listed or, if the request filled it, not: the entry is a hint.
  ///
  /// @param replaces   whether the warp had a current block a moment ago
  __device__ void adopt(std::uint32_t block, int type, std::uint32_t who, bool replaces) const {
    if constexpr (Features::kKeepsCurrentBlocks) {
      if (replaces) {
        adopt_instead(block, type, who);
        return;
      }
      // Nobody waits for the answer: if a warp that shares the entry has put a block there, it stays. relaxed: a hint.
      std::uint32_t expected = kNoPosition;
      types[type].current[current_slot(who)].compare_exchange(expected, block, Order::relaxed);
    }
  }

  /// Not inlined, because it would take registers from what most requests do.
  [[gnu::noinline]] __device__ void adopt_instead(std::uint32_t block, int type, std::uint32_t who) const {
    replace_current(block, type, who, 0);
  }

  /// Takes the ownership token. @return what it said, 0 if it was not there
  __device__ std::uint32_t take_token(std::uint32_t block, Order order) const {
    return token[block].exchange(0, order);
  }

  /// Takes those slots of a mask that are free. @return all that were taken before
  __device__ std::uint64_t take_slots(std::uint32_t block, std::uint64_t mask) const {
    // acquire: partners are the fence in open and the release in release_slots.
    return slots[block].fetch_or(mask, Order::acquire);
  }

  /// Reserves up to `want` slots in a block that may be anything by now. @return the slots, 0 if none
  __device__ std::uint64_t reserve(std::uint32_t block, int type, int want, std::uint32_t who) const {
    // relaxed: taking them decides.
    std::uint64_t free = kAllSlots & ~slots[block].load(Order::relaxed);
    if (free == 0) return 0;
    std::uint64_t mask = detail::lowest_set_bits(free, want);
    std::uint64_t before = take_slots(block, mask);
    while ((mask & ~before) == 0) {  // others took all of them: lock-free, not wait-free
      free = kAllSlots & ~(before | mask);
      if (free == 0) return 0;
      mask = detail::lowest_set_bits(free, want);
      before = take_slots(block, mask);
    }
    const std::uint64_t got = mask & ~before;
    const int owner = type_of(block);
    if ((before | got) == kAllSlots) settle_filled(block, owner, who);
    if (owner == type) return got;
    release_slots(block, owner, got, who);  // reopened for another type since the hint was read
    return 0;
  }

  /// Reserves the upper half of the slots of the warp's current block, whose opener took the lower half. As `reserve`,
  /// but without looking first, and with the token, because that will most likely fill the block: so the two are under
  /// way together. Whoever takes a token of a block that it does not fill lists the block, as a replacer does.
  __device__ std::uint64_t reserve_half(std::uint32_t block, int type, std::uint32_t who) const {
    const std::uint64_t before = slots[block].fetch_or(kUpperHalf, Atomics::kFencedLater);
    const std::uint32_t owned = take_token(block, Atomics::kFencedLater);
    Atomics::fence(Order::acquire);  // of the slots, as in take_slots, and of the token, as in replace_current
    const std::uint64_t got = kUpperHalf & ~before;
    const bool has_filled = got != 0 && (before | got) == kAllSlots;
    if (!has_filled) list_owned(block, owned);
    if (got == 0) return 0;
    const int owner = type_of(block);
    // Of two changes that are under way together, a GPU may make the second one first: that the token was not there
    // says nothing of a block that was opened in between. Now, behind the fence, it is there, or somebody has taken it.
    if (has_filled) settle_filled(block, owner, who, owned != 0 || take_token(block, Order::relaxed) != 0);
    if (owner == type) return got;
    release_slots(block, owner, got, who);  // as in reserve
    return 0;
  }

  /// The caller has taken the last free slots: the block must be listed nowhere.
  __device__ void settle_filled(std::uint32_t block, int type, std::uint32_t who) const {
    // relaxed: the caller holds slots, and its acquire of them has ordered it after the opener and the last releaser.
    settle_filled(block, type, who, take_token(block, Order::relaxed) != 0);
  }

  __device__ void settle_filled(std::uint32_t block, int type, std::uint32_t who, bool had_token) const {
    if (had_token) {
      forget(block, type, who);
    } else {
      // relaxed: who closes the block acquires the release of the slots that the caller holds.
      types[type].active.clear(block, Order::relaxed);
    }
  }

  /// If the block, which is full and has no token any more, is the warp's current one, the warp has none from now on.
  /// So it does not look at the block in vain next time, nor has anything to replace.
  __device__ void forget(std::uint32_t block, int type, std::uint32_t who) const {
    // By compare-exchange: a warp that shares the entry may have put a new block there, whose token nobody would take.
    // It cannot be this one, opened again: the caller holds slots of it. relaxed: a hint.
    Word<std::uint32_t>& entry = types[type].current[current_slot(who)];
    std::uint32_t expected = block | kHalfFree;
    std::uint32_t otherwise = block;
    entry.compare_exchange(expected, kNoPosition, Order::relaxed);
    entry.compare_exchange(otherwise, kNoPosition, Order::relaxed);
  }

  /// @tparam kApart   whether a function apart closes a block that is empty now, which is less machine code
  template <bool kApart = true>
  __device__ void release_slots(std::uint32_t block, int type, std::uint64_t mask, std::uint32_t who) const {
    // release: partner is the acquire in reserve and invalidate: the object's last use comes before its slot's next.
    const std::uint64_t before = slots[block].fetch_and(~mask, Order::release);
    if (before == kAllSlots) {
      types[type].active.set(block, Order::relaxed);  // relaxed: the release above is what others wait for
    }
    if ((before & ~mask) != 0) return;
    if constexpr (kApart) {
      close_if_empty(block, who);
    } else if (invalidate(block, who)) {
      close(block, type_of(block));
    }
  }

  /// Closes a block that was empty a moment ago, unless somebody reserves in it or closes it first.
  [[gnu::noinline]] __device__ void close_if_empty(std::uint32_t block, std::uint32_t who) const {
    // stable: nobody else can reserve, open or list this block
    if (invalidate(block, who)) close(block, type_of(block));
  }

  /// Gives back all slots of a block that are taken, and closes it; at once, if nobody else takes or gives any.
  ///
  /// What release_slots and close_if_empty do to the bitmap, in one step: so there is nothing to be seen in between.
  /// @pre the block was not full, so it is listed or has a token
  __device__ void release_last(std::uint32_t block, int type, std::uint64_t mask, std::uint32_t who) const {
    std::uint64_t expected = mask;
    // Nobody can use what is given back before the fence in close, which is acquire and release for this, too.
    if (slots[block].compare_exchange(expected, kAllSlots, Atomics::kFencedBoth)) {
      close(block, type);
    } else {
      release_slots(block, type, mask, who);
    }
  }

  /// Closes a block whose slots are all taken, but by nobody.
  __device__ void close(std::uint32_t block, int type) const {
    const TypeState& state = types[type];
    // The block is listed or somebody's current one, or about to be listed. All under way together, because each takes
    // a while.
    const bool had_token = take_token(block, Order::relaxed) != 0;
    const std::uint64_t active = state.active.begin_clear(block, Order::relaxed);
    const std::uint64_t allocated = state.allocated.begin_clear(block, Order::relaxed);
    if (!state.active.finish_clear(block, active) && !had_token) state.active.clear(block, Order::relaxed);
    state.allocated.finish_clear(block, allocated);
    const bool has_page = state.blocks_per_page == 1;
    (has_page ? pages_freed : state.emptied).add(block, 1, Order::relaxed);
    // acquire: partners are the releases of who has given slots back or, in release_last, of the slots that are taken:
    // what was done with them comes before this. release: partners are the acquires of a search that knows the block to
    // be closed and must count it here, and of who takes the block, or the page.
    Atomics::fence(Order::acq_rel);
    state.closed.add(block, 1, Order::relaxed);
    if (has_page) {
      free_pages.set(block >> block_shift, Atomics::kFenced);  // without the detour over the empty blocks
    } else {
      state.empty.set(block, Atomics::kFenced);
      if (claim_page(block, type)) free_page(block, type);
    }
  }

  /// Makes the page of a block free. @pre the caller has claimed it
  __device__ void free_page(std::uint32_t block, int type) const {
    const TypeState& state = types[type];
    pages_freed.add(block, 1, Order::relaxed);
    // Partners are the acquires of a search that knows the blocks to be taken and must count the page, and of who takes
    // the page: passes on what the claim has acquired with the other blocks.
    Atomics::fence(Order::release);
    state.reused.add(block, state.blocks_per_page, Order::relaxed);
    free_pages.set(block >> block_shift, Atomics::kFenced);
  }

  /// Takes all slots if all are free, so that nobody can reserve. @return whether it did (DynaSOAr, algorithm 7)
  ///
  /// If some were taken, the caller holds the others: it has filled the block, so it settles that first, as any filler
  /// does, and then gives them back, as any releaser does. (The paper's order, give back first, can hang here.)
  __device__ bool invalidate(std::uint32_t block, std::uint32_t who) const {
    std::uint64_t before = take_slots(block, kAllSlots);
    if (before == 0) return true;
    if (before == kAllSlots) return false;
    for (;;) {
      const int type = type_of(block);  // stable: the caller holds slots
      settle_filled(block, type, who);
      // release: as in release_slots.
      const std::uint64_t found = slots[block].fetch_and(before, Order::release);
      if (found == kAllSlots) types[type].active.set(block, Order::relaxed);  // as in release_slots
      if ((found & before) != 0) return false;  // else it was emptied meanwhile, by releasers that saw our slots
      before = take_slots(block, kAllSlots);
      if (before == 0) return true;
      if (before == kAllSlots) return false;
    }
  }

  /// Takes all blocks of a page out of its type's empty ones, if all are there. @pre the caller has just listed `block`
  ///
  /// A page may have more blocks than a container has bits. Then its containers are taken in order, so that of those
  /// who try at once one gets on; if a block is missing, they are given back. That page is then claimed by whoever
  /// comes last of those who list the missing block and who gives back: each of them looks, with atomics, at all
  /// containers after it has completed one, so two cannot both miss what the other did.
  __device__ bool claim_page(std::uint32_t block, int type) const {
    const Bits& empty = types[type].empty;
    const std::uint32_t first = block >> block_shift << block_shift;
    const std::uint32_t end = first + types[type].blocks_per_page;
    if (end - first <= kContainerBits) return empty.claim_all(first, page_mask(first, type));
    // relaxed: reads what the caller has written, or something later. Who completes the container looks at the others.
    const std::uint64_t here = page_mask(block, type);
    if ((empty.container(0, block / kContainerBits) & here) != here) return false;
    while (is_page_empty(first, end, type)) {
      std::uint32_t at = first;
      while (at < end && empty.claim_all(at, page_mask(at, type))) at += kContainerBits;
      if (at >= end) return true;
      list_blocks(first, at, type);
    }
    return false;
  }

  /// Whether the blocks of a page are all listed as empty, container by container. See claim_page.
  __device__ bool is_page_empty(std::uint32_t first, std::uint32_t end, int type) const {
    for (std::uint32_t block = first; block < end; block += kContainerBits) {
      if (!types[type].empty.has_all(block, page_mask(block, type))) return false;
    }
    return true;
  }

  /// Bits of a page's blocks in the container of one of them.
  __device__ std::uint64_t page_mask(std::uint32_t block, int type) const {
    const std::uint32_t first = block >> block_shift << block_shift;
    const std::uint32_t container = block / kContainerBits * kContainerBits;
    const std::uint32_t from = first > container ? first : container;
    const std::uint32_t count = first + types[type].blocks_per_page - from;
    return detail::first_bits(count < kContainerBits ? static_cast<int>(count) : kContainerBits)
           << from % kContainerBits;
  }

  /// Looks for what the bitmaps do not show, and judges whether the heap is full for the type.
  ///
  /// It is if no page is free, no block of the type is empty, and its open blocks have as many objects as slots. Blocks
  /// on their way from one bitmap to another, and slots that are being given back, are in none of these; but they are
  /// counted, see the top of this file. What left is read first, and what came afterwards: if that is the same, there
  /// was nothing between the two, whatever else is on its way.
  ///
  /// The proof is kept. It holds until an object of the type is deleted or a page becomes free, so that of thousands of
  /// requests that fail, few have to search.
  /// @par Cost   up to ten loads per shard of a tally, and one or two per current block; only two per shard while the
  ///             last proof holds
  [[gnu::noinline]] __device__ Verdict search_exhaustively(int type, int want, std::uint32_t who,
                                                           Reservation& found) const {
    const TypeState& state = types[type];
    // acquire and release of full_at: the proof is passed on with everything that its finder had seen. It is read
    // first, so that the counts cannot be older than the proof's; then equal sums are equal counts, as they only grow.
    const std::uint64_t proof = full_at[type].load(Order::acquire);
    const std::uint64_t freed_before = pages_freed.read();
    if (proof == 1 + freed_before + state.deleted.read()) return Verdict::full;

    const std::uint64_t created = state.created.read();
    const std::uint64_t closed = state.closed.read();
    const bool has_empty = state.blocks_per_page > 1;
    const std::uint64_t reused = has_empty ? state.reused.read() : 0;
    const std::uint64_t taken = pages_taken.read();

    const std::uint64_t opened = state.opened.read();
    const std::uint64_t deleted = state.deleted.read();
    const std::uint64_t emptied = has_empty ? state.emptied.read() : 0;
    const std::uint64_t freed = pages_freed.read();

    if ((opened - closed) * kSlots != created - deleted) {
      // Slots of listed blocks are quicker to come by than those of other warps' blocks. relaxed: a hint.
      return state.active.seems_empty() ? search_current_blocks(type, want, who, found) : Verdict::unsettled;
    }
    if (emptied != reused || freed != taken) return Verdict::unsettled;
    full_at[type].store(1 + freed + deleted, Order::release);
    return Verdict::full;
  }

  /// Slots in blocks that are other warps' current ones, and listed nowhere.
  __device__ Verdict search_current_blocks(int type, int want, std::uint32_t who, Reservation& found) const {
    const TypeState& state = types[type];
    std::uint32_t at = current_slot(who);  // not everybody at the same one
    for (std::uint32_t i = 0; i < current_count; ++i, at = at + 1 == current_count ? 0 : at + 1) {
      const std::uint32_t current = state.current[at].load(Order::relaxed);  // relaxed: hints
      const std::uint32_t block = current & ~kHalfFree;
      if (current == kNoPosition || slots[block].load(Order::relaxed) == kAllSlots) continue;
      if (type_of(block) != type) continue;  // another type's: taking a slot and giving it back would disturb others
      found = counted(type, {block, reserve(block, type, want, who), {}});
      if (found.slots != 0) return Verdict::found;
    }
    return Verdict::unsettled;
  }
};

// What programs call of it is defined here, so that compilers leave it to block_heap.cpp on a CPU.

template <int kTypes, class Atomics, int kSlots, int kContainerBits, class Features>
__device__ Reservation BlockHeap<kTypes, Atomics, kSlots, kContainerBits, Features>::allocate(int type, int want,
                                                                                              std::uint32_t who) const {
  const Reservation found = look_around(type, want, who, true);
  if (found.slots != 0) return found;
  Reservation later = found;  // a copy, because what a function is given by reference lies in memory from the start
  keep_looking(type, want, who, later);
  return later;
}

template <int kTypes, class Atomics, int kSlots, int kContainerBits, class Features>
__device__ auto BlockHeap<kTypes, Atomics, kSlots, kContainerBits, Features>::allocate_blocks(int type, int want,
                                                                                              std::uint32_t who) const
    -> Blocks {
  const TypeState& state = types[type];
  if (!state.active.seems_empty()) return {kNoPosition, 0};
  bool were_empty = false;
  const Blocks taken = take_closed_blocks(type, want, who, were_empty);
  if (taken.bits == 0) return taken;
  open_full(taken, type);
  count_taken(type, were_empty, taken.first, number_of(taken.bits));
  return taken;
}

template <int kTypes, class Atomics, int kSlots, int kContainerBits, class Features>
__device__ void BlockHeap<kTypes, Atomics, kSlots, kContainerBits, Features>::release(std::uint32_t block, int type,
                                                                                      std::uint64_t mask,
                                                                                      std::uint32_t who,
                                                                                      std::uint64_t taken) const {
  // Before they are free: who sees a free slot sees it deleted. relaxed: the release of the slots publishes it.
  types[type].deleted.add(who, number_of(mask), Order::relaxed);
  if (taken == mask && mask != kAllSlots) {
    release_last(block, type, mask, who);
  } else {
    release_slots(block, type, mask, who);
  }
}

template <int kTypes, class Atomics, int kSlots, int kContainerBits, class Features>
__device__ void BlockHeap<kTypes, Atomics, kSlots, kContainerBits, Features>::move_in(std::uint32_t block, int type,
                                                                                      std::uint64_t mask,
                                                                                      std::uint32_t who) const {
  const std::uint64_t others = take_slots(block, mask);
  if ((others | mask) == kAllSlots) settle_filled(block, type, who);
}

template <int kTypes, class Atomics, int kSlots, int kContainerBits, class Features>
__device__ void BlockHeap<kTypes, Atomics, kSlots, kContainerBits, Features>::move_out(std::uint32_t block, int type,
                                                                                       std::uint64_t mask,
                                                                                       std::uint32_t who) const {
  // Compaction has barriers, and compute-sanitizer's synccheck (2025.3) reports warps that come back from a function
  // apart at the next one, although all threads get there (__syncthreads_count).
  constexpr bool kApart = false;
  release_slots<kApart>(block, type, mask, who);
}

DYNASOAR_HOST_EXTERN_TEMPLATE(class BlockHeap<kAnyNumber>);

}  // namespace dynasoar
