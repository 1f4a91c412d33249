// AtomicWord: what each operation does and returns, and that it is one step.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "test_support.h"

namespace atomic_test {

using namespace dynasoar;
using dynasoar::test::Counters;
using dynasoar::test::run_loop;

static_assert(sizeof(AtomicWord<std::uint32_t>) == 4 && sizeof(AtomicWord<std::uint64_t>) == 8,
              "arrays of atomic words are copied as arrays of integers");

template <class T>
struct Sequence {
  AtomicWord<T>* word;
  T* results;
  __device__ void operator()(std::size_t) const {
    int at = 0;
    word->store(5, Order::release);
    results[at++] = word->load(Order::acquire);              // 5
    results[at++] = word->fetch_add(7, Order::relaxed);      // 5
    results[at++] = word->fetch_or(3, Order::acquire);       // 12
    results[at++] = word->fetch_and(~T{1}, Order::release);  // 15
    results[at++] = word->exchange(100, Order::acq_rel);     // 14
    T expected = 99;
    results[at++] = word->compare_exchange(expected, 1, Order::acq_rel) ? 1 : 0;  // 0
    results[at++] = expected;                                                     // 100
    results[at++] = word->compare_exchange(expected, 2, Order::acq_rel) ? 1 : 0;  // 1
    results[at++] = word->load(Order::relaxed);                                   // 2
    results[at++] = word->fetch_add(~T{0}, Order::relaxed);                       // 2: adding -1 subtracts
    word->add(5, Order::relaxed);
    results[at++] = word->load(Order::relaxed);  // 6
    word->add(~T{1}, Order::release);
    results[at++] = word->load(Order::relaxed);          // 4
    results[at++] = word->fetch_min(9, Order::relaxed);  // 4
    results[at++] = word->fetch_min(3, Order::acq_rel);  // 4
    results[at++] = word->load(Order::relaxed);          // 3
    results[at++] = word->fetch_sub(2, Order::relaxed);  // 3
    results[at++] = word->fetch_sub(2, Order::acq_rel);  // 1
    results[at++] = word->load(Order::relaxed);          // -1, wrapped around
  }
};

template <class T>
void check_sequence() {
  const std::vector<T> expected{5, 5, 12, 15, 14, 0, 100, 1, 2, 2, 6, 4, 4, 4, 3, 3, 1, static_cast<T>(-1)};
  DeviceArray<AtomicWord<T>> word(1);
  DeviceArray<T> results(expected.size());
  run_loop(1, Sequence<T>{word.data(), results.data()});
  CHECK(results.download() == expected);
}

TEST_CASE("every operation on an atomic word returns the value before it") {
  check_sequence<std::uint32_t>();
  check_sequence<std::uint64_t>();
}

__host__ __device__ std::uint64_t scattered(std::size_t i) {
  return 1000 + (i * 7919 + 13) % 10007;
}

TEST_CASE("no update of an atomic word is lost when all threads update it") {
  // A GPU has all of its threads compete for one word at once, which takes time in the square of their number.
  constexpr std::size_t kCount = (dynasoar::kCudaBackend ? 100000 : 4000000) / dynasoar::test::kSlowdown;
  Counters words(6);
  Executor executor(dynasoar::test::kHostThreads);
  executor.for_each_index(1, [words = words.data()] __device__(std::size_t) {
    words[3].store(~std::uint64_t{0}, Order::relaxed);
    words[5].store(~std::uint64_t{0}, Order::relaxed);
  });
  executor.for_each_index(kCount, [words = words.data()] __device__(std::size_t i) {
    words[0].fetch_add(1, Order::relaxed);
    words[4].add(1, Order::relaxed);
    std::uint64_t found = words[1].load(Order::relaxed);
    while (!words[1].compare_exchange(found, found + 1, Order::relaxed)) {
    }
    const std::uint64_t bit = std::uint64_t{1} << i % 64;
    words[2].fetch_or(bit, Order::relaxed);
    words[3].fetch_and(~bit, Order::relaxed);
    words[5].fetch_min(scattered(i), Order::relaxed);
  });
  executor.synchronize();
  CHECK(words[0] == kCount);
  CHECK(words[1] == kCount);
  CHECK(words[4] == kCount);
  std::uint64_t least = scattered(0);
  for (std::size_t i = 1; i < kCount; ++i) least = std::min(least, scattered(i));
  CHECK(words[5] == least);
  CHECK(words[2] == ~std::uint64_t{0});
  CHECK(words[3] == 0);
}

TEST_CASE("what was written before a release is seen after the acquire that reads it") {
  constexpr std::size_t kPairs = 4;
  Executor executor(2 * kPairs);
  for (int round = 0; round < 20; ++round) {
    auto flags = dynasoar::test::zeroed<AtomicWord<std::uint32_t>>(kPairs);
    auto messages = dynasoar::test::zeroed<std::uint64_t>(kPairs);
    Counters wrong(1);
    // Pairs of workers: one writes and publishes, the other waits for the flag and reads.
    executor.for_each_index(
        2 * kPairs, [flags = flags.data(), messages = messages.data(), wrong = wrong.data()] __device__(std::size_t i) {
          const std::size_t pair = i / 2;
          if (i % 2 == 0) {
            messages[pair] = pair * 3 + 1;
            flags[pair].store(1, Order::release);
          } else {
            while (flags[pair].load(Order::acquire) == 0) dynasoar::PlatformAtomics::pause();
            dynasoar::test::count_if(*wrong, messages[pair] != pair * 3 + 1);
          }
        });
    executor.synchronize();
    REQUIRE(wrong[0] == 0);
  }
}

}  // namespace atomic_test
