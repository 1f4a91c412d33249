/// @file
/// What the tests share: counters that device code adds to, a random generator for device code, and seeds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::test {

using Counter = AtomicWord<std::uint64_t>;

/// Numbers, zero at first, that device code counts in and the host reads afterwards.
class Counters {
 public:
  explicit Counters(std::size_t count) : words_(count) { words_.fill_bytes(0); }

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

/// A small random generator (splitmix64) that runs on the host and in device code alike.
struct Random {
  std::uint64_t state;

  __host__ __device__ std::uint64_t next() {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  /// A number below `bound`, which is at most 2^32.
  __host__ __device__ std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((next() >> 32) * bound >> 32);
  }

  /// A generator of its own for each `stream` of one seed.
  __host__ __device__ static Random of(std::uint64_t seed, std::uint64_t stream) {
    Random random{seed ^ (stream + 1) * 0xD1342543DE82EF95u};
    random.next();
    return random;
  }
};

/// A new seed each time, or the one in the environment variable DYNASOAR_TEST_SEED, to repeat a run.
inline std::uint64_t test_seed() {
  if (const char* text = std::getenv("DYNASOAR_TEST_SEED")) return std::strtoull(text, nullptr, 10);
  return std::random_device{}();
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

/// Operations of each worker so that all together do `total_on_host` on the host, and as many on a GPU.
inline constexpr std::uint32_t operations_per_worker(std::uint32_t total_on_host) {
  return kCudaBackend ? total_on_host / 8192 : total_on_host / kWorkers / kSlowdown;
}

}  // namespace dynasoar::test
