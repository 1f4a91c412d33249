/// @file
/// What all models whose state is objects do with their heap: choose its size, say when it is too small, report its
/// use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <app/simulation.h>
#include <dynasoar/dynasoar.h>

namespace app {

/// Room for the blocks that the warps of a large GPU open at the same time when a population is created.
inline constexpr std::size_t kSlotsInFlight = std::size_t{1} << 20;

/// The size of a model's heap.
///
/// @param asked    by the user; 0: what is needed
/// @param needed   a size that is enough
/// @throws HeapTooSmall if an AllocatorHandle could not be made with it
template <class AllocatorT>
std::size_t heap_bytes(std::uint64_t asked, std::size_t needed) {
  if (asked == 0) return needed;
  if (asked < AllocatorT::least_heap_bytes()) {
    throw HeapTooSmall("a heap of " + std::to_string(asked) + " bytes is too small for this allocator, which needs " +
                           std::to_string(AllocatorT::least_heap_bytes()) + " at least",
                       needed);
  }
  return asked;
}

/// Waits for all loops.
///
/// @param model   what the heap is too small for: "ocean"
/// @throws HeapTooSmall if objects could not be created
template <class AllocatorT>
void synchronize(dynasoar::AllocatorHandle<AllocatorT>& handle, std::size_t needed, const std::string& model) {
  try {
    handle.synchronize();
  } catch (const dynasoar::AllocationError&) {
    throw HeapTooSmall(
        "the heap of " + std::to_string(handle.statistics().heap_bytes) + " bytes is too small for this " + model,
        needed);
  }
}

template <class AllocatorT>
Usage usage_of(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  const dynasoar::Statistics now = handle.statistics();
  return {now.created(), now.deleted(), now.heap_bytes, (now.pages - now.free_pages) * now.page_bytes,
          now.fragmentation()};
}

}  // namespace app
