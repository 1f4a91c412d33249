/// @file
/// BlockSearch: the order in which a request searches for slots. Part of BlockHeap (block_heap.h). It changes the state
/// of blocks only through block_transitions.h and page_transitions.h.
///
/// One round (try_allocate) searches, in this order:
///   1. the warp's own container of the `active` bitmap, a word in which no other warp searches first (from_hints)
///   2. the warp's current block (from_hints)
///   3. the `active` bitmap, from a few starting points (from_listed_block)
///   4. a closed block to open: an empty block of the type or, if there is none, a block of a free page
///      (from_new_block)
///
/// A request that has found nothing starts another round (retry_allocate). Every few rounds it searches exhaustively
/// and checks whether the heap is full (fullness.h). Anything that is read before an atomic on a block's slots is a
/// hint, which may be stale; the atomic decides. So these loads are relaxed, and overlap where possible.
///
/// If few pages are free, one warp of a group gets a page for the whole group, and the others wait (`fetches`).
#pragma once

#include <cstdint>

#include <dynasoar/heap/bitmap.h>
#include <dynasoar/heap/fullness.h>
#include <dynasoar/heap/refusal.h>
#include <dynasoar/platform/backend.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/order.h>
#include <dynasoar/tuning.h>

namespace dynasoar {

/// @tparam kTypes, Atomics, kSlots, kContainerBits, Features   see BlockHeap
template <int kTypes, class Atomics, int kSlots, int kContainerBits, class Features>
class BlockSearch : public Fullness<kTypes, Atomics, kSlots, kContainerBits, Features> {
  using Base = Fullness<kTypes, Atomics, kSlots, kContainerBits, Features>;

 public:
  using typename Base::Bits;
  using typename Base::Blocks;
  using typename Base::TypeState;
  template <class T>
  using Word = typename Base::template Word<T>;

  using Base::block_shift, Base::few_pages, Base::free_pages, Base::kHalfFree, Base::page_hint, Base::page_type,
      Base::types;

 protected:
  using typename Base::Verdict;

  using Base::adopt, Base::count_taken, Base::counted, Base::first_block_of_free_page, Base::for_each_block,
      Base::kHalf, Base::kSpread, Base::open, Base::reserve, Base::reserve_half, Base::search_exhaustively,
      Base::warp_entry;

  /// One round of an allocation.
  ///
  /// The steps that most requests take come before any loop, and their calls are inlined. At the head of a loop, and at
  /// a call, the lanes of a warp may diverge; they would then make separate requests.
  ///
  /// @param shares   whether to take no page if another warp is about to take one
  /// @return         slots, or no_slots(), or no_slots_yet() if another warp is getting a page
  __device__ Reservation try_allocate(int type, int want, std::uint32_t warp_id, bool shares) const {
    Hints hints;
    const Reservation found = from_hints(type, want, warp_id, hints);
    return found.slots != 0 ? found : from_search(type, want, warp_id, hints, shares);
  }

  /// Runs more rounds, until one finds slots, or the heap is full, or there were kRounds of them.
  ///
  /// Not inlined: it would be half of the machine code of every make_new, and take registers.
  ///
  /// @param[in,out] found   the result of the first round, which has no slots
  [[gnu::noinline]] __device__ void retry_allocate(int type, int want, std::uint32_t warp_id,
                                                   Reservation& found) const {
    for (int round = 0; found.slots == 0; found = try_allocate(type, want, warp_id, round < kSharingRounds)) {
      const bool waits = found.block == kStalePosition;
      if (!waits && (round % Atomics::kRoundsPerSearch == 0 || round + 1 == kRounds)) {
        const Verdict verdict = search_exhaustively(type, want, warp_id, found);
        if (verdict == Verdict::full) found = {kNoPosition, 0, Refusal::heap_full};
        if (verdict != Verdict::unsettled) return;
      }
      Atomics::pause(waits && round > 3 ? 3 : round);  // getting a page takes a few microseconds
      if (++round == kRounds) {
        found = no_slots();
        return;
      }
    }
  }

  /// Takes closed blocks of one container: empty blocks of the type, blocks of free pages, or blocks of one free page.
  /// The other blocks of such a page become empty blocks.
  ///
  /// @param[out] were_empty   whether they were empty blocks and not free pages; see count_taken
  /// @return                  up to `want` blocks; none if there are none, or if pages are few
  __device__ Blocks take_closed_blocks(int type, int want, std::uint32_t warp_id, bool& were_empty) const {
    const TypeState& state = types[type];
    were_empty = false;
    // Begin at the warp's own position, so that no two warps begin at the same pages. The stored hints of warps that
    // had to search elsewhere are random, and some of them are equal.
    std::uint32_t hint = free_pages.position_at(starting_point(warp_id));
    std::uint64_t near_pages = free_pages.container(0, hint / kContainerBits);
    if (has_few(near_pages)) {
      hint = page_hint[warp_entry(warp_id)].load(Order::relaxed);
      near_pages = free_pages.container(0, hint / kContainerBits);
    }
    if (block_shift == 0) {  // a page is a block
      const Blocks taken = free_pages.clear_some(hint, want);
      if (taken.bits == 0) return taken;
      if (taken.first != hint) page_hint[warp_entry(warp_id)].store(taken.first, Order::relaxed);
      // relaxed: published by the fence of open_full.
      for_each_block(taken, [&](std::uint32_t block) {
        page_type[block].store(static_cast<std::uint32_t>(type), Order::relaxed);
      });
      return taken;
    }
    if (state.blocks_per_page > 1 && !state.empty.seems_empty()) {
      were_empty = true;
      return state.empty.clear_some(state.empty.position_at(starting_point(warp_id)), want);
    }
    if (has_few(near_pages)) return {kNoPosition, 0};
    const std::uint32_t block = first_block_of_free_page(type, hint, near_pages, warp_id);
    if (!is_position(block)) return {kNoPosition, 0};
    const std::uint32_t offset = block % kContainerBits;
    return {block - offset, std::uint64_t{1} << offset};
  }

 private:
  static constexpr int kSharingRounds = Atomics::kPatience / 2;        // rounds in which another warp may get the page
  static constexpr int kRounds = Atomics::kPatience + kSharingRounds;  // after these, a request fails as contended
  static constexpr std::uint32_t kWarpsPerMultiprocessor = 64;         // warp ids per multiprocessor

  /// The words that a request reads first, and together, so that the latencies of the loads overlap.
  struct Hints {
    std::uint32_t page;        ///< where the warp's searches for pages start
    std::uint64_t near_pages;  ///< free pages in its container
    bool any_listed;           ///< whether there may be listed blocks of the type
    bool has_current;          ///< whether the warp has a current block
  };

  static __device__ Reservation no_slots() { return {kNoPosition, 0, Refusal::contended}; }

  /// No slots yet, but another warp is about to get empty blocks.
  static __device__ Reservation no_slots_yet() { return {kStalePosition, 0, Refusal::contended}; }

  /// Whether a warp is among the first of its multiprocessor, judged by its number from CudaWarp::id(). If all warps
  /// read the root of a bitmap, they would wait for that one address in memory. So only the first few warps of each
  /// multiprocessor read it early. If there are few warps, all of them do.
  __device__ static bool reads_root_early(std::uint32_t warp_id) {
    return warp_id % kWarpsPerMultiprocessor < detail::kEarlyReaders;
  }

  /// The start of a warp's searches, as a fraction of the bitmap; see Bitmap::position_at.
  __device__ static std::uint32_t starting_point(std::uint32_t warp_id) {
    return Features::kRotates ? warp_id * kSpread : 0;
  }

  /// Tries a block that is listed in the warp's own container of the active bitmap, and then the warp's current block.
  /// Most requests succeed here.
  ///
  /// @param[out] hints   for the search, if nothing is found here
  __device__ Reservation from_hints(int type, int want, std::uint32_t warp_id, Hints& hints) const {
    const Bits& active = types[type].active;
    const std::uint32_t start = active.position_at(starting_point(warp_id));
    const std::uint32_t container = start / kContainerBits;
    // relaxed: hints; reserve checks the state of the blocks. The latencies of the loads overlap.
    const std::uint64_t listed = active.container(0, container);
    const std::uint32_t current = types[type].current[warp_entry(warp_id)].load(Order::relaxed);
    hints.page = free_pages.position_at(starting_point(warp_id));
    hints.near_pages = free_pages.container(0, hints.page / kContainerBits);
    hints.any_listed = !reads_root_early(warp_id) || !active.seems_empty();
    hints.has_current = current != kNoPosition;
    Reservation found = from_container(type, want, warp_id, {container * kContainerBits, listed}, start);
    if (found.slots == 0 && current != kNoPosition) {
      const std::uint32_t block = current & ~kHalfFree;
      const bool has_half = want == kHalf && block != current;
      found = {block, has_half ? reserve_half(block, type, warp_id) : reserve(block, type, want, warp_id), {}};
    }
    return counted(type, found);
  }

  /// Searches the bitmaps for a listed block and, if there is none, for a closed block to open.
  __device__ Reservation from_search(int type, int want, std::uint32_t warp_id, Hints hints, bool shares) const {
    const TypeState& state = types[type];
    // relaxed: overlapping loads of hints. They are here because from_listed_block has a loop, see try_allocate.
    typename Bits::Overview listed{0, 0};
    if (hints.any_listed) listed = state.active.overview(state.active.position_at(starting_point(warp_id)));
    const bool any_closed = state.blocks_per_page > 1 && !state.empty.seems_empty();
    if (hints.near_pages == 0) {  // no free page is left near the warp's first position
      hints.page = page_hint[warp_entry(warp_id)].load(Order::relaxed);
      hints.near_pages = free_pages.container(0, hints.page / kContainerBits);
    }
    if (listed.top != 0) {
      const Reservation found = counted(type, from_listed_block(type, want, warp_id, listed));
      if (found.slots != 0) {
        // A block with fewer slots than requested has hardly any left, so it is not worth keeping.
        if (detail::popcount(found.slots) == want) adopt(found.block, type, warp_id, hints.has_current);
        return found;
      }
    }
    if (has_few(hints.near_pages) && few_pages < kContainerBits) look_elsewhere(warp_id, hints);
    return from_new_block(type, want, warp_id, any_closed, hints.page, hints.near_pages, shares);
  }

  /// Whether so few pages of a container are free that warps share new ones.
  __device__ bool has_few(std::uint64_t near_pages) const { return detail::popcount(near_pages) <= few_pages; }

  /// Chooses another position to search for free pages if few are left at the warp's first position: the position where
  /// it found its last page or, if few are left there, too, a random one. In small heaps, few are left everywhere.
  __device__ void look_elsewhere(std::uint32_t warp_id, Hints& hints) const {
    hints.page = page_hint[warp_entry(warp_id)].load(Order::relaxed);
    hints.near_pages = free_pages.container(0, hints.page / kContainerBits);
    if (!has_few(hints.near_pages)) return;
    hints.page = free_pages.position_at((hints.page + warp_id) * kSpread);
    hints.near_pages = free_pages.container(0, hints.page / kContainerBits);
  }

  /// Searches for a listed block from several starting points.
  ///
  /// @param seen   the bitmap's overview from the first starting point
  __device__ Reservation from_listed_block(int type, int want, std::uint32_t warp_id,
                                           typename Bits::Overview seen) const {
    const Bits& active = types[type].active;
    std::uint32_t point = starting_point(warp_id);
    std::uint32_t start = active.position_at(point);
    for (int i = 1;; ++i) {
      const typename Bits::Candidates listed = active.find_container(start, seen);
      if (listed.first == kNoPosition) return no_slots();
      if (listed.first != kStalePosition) {
        const Reservation found = from_container(type, want, warp_id, listed, start);
        if (found.slots != 0) return found;
      }
      if (i == detail::kSearches) return no_slots();
      point += kSpread;
      start = active.position_at(point);
      seen = active.overview(start);
    }
  }

  /// Tries a few listed blocks of a container.
  __device__ Reservation from_container(int type, int want, std::uint32_t warp_id, typename Bits::Candidates listed,
                                        std::uint32_t start) const {
    DYNASOAR_UNROLL()
    for (int i = 0; i < detail::kTriesPerContainer; ++i) {
      if (listed.bits == 0) break;
      const std::uint32_t offset = Bits::first_of(listed.bits, start);
      listed.bits &= ~(std::uint64_t{1} << offset);
      const std::uint32_t block = listed.first + offset;
      if (const std::uint64_t got = reserve(block, type, want, warp_id); got != 0) return {block, got, {}};
    }
    return no_slots();
  }

  /// Opens an empty block of the type, if there may be one; otherwise, the first block of a free page. Counts the
  /// block.
  ///
  /// @param page        the page to try first
  /// @param near_pages  the bits of its container
  /// @param shares      whether to take no page if another warp of the group is about to take one; see fetches
  __device__ Reservation from_new_block(int type, int want, std::uint32_t warp_id, bool any_closed, std::uint32_t page,
                                        std::uint64_t near_pages, bool shares) const {
    const TypeState& state = types[type];
    if (!any_closed && near_pages == 0 && free_pages.seems_empty()) return no_slots();  // fast if the heap is full
    shares = shares && has_few(near_pages);
    const bool fetches_page = shares && !any_closed;
    const bool leaves_pages = shares && any_closed;
    if (fetches_page && !fetches(type, warp_id)) return no_slots_yet();
    std::uint32_t block = kNoPosition;
    if (any_closed) {
      // Look for an empty block before taking a page. If requests took a page for each block, pages with unused blocks
      // would be missing elsewhere.
      const int tries = has_few(near_pages) ? detail::kTakeTries : detail::kTakeTriesBesidePages;
      block = state.empty.clear_any(state.empty.position_at(starting_point(warp_id)), tries);
    }
    const bool was_empty = is_position(block);
    if (!was_empty && !leaves_pages) block = first_block_of_free_page(type, page, near_pages, warp_id);
    if (!is_position(block)) {
      if (fetches_page) fetching(type, warp_id).store(0, Order::relaxed);
      return leaves_pages ? no_slots_yet() : no_slots();
    }
    const Reservation found = {block, open(block, type, want, warp_id), {}};
    if (fetches_page) fetching(type, warp_id).store(0, Order::relaxed);
    count_taken(type, was_empty, block, 1);
    return found;
  }

  /// Whether the caller must get a page for its group. A group has as many warps as a page has blocks; in small heaps,
  /// it has more.
  ///
  /// Otherwise, thousands of warps that start together would each take a page for one block. Instead, the other warps
  /// wait until the other blocks of the page are empty blocks of the type. If warps share a current block, the first
  /// block of the page will soon be available to them, too. This applies to all types: a type without this limit would
  /// leave no pages to the others. Warps wait for at most kSharingRounds rounds, so the word is only a hint, and its
  /// accesses are relaxed.
  __device__ bool fetches(int type, std::uint32_t warp_id) const {
    if (fetching(type, warp_id).exchange(1, Order::relaxed) != 0) return false;
    if (types[type].empty.seems_empty()) return true;
    fetching(type, warp_id).store(0, Order::relaxed);  // the last page arrived between the two loads
    return false;
  }

  __device__ Word<std::uint32_t>& fetching(int type, std::uint32_t warp_id) const {
    return types[type].fetching[warp_entry(warp_id / types[type].blocks_per_page)];
  }
};

}  // namespace dynasoar
