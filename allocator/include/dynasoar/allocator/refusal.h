/// @file
/// Refusal: why an object could not be created. Counted by allocators, reported by AllocatorHandle.
#pragma once

namespace dynasoar {

enum class Refusal : int {
  heap_full,   ///< there was no memory: in a SoaAllocator, at one moment no page was free, no block of the type empty,
               ///< and every slot of its open blocks taken
  contended,   ///< blocks kept changing hands for longer than a request waits
  on_request,  ///< fault injection, in checked builds
  table_full   ///< an AosAllocator's table of objects had no room, because so many were created in one loop
};
inline constexpr int kRefusals = 4;

}  // namespace dynasoar
