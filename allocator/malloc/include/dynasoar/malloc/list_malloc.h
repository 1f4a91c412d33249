/// @file
/// ListMalloc: lists of free segments, in bins by size, or by size and multiprocessor. The baseline of ScatterAlloc: a
/// traditional allocator for many threads.
///
/// Source: ScatterAlloc (Steinberger, Kenzel, Kainz, Schmalstieg, 2012), section 4, and section 8 for the number of
/// bins; segment_lists.h finds, splits and merges segments.
///
/// The paper leaves open the initial contents of a multiprocessor's lists: here, an equal share of the heap. A thread
/// that finds nothing there continues with the lists of other multiprocessors. It releases memory to its own lists.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/malloc/malloc_storage.h>
#include <dynasoar/malloc/segment_lists.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar {

/// The division of free segments into lists.
enum class ListBins {
  by_size,
  by_size_and_multiprocessor,
};

/// Segments of the heap with the sizes of requests, in units of 64 bytes.
///
/// @par Concurrency   everything may overlap; lock-free
template <ListBins kListBins>
class ListMalloc {
 public:
  static constexpr bool kOneSet = kListBins == ListBins::by_size;
  static constexpr MallocProperties kProperties{kOneSet ? "size-list" : "mp-lists", true, false, true};

  using Storage = detail::MallocStorage<ListMalloc>;

  template <class Warp = PlatformWarp>
  __device__ void* malloc(std::size_t bytes, Warp warp = {}) const {
    if (bytes == 0 || bytes > largest_) return nullptr;
    const auto units = static_cast<std::uint32_t>((bytes + kUnitBytes - 1) / kUnitBytes);
    const std::uint32_t unit = lists_.take(set_of(warp.id()), units, warp.coalesce().matching(units));
    return unit == detail::SegmentLists::kNone ? nullptr : heap_ + std::size_t{unit} * kUnitBytes;
  }

  template <class Warp = PlatformWarp>
  __device__ void free(void* pointer, Warp warp = {}) const {
    if (pointer == nullptr) return;
    const auto offset = static_cast<std::size_t>(static_cast<char*>(pointer) - heap_);
    lists_.give(set_of(warp.id()), static_cast<std::uint32_t>(offset / kUnitBytes), warp.coalesce());
  }

  __host__ __device__ std::size_t largest() const { return largest_; }

  /// For Storage. @throws Error if the largest request does not fit into the share of a set of lists, or there is too
  /// little memory
  static ListMalloc make(Executor& executor, const MallocNeeds& needs, detail::MallocMemory& memory) {
    const std::uint32_t sets = kOneSet ? 1 : detail::sets_of_warps(executor);
    const std::size_t share = needs.heap_bytes / kUnitBytes / sets;
    if (share == 0 || needs.largest_request > share * kUnitBytes) {
      throw Error("dynasoar: ListMalloc needs " + std::to_string(sets) + " times the largest request, rounded up to " +
                  std::to_string(kUnitBytes) + " bytes; ask for more heap_bytes");
    }
    if (share * sets > std::numeric_limits<std::int32_t>::max()) {
      throw Error("dynasoar: ListMalloc manages 2^31 - 1 units of 64 bytes at most; ask for less heap_bytes");
    }
    ListMalloc made{};
    made.lists_ = make_lists(memory, static_cast<std::uint32_t>(share), sets);
    made.heap_ = memory.make_heap(share * sets * kUnitBytes);
    made.largest_ = share * kUnitBytes;
    return made;
  }

 private:
  using Lists = detail::SegmentLists;

  static constexpr std::size_t kUnitBytes = Lists::kUnitBytes;

  __device__ std::uint32_t set_of(std::uint32_t warp) const { return warp / detail::kWarpsPerSet % lists_.sets(); }

  /// Lists with one free segment per set.
  static Lists make_lists(detail::MallocMemory& memory, std::uint32_t share, std::uint32_t sets) {
    const std::uint32_t units = share * sets;
    std::vector<std::uint64_t> states(units);
    std::vector<std::uint64_t> heads(std::size_t{sets} * Lists::kBins, Lists::Head{Lists::kNone, 0}.word());
    for (std::uint32_t set = 0; set < sets; ++set) {
      states[set * share] = detail::SegmentState{share, detail::SegmentState::kFree, true}.word();
      heads[set * Lists::kBins + Lists::bin_of(share)] = Lists::Head{set * share, 0}.word();
    }
    return Lists(memory.make_table<Lists::State>(states), memory.make_table<Lists::Link>(units, 0xFF),  // kNone
                 memory.make_table<Lists::State>(heads), memory.make_table<Lists::Link>(sets),
                 memory.make_table<Lists::State>(1), units, sets);
  }

  detail::SegmentLists lists_;
  char* heap_;
  std::size_t largest_;
};

/// The size list of the paper.
using SizeListMalloc = ListMalloc<ListBins::by_size>;

/// The mp lists of the paper.
using MultiprocessorListMalloc = ListMalloc<ListBins::by_size_and_multiprocessor>;

static_assert(DeviceMalloc<SizeListMalloc>);
static_assert(DeviceMalloc<MultiprocessorListMalloc>);

}  // namespace dynasoar
