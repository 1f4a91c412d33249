#include <dynasoar/malloc/coalescing_malloc.h>

#include <dynasoar/malloc/list_malloc.h>

#include "test_heap.h"

// The allocators' `malloc` is collective, with one size for all: the suite's tests, in which each thread does what it
// likes, are not for them; only one in which all do the same is.

namespace dynasoar::test {

namespace {

constexpr std::size_t kHeap = std::size_t{kUnderGpuSanitizer ? 32 : kCudaBackend ? 256 : 8} << 20;
constexpr std::uint32_t kHeld = 8;

// Whole blocks of threads, on a GPU.
constexpr std::uint32_t kThreads = kUnderGpuSanitizer ? 1024 : kCudaBackend ? 8192 : kHostThreads;

/// A thread that takes memory of the same sizes as all others do, and gives it back in an order of its own.
template <class M>
struct TakeTogether {
  M memory;
  Counter* tally;
  Holding* holdings;  // [threads * kHeld]
  std::uint32_t rounds;

  __device__ void operator()(std::size_t thread) const { work(thread, PlatformWarp{}, Nothing{}); }

  /// @param meet   called before each time that memory is taken
  template <class Warp, class Meet>
  __device__ void work(std::size_t thread, Warp warp, const Meet& meet) const {
    Holding* const held = holdings + thread * kHeld;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      for (std::uint32_t i = 0; i < kHeld; ++i) {
        const std::uint32_t bytes = 1 + (round * kHeld + i) * 37 % 600;
        meet();
        held[i] = {static_cast<unsigned char*>(memory.malloc(bytes, warp)), bytes, static_cast<std::uint32_t>(thread)};
        if (note_answer(tally, held[i].memory)) held[i].fill();
      }
      for (std::uint32_t i = 0; i < kHeld; ++i) {
        const Holding& holding = held[(i + thread) % kHeld];
        if (holding.memory == nullptr) continue;
        count_if(tally[kDamaged], !holding.intact());
        memory.free(holding.memory, warp);
      }
    }
    memory.free(nullptr, warp);
    count_if(tally[kUnexpected], memory.malloc(0, warp) != nullptr);
    count_if(tally[kUnexpected], memory.malloc(memory.largest() + 1, warp) != nullptr);
  }

  struct Nothing {
    __device__ void operator()() const {}
  };
};

}  // namespace

struct TogetherSuite : MallocSuite<void> {
  static constexpr std::uint32_t kWorkers = kThreads;
  static constexpr std::size_t kHeapBytes = kHeap;
};
template <>
struct MallocSuite<HeaderBlockMalloc> : TogetherSuite {};
template <>
struct MallocSuite<BlockMalloc> : TogetherSuite {};
template <>
struct MallocSuite<WarpMalloc> : TogetherSuite {};

TEST_CASE_TEMPLATE("threads that take memory together never get the same", M, HeaderBlockMalloc, BlockMalloc,
                   WarpMalloc) {
  MallocBench<M> bench(600);
  DeviceArray<Holding> holdings(std::size_t{kThreads} * kHeld);
  bench.run(kThreads, TakeTogether<M>{bench.storage.view(), bench.tally.data(), holdings.data(),
                                      kCudaBackend ? 20 : 2000 / kSlowdown});
  CHECK(bench.tally[kRefused] == 0);
}

TEST_CASE_TEMPLATE_INVOKE(malloc_exhaustion, HeaderBlockMalloc, BlockMalloc, WarpMalloc);

TEST_CASE("a coalescing allocator needs a heap for the superblock of a full warp or block") {
  using Malloc = StaticCoalescingMalloc<CoalescingScope::warp, detail::PieceHeaders, SizeListMalloc>;
  check_refused<Malloc>({.heap_bytes = 32 * 1024, .largest_request = 1024}, "ask for more heap_bytes");
}

#if !DYNASOAR_CUDA_BACKEND

namespace {

template <class Pieces>
using ListPieces = StaticCoalescingMalloc<CoalescingScope::warp, Pieces, SizeListMalloc>;

}  // namespace

TEST_CASE_TEMPLATE("lanes of several warps take memory together and free it by themselves", M, HeaderBlockMalloc,
                   BlockMalloc, WarpMalloc) {
  constexpr std::uint32_t kWarps = 2;
  MallocBench<M> bench(600);
  std::vector<Holding> holdings(std::size_t{kWarps} * WarpTeam::kLanes * kHeld);
  const TakeTogether<M> together{bench.storage.view(), bench.tally.data(), holdings.data(), kSlowdown > 1 ? 4u : 12u};
  std::vector<std::jthread> warps;
  for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
    warps.emplace_back([&, warp] {
      WarpTeam team(warp, WarpScheduling::together(), 1);
      run_warp(team, [&](ThreadWarp lane) {
        together.work(warp * WarpTeam::kLanes + static_cast<std::size_t>(lane.lane()), lane, [&] { lane.meet(); });
      });
    });
  }
  warps.clear();  // joins
  CHECK(bench.tally[kRefused] == 0);
}

TEST_CASE_TEMPLATE("pieces lie side by side, and the last one to be freed frees the superblock", Pieces,
                   detail::PieceHeaders, detail::PieceMap) {
  using M = ListPieces<Pieces>;
  Executor executor;
  const typename M::Storage storage(executor, {.heap_bytes = 48 << 10, .largest_request = 1000});
  for (int round = 0; round < 3; ++round) {
    const std::vector<Holding> taken = take_together(storage.view(), 1000);
    REQUIRE(are_disjoint(taken));
    for (std::size_t i = 1; i < taken.size(); ++i) {
      REQUIRE(taken[i].memory == taken[i - 1].memory + 1008 + Pieces::kBytes);
    }
    CHECK(served(take_together(storage.view(), 1000)) == 0);
    for (std::size_t i = 0; i < taken.size(); ++i) {
      CHECK(taken[i].intact());
      if (i != 7) storage.view().free(taken[i].memory);
    }
    CHECK(served(take_together(storage.view(), 1000)) == 0);
    storage.view().free(taken[7].memory);
  }
}

#endif

}  // namespace dynasoar::test
