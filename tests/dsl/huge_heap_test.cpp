// A heap of 100 GiB with 2^31 objects: for GPUs that have so much memory, in builds without checks.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../platform/test_support.h"

namespace huge_heap_test {

class Grain;
using AllocatorT = dynasoar::SoaAllocator<Grain>;

/// An object of 32 bytes.
class Grain : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Grain, (number_, std::uint64_t), (sum_, std::uint64_t), (a_, double), (b_, double))
  __device__ explicit Grain(std::size_t number) : number_(number), sum_(0u), a_(1), b_(2) {}
  __device__ void add(std::uint64_t amount) { sum_ = number_ + amount; }
  __device__ void die_if_odd() {
    if (number_ % 2 == 1) dynasoar::destroy(this);
  }
};

using Handle = dynasoar::AllocatorHandle<AllocatorT>;
constexpr std::uint64_t kObjects = std::uint64_t{1} << 31;

/// Prints how long a part takes.
template <class F>
void timed(Handle& handle, const char* what, F part) {
  const auto start = std::chrono::steady_clock::now();
  part();
  handle.synchronize();
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  std::printf("%-42s %9.2f ms\n", what, time.count());
}

/// Two to the power of 31 objects, in a heap that starts with `options`.
void run(Handle& handle) {
  timed(handle, "create 2^30 objects", [&] { handle.parallel_new<Grain>(kObjects / 2); });
  timed(handle, "create 2^30 objects more", [&] { handle.parallel_new<Grain>(kObjects / 2); });
  CHECK(handle.count<Grain>() == kObjects);
  timed(handle, "loop over 2^31 objects", [&] { handle.parallel_do<&Grain::add>(std::uint64_t{1}); });
  const std::uint64_t half = kObjects / 2;
  CHECK(handle.sum<&Grain::sum_>() == half * (half - 1) + kObjects);
  timed(handle, "delete 2^30 objects", [&] { handle.parallel_do<&Grain::die_if_odd>(); });
  CHECK(handle.count<Grain>() == half);
  CHECK(handle.statistics().refused() == 0);
}

bool has_memory() {
  if (dynasoar::kCudaBackend && !dynasoar::kChecked && dynasoar::test::kSlowdown == 1 &&
      dynasoar::detail::free_memory() > std::size_t{112} << 30) {
    return true;
  }
  MESSAGE("skipped: this is for a GPU with 112 GiB of free memory, without checks and sanitizers");
  return false;
}

TEST_CASE("a heap of 100 GiB holds 2^31 objects") {
  if (!has_memory()) return;
  Handle handle({.heap_bytes = std::size_t{100} << 30});
  CHECK(handle.statistics().heap_bytes == std::size_t{100} << 30);
  run(handle);
}

TEST_CASE("a heap that starts small grows to hold 2^31 objects") {
  if (!has_memory()) return;
  Handle handle({.heap_limit_bytes = std::size_t{100} << 30});
  run(handle);
  CHECK(handle.statistics().growths >= 2);
  timed(handle, "reserve 24 GiB more", [&] { handle.reserve<Grain>((std::size_t{24} << 30) / 32); });
  CHECK(handle.count<Grain>() == kObjects / 2);
}

}  // namespace huge_heap_test
