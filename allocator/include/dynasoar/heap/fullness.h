/// @file
/// Fullness: the proof that a heap is full for a type, so that a request ends. Part of BlockHeap (block_heap.h).
///
/// The bitmaps cannot prove this: a block that moves from one bitmap to another, and a slot that is being released, is
/// in none of them. So free pages, blocks and slots are counted, in tallies that only grow:
///
/// | counted                | entered this state | left this state |
/// |------------------------|--------------------|-----------------|
/// | free pages             | `pages_freed`      | `pages_taken`   |
/// | empty blocks of a type | `emptied`          | `reused`        |
/// | open blocks of a type  | `opened`           | `closed`        |
/// | objects of a type      | `created`          | `deleted`       |
///
/// A page, block or slot that changes its state is counted in its new state *before* it is counted as having left its
/// old state (page_transitions.h, block_transitions.h). A search first reads the counts that reduce the free space
/// (created, closed, reused, taken), and then those that increase it. So it may see too much free space, but never too
/// little. If it sees none, there was none at the moment between the two groups of reads, whatever changes were in
/// progress.
#pragma once

#include <cstdint>

#include <dynasoar/heap/bitmap.h>
#include <dynasoar/heap/block_transitions.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/order.h>

namespace dynasoar {

/// @tparam kTypes, Atomics, kSlots, kContainerBits, Features   see BlockHeap
template <int kTypes, class Atomics, int kSlots, int kContainerBits, class Features>
class Fullness : public BlockTransitions<kTypes, Atomics, kSlots, kContainerBits, Features> {
  using Transitions = BlockTransitions<kTypes, Atomics, kSlots, kContainerBits, Features>;

 public:
  using typename Transitions::TypeState;

  using Transitions::current_count, Transitions::full_at, Transitions::kAllSlots, Transitions::kHalfFree,
      Transitions::pages_freed, Transitions::pages_taken, Transitions::slots, Transitions::type_of, Transitions::types;

  /// Whether the last proof that the heap is full for a type still holds: no object of the type has been deleted since,
  /// and no page has become free. @par Cost   two loads per shard of a tally
  __device__ bool is_still_full(int type) const {
    // acquire: pairs with the release in search_exhaustively, so that this thread sees everything that the thread with
    // the proof had seen. The proof is read first, so that the counts read after it cannot be older than those of the
    // proof. Equal sums then mean equal counts, because counts only grow.
    const std::uint64_t proof = full_at[type].load(Order::acquire);
    const std::uint64_t freed = pages_freed.read();
    return proof == 1 + freed + types[type].deleted.read();
  }

 protected:
  using Transitions::counted, Transitions::reserve, Transitions::warp_entry;

  enum class Verdict { found, full, unsettled };

  /// Searches for slots that the bitmaps do not show, and decides whether the heap is full for the type: no page is
  /// free, no block of the type is empty, and its open blocks have as many objects as slots.
  ///
  /// Keeps the proof (see is_still_full), so that only a few of thousands of failing requests have to search.
  ///
  /// @param[out] found   slots, if the verdict is `found`
  /// @return             `full` if there was no free space at one moment during the call; `unsettled` if there may have
  ///                     been some, so that the caller has to try again
  /// @par Cost   up to ten loads per shard of a tally, and one or two per current block; only two per shard while the
  ///             last proof holds
  [[gnu::noinline]] __device__ Verdict search_exhaustively(int type, int want, std::uint32_t warp_id,
                                                           Reservation& found) const {
    const TypeState& state = types[type];
    if (is_still_full(type)) return Verdict::full;

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
      // Slots of listed blocks are faster to get than those of other warps' blocks. relaxed: a hint.
      return state.active.seems_empty() ? search_current_blocks(type, want, warp_id, found) : Verdict::unsettled;
    }
    if (emptied != reused || freed != taken) return Verdict::unsettled;
    full_at[type].store(1 + freed + deleted, Order::release);
    return Verdict::full;
  }

 private:
  /// Searches for slots in the current blocks of other warps, which are not listed. @return found or unsettled
  __device__ Verdict search_current_blocks(int type, int want, std::uint32_t warp_id, Reservation& found) const {
    const TypeState& state = types[type];
    std::uint32_t at = warp_entry(warp_id);  // so that warps begin with different entries
    for (std::uint32_t i = 0; i < current_count; ++i, at = at + 1 == current_count ? 0 : at + 1) {
      const std::uint32_t current = state.current[at].load(Order::relaxed);  // relaxed: hints
      const std::uint32_t block = current & ~kHalfFree;
      if (current == kNoPosition || slots[block].load(Order::relaxed) == kAllSlots) continue;
      if (type_of(block) != type) continue;  // of another type: taking and releasing a slot would disturb other warps
      found = counted(type, {block, reserve(block, type, want, warp_id), {}});
      if (found.slots != 0) return Verdict::found;
    }
    return Verdict::unsettled;
  }
};

}  // namespace dynasoar
