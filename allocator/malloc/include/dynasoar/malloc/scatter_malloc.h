/// @file
/// ScatterMalloc: scatters requests over pages by a hash of their size and of the requesting multiprocessor and warp,
/// so that few of them access the same page.
///
/// Source: ScatterAlloc (Steinberger, Kenzel, Kainz, Schmalstieg, 2012), sections 5 and 6. Super blocks consist of
/// regions, regions of pages; scatter_pages.h allocates within a page, page_runs.h serves larger requests.
///
/// Differences to the paper, and choices that it leaves open:
/// - Simultaneous requests of a warp's lanes for one size take their chunks from the same pages. One lane makes one
///   change of the count and one of the bit field. `ScatterMallocSeparate` does not combine requests, as in the paper.
/// - The hash adds the warp's number on its multiprocessor, times kWarpPages. Otherwise the warps of a multiprocessor
///   would access the same pages.
/// - The heap has kSuperBlocks adjacent super blocks, but not smaller ones than the paper's 8 MB if the heap is large
///   enough. Regions have 64 pages, and are skipped from 9/10 full on; so are super blocks. A request that then finds
///   nothing searches all pages that are not full before it gives up.
/// - If `largest_request` is above a page, one super block in four serves only requests above a page.
/// - Not every freed chunk, but only a page that becomes free may make its super block the active one. This is less
///   likely if more of its regions are full. The number of the page serves as a random number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <dynasoar/heap/requests.h>
#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/malloc/malloc_storage.h>
#include <dynasoar/malloc/page_runs.h>
#include <dynasoar/malloc/scatter_pages.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar {

/// Chunks of pages, and runs of pages for requests that are larger.
///
/// @par Concurrency   everything may overlap; lock-free
template <Requests kRequests>
class BasicScatterMalloc {
 public:
  static constexpr bool kCombines = kRequests == Requests::combined;
  static constexpr MallocProperties kProperties{kCombines ? "scatter" : "scatter-separate", true, false, kCombines};

  using Storage = detail::MallocStorage<BasicScatterMalloc>;

  template <class Warp = PlatformWarp>
  __device__ void* malloc(std::size_t bytes, Warp warp = {}) const {
    if (bytes == 0 || bytes > largest_) return nullptr;
    if (bytes > kPageBytes) return runs_.malloc(bytes);
    const auto rounded = static_cast<std::uint32_t>(detail::round_up(bytes, kMallocAlignment));
    const auto group = detail::requesting_lanes<kRequests>(warp).matching(rounded);
    const auto rank = static_cast<std::uint32_t>(group.rank());
    const auto lanes = static_cast<std::uint32_t>(group.size());
    Place place = first_place(rounded, warp.id());
    void* memory = nullptr;
    for (std::uint32_t served = 0; served < lanes;) {
      detail::ScatterGrant grant;
      if (rank == 0) grant = find(place, rounded, lanes - served);
      grant = from_first_lane(grant, group);
      if (grant.count == 0) break;
      // The first lane has acquired the chunks for all lanes.
      group.synchronize();
      if (rank - served < grant.count) memory = pages_.memory_of(grant, rank - served);
      served += grant.count;
    }
    return memory;
  }

  template <class Warp = PlatformWarp>
  __device__ void free(void* pointer, Warp warp = {}) const {
    if (pointer == nullptr) return;
    if (runs_.has(pointer)) return runs_.free(pointer);
    const auto offset = static_cast<std::size_t>(static_cast<char*>(pointer) - heap_);
    const auto page = static_cast<std::uint32_t>(offset / kPageBytes);
    const auto group = detail::requesting_lanes<kRequests>(warp).matching(page);
    if (pages_.give(page, static_cast<std::uint32_t>(offset % kPageBytes), group)) reactivate(page);
  }

  __host__ __device__ std::size_t largest() const { return largest_; }

  /// For Storage. @throws Error if the heap is too small for a super block, or for the largest request, or there is too
  /// little memory
  static BasicScatterMalloc make(Executor&, const MallocNeeds& needs, detail::MallocMemory& memory) {
    const bool has_runs = needs.largest_request > kPageBytes;
    const std::uint32_t most_blocks = has_runs ? 2 : 1;
    const std::size_t pages = needs.heap_bytes / kPageBytes;
    if (pages / most_blocks < Pages::kRegionPages) {
      throw Error("dynasoar: ScatterMalloc needs " +
                  std::to_string(std::size_t{most_blocks} * Pages::kRegionPages * kPageBytes) +
                  " bytes at least; ask for more heap_bytes");
    }
    if (pages > std::numeric_limits<std::uint32_t>::max() / 2) {
      throw Error("dynasoar: ScatterMalloc manages 2^31 pages of 4096 bytes at most; ask for less heap_bytes");
    }
    const auto all_blocks =
        static_cast<std::uint32_t>(std::clamp<std::size_t>(pages / kLeastBlockPages, most_blocks, kSuperBlocks));
    const auto block_regions = static_cast<std::uint32_t>(pages / all_blocks / Pages::kRegionPages);
    const std::size_t block_bytes = std::size_t{block_regions} * Pages::kRegionPages * kPageBytes;
    BasicScatterMalloc made{};
    made.largest_ = has_runs ? block_bytes : kPageBytes;
    if (needs.largest_request > made.largest_) {
      throw Error("dynasoar: the largest request does not fit into a super block of ScatterMalloc, of " +
                  std::to_string(made.largest_) + " bytes here; ask for more heap_bytes");
    }
    made.blocks_ = all_blocks - (has_runs ? std::max(all_blocks / kBlocksPerRunBlock, 1u) : 0);
    made.make_blocks(memory, all_blocks, block_regions);
    return made;
  }

 private:
  using Pages = detail::ScatterPages;

  static constexpr std::uint32_t kPageBytes = Pages::kPageBytes;
  static constexpr std::uint32_t kSizeFactor = 38183;            // k_S in the paper's hash
  static constexpr std::uint32_t kMultiprocessorFactor = 17497;  // k_mp
  static constexpr std::uint32_t kWarpPages = 4;                 // distance between the pages of consecutive warps
  static constexpr std::uint32_t kWarpsPerMultiprocessor = 64;   // in the numbers of PlatformWarp
  static constexpr std::uint32_t kReactivation = 8;              // pages of an empty block that become free per change
  static constexpr std::size_t kLeastBlockPages = 2048;          // 8 MB, as in the paper
  static constexpr std::size_t kSuperBlocks = 4;                 // at most
  static constexpr std::uint32_t kBlocksPerRunBlock = 4;         // super blocks, one of which is for runs

  /// The start of a search: the super block, and the page in it.
  struct Place {
    std::uint32_t block;
    std::uint32_t page;
  };

  __device__ Place first_place(std::uint32_t bytes, std::uint32_t warp) const {
    const std::uint32_t hash = bytes * kSizeFactor + warp / kWarpsPerMultiprocessor * kMultiprocessorFactor +
                               warp % kWarpsPerMultiprocessor * kWarpPages;
    return {active_block_->load(Order::relaxed), hash % pages_.block_pages()};
  }

  template <class Group>
  __device__ static detail::ScatterGrant from_first_lane(const detail::ScatterGrant& grant, const Group& group) {
    return {group.broadcast(grant.page), group.broadcast(grant.split), group.broadcast(grant.first),
            group.broadcast(grant.count), group.broadcast(grant.bits)};
  }

  /// Finds chunks for up to `wanted` requests. Moves `place` behind their page, which most likely has no others if they
  /// are fewer. @return a count of 0 if there are none
  __device__ detail::ScatterGrant find(Place& place, std::uint32_t bytes, std::uint32_t wanted) const {
    detail::ScatterGrant grant = find(place, bytes, wanted, Pages::kRegionLimit);
    if (grant.count == 0) grant = find(place, bytes, wanted, Pages::kRegionPages - 1);
    return grant;
  }

  /// The same, in regions with at most `limit` full pages.
  __device__ detail::ScatterGrant find(Place& place, std::uint32_t bytes, std::uint32_t wanted, int limit) const {
    std::uint32_t block = place.block;
    for (std::uint32_t i = 0; i < blocks_; ++i) {
      const detail::ScatterGrant grant = find_in_block({block, place.page}, bytes, wanted, limit);
      if (grant.count != 0) {
        if (i != 0) active_block_->store(block, Order::relaxed);
        const std::uint32_t next = grant.page - block * pages_.block_pages() + 1;
        place = {block, next == pages_.block_pages() ? 0 : next};
        return grant;
      }
      block = block + 1 == blocks_ ? 0 : block + 1;
    }
    return {};
  }

  __device__ detail::ScatterGrant find_in_block(Place start, std::uint32_t bytes, std::uint32_t wanted,
                                                int limit) const {
    const std::uint32_t first_page = start.block * pages_.block_pages();
    std::uint32_t page = start.page;
    // The region of the start is visited twice: first its end, and last the rest.
    for (std::uint32_t i = 0; i <= pages_.block_regions(); ++i) {
      const std::uint32_t region = page / Pages::kRegionPages;
      const std::uint32_t end = (region + 1) * Pages::kRegionPages;
      // Most requests need only the first page, so this load overlaps with that of the region.
      std::uint64_t seen = i == 0 ? pages_.look_at(first_page + page) : 0;
      if (pages_.full_pages(start.block * pages_.block_regions() + region) <= limit) {
        if (i != 0) seen = pages_.look_at(first_page + page);
        for (;;) {
          const detail::ScatterGrant grant = pages_.take(first_page + page, seen, bytes, wanted);
          if (grant.count != 0) return grant;
          if (++page == end) break;
          seen = pages_.look_at(first_page + page);
        }
      } else if (limit == Pages::kRegionLimit && pages_.full_regions(start.block) > block_limit()) {
        return {};
      }
      page = end == pages_.block_pages() ? 0 : end;
    }
    return {};
  }

  /// The maximum number of full regions of a super block that is not skipped.
  __device__ int block_limit() const { return static_cast<int>(pages_.block_regions() * 9 / 10); }

  /// May make a page's super block the active one.
  __device__ void reactivate(std::uint32_t page) const {
    const std::uint32_t block = page / pages_.block_pages();
    const std::uint64_t sides = std::uint64_t{pages_.block_regions()} * kReactivation;
    const auto roll = static_cast<int>(page * detail::kSpread * sides >> 32);
    const int regions = static_cast<int>(pages_.block_regions());
    if (roll >= regions - pages_.full_regions(block)) return;
    if (active_block_->load(Order::relaxed) != block) active_block_->store(block, Order::relaxed);
  }

  /// Makes super blocks: the first `blocks_` for chunks, and the others for runs.
  void make_blocks(detail::MallocMemory& memory, std::uint32_t all_blocks, std::uint32_t block_regions) {
    using Fill = AtomicWord<std::uint32_t>;
    const std::size_t block_pages = std::size_t{block_regions} * Pages::kRegionPages;
    const std::size_t chunk_pages = blocks_ * block_pages;
    const std::size_t run_pages = all_blocks * block_pages - chunk_pages;
    heap_ = memory.make_heap(all_blocks * block_pages * kPageBytes);
    Fill* const block_fill = memory.make_table<Fill>(all_blocks);
    active_block_ = memory.make_table<Fill>(1);
    pages_ = Pages(heap_, memory.make_table<detail::ScatterPage>(chunk_pages),
                   memory.make_table<Fill>(std::size_t{blocks_} * block_regions), block_fill, block_regions);
    runs_ = detail::PageRuns(memory.make_table<detail::ScatterWord>(run_pages), static_cast<std::uint32_t>(run_pages),
                             heap_ + chunk_pages * kPageBytes);
  }

  Pages pages_;
  detail::PageRuns runs_;
  AtomicWord<std::uint32_t>* active_block_;
  char* heap_;
  std::uint32_t blocks_;  // super blocks of chunks; those of runs come after them
  std::size_t largest_;
};

/// Lanes of a warp combine their requests.
using ScatterMalloc = BasicScatterMalloc<Requests::combined>;

/// Every lane makes its own request, as in the paper.
using ScatterMallocSeparate = BasicScatterMalloc<Requests::separate>;

static_assert(DeviceMalloc<ScatterMalloc>);
static_assert(DeviceMalloc<ScatterMallocSeparate>);

}  // namespace dynasoar
