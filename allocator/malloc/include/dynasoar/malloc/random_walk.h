/// @file
/// RwPages, RwBmPages, CoRwPages: pages of one size. Requests check random places until one is free.
///
/// Source: Pham et al., "Dynamic Memory Management in Massively Parallel Systems: A Case on GPUs", ICS '22: RW in
/// section 3.1 (algorithm 1), RW-BM in 4.1, CoRW in 4.2 (algorithm 2). Threads share only the used bits of the pages,
/// so there is no queue. A request checks about T/A pages if A of T pages are free.
///
/// The paper leaves the following open; this is our choice:
/// - In the paper, a walk continues until there is a page. Here it ends after Map::kSteps steps. The lanes of a warp
///   without a page then sweep over all pages together. If a sweep finds no free page, the result is null.
/// - RW has a separate word for the used flag of each page; RW-BM and CoRW use words of 64 bits.
/// - A lane of RW-BM takes a random one of a word's free pages, because other lanes may check the same word.
/// - CoRW: once the pages of a lane's word have been distributed, the lane sets the used bits of all taken pages with
///   one atomic operation; its lock excludes other lanes. Pages that no lane needs stay free. No thread waits for a
///   lock.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/malloc/lane_random.h>
#include <dynasoar/malloc/page_maps.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar {

/// Does not count steps.
struct NoSteps {
  __device__ void take() {}
};

/// Counts the steps of a lane, for TAS and WAS: the averages over all lanes, and over the maxima of the warps. A step
/// is the check of one place of a walk, or a round of a sweep.
struct StepCount {
  std::uint32_t steps = 0;
  __device__ void take() { ++steps; }
};

namespace detail {

/// Distributes pages from lanes that found one to lanes that need one, in the order of their ranks.
///
/// @param need    ranks of the lanes without a page
/// @param has     ranks of the lanes that offer one
/// @param offer   the page that this lane offers
/// @param page    the page of this lane, or kNoPage
/// @return        the page of this lane afterwards, or kNoPage
/// @pre all lanes of the group call it together
template <class Group>
__device__ std::uint32_t share_pages(const Group& group, std::uint32_t need, std::uint32_t has, std::uint32_t offer,
                                     std::uint32_t page) {
  const int needy_before = popcount(need & first_bits(group.rank()));
  const bool gets = page == kNoPage && needy_before < popcount(has);
  const std::uint32_t shared = group.shuffle(offer, gets ? nth_set_bit(has, needy_before) : 0);
  return gets ? shared : page;
}

/// Whether this lane is one of `has`, and another lane will take the page that it offers.
template <class Group>
__device__ bool is_wanted(const Group& group, std::uint32_t need, std::uint32_t has) {
  return (has >> group.rank() & 1) != 0 && popcount(has & first_bits(group.rank())) < popcount(need);
}

/// Algorithm 1: a lane alone checks random places.
template <class Map, class Steps>
__device__ std::uint32_t walk_alone(const Map& map, LaneRandom& random, Steps& steps) {
  for (int step = 0; step < Map::kSteps; ++step) {
    steps.take();
    const std::uint32_t place = random.below(map.places());
    if (!map.has_free(place)) continue;
    const std::uint32_t page = map.take(place, random);
    if (page != kNoPage) return page;
  }
  return kNoPage;
}

/// Algorithm 2: every lane checks a random word, which it locks. Lanes that find pages share them with lanes that need
/// some. All lanes continue until all have a page.
template <class Group, class Steps>
__device__ std::uint32_t walk_together(const LockedPageBits& map, const Group& group, LaneRandom& random,
                                       Steps& steps) {
  std::uint32_t page = kNoPage;
  auto need = static_cast<std::uint32_t>(first_bits(group.size()));
  for (int step = 0; step < LockedPageBits::kSteps && need != 0; ++step) {
    steps.take();
    const std::uint32_t word = random.below(map.places());
    const bool locked = map.try_lock(word);
    const std::uint64_t found = locked ? map.free_pages(word) : 0;
    std::uint64_t left = found;
    std::uint32_t has = group.ballot(left != 0);
    while (need != 0 && has != 0) {
      const std::uint32_t offer = left != 0 ? LockedPageBits::page_of(word, lowest_bit(left)) : kNoPage;
      if (is_wanted(group, need, has)) left &= left - 1;
      page = share_pages(group, need, has, offer, page);
      need = group.ballot(page == kNoPage);
      has = group.ballot(left != 0);
    }
    if (locked) map.take_and_unlock(word, found & ~left);
  }
  return page;
}

/// The first of `count` places with a free page, or kNoPage. Each place is `stride` places after the one before,
/// cyclically. The loads are independent, so they overlap.
template <int count, class Map>
__device__ std::uint32_t first_with_free(const Map& map, std::uint32_t start, std::uint32_t stride) {
  std::uint32_t free = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint32_t place = (start + static_cast<std::uint32_t>(i) * stride) % map.places();
    free |= std::uint32_t{map.has_free(place)} << i;
  }
  if (free == 0) return kNoPage;
  return (start + static_cast<std::uint32_t>(lowest_bit(free)) * stride) % map.places();
}

/// The lanes of a group check all places, and distribute free pages among lanes without a page, until all have one or a
/// whole sweep found no free page.
///
/// If other threads take a page first, there is another sweep, at most PlatformAtomics::kPatience of them.
template <class Map, class Group, class Steps>
__device__ std::uint32_t sweep(const Map& map, const Group& group, std::uint32_t page, LaneRandom& random,
                               Steps& steps) {
  constexpr int kLooks = 8;  // places that each lane checks in a round
  const auto lanes = static_cast<std::uint32_t>(group.size());
  const auto rank = static_cast<std::uint32_t>(group.rank());
  std::uint32_t need = group.ballot(page == kNoPage);
  for (int sweeps = 0; sweeps < PlatformAtomics::kPatience && need != 0; ++sweeps) {
    if (sweeps > 0) PlatformAtomics::pause(sweeps);
    bool seen = false;
    const std::uint32_t start = group.broadcast(random.below(map.places())) + rank;
    for (std::uint32_t looked = 0; looked < map.places() && need != 0; looked += kLooks * lanes) {
      steps.take();
      const std::uint32_t place = first_with_free<kLooks>(map, start + looked, lanes);
      const std::uint32_t sees = group.ballot(place != kNoPage);
      if (sees == 0) continue;
      seen = true;
      const std::uint32_t offer = is_wanted(group, need, sees) ? map.take(place, random) : kNoPage;
      page = share_pages(group, need, group.ballot(offer != kNoPage), offer, page);
      need = group.ballot(page == kNoPage);
    }
    if (!seen) break;
  }
  return page;
}

}  // namespace detail

/// Pages of one size, named by their numbers; as a DeviceMalloc, of `largest()` bytes.
///
/// @tparam Map   where the used bits are: detail::PageFlags (RW), PageBits (RW-BM) or LockedPageBits (CoRW)
/// @par Concurrency   everything may overlap. Threads never wait for each other. After a walk of Map::kSteps steps, a
///                    request ends with a sweep that finds all pages taken, or after PlatformAtomics::kPatience sweeps
///                    in which other threads were faster
/// @par Cost          a walk: RW and RW-BM one load a step and one atomic operation for the page; CoRW one load and two
///                    to three atomic operations a step. `free_page`: one store (RW) or atomic operation
template <class Map>
class RandomWalkPages {
 public:
  static constexpr MallocProperties kProperties = Map::kProperties;

  class Storage;

  /// GETPAGE: takes a page for the caller. @return its number, or kNoPage if there is none
  ///
  /// @param steps   counts the caller's steps, see StepCount
  template <class Warp = PlatformWarp, class Steps = NoSteps>
  __device__ std::uint32_t get_page(Warp warp = {}, Steps&& steps = Steps{}) const {
    detail::LaneRandom random = detail::LaneRandom::of_lane(warp.id());
    std::uint32_t page = kNoPage;
    if constexpr (!Map::kCollaborates) {
      page = detail::walk_alone(map_, random, steps);
      if (page != kNoPage) return page;
    }
    const auto group = warp.coalesce();
    if constexpr (Map::kCollaborates) page = detail::walk_together(map_, group, random, steps);
    page = detail::sweep(map_, group, page, random, steps);
    group.synchronize();  // the lane that acquired the page may not be the one that gets it
    return page;
  }

  /// FREEPAGE. @pre the caller owns the page
  __device__ void free_page(std::uint32_t page) const { map_.give_back(page); }

  __host__ __device__ std::uint32_t page_count() const { return map_.pages(); }
  __device__ void* memory_of(std::uint32_t page) const { return heap_ + page * page_bytes_; }

  template <class Warp = PlatformWarp>
  __device__ void* malloc(std::size_t bytes, Warp warp = {}) const {
    if (bytes == 0 || bytes > page_bytes_) return nullptr;
    const std::uint32_t page = get_page(warp);
    return page == kNoPage ? nullptr : memory_of(page);
  }

  template <class Warp = PlatformWarp>
  __device__ void free(void* pointer, Warp = {}) const {
    if (pointer == nullptr) return;
    const auto offset = static_cast<std::size_t>(static_cast<char*>(pointer) - heap_);
    free_page(static_cast<std::uint32_t>(offset / page_bytes_));
  }

  __host__ __device__ std::size_t largest() const { return page_bytes_; }

 private:
  Map map_;
  char* heap_;
  std::size_t page_bytes_;
};

template <class Map>
class RandomWalkPages<Map>::Storage {
 public:
  /// Pages of needs.largest_request bytes (the paper's have 256), all free.
  ///
  /// @throws Error if not even one page fits, or there is too little memory
  Storage(Executor&, const MallocNeeds& needs) {
    view_.page_bytes_ = detail::round_up(std::max<std::size_t>(needs.largest_request, 1), kMallocAlignment);
    const std::size_t pages = needs.heap_bytes / view_.page_bytes_;
    if (pages == 0) throw Error("dynasoar: the heap is smaller than one page; ask for more heap_bytes");
    if (pages > kMostPages) {
      throw Error("dynasoar: the heap has more than 2^31 - 1024 pages; ask for less heap_bytes or larger pages");
    }
    heap_ = DeviceArray<char>(pages * view_.page_bytes_);
    view_.heap_ = heap_.data();
    words_ = DeviceArray<Word>(Map::words_needed(pages));
    view_.map_ = Map(words_.data(), static_cast<std::uint32_t>(pages));
    set_used(std::vector<bool>(pages));
  }

  /// Sets for every page whether it is used, for measurements that begin with few free pages. Pages that are marked as
  /// used may be freed by number.
  ///
  /// @pre no running work uses the pages
  /// @throws Error if `used` does not have one value for each page
  void set_used(const std::vector<bool>& used) {
    if (used.size() != view_.page_count()) throw Error("dynasoar: set_used needs one value for each page");
    words_.upload(Map::words_for(used));
  }

  RandomWalkPages view() const { return view_; }
  std::size_t heap_bytes() const { return heap_.bytes(); }
  std::size_t state_bytes() const { return words_.bytes(); }

 private:
  using Word = typename Map::Word;

  // A sweep adds two places and the steps of a round in 32 bits.
  static constexpr std::size_t kMostPages = (std::size_t{1} << 31) - 1024;

  DeviceArray<char> heap_;
  DeviceArray<Word> words_;
  RandomWalkPages view_{};
};

/// Random walk (RW): checks one page at a time.
using RwPages = RandomWalkPages<detail::PageFlags>;

/// Random walk with bitmap (RW-BM): checks the used bits of 64 pages at a time.
using RwBmPages = RandomWalkPages<detail::PageBits>;

/// Collaborative random walk (CoRW): the lanes of a warp search together and share the pages that they find.
using CoRwPages = RandomWalkPages<detail::LockedPageBits>;

/// An allocator of pages: GETPAGE and FREEPAGE.
template <class P>
concept PageAllocator = DeviceMalloc<P> &&
    requires(const P& pages, std::uint32_t page, PlatformWarp warp, StepCount& steps) {
  { pages.get_page() } -> std::same_as<std::uint32_t>;
  { pages.get_page(warp, steps) } -> std::same_as<std::uint32_t>;
  { pages.free_page(page) } -> std::same_as<void>;
  { pages.page_count() } -> std::same_as<std::uint32_t>;
  { pages.memory_of(page) } -> std::same_as<void*>;
};

static_assert(PageAllocator<RwPages>);
static_assert(PageAllocator<RwBmPages>);
static_assert(PageAllocator<CoRwPages>);

}  // namespace dynasoar
