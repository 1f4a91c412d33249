/// @file
/// What is special to the allocators that CircularMalloc is the template of, as doctest templates:
/// DYNASOAR_CIRCULAR_SUITE in each one's test file.
#pragma once

#include <dynasoar/malloc/circular_malloc.h>

#include "malloc_suite.h"

namespace dynasoar::test {

/// The heap is split beforehand, and chunks of up to twice the request are not split: all sizes add up to less of it.
template <class Headers, SearchOffsets kOffsets>
struct MallocSuite<CircularMalloc<Headers, kOffsets>> : MallocSuite<void> {
  static constexpr std::size_t kLargest = 1 << 18;
  static constexpr double kLeastFilled = 0.99;
  static constexpr double kLeastFilledAgain = 0.99;
};

/// One thread makes the requests that `bytes` lists, and notes what it got.
template <class M>
struct TakeListed {
  M memory;
  const std::uint32_t* bytes;
  char** pointers;
  std::uint32_t count;

  __device__ void operator()(std::size_t) const {
    for (std::uint32_t i = 0; i < count; ++i) pointers[i] = static_cast<char*>(memory.malloc(bytes[i]));
  }
};

/// One thread frees what is listed, in this order.
template <class M>
struct FreeListed {
  M memory;
  char* const* pointers;
  std::uint32_t count;

  __device__ void operator()(std::size_t) const {
    for (std::uint32_t i = 0; i < count; ++i) memory.free(pointers[i]);
  }
};

/// A heap that one thread uses.
template <class M>
struct SmallHeap {
  Executor executor;
  typename M::Storage storage;

  explicit SmallHeap(std::size_t bytes) : storage(executor, MallocNeeds{bytes}) {}

  std::vector<char*> take(const std::vector<std::uint32_t>& bytes) {
    DeviceArray<std::uint32_t> sizes(bytes.size());
    sizes.upload(bytes);
    DeviceArray<char*> pointers(bytes.size());
    executor.for_each_index(
        1, TakeListed<M>{storage.view(), sizes.data(), pointers.data(), static_cast<std::uint32_t>(bytes.size())});
    executor.synchronize();
    return pointers.download();
  }

  void free(const std::vector<char*>& pointers) {
    DeviceArray<char*> array(pointers.size());
    array.upload(pointers);
    executor.for_each_index(1,
                            FreeListed<M>{storage.view(), array.data(), static_cast<std::uint32_t>(pointers.size())});
    executor.synchronize();
  }

  bool can_take(std::uint32_t bytes) { return take({bytes})[0] != nullptr; }
};

TEST_CASE_TEMPLATE_DEFINE("a chunk is split if it is twice as large as needed", M, circular_split) {
  SmallHeap<M> whole(96);  // three units of 32 bytes
  CHECK(whole.can_take(64));
  CHECK_FALSE(whole.can_take(1));
  SmallHeap<M> split(128);
  const std::vector<char*> halves = split.take({64, 33, 1});
  CHECK(halves[1] == halves[0] + 64);
  CHECK(halves[2] == nullptr);
}

TEST_CASE_TEMPLATE_DEFINE("neighbours that were freed make one piece, whichever was first", M, circular_join) {
  for (const bool second_first : {false, true}) {
    SmallHeap<M> heap(1024);
    const std::vector<char*> all = heap.take(std::vector<std::uint32_t>(32, 32));
    REQUIRE(std::find(all.begin(), all.end(), nullptr) == all.end());
    heap.free({all[second_first ? 6 : 5], all[second_first ? 5 : 6]});
    CHECK_FALSE(heap.can_take(65));
    CHECK(heap.take({64})[0] == all[5]);
    heap.free({all[5]});
    CHECK(heap.can_take(32));
  }
}

TEST_CASE_TEMPLATE_DEFINE("pieces that lie apart do not make one", M, circular_apart) {
  SmallHeap<M> heap(1024);
  const std::vector<char*> all = heap.take(std::vector<std::uint32_t>(32, 32));
  heap.free({all[3], all[5], all[7], all[31], all[0]});  // the last and the first are not neighbours either
  CHECK_FALSE(heap.can_take(64));
  for (int i = 0; i < 5; ++i) CHECK(heap.can_take(32));
  CHECK_FALSE(heap.can_take(32));
}

TEST_CASE_TEMPLATE_DEFINE("free chunks become as large again as the heap", M, circular_whole) {
  constexpr std::size_t kBytes = std::size_t{1} << 16;
  SmallHeap<M> heap(kBytes);
  CHECK(heap.storage.view().largest() == kBytes);
  for (int round = 0; round < 3; ++round) {
    const std::vector<char*> whole = heap.take({kBytes, 1});  // over all chunks that the heap was split into
    REQUIRE(whole[0] != nullptr);
    CHECK(whole[1] == nullptr);
    heap.free(whole);
    const std::vector<char*> pieces = heap.take(std::vector<std::uint32_t>(kBytes / 32, 32));
    REQUIRE(std::find(pieces.begin(), pieces.end(), nullptr) == pieces.end());
    heap.free(pieces);
  }
}

TEST_CASE_TEMPLATE_DEFINE("heaps of any size are handed out to the last unit", M, circular_sizes) {
  for (const std::size_t bytes : {32, 63, 4095, 4096, 4128, 100000, 1234567}) {
    CAPTURE(bytes);
    SmallHeap<M> heap(bytes);
    CHECK(heap.storage.heap_bytes() == bytes / 32 * 32);
    const std::vector<char*> all = heap.take(std::vector<std::uint32_t>(bytes / 32 + 1, 32));
    CHECK(std::count(all.begin(), all.end(), nullptr) == 1);
    CHECK(all.back() == nullptr);
  }
}

TEST_CASE_TEMPLATE_DEFINE("a circular allocator's heap must hold a unit and be in reach of its offsets", M,
                          circular_needs) {
  Executor executor;
  CHECK_THROWS_WITH_AS((typename M::Storage(executor, MallocNeeds{31})), doctest::Contains("ask for more heap_bytes"),
                       Error);
  CHECK_THROWS_WITH_AS((typename M::Storage(executor, MallocNeeds{std::size_t{1} << 37})),
                       doctest::Contains("ask for less heap_bytes"), Error);
}

/// Every worker takes a share of the heap as one piece, and gives it back, over and over.
template <class M>
struct TakeShares {
  M memory;
  Counter* tally;
  std::uint32_t bytes;
  std::uint32_t times;

  __device__ void operator()(std::size_t worker) const {
    for (std::uint32_t i = 0; i < times; ++i) {
      const Holding holding{static_cast<unsigned char*>(memory.malloc(bytes)), bytes,
                            static_cast<std::uint32_t>(worker)};
      if (!note_answer(tally, holding.memory)) continue;
      holding.fill();
      count_if(tally[kDamaged], !holding.intact());
      memory.free(holding.memory);
    }
  }
};

TEST_CASE_TEMPLATE_DEFINE("requests that join small chunks at the same time do not thwart each other", M,
                          circular_thwart) {
  constexpr std::size_t kBytes = std::size_t{1} << 17;
  constexpr std::uint32_t kPieces = 8;  // of this many that would fit, half are taken at the same time
  MallocBench<M> bench(64, kBytes);
  DeviceArray<Holding> holdings(kBytes / 32);
  for (int round = 0; round < (kUnderGpuSanitizer ? 1 : 20); ++round) {
    holdings.fill_bytes(0);
    bench.run(1, TakeAll<M>{bench.storage.view(), bench.tally.data(), holdings.data(), kBytes / 32, 32});
    bench.run(1, GiveBackAll<M>{bench.storage.view(), bench.tally.data(), holdings.data(), kBytes / 32});
    bench.run(kPieces / 2, TakeShares<M>{bench.storage.view(), bench.tally.data(), kBytes / kPieces, 20});
  }
  bench.check_tally();
  CHECK(bench.tally[kRefused] == 0);
}

#if !DYNASOAR_CUDA_BACKEND

/// What lanes of one warp get that ask together, lane i for bytes(i).
template <class M, class Bytes>
std::vector<char*> take_together(const typename M::Storage& storage, const Bytes& bytes) {
  std::vector<char*> memory(WarpTeam::kLanes);
  WarpTeam team(0, WarpScheduling::together(), test_seed());
  run_warp(team, [&](ThreadWarp lane) {
    memory[static_cast<std::size_t>(lane.lane())] = static_cast<char*>(storage.view().malloc(bytes(lane.lane()), lane));
  });
  return memory;
}

TEST_CASE_TEMPLATE_DEFINE("lanes that ask together are served from one chunk, the first if not all fit", M,
                          circular_together) {
  Executor executor;
  const typename M::Storage storage(executor, MallocNeeds{20 * 64});
  const std::vector<char*> memory = take_together<M>(storage, [](int) { return 64; });
  for (std::size_t i = 0; i < memory.size(); ++i) {
    CHECK(memory[i] == (i < 20 ? memory[0] + 64 * i : nullptr));
  }
  for (std::size_t i = 0; i < 20; i += 2) storage.view().free(memory[i]);  // each by itself
  CHECK(storage.view().malloc(65) == nullptr);
  for (std::size_t i = 1; i < 20; i += 2) storage.view().free(memory[i]);
  CHECK(storage.view().malloc(20 * 64) == memory[0]);
}

TEST_CASE_TEMPLATE_DEFINE("a lane is not refused because another one asks for too much", M, circular_mixed) {
  Executor executor;
  const typename M::Storage storage(executor, MallocNeeds{1024});
  char* const first = static_cast<char*>(storage.view().malloc(512));
  REQUIRE(first != nullptr);
  // Each fourth lane asks for more than is left; for each of the others there is room.
  const std::vector<char*> memory = take_together<M>(storage, [](int lane) { return lane % 4 == 0 ? 600 : 20; });
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const bool is_first = i / 4 * 3 + i % 4 <= 16;  // room for 16 lanes
    CHECK((memory[i] != nullptr) == (i % 4 != 0 && is_first));
  }
}

#define DYNASOAR_CIRCULAR_LANES_(...)                        \
  TEST_CASE_TEMPLATE_INVOKE(circular_together, __VA_ARGS__); \
  TEST_CASE_TEMPLATE_INVOKE(circular_mixed, __VA_ARGS__)
#else
#define DYNASOAR_CIRCULAR_LANES_(...) static_assert(true)
#endif

/// Runs DYNASOAR_MALLOC_SUITE and the tests above: `DYNASOAR_CIRCULAR_SUITE(CMalloc);`
#define DYNASOAR_CIRCULAR_SUITE(...)                       \
  DYNASOAR_MALLOC_SUITE(__VA_ARGS__);                      \
  TEST_CASE_TEMPLATE_INVOKE(circular_split, __VA_ARGS__);  \
  TEST_CASE_TEMPLATE_INVOKE(circular_join, __VA_ARGS__);   \
  TEST_CASE_TEMPLATE_INVOKE(circular_apart, __VA_ARGS__);  \
  TEST_CASE_TEMPLATE_INVOKE(circular_whole, __VA_ARGS__);  \
  TEST_CASE_TEMPLATE_INVOKE(circular_sizes, __VA_ARGS__);  \
  TEST_CASE_TEMPLATE_INVOKE(circular_needs, __VA_ARGS__);  \
  TEST_CASE_TEMPLATE_INVOKE(circular_thwart, __VA_ARGS__); \
  DYNASOAR_CIRCULAR_LANES_(__VA_ARGS__)

}  // namespace dynasoar::test
