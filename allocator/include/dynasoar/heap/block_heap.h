/// @file
/// BlockHeap: the lock-free state machine that allocates slots. Used by SoaAllocator, which knows the C++ types.
///
/// Source: DynaSOAr, sections 3 and 5, algorithms 1, 2, 6 and 7, with three changes:
///   - Blocks are grouped in pages, so that all blocks have 64 slots, whatever the type.
///   - Every warp keeps one *current block* per type, so that most requests need no search.
///   - A request ends when the heap is full.
///
/// Its parts are base classes, each in a file that states its protocol. A part uses those before it only:
///   - heap_state.h: the words that a heap consists of
///   - page_transitions.h: takes pages into use, and frees them
///   - block_transitions.h: opens, fills, empties and closes blocks
///   - fullness.h: proves that there is no room
///   - block_search.h: the order in which a request searches for slots
#pragma once

#include <cstdint>

#include <dynasoar/heap/block_search.h>
#include <dynasoar/heap/refusal.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/backend.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>

namespace dynasoar {

/// The features that make requests fast. Each can be left out to measure its effect (DynaSOAr, section 7.3). See
/// ReducedSoaAllocator.
struct AllFeatures {
  static constexpr bool kCombines = true;  ///< the lanes of a warp make one request; implemented by SoaAllocator
  static constexpr bool kRotates = true;   ///< each warp starts its searches at another place
  static constexpr bool kKeepsCurrentBlocks = true;  ///< each warp keeps the block that it opened or found last
};

/// The operations on a heap, a view of memory that HeapMemory owns (in tests TinyHeap).
///
/// A request names a type and a number of slots, and gets slots of one block, possibly fewer than it asked for:
///
///     const Reservation got = heap.allocate(type, 20, warp_id);
///     if (got.slots == 0) heap.record_refusal(type, got.refusal, 20);  // heap_full or contended
///     // Bit i of got.slots: slot i of block got.block belongs to the caller, and its last owner's writes are visible.
///     // If there are fewer than 20 bits, ask again for the others.
///
///     heap.release(got.block, type, got.slots, warp_id, 0);  // all of them, or one by one, from any thread
///
/// One lane asks for all lanes of a warp that want slots at the same time (SoaAllocator). `warp_id` is
/// PlatformWarp::id(): warps with different numbers search different places. It need not be unique.
///
/// Programs for a CPU use the heap with any number of types, which is compiled once, in the library (block_heap.cpp).
/// Programs for a GPU have a fixed number of types, so that the whole state fits into constant memory.
///
/// @tparam kTypes          number of types, or kAnyNumber
/// @tparam Atomics         atomics policy, see PlatformAtomics
/// @tparam kSlots          slots per block, 64 except in model checking
/// @tparam kContainerBits  bits per bitmap container, likewise
/// @tparam Features        AllFeatures, or a struct with the same members
/// @par Concurrency   all operations may overlap; lock-free except for the waits described in Bitmap
template <int kTypes, class Atomics = PlatformAtomics, int kSlots = 64, int kContainerBits = 64,
          class Features = AllFeatures>
class BlockHeap : public BlockSearch<kTypes, Atomics, kSlots, kContainerBits, Features> {
  using Search = BlockSearch<kTypes, Atomics, kSlots, kContainerBits, Features>;

 public:
  using typename Search::Blocks;
  using typename Search::TypeState;

  using Search::kAllSlots, Search::refusals, Search::slots, Search::types;

  /// Reserves up to `want` slots in one block of a type.
  ///
  /// @param want      number of slots, 1 to 64
  /// @param warp_id   the requesting warp: warps with equal numbers search in equal order
  /// @return          at least one slot, or none and the reason
  /// @par Progress   at most BlockSearch::kRounds rounds, each lock-free except for the waits described in Bitmap
  /// @par Cost       6 loads and 1 atomic while the warp's current block lasts
  __device__ Reservation allocate(int type, int want, std::uint32_t warp_id) const;

  /// Opens closed blocks with all of their slots reserved. Opens none while blocks with free slots are listed, or pages
  /// are few: `allocate` is better then.
  ///
  /// @param want      number of blocks, 1 to 64
  /// @param warp_id   as in allocate
  /// @return          up to `want` blocks, or none; then use `allocate`
  /// @par Cost     three atomics, and one more per block that the caller does not wait for
  __device__ Blocks allocate_blocks(int type, int want, std::uint32_t warp_id) const;

  /// The slots of a block that are taken at this moment, for a caller that is about to release slots. On a GPU, a load
  /// that is issued early has arrived when `release` needs the value. 0: unknown.
  __device__ std::uint64_t taken(std::uint32_t block) const {
    // relaxed: a hint. A CPU would have to fetch the line twice, to read it and to change it.
    return Atomics::kReadsAhead ? slots[block].load(Order::relaxed) : 0;
  }

  /// Releases slots of a block of `type`.
  ///
  /// @param taken   from the function of that name, or 0
  /// @pre the caller owns the slots, and the objects in them are not used any more
  __device__ void release(std::uint32_t block, int type, std::uint64_t mask, std::uint32_t warp_id,
                          std::uint64_t taken) const;

  /// Takes free slots of an open block for objects from other blocks of its type. Does not count them as created. For
  /// compaction. @pre the slots of the mask are free, and no request for slots runs
  __device__ void move_in(std::uint32_t block, int type, std::uint64_t mask, std::uint32_t warp_id) const;

  /// Releases the slots of objects that have moved to other blocks. Does not count them as deleted. For compaction.
  __device__ void move_out(std::uint32_t block, int type, std::uint64_t mask, std::uint32_t warp_id) const;

  /// Adds to the record of refused objects.
  __device__ void record_refusal(int type, Refusal why, int objects) const {
    // relaxed: a count, read when the device is idle.
    refusals[type * kRefusals + static_cast<int>(why)].add(static_cast<std::uint64_t>(objects), Order::relaxed);
  }

 private:
  using typename Search::Closing;

  using Search::count_taken, Search::number_of, Search::open_full, Search::release_last, Search::release_slots,
      Search::retry_allocate, Search::settle_filled, Search::take_closed_blocks, Search::take_slots,
      Search::try_allocate;
};

// Functions that programs call are defined here and not in the class. On a CPU, compilers then use those in
// block_heap.cpp.

template <int kTypes, class Atomics, int kSlots, int kContainerBits, class Features>
__device__ Reservation BlockHeap<kTypes, Atomics, kSlots, kContainerBits, Features>::allocate(
    int type, int want, std::uint32_t warp_id) const {
  const Reservation found = try_allocate(type, want, warp_id, true);
  if (found.slots != 0) return found;
  Reservation later = found;  // a copy: a variable that is passed by reference is always in local memory
  retry_allocate(type, want, warp_id, later);
  return later;
}

template <int kTypes, class Atomics, int kSlots, int kContainerBits, class Features>
__device__ auto BlockHeap<kTypes, Atomics, kSlots, kContainerBits, Features>::allocate_blocks(
    int type, int want, std::uint32_t warp_id) const -> Blocks {
  const TypeState& state = types[type];
  if (!state.active.seems_empty()) return {kNoPosition, 0};
  bool were_empty = false;
  const Blocks taken = take_closed_blocks(type, want, warp_id, were_empty);
  if (taken.bits == 0) return taken;
  open_full(taken, type);
  count_taken(type, were_empty, taken.first, number_of(taken.bits));
  return taken;
}

template <int kTypes, class Atomics, int kSlots, int kContainerBits, class Features>
__device__ void BlockHeap<kTypes, Atomics, kSlots, kContainerBits, Features>::release(std::uint32_t block, int type,
                                                                                      std::uint64_t mask,
                                                                                      std::uint32_t warp_id,
                                                                                      std::uint64_t taken) const {
  // Count before the slots are free, so that a thread that sees a free slot sees its object counted as deleted.
  // relaxed: the release of the slots publishes the count.
  types[type].deleted.add(warp_id, number_of(mask), Order::relaxed);
  if (taken == mask && mask != kAllSlots) {
    release_last(block, type, mask, warp_id);
  } else {
    release_slots(block, type, mask, warp_id);
  }
}

template <int kTypes, class Atomics, int kSlots, int kContainerBits, class Features>
__device__ void BlockHeap<kTypes, Atomics, kSlots, kContainerBits, Features>::move_in(std::uint32_t block, int type,
                                                                                      std::uint64_t mask,
                                                                                      std::uint32_t warp_id) const {
  const std::uint64_t others = take_slots(block, mask);
  if ((others | mask) == kAllSlots) settle_filled(block, type, warp_id);
}

template <int kTypes, class Atomics, int kSlots, int kContainerBits, class Features>
__device__ void BlockHeap<kTypes, Atomics, kSlots, kContainerBits, Features>::move_out(std::uint32_t block, int type,
                                                                                       std::uint64_t mask,
                                                                                       std::uint32_t warp_id) const {
  // Inlined, because compaction has barriers: compute-sanitizer's synccheck (2025.3) reports warps that have returned
  // from an outlined function at the next barrier, although all threads get there (__syncthreads_count).
  this->template release_slots<Closing::inlined>(block, type, mask, warp_id);
}

DYNASOAR_HOST_EXTERN_TEMPLATE(class BlockHeap<kAnyNumber>);

}  // namespace dynasoar
