// Tally: that it counts what many threads add.
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/heap/tally.h>
#include <dynasoar/platform/executor.h>

#include "../platform/test_support.h"

namespace tally_test {

using namespace dynasoar;
using dynasoar::test::Counters;

TEST_CASE("a tally counts what all threads add") {
  constexpr std::uint64_t kCount = 105 * 1000;
  Counters words(Tally<>::kWords);
  DeviceArray<std::uint64_t> count(1);
  const auto tally = Tally<>::over(words.data());
  Executor executor(8);
  executor.for_each_index(kCount, [tally] __device__(std::size_t i) {
    const auto shard = static_cast<std::uint32_t>(i);
    tally.add(shard, i % 7, Order::relaxed);
    if (i % 5 == 0) tally.add(shard, std::uint64_t{1} << 40, Order::release);
  });
  executor.for_each_index(1, [tally, to = count.data()] __device__(std::size_t) { *to = tally.read(); });
  executor.synchronize();
  CHECK(count.download()[0] == 3 * kCount + (kCount / 5 << 40));
}

TEST_CASE("equal keys count in one shard, and others in all of them") {
  Counters words(Tally<>::kWords);
  const auto tally = Tally<>::over(words.data());
  Executor executor;
  executor.for_each_index(1, [tally] __device__(std::size_t) {
    for (std::uint32_t i = 0; i < 10; ++i) tally.add(3, 1, Order::relaxed);
    for (std::uint32_t key = 0; key < 2 * Tally<>::kShards; ++key) tally.add(key, 1, Order::relaxed);
  });
  DeviceArray<std::uint64_t> shards(Tally<>::kShards);
  executor.for_each_index(Tally<>::kShards, [tally, to = shards.data()] __device__(std::size_t i) {
    to[i] = tally.word(static_cast<int>(i)).load(Order::relaxed);
  });
  executor.synchronize();
  std::vector<std::uint64_t> expected(Tally<>::kShards, 2);
  expected[3] = 12;
  CHECK(shards.download() == expected);
}

}  // namespace tally_test
