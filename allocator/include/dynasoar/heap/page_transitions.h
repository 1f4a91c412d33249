/// @file
/// PageTransitions: takes pages into use, and frees them again. The lowest part of BlockHeap (block_heap.h).
///
/// A page is free (its bit in `free_pages` is set) or in use by one type. Its blocks are numbered consecutively and are
/// closed or open, see block_transitions.h. A closed block of a page in use has its bit set in `empty` of the type.
///   - A warp *takes* a free page by clearing its bit. It writes the type into `page_type`, keeps the first block, and
///     publishes the other blocks in `empty` with a release.
///   - The warp that lists the last block of a page in `empty` *claims* the page: it clears the bits of all blocks with
///     one compare-exchange per container. If this succeeds, no other thread can take a block of the page, and the warp
///     frees the page.
///
/// Pages and empty blocks are counted, see fullness.h. A transition counts them in their new state before it counts
/// them as having left their old state.
#pragma once

#include <cstdint>
#include <type_traits>

#include <dynasoar/base/view.h>
#include <dynasoar/heap/bitmap.h>
#include <dynasoar/heap/heap_state.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/order.h>
#include <dynasoar/tuning.h>

namespace dynasoar {

/// Stands for any number of types: `types` is then a view of other memory, and knows the number.
inline constexpr int kAnyNumber = 0;

/// The state of a heap with its types, and the transitions of pages.
///
/// @tparam kTypes          number of types, or kAnyNumber
/// @tparam Atomics         atomics policy, see PlatformAtomics
/// @tparam kContainerBits  bits per bitmap container
template <int kTypes, class Atomics, int kContainerBits>
class PageTransitions : public HeapState<Atomics, kContainerBits> {
  using State = HeapState<Atomics, kContainerBits>;

 public:
  using typename State::Bits;
  using typename State::TypeState;
  template <class T>
  using Word = typename State::template Word<T>;

  using State::block_shift, State::current_count, State::free_pages, State::page_hint, State::page_type,
      State::pages_freed;

  std::conditional_t<kTypes == kAnyNumber, detail::View<TypeState>, TypeState[kTypes == kAnyNumber ? 1 : kTypes]> types;

  /// Type index of the page of a block. @pre the caller holds a slot of the block
  __device__ int type_of(std::uint32_t block) const {
    if constexpr (kTypes == 1) return 0;  // also avoids a warning of g++ about types[1] in allocators of one class
    // relaxed: holding a slot (acquire in take_slots) orders this after the write of the thread that opened the block.
    return static_cast<int>(page_type[block >> block_shift].load(Order::relaxed));
  }

 protected:
  static constexpr std::uint32_t kSpread = 2654435761u;  // 2^32 / golden ratio: multiples lie evenly apart

  /// A warp's entry in tables of current_count entries; in small heaps, several warps share one.
  __device__ std::uint32_t warp_entry(std::uint32_t warp_id) const {
    const auto shared = static_cast<std::uint32_t>((std::uint64_t{warp_id * kSpread} * current_count) >> 32);
    return warp_id < current_count ? warp_id : shared;
  }

  /// Takes a free page for `type`; its other blocks become empty blocks.
  ///
  /// @param hint        the page to try first
  /// @param near_pages  the bits of its container
  /// @return            the page's first block, or kNoPosition if no free page was found
  __device__ std::uint32_t first_block_of_free_page(int type, std::uint32_t hint, std::uint64_t near_pages,
                                                    std::uint32_t warp_id) const {
    const std::uint32_t page = free_pages.clear_any(hint, near_pages, detail::kTakeTries);
    if (!is_position(page)) return kNoPosition;
    if (page != hint) page_hint[warp_entry(warp_id)].store(page, Order::relaxed);
    // relaxed: published by the releases of set_many and open.
    page_type[page].store(static_cast<std::uint32_t>(type), Order::relaxed);
    const std::uint32_t block = page << block_shift;
    if (types[type].blocks_per_page > 1) {
      // relaxed: published by the releases of set_many, and by the release of open to a thread that knows that the page
      // is taken.
      types[type].emptied.add(block, types[type].blocks_per_page - 1, Order::relaxed);
      types[type].empty.set_many(block, page_mask(block, type) & ~(std::uint64_t{1} << block % kContainerBits));
      if (types[type].blocks_per_page > kContainerBits) {
        list_blocks(block + kContainerBits, block + types[type].blocks_per_page, type);
      }
    }
    return block;
  }

  /// Makes the page of a block free. @pre the caller has claimed it
  __device__ void free_page(std::uint32_t block, int type) const {
    const TypeState& state = types[type];
    pages_freed.add(block, 1, Order::relaxed);
    // Pairs with the acquire of a search: if the search sees that the blocks are taken, it must count the page as
    // freed. Also pairs with the acquire of the warp that takes the page. The fence also publishes everything that the
    // claim of the other blocks has acquired.
    Atomics::fence(Order::release);
    state.reused.add(block, state.blocks_per_page, Order::relaxed);
    free_pages.set(block >> block_shift, Atomics::kFenced);
  }

  /// Removes all blocks of a page from the type's empty blocks, if all of them are listed there. @return whether it did
  ///
  /// A page may have more blocks than a container has bits. The caller then claims its containers in order, so that one
  /// of several simultaneous callers makes progress. If a block is missing, the caller gives back the claimed
  /// containers. A thread that lists the missing block, or gives back containers, tries again; the last such thread
  /// claims the page. Each of these threads reads all containers, with atomic read-modify-writes (Bitmap::has_all),
  /// after it has completed one. So no two of them can both miss the change of the other.
  ///
  /// @pre the caller has just listed `block`
  __device__ bool claim_page(std::uint32_t block, int type) const {
    const Bits& empty = types[type].empty;
    const std::uint32_t first = block >> block_shift << block_shift;
    const std::uint32_t end = first + types[type].blocks_per_page;
    if (end - first <= kContainerBits) return empty.claim_all(first, page_mask(first, type));
    // relaxed: reads the caller's own change or a later one. The thread that completes the container checks the others.
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

 private:
  /// Lists blocks of one page as empty.
  ///
  /// @param begin   the first one: the first block of a container or of the page
  /// @param end     one past the last
  [[gnu::noinline]] __device__ void list_blocks(std::uint32_t begin, std::uint32_t end, int type) const {
    for (; begin < end; begin += kContainerBits) types[type].empty.set_many(begin, page_mask(begin, type));
  }

  /// Whether the blocks of a page are all listed as empty, container by container. See claim_page.
  __device__ bool is_page_empty(std::uint32_t first, std::uint32_t end, int type) const {
    for (std::uint32_t block = first; block < end; block += kContainerBits) {
      if (!types[type].empty.has_all(block, page_mask(block, type))) return false;
    }
    return true;
  }

  /// The bits of a page's blocks in the container of one of them.
  __device__ std::uint64_t page_mask(std::uint32_t block, int type) const {
    const std::uint32_t first = block >> block_shift << block_shift;
    const std::uint32_t container = block / kContainerBits * kContainerBits;
    const std::uint32_t from = first > container ? first : container;
    const std::uint32_t count = first + types[type].blocks_per_page - from;
    return detail::first_bits(count < kContainerBits ? static_cast<int>(count) : kContainerBits)
           << from % kContainerBits;
  }
};

}  // namespace dynasoar
