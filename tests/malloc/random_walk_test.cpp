#include <cmath>

#include <dynasoar/malloc/random_walk.h>

#include "malloc_suite.h"

namespace dynasoar::test {

// All pages are as large as the largest.
struct PagesSuite : MallocSuite<void> {
  static constexpr std::size_t kLargest = 1024;
  static constexpr double kLeastFilled = 1;
  static constexpr double kLeastFilledAgain = 1;
};
template <>
struct MallocSuite<RwPages> : PagesSuite {};
template <>
struct MallocSuite<RwBmPages> : PagesSuite {};
template <>
struct MallocSuite<CoRwPages> : PagesSuite {};

DYNASOAR_MALLOC_SUITE(RwPages);
DYNASOAR_MALLOC_SUITE(RwBmPages);
DYNASOAR_MALLOC_SUITE(CoRwPages);

/// Pages of 16 bytes.
template <class P>
struct PageBench {
  Executor executor{static_cast<int>(kHostThreads)};
  typename P::Storage storage;

  explicit PageBench(std::uint32_t pages)
      : storage(executor, {.heap_bytes = std::size_t{pages} * 16, .largest_request = 16}) {}

  struct Answers {
    std::vector<std::uint32_t> pages, steps;

    double average_steps() const {
      double sum = 0;
      for (const std::uint32_t count : steps) sum += count;
      return sum / static_cast<double>(steps.size());
    }
  };

  Answers get_pages(std::size_t count) {
    DeviceArray<std::uint32_t> pages(count);
    DeviceArray<std::uint32_t> steps(count);
    // Every index asks for a page.
    executor.for_each_index(
        count, [allocator = storage.view(), pages = pages.data(), steps = steps.data()] __device__(std::size_t index) {
          StepCount taken;
          pages[index] = allocator.get_page(PlatformWarp{}, taken);
          steps[index] = taken.steps;
        });
    executor.synchronize();
    return {pages.download(), steps.download()};
  }

  /// Marks all pages as used but for `free` of them, which are chosen at random.
  void leave_free(std::uint32_t free, std::uint64_t seed) {
    std::vector<bool> used(storage.view().page_count(), true);
    Random random = Random::of(seed, 0);
    while (free > 0) {
      const std::uint32_t page = random.below(storage.view().page_count());
      free -= used[page] ? 1 : 0;
      used[page] = false;
    }
    storage.set_used(used);
  }
};

TEST_CASE_TEMPLATE("every page is given to one, and whoever comes later gets none until one is freed", P, RwPages,
                   RwBmPages, CoRwPages) {
  for (const std::uint32_t pages : {1u, 2u, 63u, 64u, 65u, 1000u, 5003u}) {
    CAPTURE(pages);
    PageBench<P> bench(pages);
    CHECK(bench.storage.view().page_count() == pages);
    std::vector<std::uint32_t> taken = bench.get_pages(pages).pages;
    std::sort(taken.begin(), taken.end());
    for (std::uint32_t page = 0; page < pages; ++page) REQUIRE(taken[page] == page);
    CHECK(bench.get_pages(1).pages[0] == kNoPage);
    const std::uint32_t freed = pages / 2;
    bench.executor.for_each_index(
        1, [allocator = bench.storage.view(), page = freed] __device__(std::size_t) { allocator.free_page(page); });
    CHECK(bench.get_pages(1).pages[0] == freed);
    CHECK(bench.get_pages(1).pages[0] == kNoPage);
  }
}

TEST_CASE_TEMPLATE("the one free page of a large heap is found, and that it was the last is noticed", P, RwPages,
                   RwBmPages, CoRwPages) {
  constexpr std::uint32_t kPages = 1 << 20;
  PageBench<P> bench(kPages);
  for (const std::uint32_t page : {0u, 123456u, kPages - 1}) {
    CAPTURE(page);
    std::vector<bool> used(kPages, true);
    used[page] = false;
    bench.storage.set_used(used);
    CHECK(bench.get_pages(1).pages[0] == page);
    CHECK(bench.get_pages(1).pages[0] == kNoPage);
  }
}

/// TAS as the paper computes it: equation 4, of which equation 2 is the case of one bit in a word.
double expected_steps(double pages, double free, std::uint32_t requests, int word_bits) {
  double sum = 0;
  for (std::uint32_t i = 0; i < requests; ++i) {
    sum += 1 / (1 - std::pow((pages - free + i) / pages, word_bits));
  }
  return sum / requests;
}

template <class P>
void check_steps(int word_bits) {
  const std::uint64_t seed = test_seed();
  constexpr std::uint32_t kPages = 1 << 19;
  constexpr std::uint32_t kRequests = 2000;
  PageBench<P> bench(kPages);
  for (const double share : {0.5, 0.1, 0.01, 0.005}) {
    CAPTURE(share);
    const auto free = static_cast<std::uint32_t>(share * kPages);
    bench.leave_free(free, seed);
    const double average = bench.get_pages(kRequests).average_steps();
    const double expected = expected_steps(kPages, free, kRequests, word_bits);
    CAPTURE(average);
    CAPTURE(expected);
    CHECK(average > 0.8 * expected);
    CHECK(average < 1.2 * expected);
  }
}

TEST_CASE("walks take as many steps as the paper's formulas say") {
  SUBCASE("RW") {
    check_steps<RwPages>(1);
  }
  SUBCASE("RW-BM") {
    check_steps<RwBmPages>(64);
  }
}

TEST_CASE_TEMPLATE("a page allocator's heap must hold a page, and its state is one value for each", P, RwPages,
                   RwBmPages, CoRwPages) {
  Executor executor;
  check_refused<P>({.heap_bytes = 63, .largest_request = 64}, "smaller than one page");
  check_refused<P>({.heap_bytes = std::size_t{1} << 36, .largest_request = 16}, "larger pages");
  typename P::Storage storage(executor, {.heap_bytes = 640, .largest_request = 64});
  CHECK_THROWS_WITH_AS(storage.set_used(std::vector<bool>(11)), doctest::Contains("one value for each page"), Error);
}

#if !DYNASOAR_CUDA_BACKEND

TEST_CASE("lanes that search together take the same number of steps, and fewer than the slowest would alone") {
  const std::uint64_t seed = test_seed();
  constexpr std::uint32_t kPages = 1 << 16;
  PageBench<CoRwPages> bench(kPages);
  bench.leave_free(kPages / 100, seed);
  const CoRwPages allocator = bench.storage.view();
  std::vector<std::uint32_t> steps(WarpTeam::kLanes);
  std::vector<std::uint32_t> pages(WarpTeam::kLanes);
  WarpTeam team(0, WarpScheduling::together(), seed);
  const WarpCounts counts = run_warp(team, [&](ThreadWarp lane) {
    StepCount count;
    pages[static_cast<std::size_t>(lane.lane())] = allocator.get_page(lane, count);
    steps[static_cast<std::size_t>(lane.lane())] = count.steps;
  });
  CHECK(counts.coalesced == 1);
  CHECK(std::count(steps.begin(), steps.end(), steps[0]) == WarpTeam::kLanes);
  CHECK(steps[0] <= 6);  // a word has a page of 0.64 on average, so that 2 are expected; of 32 alone, one would need 6
  std::sort(pages.begin(), pages.end());
  CHECK(std::adjacent_find(pages.begin(), pages.end()) == pages.end());
  CHECK(pages.back() < kPages);
}

TEST_CASE_TEMPLATE("lanes that sweep together share the last pages", P, RwPages, RwBmPages, CoRwPages) {
  constexpr std::uint32_t kPages = 10000;
  constexpr std::uint32_t kFree = 20;
  PageBench<P> bench(kPages);
  std::vector<bool> used(kPages, true);
  std::fill_n(used.begin() + 5000, kFree, false);
  bench.storage.set_used(used);
  std::vector<std::uint32_t> pages(WarpTeam::kLanes);
  WarpTeam team(0, WarpScheduling::together(), 0);
  run_warp(team, [&](ThreadWarp lane) {
    pages[static_cast<std::size_t>(lane.lane())] = bench.storage.view().get_page(lane);
  });
  std::sort(pages.begin(), pages.end());
  for (std::uint32_t i = 0; i < kFree; ++i) CHECK(pages[i] == 5000 + i);
  CHECK(std::count(pages.begin(), pages.end(), kNoPage) == WarpTeam::kLanes - static_cast<int>(kFree));
}

#endif

}  // namespace dynasoar::test
