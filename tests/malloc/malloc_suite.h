/// @file
/// What every DeviceMalloc must do, as doctest templates: each allocator's test file names itself to them with
/// DYNASOAR_MALLOC_SUITE.
///
/// Memory that is handed out is filled with its owner's stamp, byte by byte, and looked at again before it is given
/// back: overlaps, and allocators that write into memory they have handed out, show there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/malloc/device_malloc.h>

#include "../platform/test_support.h"

#if !DYNASOAR_CUDA_BACKEND
#include "../heap/thread_warp.h"
#endif

namespace dynasoar::test {

/// Whether this is scripts/sanitize-gpu, where a single thread needs up to 0.1 ms for one access.
inline constexpr bool kUnderGpuSanitizer = kCudaBackend && kSlowdown > 1;

/// How often the suite takes all and gives it back.
template <class M>
inline constexpr int kMallocRounds = !M::kProperties.frees ? 1
                                     : kUnderGpuSanitizer  ? 2
                                                           : 3;

/// What the suite has to know of an allocator; specialize what differs.
template <class M>
struct MallocSuite {
  static constexpr std::uint32_t kWorkers = test::kWorkers;
  static constexpr std::size_t kHeapBytes = std::size_t{kCudaBackend && kSlowdown == 1 ? 16 : 8} << 20;
  static constexpr std::size_t kLargest = 1 << 20;     ///< requests of all sizes up to this are made
  static constexpr std::size_t kChurnLargest = 600;    ///< likewise, where many threads make them
  static constexpr double kLeastFilled = 0.5;          ///< share of the heap that requests of 64 bytes fill at least
  static constexpr std::size_t kExhaustionBytes = 64;  ///< request size of that test
  static constexpr double kLeastFilledAgain = 0.95;    ///< of that, how much fits again after all was freed
};

/// Memory that a thread has taken.
struct Holding {
  unsigned char* memory;
  std::uint32_t bytes;
  std::uint32_t stamp;

  /// What is written to each eight bytes.
  __device__ std::uint64_t word(std::uint32_t i) const {
    return (std::uint64_t{stamp} + 1) * 0x9E3779B97F4A7C15u + std::uint64_t{i} * 0x0101010101010101u;
  }
  __device__ void fill() const {
    auto* const words = reinterpret_cast<std::uint64_t*>(memory);
    const std::uint32_t count = bytes / 8;
    for (std::uint32_t i = 0; i < count; ++i) words[i] = word(i);
    for (std::uint32_t i = count * 8; i < bytes; ++i) memory[i] = last_byte(i);
  }
  __device__ bool intact() const {
    const auto* const words = reinterpret_cast<const std::uint64_t*>(memory);
    const std::uint32_t count = bytes / 8;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (words[i] != word(i)) return false;
    }
    for (std::uint32_t i = count * 8; i < bytes; ++i) {
      if (memory[i] != last_byte(i)) return false;
    }
    return true;
  }

 private:
  __device__ unsigned char last_byte(std::uint32_t i) const {
    return static_cast<unsigned char>(word(bytes / 8) >> i % 8 * 8);
  }
};

/// What device code found wrong, and how much it did.
enum MallocTally { kDamaged, kMisaligned, kUnexpected, kGranted, kRefused, kMallocTallies };

/// Notes what is wrong with an answer. @return whether there is memory
__device__ inline bool note_answer(Counter* tally, const void* memory) {
  count_if(tally[kMisaligned], reinterpret_cast<std::uintptr_t>(memory) % kMallocAlignment != 0);
  count_if(tally[memory != nullptr ? kGranted : kRefused], true);
  return memory != nullptr;
}

/// One thread asks for memory of each size until it is refused.
template <class M>
struct TakeSizes {
  M memory;
  Counter* tally;
  Holding* holdings;  // [count] sizes are given
  std::uint32_t count;

  __device__ void operator()(std::size_t) const {
    for (std::uint32_t i = 0; i < count; ++i) {
      holdings[i].memory = static_cast<unsigned char*>(memory.malloc(holdings[i].bytes));
      if (holdings[i].memory == nullptr) return;
    }
    count_if(tally[kUnexpected], memory.malloc(0) != nullptr);
    count_if(tally[kUnexpected], memory.malloc(memory.largest() + 1) != nullptr);
  }
};

/// One thread gives back all memory if it can: every other piece first, then the rest.
template <class M>
struct GiveBackSizes {
  M memory;
  const Holding* holdings;
  std::uint32_t count;

  __device__ void operator()(std::size_t) const {
    for (std::uint32_t first = 0; first < 2; ++first) {
      for (std::uint32_t i = first; i < count; i += 2) {
        if constexpr (M::kProperties.frees) memory.free(holdings[i].memory);
      }
    }
    if constexpr (M::kProperties.frees) memory.free(nullptr);
  }
};

/// An allocator, and what the suite's tests have in common.
template <class M>
struct MallocBench {
  Executor executor{static_cast<int>(kHostThreads)};
  typename M::Storage storage;
  Counters tally{kMallocTallies};

  explicit MallocBench(std::size_t largest = MallocSuite<M>::kLargest, std::size_t heap = MallocSuite<M>::kHeapBytes)
      : storage(executor, MallocNeeds{heap, largest}) {}

  template <class F>
  void run(std::size_t count, const F& function) {
    executor.for_each_index(count, function);
    executor.synchronize();
  }

  /// Memory of these sizes, in bytes, up to the first that is refused. One thread asks, others stamp what it got.
  std::vector<Holding> take(const std::vector<std::size_t>& sizes) {
    std::vector<Holding> wanted;
    for (const std::size_t bytes : sizes) {
      wanted.push_back({nullptr, static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>(wanted.size())});
    }
    const auto holdings = on_device(wanted);
    run(1, TakeSizes<M>{storage.view(), tally.data(), holdings.data(), static_cast<std::uint32_t>(wanted.size())});
    run(wanted.size(), [to = tally.data(), pieces = holdings.data()] __device__(std::size_t i) {
      if (note_answer(to, pieces[i].memory)) pieces[i].fill();
    });
    std::vector<Holding> taken = holdings.download();
    std::erase_if(taken, [](const Holding& holding) { return holding.memory == nullptr; });
    return taken;
  }

  void give(const std::vector<Holding>& taken) {
    const auto holdings = on_device(taken);
    run(taken.size(), [to = tally.data(), pieces = holdings.data()] __device__(std::size_t i) {
      count_if(to[kDamaged], !pieces[i].intact());
    });
    run(1, GiveBackSizes<M>{storage.view(), holdings.data(), static_cast<std::uint32_t>(taken.size())});
  }

  /// Checks that nothing was wrong.
  ~MallocBench() {
    CHECK(tally[kDamaged] == 0);
    CHECK(tally[kMisaligned] == 0);
    CHECK(tally[kUnexpected] == 0);
  }
};

/// Checks that there is no heap for these needs, and that the message has these words.
template <class M>
void check_refused(const MallocNeeds& needs, const char* words) {
  Executor executor(2);
  CHECK_THROWS_WITH_AS((typename M::Storage(executor, needs)), doctest::Contains(words), Error);
}

/// Whether no two of the holdings share a byte.
inline bool are_disjoint(std::vector<Holding> holdings) {
  std::erase_if(holdings, [](const Holding& holding) { return holding.memory == nullptr; });
  std::sort(holdings.begin(), holdings.end(), [](const Holding& a, const Holding& b) { return a.memory < b.memory; });
  for (std::size_t i = 1; i < holdings.size(); ++i) {
    if (holdings[i - 1].memory + holdings[i - 1].bytes > holdings[i].memory) return false;
  }
  return true;
}

TEST_CASE_TEMPLATE_DEFINE("memory of every size is aligned, complete, and not shared", M, malloc_sizes) {
  MallocBench<M> bench;
  const std::size_t largest = std::min(bench.storage.view().largest(), MallocSuite<M>::kLargest);
  std::vector<std::size_t> sizes;
  const auto add = [&](std::size_t bytes) {
    if (bytes <= largest) sizes.push_back(bytes);
  };
  for (std::size_t bytes = 1; bytes <= 130; ++bytes) add(bytes);
  for (std::size_t bytes = 256; bytes <= largest; bytes *= 2) {
    for (const std::size_t around : {bytes - 1, bytes, bytes + 1, bytes + bytes / 3}) add(around);
  }
  add(largest);
  for (int round = 0; round < kMallocRounds<M>; ++round) {
    CAPTURE(round);
    const std::vector<Holding> taken = bench.take(sizes);
    REQUIRE(taken.size() == sizes.size());
    REQUIRE(bench.tally[kRefused] == 0);
    CHECK(are_disjoint(taken));
    bench.give(taken);
  }
}

/// Every worker takes memory of one size until it has its share, or there is none. Where all must ask together, it goes
/// on.
template <class M>
struct TakeAll {
  M memory;
  Counter* tally;
  Holding* holdings;  // [workers * share]
  std::uint32_t share;
  std::uint32_t bytes;

  __device__ void operator()(std::size_t worker) const {
    for (std::uint32_t i = 0; i < share; ++i) {
      const std::size_t index = worker * share + i;
      holdings[index] = {static_cast<unsigned char*>(memory.malloc(bytes)), bytes, static_cast<std::uint32_t>(index)};
      if (note_answer(tally, holdings[index].memory)) {
        holdings[index].fill();
      } else if constexpr (!M::kProperties.collective) {
        return;
      }
    }
  }
};

/// Every worker looks at its memory and gives it back.
template <class M>
struct GiveBackAll {
  M memory;
  Counter* tally;
  Holding* holdings;
  std::uint32_t share;

  __device__ void operator()(std::size_t worker) const {
    for (std::uint32_t i = 0; i < share; ++i) {
      Holding& holding = holdings[worker * share + i];
      if (holding.memory == nullptr) continue;
      count_if(tally[kDamaged], !holding.intact());
      if constexpr (M::kProperties.frees) memory.free(holding.memory);
      holding.memory = nullptr;
    }
  }
};

TEST_CASE_TEMPLATE_DEFINE("a full heap refuses, and can be filled again when all was freed", M, malloc_exhaustion) {
  // Larger pieces, and so less of them, under a GPU's sanitizers.
  constexpr std::size_t kBytes = MallocSuite<M>::kExhaustionBytes * (kUnderGpuSanitizer ? 16 : 1);
  constexpr std::uint32_t kWorkers = MallocSuite<M>::kWorkers;
  MallocBench<M> bench(kBytes);
  // Together the workers want twice what there is.
  const auto share = static_cast<std::uint32_t>(2 * bench.storage.heap_bytes() / kBytes / kWorkers + 1);
  DeviceArray<Holding> holdings(std::size_t{kWorkers} * share);
  std::uint64_t first_time = 0;
  for (int round = 0; round < kMallocRounds<M>; ++round) {
    CAPTURE(round);
    holdings.fill_bytes(0);
    const std::uint64_t before = bench.tally[kGranted];
    bench.run(kWorkers, TakeAll<M>{bench.storage.view(), bench.tally.data(), holdings.data(), share,
                                   static_cast<std::uint32_t>(kBytes)});
    const std::uint64_t granted = bench.tally[kGranted] - before;
    CHECK(are_disjoint(holdings.download()));
    CHECK(bench.tally[kRefused] > 0);
    if (round == 0) {
      first_time = granted;
      const double filled = static_cast<double>(granted * kBytes) / static_cast<double>(bench.storage.heap_bytes());
      MESSAGE(std::string(M::kProperties.name)
              << ": " << 100 * filled << " % of the heap in pieces of " << kBytes << " bytes");
      if (!kUnderGpuSanitizer) CHECK(filled >= MallocSuite<M>::kLeastFilled);
      CHECK(filled <= 1);
    } else if (!kUnderGpuSanitizer) {
      CHECK(static_cast<double>(granted) >= MallocSuite<M>::kLeastFilledAgain * static_cast<double>(first_time));
    }
    bench.run(kWorkers, GiveBackAll<M>{bench.storage.view(), bench.tally.data(), holdings.data(), share});
  }
}

/// Random requests of one worker, from `malloc` and `free` as a whole.
struct MallocChurn {
  Counter* tally;
  Holding* holdings;  // [workers * most] the first counts[worker] of a worker's are in use
  std::uint32_t* counts;
  std::uint32_t most;
  std::uint32_t largest;
  std::uint64_t seed;
  std::uint32_t operations;

  /// @param take   `take(bytes)` as malloc
  /// @param give   `give(pointer)` as free
  template <class Take, class Give>
  __device__ void work(std::uint32_t worker, const Take& take, const Give& give) const {
    Random random = Random::of(seed, worker);
    Holding* const held = holdings + std::size_t{worker} * most;
    std::uint32_t count = counts[worker];
    for (std::uint32_t i = 0; i < operations; ++i) {
      const bool wants_more = random.below(most + 1) >= count;  // holds half of the most on average
      if (wants_more && count < most) {
        // Mostly small, sometimes any size.
        const std::uint32_t bytes = 1 + random.below(random.below(4) == 0 ? largest : largest / 8 + 1);
        Holding holding{static_cast<unsigned char*>(take(bytes)), bytes, worker * operations + i};
        if (!note_answer(tally, holding.memory)) continue;
        holding.fill();
        held[count++] = holding;
      } else if (count > 0) {
        give_back(held, random.below(count), count, give);
      }
    }
    while (count > 0) give_back(held, 0, count, give);
    counts[worker] = count;
  }

  template <class Give>
  __device__ void give_back(Holding* held, std::uint32_t which, std::uint32_t& count, const Give& give) const {
    const Holding holding = held[which];
    held[which] = held[--count];
    count_if(tally[kDamaged], !holding.intact());
    give(holding.memory);
  }
};

template <class M>
struct ChurnWorker {
  M memory;
  MallocChurn churn;
  __device__ void operator()(std::size_t worker) const {
    churn.work(
        static_cast<std::uint32_t>(worker), [this](std::uint32_t bytes) { return memory.malloc(bytes); },
        [this](void* pointer) { memory.free(pointer); });
  }
};

/// Memory for MallocChurn.
struct ChurnMemory {
  static constexpr std::uint32_t kMost = 24;
  DeviceArray<Holding> holdings;
  DeviceArray<std::uint32_t> counts;

  explicit ChurnMemory(std::uint32_t workers) : holdings(std::size_t{workers} * kMost), counts(workers) {
    counts.fill_bytes(0);
  }

  MallocChurn churn(Counter* tally, std::size_t largest, std::uint64_t seed, std::uint32_t operations) const {
    return {tally, holdings.data(), counts.data(), kMost, static_cast<std::uint32_t>(largest), seed, operations};
  }
};

TEST_CASE_TEMPLATE_DEFINE("threads that take and give back at random never get the same memory", M, malloc_churn) {
  const std::uint64_t seed = test_seed();
  MallocBench<M> bench(MallocSuite<M>::kChurnLargest);
  const std::size_t largest = std::min(bench.storage.view().largest(), MallocSuite<M>::kChurnLargest);
  ChurnMemory memory(kWorkers);
  bench.run(kWorkers, ChurnWorker<M>{bench.storage.view(),
                                     memory.churn(bench.tally.data(), largest, seed, operations_per_worker(400000))});
  CHECK(bench.tally[kGranted] > 0);
}

#if !DYNASOAR_CUDA_BACKEND

TEST_CASE_TEMPLATE_DEFINE("lanes of warps that go different ways never get the same memory", M, malloc_lanes) {
  const std::uint64_t seed = test_seed();
  constexpr std::uint32_t kWarps = 2;
  constexpr std::uint32_t kLanes = WarpTeam::kLanes;
  MallocBench<M> bench(MallocSuite<M>::kChurnLargest);
  const std::size_t largest = std::min(bench.storage.view().largest(), MallocSuite<M>::kChurnLargest);
  ChurnMemory held(kWarps * kLanes);
  const MallocChurn churn = held.churn(bench.tally.data(), largest, seed, kSlowdown > 1 ? 60 : 150);
  for (const WarpScheduling scheduling : {WarpScheduling::together(), WarpScheduling::capricious()}) {
    std::vector<std::jthread> warps;
    for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
      warps.emplace_back([&, warp] {
        WarpTeam team(warp, scheduling, seed);
        run_warp(team, [&](ThreadWarp lane) {
          churn.work(
              warp * kLanes + static_cast<std::uint32_t>(lane.lane()),
              [&](std::uint32_t bytes) { return bench.storage.view().malloc(bytes, lane.at(0)); },
              [&](void* pointer) { bench.storage.view().free(pointer, lane.at(1)); });
        });
      });
    }
    warps.clear();  // joins
  }
  CHECK(bench.tally[kGranted] > 0);
}

#define DYNASOAR_MALLOC_LANES_(...) TEST_CASE_TEMPLATE_INVOKE(malloc_lanes, __VA_ARGS__);
#else
#define DYNASOAR_MALLOC_LANES_(...)
#endif

/// Runs what of the suite does without a bound on the heap.
#define DYNASOAR_MALLOC_SUITE_WITHOUT_BOUND(...)        \
  TEST_CASE_TEMPLATE_INVOKE(malloc_sizes, __VA_ARGS__); \
  TEST_CASE_TEMPLATE_INVOKE(malloc_churn, __VA_ARGS__); \
  DYNASOAR_MALLOC_LANES_(__VA_ARGS__)                   \
  static_assert(::dynasoar::DeviceMalloc<__VA_ARGS__>)

/// Runs the suite for an allocator that frees: `DYNASOAR_MALLOC_SUITE(BitmapMalloc);`
#define DYNASOAR_MALLOC_SUITE(...)                  \
  DYNASOAR_MALLOC_SUITE_WITHOUT_BOUND(__VA_ARGS__); \
  TEST_CASE_TEMPLATE_INVOKE(malloc_exhaustion, __VA_ARGS__)

/// Runs what of the suite does without `free`.
#define DYNASOAR_MALLOC_SUITE_WITHOUT_FREE(...)              \
  TEST_CASE_TEMPLATE_INVOKE(malloc_sizes, __VA_ARGS__);      \
  TEST_CASE_TEMPLATE_INVOKE(malloc_exhaustion, __VA_ARGS__); \
  static_assert(::dynasoar::DeviceMalloc<__VA_ARGS__>)

}  // namespace dynasoar::test
