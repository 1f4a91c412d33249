/// @file
/// Copying values in as few accesses as a GPU needs: copy_bytes, used by compaction, checkpoints and columns, and
/// load_at_once, used by grid_view.h and sort_tasks.h.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

#if defined(__CUDA_ARCH__)
template <class Word>
__device__ void copy_words(char* __restrict__ to, const char* __restrict__ from, std::uint32_t bytes) {
  for (std::uint32_t i = 0; i < bytes / sizeof(Word); ++i) {
    reinterpret_cast<Word*>(to)[i] = reinterpret_cast<const Word*>(from)[i];
  }
}
#endif

/// Copies a trivially copyable value that need not be one: bytes that were never written are copied as they are.
__device__ inline void copy_bytes(char* __restrict__ to, const char* __restrict__ from, std::uint32_t bytes,
                                  [[maybe_unused]] std::uint32_t alignment) {
#if defined(__CUDA_ARCH__)
  switch (alignment) {
    case 1: return copy_words<std::uint8_t>(to, from, bytes);
    case 2: return copy_words<std::uint16_t>(to, from, bytes);
    case 4: return copy_words<std::uint32_t>(to, from, bytes);
    case 8: return copy_words<std::uint64_t>(to, from, bytes);
    default: return copy_words<uint4>(to, from, bytes);
  }
#else
  switch (bytes) {  // those that are one access
    case 1: std::memcpy(to, from, 1); return;
    case 2: std::memcpy(to, from, 2); return;
    case 4: std::memcpy(to, from, 4); return;
    case 8: std::memcpy(to, from, 8); return;
    case 16: std::memcpy(to, from, 16); return;
    default: std::memcpy(to, from, bytes);
  }
#endif
}

/// A value of 16 bytes that are aligned to 16, in one load where a compiler would load what is needed piece by piece;
/// other values by reference.
template <class T>
__device__ decltype(auto) load_at_once(const T& from) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == sizeof(uint4) && alignof(T) >= alignof(uint4)) {
    return std::bit_cast<T>(*reinterpret_cast<const uint4*>(&from));
  } else {
    return (from);
  }
#else
  return (from);
#endif
}

}  // namespace dynasoar::detail
