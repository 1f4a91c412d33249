#include <dynasoar/malloc/xmalloc.h>

#include "test_heap.h"

namespace dynasoar::test {

// A quarter is for large requests.
template <>
struct MallocSuite<XMalloc> : MallocSuite<void> {
  static constexpr std::size_t kHeapBytes = std::size_t{kUnderGpuSanitizer ? 64 : kCudaBackend ? 256 : 40} << 20;
  static constexpr double kLeastFilled = 0.99;
  static constexpr double kLeastFilledAgain = 0.99;
};

DYNASOAR_MALLOC_SUITE(XMalloc);

namespace {

constexpr std::size_t kSuperblock = detail::Basicblocks::kSuperblockBytes;

using Heap = TestHeap<XMalloc>;

}  // namespace

TEST_CASE("a request gets the smallest basicblock that holds it") {
  using detail::BasicblockSize;
  for (std::uint32_t bytes = 1; bytes <= 16384; ++bytes) {
    const std::uint32_t size = BasicblockSize::holding(bytes);
    REQUIRE(size < BasicblockSize::kCount);
    REQUIRE(BasicblockSize::bytes(size) >= bytes);
    if (size > 0) REQUIRE(BasicblockSize::bytes(size - 1) < bytes);
  }
}

TEST_CASE("a superblock is split into another size when all of it has been freed, not before") {
  Heap heap(kSuperblock);
  for (const std::size_t bytes : {64, 2048, 96, 64, 8192, 80}) {
    CAPTURE(bytes);
    const std::size_t size = bytes == 80 ? 96 : bytes;
    const std::vector<Holding> taken = heap.take_all(bytes);
    REQUIRE(taken.size() == kSuperblock / size);
    CHECK(are_disjoint(taken));
    heap.give({taken.begin() + 1, taken.end()});
    CHECK(heap.take(1024, 1).empty());
    heap.give({taken[0]});
  }
}

TEST_CASE("a freed basicblock is the next that is handed out") {
  Heap heap(kSuperblock);
  const std::vector<Holding> taken = heap.take(64, 100);
  heap.give({taken[17]});
  const std::vector<Holding> again = heap.take(64, 1);
  REQUIRE(again.size() == 1);
  CHECK(again[0].memory == taken[17].memory);
}

TEST_CASE("superblocks go from one size to another and back, whatever list they are in") {
  Heap heap(8 * kSuperblock);
  for (int round = 0; round < 5; ++round) {
    for (const std::size_t bytes : {64, 4096, 192, 1536}) {
      CAPTURE(bytes);
      const std::vector<Holding> taken = heap.take_all(bytes);
      CHECK(taken.size() == 8 * (kSuperblock / bytes));
      heap.give(taken);
    }
  }
}

TEST_CASE("requests above half a basicblock get pages of their own") {
  Heap heap(8 * kSuperblock, 2 * kSuperblock);
  CHECK(heap.storage.view().largest() == 2 * kSuperblock);
  const std::vector<Holding> all = heap.take(2 * kSuperblock, 2);
  CHECK(all.size() == 1);
  CHECK(heap.take(8193, 1).empty());
  heap.give(all);
  CHECK(heap.take_all(8193).size() == 2 * kSuperblock / (3 * 4096));
  CHECK(heap.take_all(8192).size() == 6 * kSuperblock / 8192);
}

TEST_CASE("XMalloc says what its heap is too small for") {
  check_refused<XMalloc>({.heap_bytes = kSuperblock - 1, .largest_request = 64}, "superblocks of 65536 bytes");
  check_refused<XMalloc>({.heap_bytes = 4 * kSuperblock, .largest_request = 65537}, "4 times the largest");
}

#if !DYNASOAR_CUDA_BACKEND

TEST_CASE("lanes that ask together share a basicblock, which is free again when all have freed their part") {
  Heap heap(kSuperblock);
  const XMalloc memory = heap.storage.view();
  // 8448 bytes in all.
  const std::vector<Holding> taken = take_together(memory, [](std::uint32_t lane) { return 16 * (lane + 1); });
  CHECK(are_disjoint(taken));
  for (std::size_t i = 1; i < taken.size(); ++i) CHECK(taken[i].memory == taken[i - 1].memory + taken[i - 1].bytes);
  // One basicblock of 12 KiB: of the five in the superblock, four are left.
  std::vector<Holding> others = taken;
  others[5].memory = nullptr;
  give_together(memory, others);
  CHECK(heap.take(64, 1).empty());
  memory.free(taken[5].memory);
  CHECK(heap.take_all(64).size() == kSuperblock / 64);
}

TEST_CASE("a warp that wants more than the largest basicblock, or than there is together, is served in parts") {
  Heap heap(4 * kSuperblock);
  const std::vector<Holding> others = heap.take(4096, 33);  // 31 are left, of superblocks that cannot be split anew
  REQUIRE(others.size() == 33);
  for (int round = 0; round < 3; ++round) {
    const std::vector<Holding> taken = take_together(heap.storage.view(), 4000);
    CHECK(are_disjoint(taken));
    CHECK(served(taken) >= 16);
    give_together(heap.storage.view(), taken);
  }
  heap.give(others);
  CHECK(heap.take_all(8192).size() == 4 * kSuperblock / 8192);
}

#endif

}  // namespace dynasoar::test
