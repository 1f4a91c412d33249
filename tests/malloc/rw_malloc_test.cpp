#include <numeric>

#include <dynasoar/malloc/rw_malloc.h>

#include "test_heap.h"

namespace dynasoar::test {

// Larger requests would not fit between the small ones, which lie at random places.
template <>
struct MallocSuite<RwMalloc> : MallocSuite<void> {
  static constexpr std::size_t kLargest = 8192;
  static constexpr double kLeastFilled = 0.99;
};

DYNASOAR_MALLOC_SUITE(RwMalloc);

constexpr std::size_t kUnit = 16;

/// A heap of `units` units, and requests of one thread.
struct RunBench : TestHeap<RwMalloc> {
  explicit RunBench(std::size_t units) : TestHeap(units * kUnit) {}

  char* take(std::size_t units) {
    const std::vector<Holding> taken = TestHeap::take(units * kUnit, 1);
    return taken.empty() ? nullptr : reinterpret_cast<char*>(taken[0].memory);
  }

  void give_back(const std::vector<char*>& taken) {
    const auto memory = on_device(taken);
    // Every index gives memory back.
    run(taken.size(),
        [memory = storage.view(), taken = memory.data()] __device__(std::size_t index) { memory.free(taken[index]); });
  }

  /// Takes all of the heap in pieces of `units`. @return the pieces in the order of their addresses
  std::vector<char*> take_all(std::size_t units) {
    std::vector<char*> pieces;
    for (const Holding& taken : TestHeap::take_all(units * kUnit))
      pieces.push_back(reinterpret_cast<char*>(taken.memory));
    std::sort(pieces.begin(), pieces.end());
    return pieces;
  }

  /// Whether all memory is free: it can be had in one piece.
  bool is_whole() {
    char* const all = take(storage.heap_bytes() / kUnit);
    if (all != nullptr) give_back({all});
    return all != nullptr;
  }
};

TEST_CASE("the whole heap can be had in one piece, and in pieces of any length that divides it") {
  for (const std::size_t units : {1, 63, 64, 65, 1000, 4096}) {
    CAPTURE(units);
    RunBench bench(units);
    CHECK(bench.storage.view().largest() == units * kUnit);
    CHECK(bench.is_whole());
    char* const all = bench.take(units);
    REQUIRE(all != nullptr);
    CHECK(bench.take(1) == nullptr);
    bench.give_back({all});
    const std::vector<char*> pieces = bench.take_all(1);
    CHECK(pieces.size() == units);
    bench.give_back(pieces);
    CHECK(bench.is_whole());
  }
}

TEST_CASE("a run is found wherever it is, and is not longer than it is") {
  constexpr std::size_t kUnits = 1000;
  RunBench bench(kUnits);
  for (const std::size_t length : {2, 30, 64, 65, 100, 128, 300}) {
    for (const std::size_t first :
         {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{640}, kUnits - length}) {
      CAPTURE(length);
      CAPTURE(first);
      std::vector<char*> pieces = bench.take_all(1);
      REQUIRE(pieces.size() == kUnits);
      const auto begin = pieces.begin() + static_cast<std::ptrdiff_t>(first);
      const std::vector<char*> hole(begin, begin + static_cast<std::ptrdiff_t>(length));
      bench.give_back(hole);
      CHECK(bench.take(length + 1) == nullptr);
      CHECK(bench.take(length) == hole[0]);
      CHECK(bench.take(1) == nullptr);
      // Every piece is as long as it was when it was taken.
      pieces.erase(begin + 1, begin + static_cast<std::ptrdiff_t>(length));
      bench.give_back(pieces);
      REQUIRE(bench.is_whole());
    }
  }
}

TEST_CASE("free units that do not lie together serve small requests only") {
  RunBench bench(640);
  std::vector<char*> pieces = bench.take_all(1);
  std::vector<char*> odd;
  for (std::size_t i = 1; i < pieces.size(); i += 2) odd.push_back(pieces[i]);
  bench.give_back(odd);
  CHECK(bench.take(2) == nullptr);
  CHECK(bench.take_all(1) == odd);
}

TEST_CASE("threads that fight for few units leave the heap whole") {
  const std::uint64_t seed = test_seed();
  RunBench bench(128);  // one worker alone would want more
  ChurnMemory memory(kWorkers);
  // Requests of up to 50 units. Those who claim words of a run, but not all, have to undo it.
  bench.run(kWorkers, ChurnWorker<RwMalloc>{bench.storage.view(), memory.churn(bench.tally.data(), 50 * kUnit, seed,
                                                                               operations_per_worker(400000))});
  CHECK(bench.tally[kGranted] > 0);
  CHECK(bench.tally[kRefused] > 0);
  CHECK(bench.tally[kDamaged] == 0);
  CHECK(bench.is_whole());
}

TEST_CASE("RwMalloc's heap must hold a unit, and not more than it can number") {
  check_refused<RwMalloc>({.heap_bytes = 15}, "more heap_bytes");
  check_refused<RwMalloc>({.heap_bytes = std::size_t{1} << 36}, "less heap_bytes");
}

#if !DYNASOAR_CUDA_BACKEND

/// What 32 lanes get that ask together. No piece lies on another.
std::vector<char*> take_together(const RunBench& bench, const std::vector<std::size_t>& units) {
  const std::vector<Holding> taken =
      test::take_together(bench.storage.view(), [&](std::uint32_t lane) { return units[lane] * kUnit; });
  CHECK(are_disjoint(taken));
  std::vector<char*> pieces;
  for (const Holding& holding : taken) pieces.push_back(reinterpret_cast<char*>(holding.memory));
  return pieces;
}

TEST_CASE("small requests of a warp lie together in the order of the lanes, and are freed one by one") {
  RunBench bench(10000);
  std::vector<std::size_t> units(WarpTeam::kLanes);
  std::iota(units.begin(), units.end(), std::size_t{1});
  const std::vector<char*> taken = take_together(bench, units);
  for (std::size_t i = 1; i < taken.size(); ++i) CHECK(taken[i] == taken[i - 1] + units[i - 1] * kUnit);
  bench.give_back({taken[5]});
  CHECK_FALSE(bench.is_whole());
  std::vector<char*> others = taken;
  others.erase(others.begin() + 5);
  bench.give_back(others);
  CHECK(bench.is_whole());
}

TEST_CASE("requests of a warp of all sizes are served, those that are too large for one search each by itself") {
  RunBench bench(400000);  // large enough that 14 runs at random places leave room for each of them
  std::vector<std::size_t> units(WarpTeam::kLanes, 3);
  for (std::size_t i = 0; i < units.size(); i += 3) units[i] = 100 * i + 1;
  units[4] = 2048;
  units[7] = 5000;
  units[31] = 10000;
  for (int round = 0; round < 3; ++round) {
    const std::vector<char*> taken = take_together(bench, units);
    CHECK(std::count(taken.begin(), taken.end(), nullptr) == 0);
    bench.give_back(taken);
    CHECK(bench.is_whole());
  }
}

TEST_CASE("a warp for which there is no run gets what there is in parts") {
  RunBench bench(1200);
  const std::vector<char*> pieces = bench.take_all(1);
  std::vector<char*> free;
  for (std::size_t i = 0; i < 24; ++i) free.push_back(pieces[i * 50]);
  bench.give_back(free);
  std::vector<char*> taken = take_together(bench, std::vector<std::size_t>(WarpTeam::kLanes, 1));
  CHECK(std::count(taken.begin(), taken.end(), nullptr) == 8);
  std::erase(taken, nullptr);
  std::sort(taken.begin(), taken.end());
  CHECK(taken == free);
  // A request that is refused takes none with it that can be served.
  bench.give_back({taken[0]});
  std::vector<std::size_t> units(WarpTeam::kLanes, 2);
  units[20] = 1;
  taken = take_together(bench, units);
  CHECK(taken[20] == free[0]);
  CHECK(std::count(taken.begin(), taken.end(), nullptr) == WarpTeam::kLanes - 1);
}

TEST_CASE("lanes that look together find a run that none of them sees alone") {
  constexpr std::size_t kLength = 160;
  RunBench bench(640);
  for (const std::size_t first : {50, 64, 480}) {
    CAPTURE(first);
    const std::vector<char*> pieces = bench.take_all(1);
    const auto begin = pieces.begin() + static_cast<std::ptrdiff_t>(first);
    bench.give_back({begin, begin + static_cast<std::ptrdiff_t>(kLength)});
    std::vector<std::size_t> units(WarpTeam::kLanes, kLength + 1);
    units[9] = kLength;
    const std::vector<char*> taken = take_together(bench, units);
    CHECK(taken[9] == pieces[first]);
    CHECK(std::count(taken.begin(), taken.end(), nullptr) == WarpTeam::kLanes - 1);
    std::vector<char*> all(pieces.begin(), begin + 1);
    all.insert(all.end(), begin + static_cast<std::ptrdiff_t>(kLength), pieces.end());
    bench.give_back(all);
    REQUIRE(bench.is_whole());
  }
}

#endif

}  // namespace dynasoar::test
