/// @file
/// BumpMalloc: one counter that only ever moves on, by what was asked for; what AtomicMalloc and AWMalloc share.
///
/// Source: Vinkler and Havran, "Register Efficient Dynamic Memory Allocator for GPUs", sections 4.1 and 5.1, with the
/// requests of a warp served together (section 6, "Test considerations").
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/warp.h>

namespace dynasoar {

namespace detail {

/// Where nothing was found.
inline constexpr std::uint64_t kNoUnits = ~std::uint64_t{0};

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

  class Storage;

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

 private:
  static constexpr std::size_t kUnit = kMallocAlignment;
  static constexpr std::uint64_t kMostUnitsOfLane = (1u << 27) - 1;  // 32 of them add up to less than 2^32

  AtomicWord<std::uint64_t>* next_;  // in units
  char* heap_;
  std::uint64_t size_;  // in units
};

template <class AtTheEnd>
class BumpMalloc<AtTheEnd>::Storage {
 public:
  /// @throws Error if the heap has no room for anything, or there is too little memory
  Storage(Executor&, const MallocNeeds& needs) : next_(1) {
    view_.size_ = needs.heap_bytes / kUnit;
    if (view_.size_ == 0) throw Error("dynasoar: the heap is smaller than 16 bytes; ask for more heap_bytes");
    heap_ = DeviceArray<char>(view_.size_ * kUnit);
    next_.fill_bytes(0);
    view_.heap_ = heap_.data();
    view_.next_ = reinterpret_cast<AtomicWord<std::uint64_t>*>(next_.data());
  }

  BumpMalloc view() const { return view_; }
  std::size_t heap_bytes() const { return heap_.bytes(); }
  std::size_t state_bytes() const { return next_.bytes(); }

 private:
  DeviceArray<char> heap_;
  DeviceArray<std::uint64_t> next_;
  BumpMalloc view_{};
};

}  // namespace dynasoar
