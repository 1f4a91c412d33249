/// @file
/// What the tests share: memory and counters for device code, seeds, and how much slow builds are to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "test_random.h"

namespace dynasoar::test {

/// Device memory of `count` elements, all bytes of which are 0.
template <class T>
DeviceArray<T> zeroed(std::size_t count) {
  DeviceArray<T> array(count);
  array.fill_bytes(0);
  return array;
}

/// A copy of the values in device memory.
template <class T>
DeviceArray<T> on_device(const std::vector<T>& values) {
  DeviceArray<T> array(values.size());
  array.upload(values);
  return array;
}

using Counter = AtomicWord<std::uint64_t>;

/// Numbers, zero at first, that device code counts in and the host reads afterwards.
class Counters {
 public:
  explicit Counters(std::size_t count) : words_(zeroed<std::uint64_t>(count)) {}

  /// For device code.
  Counter* data() const { return reinterpret_cast<Counter*>(words_.data()); }

  /// Waits for the default stream and all streams that are ordered with it.
  std::uint64_t operator[](std::size_t index) const { return words_.download()[index]; }
  std::vector<std::uint64_t> values() const { return words_.download(); }

 private:
  DeviceArray<std::uint64_t> words_;
};

/// Adds one to a counter if `condition` holds.
__device__ inline void count_if(Counter& counter, bool condition) {
  if (condition) counter.fetch_add(1, Order::relaxed);
}

/// The seed of a randomized test, which is printed, so that the run can be repeated with DYNASOAR_TEST_SEED.
inline std::uint64_t test_seed() {
  const std::uint64_t seed = drawn_seed();
  MESSAGE("seed " << seed);
  return seed;
}

// Sanitizers make programs slower; randomized tests then do less. Those of a GPU come after the compiler: builds for
// them say -DDYNASOAR_TEST_SLOWDOWN=64 or so.
#if defined(DYNASOAR_TEST_SLOWDOWN)
inline constexpr std::uint32_t kSlowdown = DYNASOAR_TEST_SLOWDOWN;
#elif defined(__SANITIZE_THREAD__)
inline constexpr std::uint32_t kSlowdown = 12;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr std::uint32_t kSlowdown = 4;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr std::uint32_t kSlowdown = 12;
#elif __has_feature(address_sanitizer)
inline constexpr std::uint32_t kSlowdown = 4;
#else
inline constexpr std::uint32_t kSlowdown = 1;
#endif
#else
inline constexpr std::uint32_t kSlowdown = 1;
#endif

inline constexpr bool kRunsUnderTsan = kSlowdown == 12;

/// Workers of a concurrency test: real threads on the host, enough to fill a GPU there.
inline constexpr std::uint32_t kHostThreads = 8;
inline constexpr std::uint32_t kWorkers = kCudaBackend ? 8192 / kSlowdown : kHostThreads;

/// Runs a loop on an executor of its own, and waits for it.
template <class F>
void run_loop(std::size_t count, const F& f) {
  Executor executor(static_cast<int>(kHostThreads));
  executor.for_each_index(count, f);
  executor.synchronize();
}

/// Operations of each worker so that all together do `total_on_host` on the host, and as many on a GPU.
inline constexpr std::uint32_t operations_per_worker(std::uint32_t total_on_host) {
  return kCudaBackend ? total_on_host / 8192 : total_on_host / kWorkers / kSlowdown;
}

}  // namespace dynasoar::test
