#include <dynasoar/malloc/list_malloc.h>

#include "test_heap.h"

namespace dynasoar::test {

template <>
struct MallocSuite<SizeListMalloc> : MallocSuite<void> {
  static constexpr std::size_t kHeapBytes = std::size_t{16} << 20;
  static constexpr double kLeastFilled = 0.99;
  static constexpr double kLeastFilledAgain = 0.99;
};
template <>
struct MallocSuite<MultiprocessorListMalloc> : MallocSuite<SizeListMalloc> {
  static constexpr std::size_t kHeapBytes = std::size_t{kCudaBackend ? 256 : 16} << 20;  // 1 MiB per multiprocessor
};

DYNASOAR_MALLOC_SUITE(SizeListMalloc);
DYNASOAR_MALLOC_SUITE(MultiprocessorListMalloc);

namespace {

constexpr std::size_t kHeap = 1 << 20;

using SizeListHeap = TestHeap<SizeListMalloc>;

std::vector<Holding> by_address(std::vector<Holding> holdings) {
  std::sort(holdings.begin(), holdings.end(), [](const Holding& a, const Holding& b) { return a.memory < b.memory; });
  return holdings;
}

}  // namespace

TEST_CASE("a freed segment is merged with the one that comes after it") {
  SizeListHeap heap(kHeap, kHeap);
  const std::vector<Holding> taken = by_address(heap.take_all(64));
  REQUIRE(taken.size() == kHeap / 64);
  heap.give({taken[101]});
  heap.give({taken[100]});
  // Too many others for a search through all that are free.
  std::vector<Holding> others;
  for (std::size_t i = 200; i < 2000; i += 2) others.push_back(taken[i]);
  heap.give(others);
  const std::vector<Holding> merged = heap.take(128, 1);
  REQUIRE(merged.size() == 1);
  CHECK(merged[0].memory == taken[100].memory);
}

TEST_CASE("segments that were not merged when they were freed are when nothing else is large enough") {
  SizeListHeap heap(kHeap, kHeap);
  heap.give(by_address(heap.take_all(1024)));  // first the one before, then the one after
  CHECK(heap.take(kHeap / 8, 8).size() == 8);
}

TEST_CASE("segments of a size between two bins are found") {
  SizeListHeap heap(kHeap, kHeap);
  const std::size_t count = kHeap / 64 / 5;
  for (int round = 0; round < 3; ++round) {
    const std::vector<Holding> taken = heap.take_all(5 * 64 - 3);
    CHECK(taken.size() == count);
    const std::vector<Holding> last = heap.take_all(1);
    CHECK(last.size() == kHeap / 64 % 5);
    heap.give(taken);
    heap.give(last);
  }
}

TEST_CASE("a thread takes from the lists of other multiprocessors when its own have nothing") {
  TestHeap<MultiprocessorListMalloc> heap(std::size_t{kHostThreads} << 20);
  const std::size_t share = heap.storage.view().largest();  // of the heap, for each multiprocessor
  const std::vector<Holding> taken = heap.take_all(4096);
  CHECK(taken.size() == heap.storage.heap_bytes() / share * (share / 4096));
  heap.give(taken);
  CHECK(heap.take_all(64).size() == heap.storage.heap_bytes() / 64);
}

TEST_CASE("a list allocator says what its heap is too small for") {
  check_refused<SizeListMalloc>({.heap_bytes = 1000, .largest_request = 1000}, "1 times the largest request");
  check_refused<MultiprocessorListMalloc>({.heap_bytes = 1500, .largest_request = 1000}, "ask for more heap_bytes");
}

}  // namespace dynasoar::test
