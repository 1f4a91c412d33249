// CircularMalloc, and the four allocators that it is the template of.
#include <dynasoar/malloc/circular_malloc.h>

#include "test_heap.h"

namespace dynasoar::test {

/// The heap is split beforehand, and chunks of up to twice the request are not split: all sizes add up to less of it.
template <class Headers, SearchOffsets kOffsets>
struct MallocSuite<CircularMalloc<Headers, kOffsets>> : MallocSuite<void> {
  static constexpr std::size_t kLargest = 1 << 18;
  static constexpr double kLeastFilled = 0.99;
  static constexpr double kLeastFilledAgain = 0.99;
};

DYNASOAR_MALLOC_SUITE(CMalloc);
DYNASOAR_MALLOC_SUITE(CFMalloc);
DYNASOAR_MALLOC_SUITE(CMMalloc);
DYNASOAR_MALLOC_SUITE(CFMMalloc);

TEST_CASE_TEMPLATE("a chunk is split if it is twice as large as needed", M, CMalloc, CFMalloc, CMMalloc, CFMMalloc) {
  TestHeap<M> whole(96);  // three units of 32 bytes
  CHECK(whole.can_take(64));
  CHECK_FALSE(whole.can_take(1));
  TestHeap<M> split(128);
  const std::vector<Holding> halves = split.take({64, 33, 1});
  REQUIRE(halves.size() == 2);
  CHECK(halves[1].memory == halves[0].memory + 64);
}

TEST_CASE_TEMPLATE("neighbours that were freed make one piece, whichever was first", M, CMalloc, CFMalloc, CMMalloc,
                   CFMMalloc) {
  for (const bool second_first : {false, true}) {
    TestHeap<M> heap(1024);
    const std::vector<Holding> all = heap.take(32, 32);
    REQUIRE(all.size() == 32);
    heap.give({all[second_first ? 6 : 5], all[second_first ? 5 : 6]});
    CHECK_FALSE(heap.can_take(65));
    const std::vector<Holding> both = heap.take(64, 1);
    REQUIRE(both.size() == 1);
    CHECK(both[0].memory == all[5].memory);
    heap.give(both);
    CHECK(heap.can_take(32));
  }
}

TEST_CASE_TEMPLATE("pieces that lie apart do not make one", M, CMalloc, CFMalloc, CMMalloc, CFMMalloc) {
  TestHeap<M> heap(1024);
  const std::vector<Holding> all = heap.take(32, 32);
  heap.give({all[3], all[5], all[7], all[31], all[0]});  // the last and the first are not neighbours either
  CHECK_FALSE(heap.can_take(64));
  for (int i = 0; i < 5; ++i) CHECK(heap.can_take(32));
  CHECK_FALSE(heap.can_take(32));
}

TEST_CASE_TEMPLATE("free chunks become as large again as the heap", M, CMalloc, CFMalloc, CMMalloc, CFMMalloc) {
  constexpr std::size_t kBytes = std::size_t{1} << 16;
  TestHeap<M> heap(kBytes);
  CHECK(heap.storage.view().largest() == kBytes);
  for (int round = 0; round < 3; ++round) {
    const std::vector<Holding> whole = heap.take({kBytes, 1});  // over all chunks that the heap was split into
    REQUIRE(whole.size() == 1);
    heap.give(whole);
    const std::vector<Holding> pieces = heap.take(32, kBytes / 32);
    REQUIRE(pieces.size() == kBytes / 32);
    heap.give(pieces);
  }
}

TEST_CASE_TEMPLATE("heaps of any size are handed out to the last unit", M, CMalloc, CFMalloc, CMMalloc, CFMMalloc) {
  for (const std::size_t bytes : {32, 63, 4095, 4096, 4128, 100000, 1234567}) {
    CAPTURE(bytes);
    TestHeap<M> heap(bytes);
    CHECK(heap.storage.heap_bytes() == bytes / 32 * 32);
    CHECK(heap.take_all(32).size() == bytes / 32);
  }
}

TEST_CASE_TEMPLATE("a circular allocator's heap must hold a unit and be in reach of its offsets", M, CMalloc, CFMalloc,
                   CMMalloc, CFMMalloc) {
  check_refused<M>({31}, "ask for more heap_bytes");
  check_refused<M>({std::size_t{1} << 37}, "ask for less heap_bytes");
}

TEST_CASE_TEMPLATE("requests that join small chunks at the same time do not thwart each other", M, CMalloc, CFMalloc,
                   CMMalloc, CFMMalloc) {
  constexpr std::size_t kBytes = std::size_t{1} << 17;
  constexpr std::uint32_t kPieces = 8;  // of this many that would fit, half are taken at the same time
  MallocBench<M> bench(64, kBytes);
  DeviceArray<Holding> holdings(kBytes / 32);
  for (int round = 0; round < (kUnderGpuSanitizer ? 1 : 20); ++round) {
    holdings.fill_bytes(0);
    bench.run(1, TakeAll<M>{bench.storage.view(), bench.tally.data(), holdings.data(), kBytes / 32, 32});
    bench.run(1, GiveBackAll<M>{bench.storage.view(), bench.tally.data(), holdings.data(), kBytes / 32});
    // Every worker takes a share of the heap as one piece, and gives it back, over and over.
    bench.run(kPieces / 2, [memory = bench.storage.view(), tally = bench.tally.data()] __device__(std::size_t worker) {
      constexpr std::uint32_t kShare = kBytes / kPieces;
      for (int i = 0; i < 20; ++i) {
        const Holding holding{static_cast<unsigned char*>(memory.malloc(kShare)), kShare,
                              static_cast<std::uint32_t>(worker)};
        if (!note_answer(tally, holding.memory)) continue;
        holding.fill();
        count_if(tally[kDamaged], !holding.intact());
        memory.free(holding.memory);
      }
    });
  }
  CHECK(bench.tally[kRefused] == 0);
}

#if !DYNASOAR_CUDA_BACKEND

TEST_CASE_TEMPLATE("lanes that ask together are served from one chunk, the first if not all fit", M, CMalloc, CFMalloc,
                   CMMalloc, CFMMalloc) {
  Executor executor;
  const typename M::Storage storage(executor, MallocNeeds{20 * 64});
  const std::vector<Holding> taken = take_together(storage.view(), 64);
  for (std::size_t i = 0; i < taken.size(); ++i) {
    CHECK(taken[i].memory == (i < 20 ? taken[0].memory + 64 * i : nullptr));
  }
  for (std::size_t i = 0; i < 20; i += 2) storage.view().free(taken[i].memory);  // each by itself
  CHECK(storage.view().malloc(65) == nullptr);
  for (std::size_t i = 1; i < 20; i += 2) storage.view().free(taken[i].memory);
  CHECK(storage.view().malloc(20 * 64) == taken[0].memory);
}

TEST_CASE_TEMPLATE("a lane is not refused because another one asks for too much", M, CMalloc, CFMalloc, CMMalloc,
                   CFMMalloc) {
  Executor executor;
  const typename M::Storage storage(executor, MallocNeeds{1024});
  REQUIRE(storage.view().malloc(512) != nullptr);
  // Each fourth lane asks for more than is left; for each of the others there is room.
  const std::vector<Holding> taken =
      take_together(storage.view(), [](std::uint32_t lane) { return lane % 4 == 0 ? 600 : 20; });
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const bool is_first = i / 4 * 3 + i % 4 <= 16;  // room for 16 lanes
    CHECK((taken[i].memory != nullptr) == (i % 4 != 0 && is_first));
  }
}

#endif

using detail::HeapSplit;

TEST_CASE("the heap is split as a binary heap, and hardly anything is left") {
  const HeapSplit split = HeapSplit::of(1u << 18, 1);  // 8 MiB
  CHECK(split.heaps == 1);
  CHECK(split.levels == 8);
  CHECK(split.leaf == 256);
  CHECK(split.root() == 256 << 7);
  CHECK(split.heap() == 1u << 18);
  for (const std::uint32_t units : {128u, 1000u, 12345u, 1u << 20, 0xffffffffu}) {
    CAPTURE(units);
    for (const std::uint32_t offsets : {1u, 8u, 132u}) {
      const HeapSplit any = HeapSplit::of(units, offsets);
      const std::uint64_t used = std::uint64_t{any.heaps} * any.heap();
      CHECK(any.leaf >= HeapSplit::kLeastLeaf);
      CHECK(used <= units);
      CHECK(used >= units - units / 50 * 49);
    }
  }
}

TEST_CASE("a multiprocessor's heap is that of its share of the memory") {
  const HeapSplit split = HeapSplit::of(132u << 18, 132);
  CHECK(split.heaps == 132);
  CHECK(split.leaf == 256);
  CHECK(split.levels == 8);
}

TEST_CASE("a heap that is too small for that is one chunk per offset at most") {
  CHECK(HeapSplit::of(1, 132).heaps == 1);
  CHECK(HeapSplit::of(127, 132).leaf == 127);
  const HeapSplit split = HeapSplit::of(300, 132);
  CHECK(split.heaps == 2);
  CHECK(split.levels == 1);
  CHECK(split.leaf == 150);
}

}  // namespace dynasoar::test
