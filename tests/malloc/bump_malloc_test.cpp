#include <dynasoar/malloc/bump_malloc.h>

#include "test_heap.h"

namespace dynasoar::test {

template <>
struct MallocSuite<AtomicMalloc> : MallocSuite<void> {
  static constexpr double kLeastFilled = 1;
};

DYNASOAR_MALLOC_SUITE_WITHOUT_FREE(AtomicMalloc);

TEST_CASE("an atomic allocator's heap must hold something") {
  check_refused<AtomicMalloc>({.heap_bytes = 15}, "ask for more heap_bytes");
}

TEST_CASE("a request that reaches beyond the end uses up what was left") {
  MallocBench<AtomicMalloc> bench;
  // Asks for two pieces, of which only one fits, and for a small one.
  bench.run(1, [memory = bench.storage.view(), tally = bench.tally.data()] __device__(std::size_t) {
    count_if(tally[kUnexpected], memory.malloc(memory.largest() - 16) == nullptr);
    count_if(tally[kUnexpected], memory.malloc(32) != nullptr);
    count_if(tally[kUnexpected], memory.malloc(16) != nullptr);
  });
}

#if !DYNASOAR_CUDA_BACKEND

TEST_CASE("of lanes that together want more than is left, the first are served") {
  Executor executor;
  const AtomicMalloc::Storage storage(executor, {.heap_bytes = 20 * 48});
  const std::vector<Holding> taken = take_together(storage.view(), 48);
  for (std::size_t i = 0; i < taken.size(); ++i) {
    CHECK(taken[i].memory == (i < 20 ? taken[0].memory + 48 * i : nullptr));
  }
}

#endif

// AWMalloc refuses nothing and hands out memory twice, which the suite's other tests do not allow.
TEST_CASE_TEMPLATE_INVOKE(malloc_sizes, AWMalloc);

namespace {

/// Goes round the heap many times in steps that do not divide it.
struct GoRound {
  AWMalloc memory;
  Counter* tally;
  std::size_t bytes;
  std::uint32_t times;

  __device__ void operator()(std::size_t) const {
    const char* const first = static_cast<char*>(memory.malloc(bytes));
    const char* last = first;
    for (std::uint32_t i = 0; i < times; ++i) {
      const char* const next = static_cast<char*>(memory.malloc(bytes));
      const bool fits = last + 2 * bytes <= first + memory.largest();
      count_if(tally[kUnexpected], next != (fits ? last + bytes : first));
      last = next;
    }
  }
};

}  // namespace

TEST_CASE("at the end of the heap, memory is handed out from its start again") {
  MallocBench<AWMalloc> bench(64, 4096);
  bench.run(1, GoRound{bench.storage.view(), bench.tally.data(), 48, 1000});
  bench.run(1, GoRound{bench.storage.view(), bench.tally.data(), 4096, 10});
}

TEST_CASE("threads that go round together share the memory out evenly") {
  constexpr std::size_t kPieces = 1024;
  constexpr std::size_t kRounds = 64;
  constexpr std::uint32_t kBytes = 64;
  MallocBench<AWMalloc> bench(kBytes, kPieces * kBytes);
  DeviceArray<Holding> holdings(kPieces * kRounds);
  // Takes memory and notes where it is.
  bench.run(holdings.size(), [memory = bench.storage.view(), tally = bench.tally.data(),
                              holdings = holdings.data()] __device__(std::size_t index) {
    holdings[index] = {static_cast<unsigned char*>(memory.malloc(kBytes)), kBytes, 0};
    note_answer(tally, holdings[index].memory);
  });
  CHECK(bench.tally[kRefused] == 0);
  std::vector<std::size_t> taken(kPieces);
  const std::vector<Holding> all = holdings.download();
  const unsigned char* const heap = std::min_element(all.begin(), all.end(), [](const Holding& a, const Holding& b) {
                                      return a.memory < b.memory;
                                    })->memory;
  for (const Holding& holding : all) ++taken.at(static_cast<std::size_t>(holding.memory - heap) / kBytes);
  // On a GPU, a warp that does not fit as a whole leaves a gap at the end.
  CHECK(std::all_of(taken.begin(), taken.end() - 32, [](std::size_t times) { return times >= kRounds; }));
}

}  // namespace dynasoar::test
