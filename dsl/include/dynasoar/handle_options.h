/// @file
/// HandleOptions: what an AllocatorHandle is made with. CompactionOptions, SortOptions, `pointers` for arrays of the
/// program's own, and `morton_code`: what AllocatorHandle::compact and AllocatorHandle::sort take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <dynasoar/platform/config.h>

namespace dynasoar {

/// `512_MiB` and friends, for heap sizes.
inline namespace literals {
constexpr std::size_t operator""_KiB(unsigned long long n) {
  return static_cast<std::size_t>(n) << 10;
}
constexpr std::size_t operator""_MiB(unsigned long long n) {
  return static_cast<std::size_t>(n) << 20;
}
constexpr std::size_t operator""_GiB(unsigned long long n) {
  return static_cast<std::size_t>(n) << 30;
}
}  // namespace literals

/// What `synchronize()` does when objects could not be created since the last one.
enum class OnRefusal {
  throw_error,  ///< throws AllocationError
  record        ///< nothing; `statistics()` has the numbers
};

/// Calls of make_new that fail on purpose, to try out how a program copes. They are counted from 1, all classes
/// together; on a GPU, and with several threads, their order is unspecified. For checked builds.
struct FaultInjection {
  std::uint64_t first = 0;  ///< the first call that fails; 0: none
  std::uint64_t every = 0;  ///< from there on, every how many calls one fails; 0: only the first
};

/// How to make an AllocatorHandle: `AllocatorHandle<AllocatorT> handle({.heap_bytes = 1_GiB});`
///
/// Without a size the heap starts with 256 MiB (or what there is) and grows when it must, to most of the memory that is
/// free when the handle is made: on a CPU, the least of what the machine has, the process's control groups leave and
/// three quarters of what its resource limits leave. `heap_limit_bytes` says how far instead. With `heap_bytes` alone
/// the heap has that size for good; with both it starts with the one and grows to the other. Bytes are for objects; the
/// state beside them takes some percent more. An AosAllocator's heap cannot grow: it has 256 MiB if no size is given.
struct HandleOptions {
  std::optional<std::size_t> heap_bytes = {};
  std::optional<std::size_t> heap_limit_bytes = {};
  OnRefusal on_refusal = OnRefusal::throw_error;
  int threads = 0;  ///< CPU threads; 0 means all. Ignored on the GPU
  FaultInjection failing_allocations = {};
};

/// When to compact.
struct CompactionOptions {
  double above = 0;  ///< only classes of which more than this fraction of the slots is free; 0 to 1

  /// @throws Error if `above` is not from 0 to 1
  void check() const;
};

/// How to sort.
struct SortOptions {
  int key_bits = 0;  ///< how many of the lowest bits of the keys to sort by; fewer take less time; 0: all of them

  /// @throws Error if `key_bits` is not from 0 to 64
  void check() const;
};

/// A key for AllocatorHandle::sort, computed from the coordinates of a cell (a Morton code, or Z-order): cells with
/// close keys are close to each other in all directions. The lowest 16 bits of each of two coordinates count, or the
/// lowest 10 of each of three. If coordinates have n bits, the key has 2 n or 3 n bits: see SortOptions::key_bits.
__host__ __device__ constexpr std::uint32_t morton_code(std::uint32_t x, std::uint32_t y) {
  std::uint32_t code = 0;
  for (int bit = 0; bit < 16; ++bit) code |= (x >> bit & 1) << 2 * bit | (y >> bit & 1) << (2 * bit + 1);
  return code;
}
__host__ __device__ constexpr std::uint32_t morton_code(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  std::uint32_t code = 0;
  for (int bit = 0; bit < 10; ++bit) {
    code |= (x >> bit & 1) << 3 * bit | (y >> bit & 1) << (3 * bit + 1) | (z >> bit & 1) << (3 * bit + 2);
  }
  return code;
}

/// Pointers to objects in an array of the program's own, for AllocatorHandle::compact and AllocatorHandle::sort. Made
/// by `pointers`.
template <class U>
struct PointerArray {
  U** data;
  std::size_t size;
};

/// `size` pointers in device memory; null pointers are allowed.
template <class U>
PointerArray<U> pointers(U** data, std::size_t size) {
  return {data, size};
}

}  // namespace dynasoar
