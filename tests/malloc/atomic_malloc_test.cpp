#include <dynasoar/malloc/atomic_malloc.h>

#include "test_heap.h"

namespace dynasoar::test {

template <>
struct MallocSuite<AtomicMalloc> : MallocSuite<void> {
  static constexpr double kLeastFilled = 1;
};

DYNASOAR_MALLOC_SUITE_WITHOUT_FREE(AtomicMalloc);

TEST_CASE("an atomic allocator's heap must hold something") {
  Executor executor;
  CHECK_THROWS_WITH_AS((AtomicMalloc::Storage(executor, {.heap_bytes = 15})),
                       doctest::Contains("ask for more heap_bytes"), Error);
}

namespace {

/// Asks for two pieces, of which only one fits, and for a small one.
struct AskBeyondTheEnd {
  AtomicMalloc memory;
  Counter* tally;

  __device__ void operator()(std::size_t) const {
    count_if(tally[kUnexpected], memory.malloc(memory.largest() - 16) == nullptr);
    count_if(tally[kUnexpected], memory.malloc(32) != nullptr);
    count_if(tally[kUnexpected], memory.malloc(16) != nullptr);
  }
};

}  // namespace

TEST_CASE("a request that reaches beyond the end uses up what was left") {
  MallocBench<AtomicMalloc> bench;
  bench.run(1, AskBeyondTheEnd{bench.storage.view(), bench.tally.data()});
  bench.check_tally();
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

}  // namespace dynasoar::test
