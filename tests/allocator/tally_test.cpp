// Tally: what it counts, and when two readings prove that nothing changed between them.
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/allocator/tally.h>
#include <dynasoar/platform/executor.h>

#include "../platform/test_support.h"

namespace tally_test {

using dynasoar::DeviceArray;
using dynasoar::Executor;
using dynasoar::Order;
using dynasoar::Tally;
using dynasoar::test::Counters;

/// For every way in which two readings can relate: is the second quiet since the first?
struct ReadAround {
  Tally<> tally;
  std::uint32_t* quiet;
  __device__ void operator()(std::size_t) const {
    int at = 0;
    const Tally<>::Reading start = tally.read();
    quiet[at++] = tally.read().quiet_since(start);  // nothing happened
    tally.begin(3);
    const Tally<>::Reading during = tally.read();
    quiet[at++] = during.quiet_since(start);  // a change is in progress
    tally.end(3, 1);
    quiet[at++] = tally.read().quiet_since(during);  // it was in progress when the first reading was made
    quiet[at++] = tally.read().quiet_since(start);   // it began and ended in between
    const Tally<>::Reading later = tally.read();
    tally.begin(40);
    tally.cancel(40);
    quiet[at++] = tally.read().quiet_since(later);  // begun, but nothing was changed
    tally.add(7, 64, Order::relaxed);
    quiet[at++] = tally.read().quiet_since(later);  // a change of one step
  }
};

TEST_CASE("two readings of a tally are quiet only if no change overlaps with the time between them") {
  Counters words(Tally<>::kWords);
  DeviceArray<std::uint32_t> quiet(6);
  Executor executor;
  executor.for_each_index(1, ReadAround{Tally<>::over(words.data()), quiet.data()});
  executor.synchronize();
  CHECK(quiet.download() == std::vector<std::uint32_t>{1, 0, 0, 0, 1, 0});
}

struct ManyChanges {
  Tally<> tally;
  __device__ void operator()(std::size_t i) const {
    const auto who = static_cast<std::uint32_t>(i);
    tally.begin(who);
    if (i % 3 == 0) {
      tally.cancel(who);
    } else {
      tally.end(who, i % 7);
    }
    if (i % 5 == 0) tally.add(who, 9, Order::release);
  }
};

TEST_CASE("a tally counts what all threads add") {
  constexpr std::uint64_t kCount = 105 * 1000;
  Counters words(Tally<>::kWords);
  DeviceArray<Tally<>::Reading> reading(1);
  const auto tally = Tally<>::over(words.data());
  Executor executor(8);
  executor.for_each_index(kCount, ManyChanges{tally});
  executor.for_each_index(1, [tally, to = reading.data()] __device__(std::size_t) { *to = tally.read(); });
  executor.synchronize();
  CHECK(reading.download()[0].in_progress == 0);
  std::uint64_t expected = 9 * kCount / 5;
  for (std::uint64_t i = 0; i < kCount; ++i) expected += i % 3 == 0 ? 0 : i % 7;
  CHECK(reading.download()[0].count == expected);
}

TEST_CASE("a tally shows changes in progress whatever the count") {
  Counters words(Tally<>::kWords);
  DeviceArray<Tally<>::Reading> reading(1);
  const auto tally = Tally<>::over(words.data());
  Executor executor;
  executor.for_each_index(1, [tally, to = reading.data()] __device__(std::size_t) {
    tally.add(5, (std::uint64_t{1} << 48) - 1, Order::relaxed);
    for (int i = 0; i < 300; ++i) tally.begin(5);
    for (std::uint32_t who = 0; who < 1000; ++who) tally.begin(who);
    *to = tally.read();
  });
  executor.synchronize();
  CHECK(reading.download()[0].in_progress == 1300);
  CHECK(reading.download()[0].count == (std::uint64_t{1} << 48) - 1);
}

}  // namespace tally_test
