/// @file
/// BlockTransitions: all changes of a block's state, and for each the atomic that decides which thread makes it. Part
/// of BlockHeap (block_heap.h); block_search.h chooses the blocks.
///
/// A block is either closed or open:
///   - *closed*: It has no object, and all its slot bits are set, so that no thread can reserve a slot in it, even with
///     an old hint. Its page is free, or `empty` of its type lists the block.
///   - *open*: Its bit is set in `allocated` of its type. If it has a free slot, `active` lists it, or it is owned by
///     the warp that opened it and has it as its current block. An owned block has an *ownership token*. No block is
///     both listed and owned, and a full block is neither.
///
/// A block that a search has found may also become a warp's current block. The warp does not own such a block: the
/// entry is only a hint.
///
/// A thread may wait before it has completed a change in the upper levels of a bitmap (see Bitmap). No two threads wait
/// for each other, for two reasons. All waits on an `active` bitmap come before those on an `allocated` one. And a
/// thread that waits until a bit of `active` is set has completed all its changes of `active`.
///
/// A thread that makes a slot bitmap full, no longer full, or empty learns this from the result of its atomic
/// operation. This thread alone does the bookkeeping for the change:
///   - It *filled* the block: settle_filled removes the block from `active`, or takes its token.
///   - It *freed the first slot* of a full block: release_slots lists the block in `active`.
///   - It *emptied* the block: invalidate takes all slots, so that no thread can reserve one. Then close unlists it.
///
/// docs/allocator.md has a table of all transitions, with the atomic that makes each, and a table of the memory orders.
#pragma once

#include <cstdint>

#include <dynasoar/heap/bitmap.h>
#include <dynasoar/heap/page_transitions.h>
#include <dynasoar/heap/refusal.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/order.h>

namespace dynasoar {

/// Slots of one block that belong to the caller; none if `slots` is 0.
struct Reservation {
  std::uint32_t block;
  std::uint64_t slots;
  Refusal refusal;
};

/// @tparam kTypes, Atomics, kSlots, kContainerBits, Features   see BlockHeap
template <int kTypes, class Atomics, int kSlots, int kContainerBits, class Features>
class BlockTransitions : public PageTransitions<kTypes, Atomics, kContainerBits> {
  using Pages = PageTransitions<kTypes, Atomics, kContainerBits>;

 public:
  using typename Pages::Bits;
  using typename Pages::TypeState;
  template <class T>
  using Word = typename Pages::template Word<T>;

  using Pages::block_shift, Pages::free_pages, Pages::kHalfFree, Pages::pages_freed, Pages::pages_taken, Pages::slots,
      Pages::token, Pages::token_of, Pages::type_of, Pages::type_of_token, Pages::types;

  /// Blocks of which the caller has all slots: bit i stands for block `first + i`.
  using Blocks = typename Bits::Candidates;

  static constexpr std::uint64_t kAllSlots = detail::first_bits(kSlots);

 protected:
  using Pages::claim_page, Pages::free_page, Pages::warp_entry;

  static constexpr int kHalf = kSlots / 2;
  static constexpr std::uint64_t kUpperHalf = kAllSlots & ~detail::first_bits(kSlots - kHalf);

  /// The way in which release_slots closes a block that it has emptied.
  enum class Closing {
    outlined,  ///< in a separate function, which is less machine code
    inlined
  };

  __device__ static std::uint64_t number_of(std::uint64_t slots) {
    return static_cast<std::uint64_t>(detail::popcount(slots));
  }

  template <class F>
  static __device__ void for_each_block(const Blocks& blocks, const F& function) {
    for (std::uint64_t left = blocks.bits; left != 0; left &= left - 1) {
      function(blocks.first + static_cast<std::uint32_t>(detail::lowest_bit(left)));
    }
  }

  // --- Opening blocks ---

  /// Opens a closed block that the caller has taken. @return the slots for the caller: the first `want` slots
  __device__ std::uint64_t open(std::uint32_t block, int type, int want, std::uint32_t warp_id) const {
    const std::uint64_t mine = detail::first_bits(want < kSlots ? want : kSlots);
    // These accesses need no order among each other, so that their latencies overlap.
    const std::uint64_t before = types[type].allocated.begin_set(block, Order::relaxed);
    types[type].opened.add(block, 1, Order::relaxed);
    // kCounted: pairs with the acquire of the token in replace_current and reserve_half. The thread there may take this
    // token because the block was its current block in an earlier life. It then lists the block for the type in the
    // token. This comes after the end of that life, because the caller has seen the end.
    token[block].store(token_of(type), Atomics::kCounted);
    Atomics::fence(Order::release);
    // The fence pairs with the acquire of a search (Tally::read): a search that sees objects of the block counted, here
    // or by a thread that takes slots after the store below, sees that the block is counted as open.
    types[type].created.add(block, number_of(mine), Order::relaxed);
    // The fence pairs with the acquire in take_slots and the fence in reserve_half: a thread that gets a slot sees the
    // type, the token, the allocated bit, and that the block is counted as open.
    slots[block].store(mine, Atomics::kFenced);
    const std::uint64_t above = types[type].allocated.begin_set_above(block, before);
    replace_current(block, type, warp_id, want == kHalf ? kHalfFree : 0);
    types[type].allocated.finish_set(block, before, above, Order::relaxed);
    if (mine == kAllSlots) settle_filled(block, type, warp_id);
    return mine;
  }

  /// Opens closed blocks that the caller has taken, and reserves all of their slots for the caller. Unlike in `open`,
  /// the slot bits do not change, and a block gets no token, because a full block need not be the current block of a
  /// warp. A block is listed when the first of its slots is released.
  __device__ void open_full(const Blocks& blocks, int type) const {
    types[type].allocated.set_many(blocks.first, blocks.bits);
    for_each_block(blocks, [&](std::uint32_t block) { types[type].opened.add(block, 1, Order::relaxed); });
    // Pairs with the acquire of a search, as in open. Also, a thread that gets an object from the caller, and releases
    // its slot, must have seen the type. On a GPU, the completion of a change is relaxed and needs this fence, too.
    Atomics::fence(Order::release);
    types[type].created.add(blocks.first, number_of(blocks.bits) * kSlots, Order::relaxed);
  }

  /// Counts that blocks are no longer empty blocks, or parts of free pages.
  ///
  /// @param were_empty   whether they were empty blocks of the type
  /// @pre they have been counted as open, followed by a release fence, which pairs with the acquire of a search
  __device__ void count_taken(int type, bool were_empty, std::uint32_t key, std::uint64_t number) const {
    (were_empty ? types[type].reused : pages_taken).add(key, number, Order::relaxed);
  }

  // --- Current blocks of warps ---

  /// Makes `block` the warp's current block. Lists the block that it replaces, unless another thread has taken its
  /// token.
  ///
  /// @param half   kHalfFree or 0
  /// @pre if the caller has opened the block, there was a release fence after the block got its token
  __device__ void replace_current(std::uint32_t block, int type, std::uint32_t warp_id, std::uint32_t half) const {
    std::uint32_t old = block;  // listed immediately if there are no current blocks
    if constexpr (Features::kKeepsCurrentBlocks) {
      // acquire: pairs with the fence in open, so that a thread that replaces a block finds the token of that block.
      old = types[type].current[warp_entry(warp_id)].exchange(block | half, Order::acquire);
      if (old == kNoPosition) return;
      old &= ~kHalfFree;
      if (old == block) return;
    }
    list_owned(old, take_token(old, Order::acquire));
  }

  /// Makes `block`, which a search has found, the warp's current block, so that the next request needs no search. Does
  /// not change the state of the block, which is listed unless the request has filled it: the entry is only a hint.
  ///
  /// @param replaces   whether the warp had a current block when it was read
  __device__ void adopt(std::uint32_t block, int type, std::uint32_t warp_id, bool replaces) const {
    if constexpr (Features::kKeepsCurrentBlocks) {
      if (replaces) {
        adopt_instead(block, type, warp_id);
        return;
      }
      // The result is not needed: a block that a warp sharing this entry has put there stays. relaxed: a hint.
      std::uint32_t expected = kNoPosition;
      types[type].current[warp_entry(warp_id)].compare_exchange(expected, block, Order::relaxed);
    }
  }

  // --- Reserving slots ---

  /// Reserves up to `want` slots in a block in any state. @return the slots, 0 if none
  __device__ std::uint64_t reserve(std::uint32_t block, int type, int want, std::uint32_t warp_id) const {
    // relaxed: a hint; take_slots decides.
    std::uint64_t free = kAllSlots & ~slots[block].load(Order::relaxed);
    if (free == 0) return 0;
    std::uint64_t mask = detail::lowest_set_bits(free, want);
    std::uint64_t before = take_slots(block, mask);
    while ((mask & ~before) == 0) {  // other threads took all of them: lock-free, not wait-free
      free = kAllSlots & ~(before | mask);
      if (free == 0) return 0;
      mask = detail::lowest_set_bits(free, want);
      before = take_slots(block, mask);
    }
    const std::uint64_t got = mask & ~before;
    const int owner = type_of(block);
    if ((before | got) == kAllSlots) settle_filled(block, owner, warp_id);
    if (owner == type) return got;
    release_slots(block, owner, got, warp_id);  // reopened for another type since the hint was read
    return 0;
  }

  /// Reserves the upper half of the slots of the warp's current block, of which its opener took the lower half.
  ///
  /// Unlike `reserve`, it does not read the slots first. It also takes the token, in an overlapping access, because the
  /// reservation will most likely fill the block. If it takes the token but does not fill the block, it lists the
  /// block, like replace_current.
  __device__ std::uint64_t reserve_half(std::uint32_t block, int type, std::uint32_t warp_id) const {
    const std::uint64_t before = slots[block].fetch_or(kUpperHalf, Atomics::kFencedLater);
    const std::uint32_t owned = take_token(block, Atomics::kFencedLater);
    Atomics::fence(Order::acquire);  // of the slots, as in take_slots, and of the token, as in replace_current
    const std::uint64_t got = kUpperHalf & ~before;
    const bool has_filled = got != 0 && (before | got) == kAllSlots;
    if (!has_filled) list_owned(block, owned);
    if (got == 0) return 0;
    const int owner = type_of(block);
    // A GPU may execute the exchange of the token before the change of the slots. If the exchange found no token, the
    // block may have been opened between the two. Now, after the fence, the token is there unless another thread has
    // taken it, so look again.
    if (has_filled) settle_filled(block, owner, warp_id, owned != 0 || take_token(block, Order::relaxed) != 0);
    if (owner == type) return got;
    release_slots(block, owner, got, warp_id);  // as in reserve
    return 0;
  }

  /// Counts the slots that a request got in a block that was open. @return `found`
  __device__ Reservation counted(int type, const Reservation& found) const {
    // In the modification order of this word, the opener's addition comes before this one, after a release fence; see
    // open. kCounted: pairs with the acquire of a search. A search that sees an object counted must also see the
    // deletion counted that made room for this object.
    if (found.slots != 0) types[type].created.add(found.block, number_of(found.slots), Atomics::kCounted);
    return found;
  }

  /// Takes the free slots of a mask. @return all slots that were taken before
  __device__ std::uint64_t take_slots(std::uint32_t block, std::uint64_t mask) const {
    // acquire: pairs with the fence in open and with the release in release_slots.
    return slots[block].fetch_or(mask, Order::acquire);
  }

  /// Called after the caller has taken the last free slots: unlists the block, or takes its token.
  __device__ void settle_filled(std::uint32_t block, int type, std::uint32_t warp_id) const {
    // relaxed: the caller holds slots. Its acquire of these slots orders it after the opener and the last releaser.
    settle_filled(block, type, warp_id, take_token(block, Order::relaxed) != 0);
  }

  /// The same, if the caller already knows whether it has taken the block's token.
  __device__ void settle_filled(std::uint32_t block, int type, std::uint32_t warp_id, bool had_token) const {
    if (had_token) {
      forget(block, type, warp_id);
    } else {
      // relaxed: a thread that closes the block acquires the release of the slots that the caller holds.
      types[type].active.clear(block, Order::relaxed);
    }
  }

  // --- Releasing slots and closing blocks ---

  /// Releases slots. Lists the block if it was full, or closes it if it is empty now.
  template <Closing kClosing = Closing::outlined>
  __device__ void release_slots(std::uint32_t block, int type, std::uint64_t mask, std::uint32_t warp_id) const {
    // release: pairs with the acquire in take_slots, for reserve and invalidate, and with the fence in reserve_half.
    // The last use of an object comes before the next use of its slot.
    const std::uint64_t before = slots[block].fetch_and(~mask, Order::release);
    if (before == kAllSlots) {
      types[type].active.set(block, Order::relaxed);  // relaxed: the release above is what others wait for
    }
    if ((before & ~mask) != 0) return;
    if constexpr (kClosing == Closing::outlined) {
      close_if_empty(block, warp_id);
    } else if (invalidate(block, warp_id)) {
      close(block, type_of(block), warp_id);
    }
  }

  /// Releases all taken slots of a block, and closes it.
  ///
  /// If no other thread takes or releases slots meanwhile, a single step makes the changes of release_slots and
  /// close_if_empty to the slot bits. Then no other thread can see the states in between.
  /// @pre the block was not full, so it is listed or has a token
  __device__ void release_last(std::uint32_t block, int type, std::uint64_t mask, std::uint32_t warp_id) const {
    std::uint64_t expected = mask;
    // No thread can use the released slots before the fence in close, which is acquire and release for them, too.
    if (slots[block].compare_exchange(expected, kAllSlots, Atomics::kFencedBoth)) {
      close(block, type, warp_id);
    } else {
      release_slots(block, type, mask, warp_id);
    }
  }

 private:
  /// Takes the ownership token. @return the token, 0 if it was not there
  __device__ std::uint32_t take_token(std::uint32_t block, Order order) const {
    return token[block].exchange(0, order);
  }

  /// Lists a block with free slots if the caller has taken its token.
  ///
  /// @param token   the token, 0 if it was not there. The block's type may have changed since the caller owned the
  ///                block. The type is stable from here on, because a thread that closes the block waits until the
  ///                block is listed
  __device__ void list_owned(std::uint32_t block, std::uint32_t token) const {
    // relaxed: the caller's last access to the block is its exchange of the token. A thread that closes the block also
    // exchanges the token. That exchange comes later: if it came earlier, it would have taken the token.
    if (token != 0) types[owner_of(token)].active.set(block, Order::relaxed);
  }

  __device__ static int owner_of(std::uint32_t token) {
    if constexpr (kTypes == 1) return 0;  // as in type_of
    return type_of_token(token);
  }

  /// Not inlined, because it would take registers from the common path.
  [[gnu::noinline]] __device__ void adopt_instead(std::uint32_t block, int type, std::uint32_t warp_id) const {
    replace_current(block, type, warp_id, 0);
  }

  /// Clears the warp's entry if its current block is this block, which is full or being closed and has no token any
  /// more. The next request of the warp then does not try the block.
  __device__ void forget(std::uint32_t block, int type, std::uint32_t warp_id) const {
    // A compare-exchange, because a warp that shares the entry may have put a new block there. If that block were
    // removed, no thread would take its token. The entry cannot mean this block after another opening, because the
    // caller holds slots of it. relaxed: a hint.
    Word<std::uint32_t>& entry = types[type].current[warp_entry(warp_id)];
    std::uint32_t expected = block | kHalfFree;
    std::uint32_t otherwise = block;
    entry.compare_exchange(expected, kNoPosition, Order::relaxed);
    entry.compare_exchange(otherwise, kNoPosition, Order::relaxed);
  }

  /// Closes a block that was found empty, unless another thread reserves in it or closes it first.
  [[gnu::noinline]] __device__ void close_if_empty(std::uint32_t block, std::uint32_t warp_id) const {
    // type_of is stable, because no other thread can reserve slots of, open or list this block.
    if (invalidate(block, warp_id)) close(block, type_of(block), warp_id);
  }

  /// Closes a block without objects of which all slots are taken. @param warp_id   the closing warp
  __device__ void close(std::uint32_t block, int type, std::uint32_t warp_id) const {
    const TypeState& state = types[type];
    // The block is listed, or is owned by a warp, or is about to be listed. The accesses need no order among each
    // other, so that their latencies overlap.
    const bool had_token = take_token(block, Order::relaxed) != 0;
    const std::uint64_t active = state.active.begin_clear(block, Order::relaxed);
    const std::uint64_t allocated = state.allocated.begin_clear(block, Order::relaxed);
    const std::uint64_t active_above = state.active.begin_clear_above(block, active);
    const std::uint64_t allocated_above = state.allocated.begin_clear_above(block, allocated);
    if (!Bits::has(active, block) && !had_token) state.active.clear(block, Order::relaxed);
    if (had_token) forget(block, type, warp_id);
    const bool has_page = state.blocks_per_page == 1;
    (has_page ? pages_freed : state.emptied).add(block, 1, Order::relaxed);
    // acquire: pairs with the releases of the threads that have released slots of the block, which the caller has read
    // when it took all slots, in invalidate or release_last. All uses of the objects come before this fence.
    // release: pairs with the acquire of a search: if the search sees that the block is closed, it must see the count
    // above. Also pairs with the acquire of the warp that takes the block or the page.
    Atomics::fence(Order::acq_rel);
    state.closed.add(block, 1, Order::relaxed);
    state.active.finish_clear(block, active, active_above);
    state.allocated.finish_clear(block, allocated, allocated_above);
    if (has_page) {
      free_pages.set(block >> block_shift, Atomics::kFenced);  // without listing the block as empty first
    } else {
      state.empty.set(block, Atomics::kFenced);
      if (claim_page(block, type)) free_page(block, type);
    }
  }

  /// Takes all slots if all are free, so that no thread can reserve any. @return whether it did (DynaSOAr, algorithm 7)
  ///
  /// If some were taken, the caller has taken the others and thereby filled the block. So the caller first calls
  /// settle_filled, like any thread that fills a block, and then releases its slots. (The paper releases them first. In
  /// this heap, that order can hang.)
  __device__ bool invalidate(std::uint32_t block, std::uint32_t warp_id) const {
    std::uint64_t before = take_slots(block, kAllSlots);
    if (before == 0) return true;
    if (before == kAllSlots) return false;
    for (;;) {
      const int type = type_of(block);  // stable: the caller holds slots
      settle_filled(block, type, warp_id);
      // release: as in release_slots.
      const std::uint64_t found = slots[block].fetch_and(before, Order::release);
      if (found == kAllSlots) types[type].active.set(block, Order::relaxed);  // as in release_slots
      if ((found & before) != 0) return false;  // else it was emptied meanwhile, by releasers that saw our slots
      before = take_slots(block, kAllSlots);
      if (before == 0) return true;
      if (before == kAllSlots) return false;
    }
  }
};

}  // namespace dynasoar
