/// @file
/// PlacingAllocator: the allocator of the tests of lattices, and what most of them use. They are compiled a second time
/// with DYNASOAR_TEST_MALLOC, for objects in pieces of its memory; cases about what only blocks have are left out
/// there.
#pragma once

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

#if defined(DYNASOAR_TEST_MALLOC)
#include <dynasoar/malloc/aos_allocator.h>
#include DYNASOAR_TEST_MALLOC_HEADER
#endif

namespace dynasoar::test {

#if defined(DYNASOAR_TEST_MALLOC)
inline namespace in_pieces {
template <class... Ts>
using PlacingAllocator = AosAllocator<DYNASOAR_TEST_MALLOC, Ts...>;
}
#else
template <class... Ts>
using PlacingAllocator = SoaAllocator<Ts...>;
#endif

inline const HandleOptions kSmall{.heap_bytes = 8 << 20};

/// Chooses all places.
struct Everywhere {
  __device__ bool operator()(Place) const { return true; }
};

}  // namespace dynasoar::test
