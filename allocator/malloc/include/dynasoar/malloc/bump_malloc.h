/// @file
/// AtomicMalloc and AWMalloc (AtomicWrapMalloc): one counter, to which each request adds its size. Nothing is freed. At
/// the end of the heap, AWMalloc starts again at the beginning, even if that memory is still in use. Lower bounds for
/// other allocators.
///
/// Source: Vinkler and Havran, "Register Efficient Dynamic Memory Allocator for GPUs", section 4.1, Algorithm 1, and
/// section 5.1, Algorithm 2, with the requests of a warp served together (section 6, "Test considerations").
///
/// The paper does not specify AtomicMalloc at the end of the heap. Here a request that reaches beyond the end is
/// refused, and so are all later ones, because the counter stays beyond the end. A check before the addition would slow
/// down every request.
///
/// In AWMalloc, a request that reaches beyond the end resets the counter by compare-and-swap. If another thread has
/// done this, the request adds its size again. There are two differences to Algorithm 2:
/// - After another thread has reset the counter, it may have advanced so far again that the request ends beyond the
///   end, although the counter itself is not there yet. In this case, the algorithm returns the memory before the
///   counter, which other threads have just got. Here the counter is reset.
/// - A request gives up after kRounds, while the algorithm continues.
///
/// A warp's combined request wraps as a whole.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/malloc/malloc_storage.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/warp.h>

namespace dynasoar {

namespace detail {

/// Stands for no memory.
inline constexpr std::uint64_t kNoUnits = ~std::uint64_t{0};

/// The heap is used once. The counter has 64 bits and would take years to overflow.
struct StopAtTheEnd {
  static constexpr const char* kName = "atomic";

  __device__ static std::uint64_t take(AtomicWord<std::uint64_t>& next, std::uint64_t units, std::uint64_t) {
    return next.fetch_add(units, Order::relaxed);
  }
};

/// The heap is a ring.
struct WrapAtTheEnd {
  static constexpr const char* kName = "atomic-wrap";

  __device__ static std::uint64_t take(AtomicWord<std::uint64_t>& next, std::uint64_t units, std::uint64_t size) {
    std::uint64_t end = next.fetch_add(units, Order::relaxed) + units;
    if (end <= size) return end - units;
    for (int round = 0; round < kRounds; ++round) {
      if (next.compare_exchange(end, units, Order::relaxed)) return 0;
      if (end + units > size) continue;  // not reset by another thread, or much has been taken since
      end = next.fetch_add(units, Order::relaxed) + units;
      if (end <= size) return end - units;
    }
    return kNoUnits;
  }

 private:
  static constexpr int kRounds = 1024;  // in each of them another thread was served
};

}  // namespace detail

/// Memory from a counter that all threads share.
///
/// The lanes of a warp advance the counter together, by the sum of their requests, and get adjacent memory. `free` does
/// nothing.
///
/// @tparam AtTheEnd   the policy at the end of the heap: `take(next, units, size)` advances `next` by `units` and
///                    returns their beginning, or kNoUnits; `kName`
/// @par Concurrency   everything may overlap; as AtTheEnd
/// @par Cost          one atomic addition per group of lanes
template <class AtTheEnd>
class BumpMalloc {
 public:
  static constexpr MallocProperties kProperties{AtTheEnd::kName, false, false, true};

  using Storage = detail::MallocStorage<BumpMalloc>;

  template <class Warp = PlatformWarp>
  __device__ void* malloc(std::size_t bytes, Warp warp = {}) const {
    if (bytes == 0 || bytes > largest()) return nullptr;
    const auto units = static_cast<std::uint32_t>((bytes + kUnit - 1) / kUnit);
    const auto group = warp.coalesce();
    const LaneSums sums = group.sums(units);
    std::uint64_t begin = 0;
    // Never ask for more than the whole heap. The last lanes then get nothing, which ends_inside detects.
    if (group.rank() == 0) begin = AtTheEnd::take(*next_, sums.total < size_ ? sums.total : size_, size_);
    begin = group.broadcast(begin);
    const bool ends_inside = begin != detail::kNoUnits && begin + sums.before + units <= size_;
    return ends_inside ? heap_ + (begin + sums.before) * kUnit : nullptr;
  }

  template <class Warp = PlatformWarp>
  __device__ void free(void*, Warp = {}) const {}

  __host__ __device__ std::size_t largest() const {
    return (size_ < kMostUnitsOfLane ? size_ : kMostUnitsOfLane) * kUnit;
  }

  /// For Storage. @throws Error if the heap has no room for anything, or there is too little memory
  static BumpMalloc make(Executor&, const MallocNeeds& needs, detail::MallocMemory& memory) {
    const std::size_t units = needs.heap_bytes / kUnit;
    if (units == 0) throw Error("dynasoar: the heap is smaller than 16 bytes; ask for more heap_bytes");
    BumpMalloc made{};
    made.next_ = memory.make_table<AtomicWord<std::uint64_t>>(1);
    made.heap_ = memory.make_heap(units * kUnit);
    made.size_ = units;
    return made;
  }

 private:
  static constexpr std::size_t kUnit = kMallocAlignment;
  static constexpr std::uint64_t kMostUnitsOfLane = (1u << 27) - 1;  // the sum of 32 of them is less than 2^32

  AtomicWord<std::uint64_t>* next_;  // in units
  char* heap_;
  std::uint64_t size_;  // in units
};

/// Memory that is allocated once.
///
/// @par Concurrency   everything may overlap; wait-free
using AtomicMalloc = BumpMalloc<detail::StopAtTheEnd>;

/// Memory that the caller owns until heap_bytes more have been allocated.
///
/// Use it for memory that is needed briefly, with a heap that is large enough: `malloc` does not know which memory is
/// in use and does not refuse requests. It does not order accesses of threads that use the same memory one after the
/// other.
///
/// @par Concurrency   everything may overlap; lock-free, with a bound after which a request is refused
using AWMalloc = BumpMalloc<detail::WrapAtTheEnd>;

static_assert(DeviceMalloc<AtomicMalloc> && DeviceMalloc<AWMalloc>);

}  // namespace dynasoar
