/// @file
/// AnyHeap: a BlockHeap of any number of types, as code sees it that is the same for all of them: what sets heaps up,
/// counts objects, saves and restores. Made by HeapMemory.
#pragma once

#include <cstdint>

#include <dynasoar/allocator/block_heap.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/order.h>

namespace dynasoar::detail {

struct AnyHeap : HeapState<PlatformAtomics, 64> {
  const TypeState* types;  ///< where the code runs

  static constexpr std::uint64_t kAllSlots = ~std::uint64_t{0};

  /// See BlockHeap::type_of.
  __device__ int type_of(std::uint32_t block) const {
    return static_cast<int>(page_type[block >> block_shift].load(Order::relaxed));
  }
};

}  // namespace dynasoar::detail
