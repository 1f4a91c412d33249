/// @file
/// WarpRequests: lets the lanes of a warp get slots for objects, and release them, together. Used by SoaAllocator.
///
/// Source: DynaSOAr, section 4.2 (request coalescing). The lanes that are in the same function at the same time form a
/// group. The lane of rank 0 makes one request for all of them. After an allocation, a barrier makes everything that
/// this lane has acquired visible to the other lanes; then each lane takes its share. Before slots are released, a
/// barrier orders the writes of all lanes before the release by the lane of rank 0. Lanes that got no slot form a new
/// group and ask again.
///
/// The lanes also leave together. Lanes that diverge here would stay diverged for the rest of the caller's kernel, and
/// make separate requests.
#pragma once

#include <cstdint>
#include <new>

#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/layout.h>
#include <dynasoar/heap/block_transitions.h>
#include <dynasoar/heap/refusal.h>
#include <dynasoar/heap/requests.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/warp.h>

namespace dynasoar::detail {

/// @tparam A           a ReducedSoaAllocator
/// @tparam kRequests   whether lanes make combined requests
template <class A, Requests kRequests>
class WarpRequests {
 public:
  /// Reserves a slot for a T.
  ///
  /// @tparam W   the warp that forms groups of lanes, see warp.h; tests use threads as lanes
  /// @return     the handle, or nullptr if there was no room; the refusal is recorded
  /// @par Concurrency   any number of lanes may call it, together or separately
  template <class T, Warp W>
  __device__ static T* allocate(W warp) {
    const auto& heap = bound_state<A>().heap;
    const auto together = calling_lanes<kRequests>(warp);
    T* mine = nullptr;
    for (;;) {
      const auto group = requesting_lanes<kRequests>(warp);
      Reservation reserved{};
      if (group.rank() == 0) {
        reserved = heap.allocate(A::template index_of<T>, group.size(), warp.id());
        if (reserved.slots == 0) heap.record_refusal(A::template index_of<T>, reserved.refusal, group.size());
      }
      group.synchronize();  // the first lane's acquire of the slots holds for all lanes
      const std::uint64_t slots = group.broadcast(reserved.slots);
      const std::uint32_t block = group.broadcast(reserved.block);
      if (slots == 0) break;
      if (group.rank() < popcount(slots)) {
        const auto slot = static_cast<std::uint32_t>(nth_set_bit(slots, group.rank()));
        if constexpr (kChecked) A::Checks::mark_created(block, slot);
        mine = A::template object<T>(block, slot);
        break;
      }
    }
    together.synchronize();
    return mine;
  }

  /// Creates `T(i, args...)` for 0 <= i < count, with combined requests for all objects of the lanes of the group. Each
  /// lane has a count of its own. If the heap is full, a lane refuses the rest of its objects together.
  ///
  /// @return the number of objects that the calling lane has created
  template <class T, class... Args>
  __device__ static std::uint32_t create(std::uint32_t count, const Args&... args) {
    std::uint32_t made = 0;
    constexpr std::uint32_t kMostAtOnce = 1 << 20;  // so that the sum over all lanes does not overflow
    const auto together = calling_lanes<kRequests>(PlatformWarp{});
    for (std::uint32_t tried = 0; tried < count;) {
      const std::uint32_t mine = count - tried < kMostAtOnce ? count - tried : kMostAtOnce;
      const auto group = requesting_lanes<kRequests>(PlatformWarp{});
      const LaneSums wanted = group.sums(mine);
      const Reservation reserved = reserve<T>(group, wanted.total, PlatformWarp{}.id());
      if (reserved.slots == 0) {
        tried += mine;
        if (group.broadcast(static_cast<int>(reserved.refusal)) != static_cast<int>(Refusal::heap_full)) continue;
        A::template refuse_together<T>(count - tried);
        break;
      }
      // Lanes of lower rank get their slots first; the others try again.
      const auto got = static_cast<std::uint32_t>(popcount(reserved.slots));
      for (std::uint32_t i = wanted.before; i < got && tried < count; ++i, ++tried, ++made) {
        const auto slot = static_cast<std::uint32_t>(nth_set_bit(reserved.slots, static_cast<int>(i)));
        ::new (static_cast<void*>(A::template object<T>(reserved.block, slot))) T(std::uint32_t{tried}, args...);
      }
    }
    together.synchronize();
    return made;
  }

  /// Releases the slot of an object of T or a subclass. Lanes that free slots of one block do this with one atomic.
  ///
  /// @param type   the index of the object's class
  /// @pre the object has been destroyed, and no other thread uses it
  template <Warp W>
  __device__ static void release(Handle handle, int type, W warp) {
    const std::uint32_t block = A::block_of(handle, type);
    if constexpr (kChecked) A::Checks::mark_deleted(block, handle.slot());
    const auto& heap = bound_state<A>().heap;
    const std::uint64_t taken = heap.taken(block);  // in flight while the lanes form a group
    const auto together = requesting_lanes<kRequests>(warp);
    const auto group = together.matching(block);
    group.synchronize();  // the first lane's release of the slots holds for all lanes
    const std::uint64_t mask = group.combine(std::uint64_t{1} << handle.slot());
    if (group.rank() == 0) heap.release(block, type, mask, warp.id(), taken);
    together.synchronize();
  }

 private:
  /// Reserves up to `want` slots of one block for the lanes of a group; the first lane makes the request. @return the
  /// slots
  ///
  /// (`allocate` has its own version, which is 7 % faster in loops that only create objects.)
  template <class T, class Group>
  __device__ static Reservation reserve(const Group& group, std::uint32_t want, std::uint32_t warp_id) {
    const auto& heap = bound_state<A>().heap;
    Reservation reserved{};
    if (group.rank() == 0) {
      reserved = heap.allocate(A::template index_of<T>, static_cast<int>(want < kSlotsPerBlock ? want : kSlotsPerBlock),
                               warp_id);
      if (reserved.slots == 0) {
        heap.record_refusal(A::template index_of<T>, reserved.refusal, static_cast<int>(want));
      }
    }
    group.synchronize();  // the first lane's acquire of the slots holds for all lanes
    reserved.slots = group.broadcast(reserved.slots);
    reserved.block = group.broadcast(reserved.block);
    return reserved;
  }
};

}  // namespace dynasoar::detail
