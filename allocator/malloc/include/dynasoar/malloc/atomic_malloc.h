/// @file
/// AtomicMalloc: hands out memory by one atomic addition and never takes any back. A lower bound for others.
///
/// Source: Vinkler and Havran, "Register Efficient Dynamic Memory Allocator for GPUs", section 4.1, Algorithm 1.
///
/// Left open there: what happens at the end of the heap. Here a request that reaches beyond it is refused, and so are
/// all that come later, because the counter stays beyond the end; a look before the addition would cost every request.
#pragma once

#include <cstdint>

#include <dynasoar/malloc/bump_malloc.h>
#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>

namespace dynasoar {

namespace detail {

/// The heap is used once. The counter has 64 bits: it would take years to come round.
struct StopAtTheEnd {
  static constexpr const char* kName = "atomic";

  __device__ static std::uint64_t take(AtomicWord<std::uint64_t>& next, std::uint64_t units, std::uint64_t) {
    return next.fetch_add(units, Order::relaxed);
  }
};

}  // namespace detail

/// Memory that is handed out once.
///
/// @par Concurrency   everything may overlap; wait-free
using AtomicMalloc = BumpMalloc<detail::StopAtTheEnd>;

static_assert(DeviceMalloc<AtomicMalloc>);

}  // namespace dynasoar
