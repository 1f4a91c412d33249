/// @file
/// HandleOptions: the options of an AllocatorHandle. CompactionOptions, SortOptions, `pointers` for your own arrays,
/// and `morton_code`: for the arguments of AllocatorHandle::compact and AllocatorHandle::sort.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <dynasoar/platform/config.h>

namespace dynasoar {

/// Heap sizes, such as `512_MiB`.
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

/// What `synchronize()` does if objects could not be created since its last call.
enum class OnRefusal {
  throw_error,  ///< throws AllocationError
  record        ///< does nothing; `statistics()` has the numbers
};

/// Calls of make_new that fail on purpose, so that you can test how a program copes with them. Calls are counted from
/// 1, over all classes. On a GPU, and with several threads, their order is unspecified. For checked builds only.
struct FaultInjection {
  std::uint64_t first = 0;  ///< the first call that fails; 0: none
  std::uint64_t every = 0;  ///< after `first`, every n-th call fails, too; 0: only `first` fails
};

/// The options of an AllocatorHandle: `AllocatorHandle<AllocatorT> handle({.heap_bytes = 1_GiB});`
///
/// Which of the two sizes you set decides whether the heap grows:
/// - Neither: the heap starts with 256 MiB, or less if there is less memory, and grows when necessary. Its limit is
///   most of the memory that is free when the handle is made. On a CPU, this is the least of three values: the memory
///   of the machine, the memory that the control groups of the process leave, and three quarters of what its resource
///   limits leave.
/// - Only `heap_limit_bytes`: the same, with this limit.
/// - Only `heap_bytes`: the heap has this size and does not grow.
/// - Both: the heap starts with `heap_bytes` and grows up to `heap_limit_bytes`.
///
/// Sizes are the bytes for objects. The state of the heap takes some percent more. The heap of an AosAllocator cannot
/// grow; it has 256 MiB if you give no size.
struct HandleOptions {
  std::optional<std::size_t> heap_bytes = {};
  std::optional<std::size_t> heap_limit_bytes = {};
  OnRefusal on_refusal = OnRefusal::throw_error;
  int threads = 0;  ///< CPU threads, not negative; 0: one per processor. Ignored on the GPU
  FaultInjection failing_allocations = {};
};

/// When to compact.
struct CompactionOptions {
  double above = 0;  ///< compact a class only if more than this fraction of its slots is free; 0 to 1

  /// @throws Error if `above` is not from 0 to 1
  void check() const;
};

/// How to sort.
struct SortOptions {
  int key_bits = 0;  ///< sort by this number of lowest bits of the keys; fewer bits take less time; 0: all

  /// @throws Error if `key_bits` is not from 0 to 64
  void check() const;
};

/// A key for AllocatorHandle::sort: the Morton code (Z-order) of the coordinates of a cell. Cells with close keys are
/// close to each other in all directions. The key uses the lowest 16 bits of each of two coordinates, or the lowest 10
/// bits of each of three. If coordinates have n bits, the key has 2 n or 3 n bits: see SortOptions::key_bits.
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

/// Pointers to objects in an array of your own, for AllocatorHandle::compact and AllocatorHandle::sort. Made by
/// `pointers`.
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
