// Device memory that runs out: the linker puts the functions below in the place of cudaMalloc and aligned_alloc.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

namespace out_of_memory_test {

/// The allocation at which this arrives at 0 fails, and all that follow; -1: none.
int allocations_left = -1;

bool is_allowed() {
  if (allocations_left > 0) --allocations_left;
  return allocations_left != 0;
}

}  // namespace out_of_memory_test

extern "C" {
#if DYNASOAR_CUDA_BACKEND
cudaError_t __real_cudaMalloc(void** memory, std::size_t bytes);
cudaError_t __wrap_cudaMalloc(void** memory, std::size_t bytes);
cudaError_t __wrap_cudaMalloc(void** memory, std::size_t bytes) {
  return out_of_memory_test::is_allowed() ? __real_cudaMalloc(memory, bytes) : cudaErrorMemoryAllocation;
}
#else
void* __real_aligned_alloc(std::size_t alignment, std::size_t bytes);
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes);
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return out_of_memory_test::is_allowed() ? __real_aligned_alloc(alignment, bytes) : nullptr;
}
#endif
}

namespace out_of_memory_test {

using namespace dynasoar;

class Fish;
class Shark;
using AllocatorT = dynasoar::SoaAllocator<Fish, Shark>;

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Fish, (value_, int))
  __device__ explicit Fish(std::size_t i) : value_(static_cast<int>(i)) {}
};

class Shark : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Shark, (a_, double), (b_, double))
  __device__ explicit Shark(std::size_t) : a_(1), b_(2) {}
};

struct Backwards {
  __device__ int operator()(Fish* fish) const { return -fish->value_; }
};

TEST_CASE("whichever allocation of device memory fails, a handle is not made, nothing leaks, and the next one works") {
  int failing = 1;
  for (bool made = false; !made; ++failing) {
    CAPTURE(failing);
    allocations_left = failing;
    try {
      const AllocatorHandle<AllocatorT> handle({.heap_bytes = 1 << 20});
      made = true;
    } catch (const Error& error) {
      CHECK(std::string(error.what()).find("ask for a smaller heap or free device memory") != std::string::npos);
    }
    allocations_left = -1;
    AllocatorHandle<AllocatorT> handle({.heap_bytes = 1 << 20});
    handle.parallel_new<Fish>(100);
    CHECK(handle.count<Fish>() == 100);
  }
  CHECK(failing > 10);
}

TEST_CASE("a count for which there is no memory leaves the handle as it was") {
  AllocatorHandle<AllocatorT> handle({.heap_bytes = 1 << 20});
  handle.parallel_new<Shark>(100);
  handle.synchronize();
  allocations_left = 1;
  CHECK_THROWS_AS(handle.count<Shark>(), Error);
  CHECK_THROWS_AS(handle.statistics(), Error);
  allocations_left = -1;
  CHECK(handle.count<Shark>() == 100);
}

TEST_CASE("a sort for which there is no memory moves no object, and the next sort works") {
  AllocatorHandle<AllocatorT> handle({.heap_bytes = 1 << 20});
  handle.parallel_new<Fish>(1000);
  const auto values = [&] { return handle.columns<Fish>()["value_"].as<int>(); };
  const std::vector<int> before = values();
  const auto sort = [&] { handle.sort<Fish>(Backwards{}); };
  int failing = 1;
  for (bool sorted = false; !sorted; ++failing) {
    CAPTURE(failing);
    allocations_left = failing;
    try {
      sort();
      sorted = true;
    } catch (const Error& error) {
      if (failing == 2)
        CHECK(std::string(error.what()).find("not enough memory to sort 1000 objects") != std::string::npos);
    }
    allocations_left = -1;
    if (!sorted) CHECK(values() == before);
  }
  CHECK(failing > 2);
  std::vector<int> expected = before;
  std::sort(expected.begin(), expected.end(), std::greater<>());
  CHECK(values() == expected);
}

}  // namespace out_of_memory_test
