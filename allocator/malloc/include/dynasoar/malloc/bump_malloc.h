/// @file
/// AtomicMalloc and AWMalloc (AtomicWrapMalloc): one counter that only ever moves on, by what is asked for. Nothing is
/// taken back; AWMalloc starts again at the end of the heap, whoever still uses what lies there. Lower bounds for
/// others.
///
/// Source: Vinkler and Havran, "Register Efficient Dynamic Memory Allocator for GPUs", section 4.1, Algorithm 1, and
/// section 5.1, Algorithm 2, with the requests of a warp served together (section 6, "Test considerations").
///
/// Left open there: what happens to AtomicMalloc at the end of the heap. Here a request that reaches beyond it is
/// refused, and so are all that come later, because the counter stays beyond the end; a look before the addition would
/// cost every request.
///
/// AWMalloc: a request that reaches beyond the end sets the counter back by compare-and-swap; if another thread did, it
/// tries an addition again. Different from Algorithm 2: if the counter has come so far again that the request ends
/// beyond the end, but the counter itself is not yet there, the algorithm returns memory before the counter, which
/// others have just been given; here the counter is set back. And a request gives up after kRounds, where the algorithm
/// loops on. A warp's combined request wraps as a whole.
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

/// Where nothing was found.
inline constexpr std::uint64_t kNoUnits = ~std::uint64_t{0};

/// The heap is used once. The counter has 64 bits: it would take years to come round.
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
      if (end + units > size) continue;  // no other thread has set it back, or much was taken since
      end = next.fetch_add(units, Order::relaxed) + units;
      if (end <= size) return end - units;
    }
    return kNoUnits;
  }

 private:
  static constexpr int kRounds = 1024;  // in each of them another thread was served
};

}  // namespace detail

/// Memory from a counter that is shared by all.
///
/// The lanes of a warp move the counter on together, by the sum of what they ask for, and lie one after the other.
/// `free` does nothing.
///
/// @tparam AtTheEnd   what happens at the end of the heap: `take(next, units, size)` moves `next` on by `units` and
///                    returns where they begin, or kNoUnits; `kName`
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
    // More than the whole heap is never there: the last lanes get nothing then, which ends_inside sees.
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
  static constexpr std::uint64_t kMostUnitsOfLane = (1u << 27) - 1;  // 32 of them add up to less than 2^32

  AtomicWord<std::uint64_t>* next_;  // in units
  char* heap_;
  std::uint64_t size_;  // in units
};

/// Memory that is handed out once.
///
/// @par Concurrency   everything may overlap; wait-free
using AtomicMalloc = BumpMalloc<detail::StopAtTheEnd>;

/// Memory that is the caller's until heap_bytes more have been handed out.
///
/// It is for memory that is needed briefly, from a heap that is large enough: `malloc` does not know what is in use and
/// does not refuse, and it orders nothing between those who use the same memory one after the other.
///
/// @par Concurrency   everything may overlap; lock-free, with a bound after which a request is refused
using AWMalloc = BumpMalloc<detail::WrapAtTheEnd>;

static_assert(DeviceMalloc<AtomicMalloc> && DeviceMalloc<AWMalloc>);

}  // namespace dynasoar
