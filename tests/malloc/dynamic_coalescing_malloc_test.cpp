#include <dynasoar/malloc/dynamic_coalescing_malloc.h>

#include <dynasoar/malloc/list_malloc.h>

#include "test_heap.h"

namespace dynasoar::test {

// Each piece has a header, and the toolkit's allocator, which hands out the superblocks, loses a third of a GPU's heap.
template <>
struct MallocSuite<CoalescingMalloc> : MallocSuite<void> {
  static constexpr std::size_t kHeapBytes = std::size_t{kUnderGpuSanitizer ? 32 : kCudaBackend ? 256 : 16} << 20;
  static constexpr double kLeastFilled = kCudaBackend ? 0.4 : 0.5;
};

DYNASOAR_MALLOC_SUITE(CoalescingMalloc);

#if !DYNASOAR_CUDA_BACKEND

namespace {

using ListCoalescingMalloc = DynamicCoalescingMalloc<SizeListMalloc>;
using Heap = TestHeap<ListCoalescingMalloc>;

constexpr std::size_t kHeap = 64 << 10;

/// What the lanes of a warp get together, each a size of its own.
std::vector<Holding> take_sizes(const Heap& heap, std::uint32_t least) {
  return take_together(heap.storage.view(), [least](std::uint32_t lane) { return least + lane; });
}

}  // namespace

TEST_CASE("segments lie side by side, with a header between them") {
  Heap heap(kHeap);
  const std::vector<Holding> taken = take_sizes(heap, 40);
  REQUIRE(are_disjoint(taken));
  for (std::size_t i = 1; i < taken.size(); ++i) {
    CHECK(taken[i].memory == taken[i - 1].memory + (taken[i - 1].bytes + 8 + 15) / 16 * 16);
  }
}

TEST_CASE("a superblock is free when all segments are, in whatever order they are freed") {
  Heap heap(kHeap);
  Random random = Random::of(test_seed(), 0);
  for (int round = 0; round < 40; ++round) {
    std::vector<Holding> left = take_sizes(heap, 1200);  // more than half of the heap
    REQUIRE(left[0].memory != nullptr);
    if (round == 1) std::reverse(left.begin(), left.end());
    while (!left.empty()) {
      CHECK(heap.take(kHeap / 2, 1).empty());
      const std::size_t which = round < 2 ? 0 : random.below(static_cast<std::uint32_t>(left.size()));
      CHECK(left[which].intact());
      heap.storage.view().free(left[which].memory);
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(which));
    }
    heap.give(heap.take_all(heap.storage.view().largest()));
  }
  CHECK(heap.take(heap.storage.view().largest(), 1).size() == 1);
}

TEST_CASE("lanes that free their segments at the same time free the superblock once") {
  Heap heap(kHeap);
  for (int round = 0; round < 20; ++round) {
    const std::vector<Holding> taken = take_sizes(heap, 1200);
    REQUIRE(taken[0].memory != nullptr);
    heap.executor.for_each_index(taken.size(), [&](std::size_t i) { heap.storage.view().free(taken[i].memory); });
    const std::vector<Holding> all = heap.take(heap.storage.view().largest(), 1);
    REQUIRE(all.size() == 1);
    heap.give(all);
  }
}

TEST_CASE("lanes for which there is no superblock get one each") {
  Heap heap(kHeap);
  const std::vector<Holding> taken = take_sizes(heap, 3000);
  CHECK(are_disjoint(taken));
  CHECK(served(taken) >= 20);
  CHECK(served(taken) < 32);
  for (const Holding& holding : taken) heap.storage.view().free(holding.memory);
  CHECK(heap.take(heap.storage.view().largest(), 1).size() == 1);
}

#endif

}  // namespace dynasoar::test
