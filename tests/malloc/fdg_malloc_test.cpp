#include <dynasoar/malloc/fdg_malloc.h>

#include "test_heap.h"

namespace dynasoar::test {

template <>
struct MallocSuite<FdgMalloc> : MallocSuite<void> {
  static constexpr std::size_t kHeapBytes = std::size_t{kCudaBackend ? 256 : 16} << 20;
  // A GPU's warp asks for 2 KiB at once, which fit once into a superblock of 4 KiB with its header.
  static constexpr double kLeastFilled = kCudaBackend ? 0.49 : 0.97;
};

DYNASOAR_MALLOC_SUITE_WITHOUT_FREE(FdgMalloc);

namespace {

using Heap = TestHeap<FdgMalloc>;

constexpr std::size_t kHeap = std::size_t{kUnderGpuSanitizer ? 48 : kCudaBackend ? 256 : 4} << 20;

}  // namespace

TEST_CASE("all that a warp has taken is freed at once") {
  Heap heap(kHeap, 8192);
  const std::vector<Holding> first = heap.take_all(4000);
  heap.give(first);  // looks at it; free alone does nothing
  CHECK(heap.take(4000, 1).empty());
  for (int round = 0; round < (kUnderGpuSanitizer ? 1 : 3); ++round) {
    heap.storage.free_all(heap.executor);
    const std::vector<Holding> again = heap.take_all(4000);
    CHECK(again.size() == first.size());
    CHECK(are_disjoint(again));
    heap.give(again);
  }
}

TEST_CASE("requests above a superblock's size are served, and freed with the rest") {
  Heap heap(kHeap, 200000);
  for (int round = 0; round < (kUnderGpuSanitizer ? 2 : 3); ++round) {
    const std::vector<Holding> small = heap.take(100, 50);
    const std::vector<Holding> large = heap.take_all(200000);
    // The lists beneath hand out powers of two, and leave some to other multiprocessors.
    CHECK(large.size() > heap.storage.heap_bytes() / 200000 / 3);
    std::vector<Holding> all = small;
    all.insert(all.end(), large.begin(), large.end());
    CHECK(are_disjoint(all));
    heap.give(all);
    CHECK(heap.take(200000, 1).empty());
    heap.storage.free_all(heap.executor);
  }
}

TEST_CASE("FDGMalloc says what its heap is too small for") {
  check_refused<FdgMalloc>({.heap_bytes = 1500, .largest_request = 1000}, "ask for more heap_bytes");
}

#if !DYNASOAR_CUDA_BACKEND

namespace {

struct FreeAll {
  FdgMalloc memory;
  void operator()(std::size_t) const { memory.free_all(); }
};

}  // namespace

TEST_CASE("a thread that frees all can take as much again") {
  Heap heap(kHeap, 8192);
  const std::vector<Holding> first = heap.take_all(100);
  CHECK(heap.take(100, 1).empty());
  heap.run(1, FreeAll{heap.storage.view()});
  CHECK(heap.take_all(100).size() == first.size());
}

TEST_CASE("a thread's requests lie one behind the other, without anything between them") {
  Heap heap(kHeap);
  const std::vector<Holding> taken = heap.take(48, 100);
  for (std::size_t i = 1; i < taken.size(); ++i) CHECK(taken[i].memory == taken[i - 1].memory + 48);
}

TEST_CASE("a warp frees its own heap and no other warp's") {
  Heap heap(kHeap);
  const FdgMalloc memory = heap.storage.view();
  const auto bytes = [](std::uint32_t lane) { return 96 * (lane + 1); };
  WarpTeam one(1, WarpScheduling::together(), 1);
  WarpTeam other(2, WarpScheduling::together(), 1);
  const std::vector<Holding> kept = take_together(other, memory, bytes);
  for (std::size_t i = 1; i < kept.size(); ++i) CHECK(kept[i].memory == kept[i - 1].memory + kept[i - 1].bytes);
  for (int round = 0; round < 100; ++round) {  // 50688 bytes each time, in the end more than the heap has
    std::vector<Holding> taken = take_together(one, memory, bytes);
    REQUIRE(taken[0].memory != nullptr);
    taken.insert(taken.end(), kept.begin(), kept.end());
    CHECK(are_disjoint(taken));
    run_warp(one, [&](ThreadWarp lane) { memory.free_all(lane); });
  }
  for (const Holding& holding : kept) CHECK(holding.intact());
}

TEST_CASE("lanes of a warp that go different ways share its heap") {
  Heap heap(kHeap);
  const FdgMalloc memory = heap.storage.view();
  constexpr std::size_t kEach = 40;
  std::vector<Holding> taken(2 * WarpTeam::kLanes * kEach);
  // Two warps with the same id, as two that run one after the other would have.
  std::vector<std::jthread> warps;
  for (std::size_t warp = 0; warp < 2; ++warp) {
    warps.emplace_back([&, warp] {
      WarpTeam team(1, WarpScheduling::capricious(), warp);
      run_warp(team, [&](ThreadWarp lane) {
        const std::size_t worker = warp * WarpTeam::kLanes + static_cast<std::size_t>(lane.lane());
        for (std::size_t i = 0; i < kEach; ++i) {
          const auto bytes = static_cast<std::uint32_t>(1 + worker * 37 % 600);
          Holding& holding = taken[worker * kEach + i];
          holding = {static_cast<unsigned char*>(memory.malloc(bytes, lane)), bytes,
                     static_cast<std::uint32_t>(worker)};
          if (holding.memory != nullptr) holding.fill();
        }
      });
    });
  }
  warps.clear();  // joins
  CHECK(are_disjoint(taken));
  CHECK(std::all_of(taken.begin(), taken.end(), [](const Holding& h) { return h.memory != nullptr && h.intact(); }));
}

#endif

}  // namespace dynasoar::test
