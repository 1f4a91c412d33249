// Groups of lanes, on whichever backend: what they tell each other must not depend on which lanes are together.
#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/warp.h>

#include "test_support.h"

namespace warp_test {

using dynasoar::LaneSums;
using namespace dynasoar::test;

/// Checks `sums` in the groups of the lanes whose index leaves a remainder.
struct AddUp {
  Counter* wrong;
  std::size_t divisor;

  __device__ void operator()(std::size_t index) const {
    if (index % divisor == 1) return;
    const auto group = dynasoar::PlatformWarp{}.coalesce();
    const auto rank = static_cast<std::uint32_t>(group.rank());
    const auto size = static_cast<std::uint32_t>(group.size());
    const LaneSums ones = group.sums(1);
    dynasoar::test::count_if(*wrong, ones.before != rank || ones.total != size);
    const LaneSums ranks = group.sums(rank + 1);
    dynasoar::test::count_if(*wrong, ranks.before != rank * (rank + 1) / 2 || ranks.total != size * (size + 1) / 2);
  }
};

/// Checks groups of several sizes.
template <class Check>
void check_groups() {
  dynasoar::Executor executor;
  Counters wrong(1);
  for (const std::size_t divisor : {2, 3, 7, 1000}) {
    executor.for_each_index(10007, Check{wrong.data(), divisor});
    executor.synchronize();
    CAPTURE(divisor);
    CHECK(wrong[0] == 0);
  }
}

TEST_CASE("lanes add up what those before them and all of them have") {
  check_groups<AddUp>();
}

/// Checks `ballot` and `shuffle` in the groups of the lanes whose index leaves a remainder.
struct AskEachOther {
  Counter* wrong;
  std::size_t divisor;

  __device__ void operator()(std::size_t index) const {
    if (index % divisor == 1) return;
    const auto group = dynasoar::PlatformWarp{}.coalesce();
    const int rank = group.rank();
    const int size = group.size();
    const std::uint32_t odd = group.ballot(rank % 2 == 1);
    dynasoar::test::count_if(*wrong, odd != (0xAAAAAAAAu & dynasoar::detail::first_bits(size)));
    const int other = (rank + 5) % size;
    dynasoar::test::count_if(
        *wrong, group.shuffle(static_cast<std::uint32_t>(rank * 3), other) != static_cast<std::uint32_t>(other * 3));
  }
};

TEST_CASE("lanes tell each other by rank where a condition holds and what they have") {
  check_groups<AskEachOther>();
}

#if DYNASOAR_CUDA_BACKEND

__global__ void add_up_kernel(AddUp add_up) {
  add_up(threadIdx.y * blockDim.x + threadIdx.x);
}

TEST_CASE("lanes add up in thread blocks with two sides") {
  Counters wrong(1);
  add_up_kernel<<<8, dim3(16, 16)>>>(AddUp{wrong.data(), 1000});
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(wrong[0] == 0);
}

#endif

}  // namespace warp_test
