/// @file
/// PageRuns: consecutive pages for requests that one page cannot hold. Used by ScatterMalloc.
///
/// Source: ScatterAlloc (Steinberger et al. 2012), section 6.3. Each page of a run has an entry. A run is taken page by
/// page, and given up if another thread was faster on one of them.
///
/// The paper leaves open where a search continues after that: here, behind the run that was in the way. For this, an
/// entry has the length of the run and the position of the page in it. Runs are taken from their first page up. So if
/// two threads try to take overlapping runs, the thread whose run has the higher first page never gives up because of
/// the other, once it has taken this page.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// Entries of pages, 0 for a free one.
///
/// @par Concurrency   everything may overlap; lock-free
/// @par Cost          first fit: linear in the number of runs in front
class PageRuns {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

  PageRuns() = default;

  static constexpr std::uint32_t kPageBytes = 4096;

  /// @param entries   of `count` pages, all 0
  /// @param memory    of the pages, at the end of the allocator's heap
  PageRuns(AtomicWord<std::uint64_t>* entries, std::uint32_t count, char* memory)
      : entries_(entries), count_(count), memory_(memory) {}

  /// Allocates `bytes` bytes. @return null if there are not enough consecutive pages
  __device__ void* malloc(std::size_t bytes) const {
    const std::uint32_t first = take(static_cast<std::uint32_t>((bytes + kPageBytes - 1) / kPageBytes));
    return first == kNone ? nullptr : memory_ + std::size_t{first} * kPageBytes;
  }

  /// Whether memory of the allocator's heap is from here.
  __device__ bool has(const void* pointer) const { return static_cast<const char*>(pointer) >= memory_; }

  __device__ void free(void* pointer) const {
    give(static_cast<std::uint32_t>(static_cast<std::size_t>(static_cast<char*>(pointer) - memory_) / kPageBytes));
  }

  /// Takes pages for the caller. @return the first of `pages` consecutive pages, or kNone
  __device__ std::uint32_t take(std::uint32_t pages) const {
    for (int round = 0; round < kRounds; ++round) {
      bool lost = false;
      const std::uint32_t first = first_fit(pages, lost);
      if (first != kNone) return first;
      if (!lost) return kNone;
      PlatformAtomics::pause(round);  // the pages may be free again, because the other thread may have given up, too
    }
    return kNone;
  }

  /// Releases the run that starts at `first`.
  __device__ void give(std::uint32_t first) const {
    // Only the owner writes the entries of its run.
    put_back(first, Entry::of(entries_[first].load(Order::relaxed)).pages);
  }

 private:
  static constexpr int kRounds = 64;  // searches that lost a page to another thread

  struct Entry {
    std::uint32_t pages;     ///< of the run
    std::uint32_t position;  ///< of this page in it

    __device__ static Entry of(std::uint64_t word) {
      return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word)};
    }
    __device__ std::uint64_t word() const { return std::uint64_t{pages} << 32 | position; }
    __device__ std::uint32_t to_end() const { return pages - position; }
  };

  /// One search. `lost` becomes true if another thread was faster somewhere.
  __device__ std::uint32_t first_fit(std::uint32_t pages, bool& lost) const {
    std::uint32_t first = 0;  // the pages from here to `page` are free
    for (std::uint32_t page = 0; page < count_;) {
      std::uint64_t found = entries_[page].load(Order::relaxed);
      if (found == 0) {
        ++page;
        if (page - first < pages) continue;
        page = first;
        if (claim(page, pages, found)) return first;
        lost = true;
      }
      page += Entry::of(found).to_end();
      first = page;
    }
    return kNone;
  }

  /// Takes the pages from `page` on. On failure, `page` becomes the page that was in the way and `found` its entry.
  __device__ bool claim(std::uint32_t& page, std::uint32_t pages, std::uint64_t& found) const {
    const std::uint32_t first = page;
    for (std::uint32_t i = 0; i < pages; ++i) {
      found = 0;
      // acquire: pairs with the release in put_back. All accesses of the last owner to the pages come before.
      if (entries_[first + i].compare_exchange(found, Entry{pages, i}.word(), Order::acquire)) continue;
      put_back(first, i);
      page = first + i;
      return false;
    }
    return true;
  }

  __device__ void put_back(std::uint32_t first, std::uint32_t pages) const {
    // release: pairs with the acquire in claim.
    for (std::uint32_t i = 0; i < pages; ++i) entries_[first + i].store(0, Order::release);
  }

  AtomicWord<std::uint64_t>* entries_;
  std::uint32_t count_;
  char* memory_;
};

}  // namespace dynasoar::detail
