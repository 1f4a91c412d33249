/// @file
/// HandleOptions: what an AllocatorHandle is made with.
#pragma once

#include <cstddef>
#include <cstdint>

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
/// together; on a GPU, and with several threads, their order is anyone's. For checked builds.
struct FaultInjection {
  std::uint64_t first = 0;  ///< the first call that fails; 0: none
  std::uint64_t every = 0;  ///< from there on, every which one fails; 0: only the first
};

/// How to make an AllocatorHandle: `AllocatorHandle<AllocatorT> handle({.heap_bytes = 1_GiB});`
struct HandleOptions {
  std::size_t heap_bytes = 256_MiB;  ///< for objects; the state beside it takes some percent more
  OnRefusal on_refusal = OnRefusal::throw_error;
  int threads = 0;  ///< CPU threads; 0 means all. Ignored on the GPU
  FaultInjection failing_allocations = {};
};

}  // namespace dynasoar
