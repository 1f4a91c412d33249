#include <dynasoar/malloc/page_runs.h>

#include <doctest/doctest.h>

#include <dynasoar/platform/executor.h>

#include "../platform/test_support.h"

namespace dynasoar::test {

namespace {

using Entries = DeviceArray<AtomicWord<std::uint64_t>>;

/// Takes runs of random lengths and gives them back, two at a time.
struct ChurnRuns {
  detail::PageRuns runs;
  Counter* owners;  // [pages]
  Counter* failures;
  std::uint32_t longest;
  std::uint64_t seed;
  std::uint32_t operations;

  __device__ void operator()(std::size_t worker) const {
    Random random = Random::of(seed, worker);
    for (std::uint32_t i = 0; i < operations; ++i) {
      const std::uint32_t a = 1 + random.below(longest);
      const std::uint32_t b = 1 + random.below(longest);
      const std::uint32_t first_a = take(a);
      const std::uint32_t first_b = take(b);
      give(first_a, a);
      give(first_b, b);
    }
  }

  __device__ std::uint32_t take(std::uint32_t pages) const {
    const std::uint32_t first = runs.take(pages);
    for (std::uint32_t i = 0; i < pages && first != detail::PageRuns::kNone; ++i) {
      count_if(*failures, owners[first + i].fetch_add(1, Order::relaxed) != 0);
    }
    return first;
  }

  __device__ void give(std::uint32_t first, std::uint32_t pages) const {
    if (first == detail::PageRuns::kNone) return;
    for (std::uint32_t i = 0; i < pages; ++i) owners[first + i].fetch_add(std::uint64_t{0} - 1, Order::relaxed);
    runs.give(first);
  }
};

}  // namespace

TEST_CASE("threads that want runs of pages at the same time never get the same, and lose none") {
  const std::uint64_t seed = test_seed();
  constexpr std::uint32_t kPages = 100;  // too few for what all want
  Executor executor(static_cast<int>(kHostThreads));
  Entries entries(kPages);
  entries.fill_bytes(0);
  const detail::PageRuns runs(entries.data(), kPages, nullptr);
  Counters owners(kPages);
  Counters failures(1);
  executor.for_each_index(kHostThreads,
                          ChurnRuns{runs, owners.data(), failures.data(), 30, seed, 400000 / kHostThreads / kSlowdown});
  // Whether one run of all pages can be taken.
  executor.for_each_index(
      1, [runs, failures = failures.data()] __device__(std::size_t) { count_if(*failures, runs.take(kPages) != 0); });
  executor.synchronize();
  CHECK(failures[0] == 0);
}

}  // namespace dynasoar::test
