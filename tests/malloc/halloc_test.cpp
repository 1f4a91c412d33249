#include <dynasoar/malloc/halloc.h>

#include <dynasoar/malloc/list_malloc.h>

#include "test_heap.h"

namespace dynasoar::test {

// Half of it is for large requests. Of the slabs, an eighth stays free.
template <>
struct MallocSuite<Halloc> : MallocSuite<void> {
  static constexpr std::size_t kHeapBytes = std::size_t{kUnderGpuSanitizer ? 64 : kCudaBackend ? 256 : 32} << 20;
  static constexpr double kLeastFilled = 0.87;
  static constexpr double kLeastFilledAgain = 0.99;
};

DYNASOAR_MALLOC_SUITE(Halloc);
static_assert(DeviceMalloc<BasicHalloc<SizeListMalloc>>);

namespace {

constexpr std::size_t kSlab = 64 << 10;

using Heap = TestHeap<Halloc>;

/// Chunks that a slab gives away.
constexpr std::size_t limit_for(std::size_t chunk) {
  return kSlab / chunk - kSlab / chunk / 8;
}

}  // namespace

TEST_CASE("a request gets the smallest chunk that holds it") {
  using detail::SlabChunkSize;
  for (std::uint32_t bytes = 16; bytes <= 3072; bytes += 16) {
    CAPTURE(bytes);
    const std::uint32_t size = SlabChunkSize::holding(bytes);
    CHECK(size < SlabChunkSize::kCount);
    CHECK(SlabChunkSize::bytes(size) >= bytes);
    CHECK(SlabChunkSize::bytes(size) % kMallocAlignment == 0);
    if (size > 0) CHECK(SlabChunkSize::bytes(size - 1) < bytes);
    for (std::uint32_t total = bytes - 16; total < 4 << 20; total = total * 2 + 1) {
      CHECK(SlabChunkSize::count_in(total, size) == total / SlabChunkSize::bytes(size));
    }
  }
}

TEST_CASE("slabs are filled to seven eighths, and get another size when they are free") {
  Heap heap(3 * kSlab, 3072);
  for (const std::size_t bytes : {64, 16, 3072, 48, 2048, 80, 64}) {
    CAPTURE(bytes);
    const std::size_t chunk = bytes == 80 ? 96 : bytes;
    const std::vector<Holding> taken = heap.take_all(bytes);
    CHECK(taken.size() == 3 * limit_for(chunk));
    CHECK(are_disjoint(taken));
    heap.give({taken.begin() + 1, taken.end()});
    const std::vector<Holding> others = heap.take_all(1024);
    CHECK(others.size() == 2 * limit_for(1024));
    heap.give(others);
    heap.give({taken[0]});
  }
}

TEST_CASE("a slab that is full is replaced, and used again when less than half of it is") {
  Heap heap(2 * kSlab, 3072);
  const std::vector<Holding> first = heap.take(64, limit_for(64));
  const std::vector<Holding> second = heap.take(64, limit_for(64));
  REQUIRE(second.size() == limit_for(64));
  CHECK((first[0].memory < second[0].memory ? first[0].memory + kSlab > first.back().memory
                                            : second[0].memory + kSlab > second.back().memory));
  CHECK(heap.take(64, 1).empty());
  heap.give({first.begin(), first.begin() + 10});
  CHECK(heap.take_all(64).size() == 10);
  heap.give(second);
  CHECK(heap.take_all(128).size() == limit_for(128));
}

TEST_CASE("where nothing has been freed, requests in a row get the chunks of one bit field, then of the next") {
  Heap heap(kSlab, 3072);
  std::vector<Holding> taken = heap.take(64, 3 * 64);
  REQUIRE(taken.size() == 3 * 64);
  for (std::size_t i = 0; i < taken.size(); ++i) {
    CHECK(taken[i].memory == taken[i / 64 * 64].memory + i % 64 * 64);
  }
  CHECK(are_disjoint(taken));
  heap.give(taken);
}

TEST_CASE("requests above 3 KiB are served by the other allocator, from its half of the heap") {
  TestHeap<BasicHalloc<SizeListMalloc>> heap(32 * kSlab, 4096);
  CHECK(heap.storage.heap_bytes() == 32 * kSlab);
  const std::vector<Holding> large = heap.take_all(3073);
  CHECK(large.size() == 16 * kSlab / (49 * 64));
  const std::vector<Holding> small = heap.take_all(3072);
  CHECK(small.size() == 16 * limit_for(3072));
  CHECK(are_disjoint(small));
  CHECK(heap.take(16, 1).empty());
  heap.give(large);
  CHECK(heap.take(16 * kSlab, 1).size() == 1);
  heap.give(small);
  CHECK(heap.take_all(16).size() == 16 * limit_for(16));
}

TEST_CASE("Halloc says what its heap is too small for") {
  check_refused<Halloc>({.heap_bytes = kSlab - 1, .largest_request = 64}, "65536 bytes at least");
  check_refused<Halloc>({.heap_bytes = 2 * kSlab, .largest_request = kSlab + 1}, "less than the largest request");
}

#if !DYNASOAR_CUDA_BACKEND

TEST_CASE("a slab that gets another size is no longer the head of its old size") {
  // Otherwise requests would be counted there in error, and hide from each other that the slab is free.
  using detail::SlabChunkSize, detail::SlabHead, detail::Slabs;
  DeviceArray<Slabs::Word> states(1), fields(Slabs::fields_of(kSlab));
  DeviceArray<Slabs::Size> sizes(1);
  DeviceArray<Slabs::Head> heads(SlabChunkSize::kCount);
  states.fill_bytes(0);
  fields.fill_bytes(0);
  sizes.fill_bytes(0);
  heads.fill_bytes(0);
  const Slabs slabs(states.data(), sizes.data(), fields.data(), heads.data(), 1, kSlab);
  const auto warp = PlatformWarp::all();
  const auto head_of = [&](std::uint32_t size) {
    return SlabHead::of(heads.data()[size].word.load(Order::relaxed)).next;
  };
  const std::uint32_t small = SlabChunkSize::holding(64), large = SlabChunkSize::holding(128);
  slabs.give(0, slabs.take(small, warp), warp);
  CHECK(head_of(small) == 1);
  const std::size_t taken = slabs.take(large, warp);
  REQUIRE(taken != Slabs::kNoOffset);
  CHECK(head_of(small) == 0);
  CHECK(head_of(large) == 1);
  CHECK(slabs.take(small, warp) == Slabs::kNoOffset);
  slabs.give(0, taken, warp);
  CHECK(slabs.take(small, warp) != Slabs::kNoOffset);
  CHECK(head_of(large) == 0);
}

TEST_CASE("lanes that ask together get neighbours in a slab, and leave it free behind them") {
  Heap heap(kSlab, 3072);
  for (int round = 0; round < 3; ++round) {
    const std::vector<Holding> taken = take_together(heap.storage.view(), 128);
    CHECK(are_disjoint(taken));
    for (std::size_t i = 1; i < taken.size(); ++i) CHECK(taken[i].memory == taken[i - 1].memory + 128);
    give_together(heap.storage.view(), taken);
    const std::vector<Holding> all = heap.take_all(1024);
    CHECK(all.size() == limit_for(1024));
    heap.give(all);
  }
}

TEST_CASE("lanes that ask for more than a slab has are counted for what they get") {
  Heap heap(kSlab, 3072);
  const std::vector<Holding> others = heap.take(3000, 10);
  const std::vector<Holding> taken = take_together(heap.storage.view(), 3000);
  CHECK(served(taken) == limit_for(3072) - others.size());
  give_together(heap.storage.view(), taken);
  heap.give(others);
  CHECK(heap.take_all(16).size() == limit_for(16));
}

#endif

}  // namespace dynasoar::test
