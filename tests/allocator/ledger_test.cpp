// Ledger: when two readings prove that nothing changed hands between them.
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/allocator/ledger.h>
#include <dynasoar/platform/executor.h>

#include "../platform/test_support.h"

namespace ledger_test {

using dynasoar::AtomicWord;
using dynasoar::DeviceArray;
using dynasoar::Executor;
using dynasoar::Ledger;
using dynasoar::test::Counters;

/// For every way in which two readings can relate: is the second quiet since the first?
struct ReadAround {
  Ledger<> ledger;
  std::uint32_t* quiet;
  __device__ void operator()(std::size_t) const {
    int at = 0;
    const Ledger<>::Reading start = ledger.read();
    quiet[at++] = ledger.read().quiet_since(start);  // nothing happened
    ledger.begin(3);
    const Ledger<>::Reading during = ledger.read();
    quiet[at++] = during.quiet_since(start);  // a change is in progress
    ledger.end(3);
    quiet[at++] = ledger.read().quiet_since(during);  // it was in progress when the first reading was made
    quiet[at++] = ledger.read().quiet_since(start);   // it began and ended in between
    const Ledger<>::Reading later = ledger.read();
    ledger.begin(40);
    ledger.cancel(40);
    quiet[at++] = ledger.read().quiet_since(later);  // begun, but nothing was changed
    ledger.note(7);
    quiet[at++] = ledger.read().quiet_since(later);  // a change of one step
  }
};

TEST_CASE("two readings are quiet only if no change overlaps with the time between them") {
  Counters words(Ledger<>::kWords);
  DeviceArray<std::uint32_t> quiet(6);
  Executor executor;
  executor.for_each_index(1, ReadAround{Ledger<>::over(words.data()), quiet.data()});
  executor.synchronize();
  CHECK(quiet.download() == std::vector<std::uint32_t>{1, 0, 0, 0, 1, 0});
}

struct ManyChanges {
  Ledger<> ledger;
  __device__ void operator()(std::size_t i) const {
    const auto who = static_cast<std::uint32_t>(i);
    ledger.begin(who);
    if (i % 3 == 0) {
      ledger.cancel(who);
    } else {
      ledger.end(who);
    }
    if (i % 5 == 0) ledger.note(who);
  }
};

TEST_CASE("the ledger counts the changes of all threads") {
  constexpr std::uint64_t kCount = 150000;
  Counters words(Ledger<>::kWords);
  DeviceArray<Ledger<>::Reading> reading(1);
  const auto ledger = Ledger<>::over(words.data());
  Executor executor(8);
  executor.for_each_index(kCount, ManyChanges{ledger});
  executor.for_each_index(1, [ledger, to = reading.data()] __device__(std::size_t) { *to = ledger.read(); });
  executor.synchronize();
  CHECK(reading.download()[0].in_progress == 0);
  CHECK(reading.download()[0].completed == kCount / 3 * 2 + kCount / 5);
}

}  // namespace ledger_test
