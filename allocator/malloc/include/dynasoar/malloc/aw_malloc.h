/// @file
/// AWMalloc (AtomicWrapMalloc): as AtomicMalloc, but starts again at the end of the heap, whoever still uses what lies
/// there. A lower bound for others.
///
/// Source: Vinkler and Havran, "Register Efficient Dynamic Memory Allocator for GPUs", section 5.1, Algorithm 2.
///
/// Who reaches beyond the end sets the counter back by compare-and-swap; if somebody else did, an addition is tried
/// again. Different from Algorithm 2: if the counter has come so far again that the request ends beyond the end, but
/// the counter itself is not yet there, the algorithm returns memory before the counter, which others have just been
/// given; here the counter is set back. And a request gives up after kRounds, where the algorithm loops on. A warp's
/// combined request wraps as a whole.
#pragma once

#include <cstdint>

#include <dynasoar/malloc/bump_malloc.h>
#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>

namespace dynasoar {

namespace detail {

/// The heap is a ring.
struct WrapAtTheEnd {
  static constexpr const char* kName = "atomic-wrap";

  __device__ static std::uint64_t take(AtomicWord<std::uint64_t>& next, std::uint64_t units, std::uint64_t size) {
    std::uint64_t end = next.fetch_add(units, Order::relaxed) + units;
    if (end <= size) return end - units;
    for (int round = 0; round < kRounds; ++round) {
      if (next.compare_exchange(end, units, Order::relaxed)) return 0;
      if (end + units > size) continue;  // nobody has set it back, or much was taken since
      end = next.fetch_add(units, Order::relaxed) + units;
      if (end <= size) return end - units;
    }
    return kNoUnits;
  }

 private:
  static constexpr int kRounds = 1024;  // in each of them somebody else was served
};

}  // namespace detail

/// Memory that is the caller's until heap_bytes more have been handed out.
///
/// It is for memory that is needed briefly, from a heap that is large enough: `malloc` does not know what is in use and
/// does not refuse, and it orders nothing between those who use the same memory one after the other.
///
/// @par Concurrency   everything may overlap; lock-free, with a bound after which a request is refused
using AWMalloc = BumpMalloc<detail::WrapAtTheEnd>;

static_assert(DeviceMalloc<AWMalloc>);

}  // namespace dynasoar
