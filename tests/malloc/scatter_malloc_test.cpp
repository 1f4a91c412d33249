#include <dynasoar/malloc/scatter_malloc.h>

#include "test_heap.h"

namespace dynasoar::test {

// A super block of 8 MB for chunks, one for runs of pages.
template <>
struct MallocSuite<ScatterMalloc> : MallocSuite<void> {
  static constexpr std::size_t kHeapBytes = std::size_t{kUnderGpuSanitizer ? 64 : kCudaBackend ? 256 : 16} << 20;
  static constexpr double kLeastFilled = 0.99;
  static constexpr double kLeastFilledAgain = 0.99;
};
template <>
struct MallocSuite<ScatterMallocSeparate> : MallocSuite<ScatterMalloc> {};

DYNASOAR_MALLOC_SUITE(ScatterMalloc);
DYNASOAR_MALLOC_SUITE(ScatterMallocSeparate);

namespace {

constexpr std::size_t kPage = detail::ScatterPages::kPageBytes;
constexpr std::size_t kRegion = kPage * detail::ScatterPages::kRegionPages;
constexpr std::size_t kSuperBlock = std::size_t{8} << 20;

using Heap = TestHeap<ScatterMalloc>;

}  // namespace

TEST_CASE("pages that have become free are split into chunks of another size") {
  Heap heap(kRegion);
  const std::size_t pages = kRegion / kPage;
  // Chunks per page; below 64 bytes, bit fields on the page take the place of one or two.
  struct Expected {
    std::size_t bytes;
    std::size_t chunks;
  };
  for (const Expected expected :
       {Expected{64, 64}, Expected{16, 254}, Expected{4096, 1}, Expected{48, 85}, Expected{32, 127}, Expected{80, 51},
        Expected{1100, 3}, Expected{16, 254}, Expected{64, 64}, Expected{2064, 1}}) {
    CAPTURE(expected.bytes);
    const std::vector<Holding> taken = heap.take_all(expected.bytes);
    CHECK(taken.size() == pages * expected.chunks);
    CHECK(are_disjoint(taken));
    heap.give(taken);
  }
}

TEST_CASE("a chunk serves a request of at least half its size") {
  Heap heap(kRegion);
  std::vector<Holding> taken = heap.take_all(128);
  const std::vector<Holding> hole(taken.end() - 2, taken.end());
  heap.give(hole);
  CHECK(heap.take(144, 1).empty());
  CHECK(heap.take(48, 1).empty());
  CHECK(heap.take(64, 1).size() == 1);
  CHECK(heap.take(113, 1).size() == 1);
  CHECK(heap.take(128, 1).empty());
}

TEST_CASE("a page's size can change only when its last chunk has been freed") {
  Heap heap(kRegion);
  const std::vector<Holding> taken = heap.take_all(64);
  REQUIRE(taken.size() == kRegion / 64);
  // One after the other, 64 requests fill a page.
  heap.give({taken.begin() + 1, taken.begin() + 64});
  CHECK(heap.take(1024, 1).empty());
  heap.give({taken[0]});
  CHECK(heap.take(1024, 5).size() == 4);
}

TEST_CASE("requests go on to the next super block, and back to those that have room again") {
  Heap heap(3 * kSuperBlock);
  const std::vector<Holding> taken = heap.take_all(kPage);
  CHECK(taken.size() == 3 * kSuperBlock / kPage);
  const std::vector<Holding> early(taken.begin(), taken.begin() + static_cast<std::ptrdiff_t>(taken.size() / 3));
  heap.give(early);
  const std::vector<Holding> again = heap.take_all(512);
  CHECK(again.size() == early.size() * 8);
  CHECK(are_disjoint(again));
}

TEST_CASE("requests above a page get consecutive pages of a super block") {
  Heap heap(2 * kSuperBlock, kSuperBlock);
  CHECK(heap.storage.view().largest() == kSuperBlock);
  const std::vector<Holding> all = heap.take(kSuperBlock, 2);
  CHECK(all.size() == 1);
  heap.give(all);

  const std::size_t third = kSuperBlock / 3 / kPage * kPage;
  const std::vector<Holding> thirds = heap.take(third - 5, 4);
  REQUIRE(thirds.size() == 3);
  heap.give({thirds[0]});
  heap.give({thirds[2]});
  CHECK(heap.take(2 * third, 1).empty());  // enough pages, but not side by side
  heap.give({thirds[1]});
  CHECK(heap.take(2 * third, 1).size() == 1);
  CHECK(heap.take(kPage + 1, kSuperBlock).size() == (kSuperBlock - 2 * third) / (2 * kPage));
}

TEST_CASE("a scatter allocator says what its heap is too small for") {
  check_refused<ScatterMalloc>({.heap_bytes = kRegion - 1, .largest_request = 64},
                               "262144 bytes at least; ask for more heap_bytes");
  check_refused<ScatterMalloc>({.heap_bytes = 2 * kRegion, .largest_request = kRegion + 1},
                               "does not fit into a super block");
}

#if !DYNASOAR_CUDA_BACKEND

TEST_CASE("lanes that ask together get chunks side by side") {
  Executor executor;
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{16}, std::size_t{4096}}) {
    CAPTURE(bytes);
    const ScatterMalloc::Storage storage(executor, {.heap_bytes = kRegion, .largest_request = kPage});
    const std::vector<Holding> taken = take_together(storage.view(), bytes);
    CHECK(are_disjoint(taken));
    for (std::size_t i = 1; i < taken.size(); ++i) {
      CHECK(taken[i].memory == taken[0].memory + static_cast<std::ptrdiff_t>(i * bytes));
    }
  }
}

TEST_CASE("lanes that share pages leave nothing behind when they free together") {
  // Pages of 51 and of 127 chunks: warps ask for more than is left on them.
  for (const std::size_t bytes : {std::size_t{80}, std::size_t{32}}) {
    CAPTURE(bytes);
    Heap heap(kRegion);
    WarpTeam team(0, WarpScheduling::together(), 1);
    run_warp(team, [&](ThreadWarp lane) {
      std::vector<void*> taken;
      for (int i = 0; i < 9; ++i) {
        taken.push_back(heap.storage.view().malloc(bytes, lane));
        count_if(heap.tally.data()[kUnexpected], taken.back() == nullptr);
      }
      for (void* const memory : taken) heap.storage.view().free(memory, lane);
    });
    const std::vector<Holding> pages = heap.take_all(kPage);
    CHECK(pages.size() == kRegion / kPage);
    heap.give(pages);
    CHECK(heap.take_all(64).size() == kRegion / 64);
  }
}

#endif

}  // namespace dynasoar::test
