/// @file
/// Copies of values with the least number of accesses on a GPU: copy_bytes, used by compaction, checkpoints and
/// columns, and load_at_once, used by grid_view.h and sort_tasks.h.
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

/// Copies the bytes of a trivially copyable value, which may be uninitialized.
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
  switch (bytes) {  // sizes that take one access
    case 1: std::memcpy(to, from, 1); return;
    case 2: std::memcpy(to, from, 2); return;
    case 4: std::memcpy(to, from, 4); return;
    case 8: std::memcpy(to, from, 8); return;
    case 16: std::memcpy(to, from, 16); return;
    default: std::memcpy(to, from, bytes);
  }
#endif
}

/// Reads a value in the fewest loads that its alignment allows. A compiler might load its members one by one, when they
/// are needed.
///
/// @tparam kAlignment   alignment of the value in memory, at least that of its type; 0: that of its type
/// @return              the value; a reference to it on a CPU, and if larger loads are not possible
template <std::size_t kAlignment = 0, class T>
__device__ decltype(auto) load_at_once(const T& from) {
#if defined(__CUDA_ARCH__)
  constexpr std::size_t kPiece =  // the greatest power of two up to 16 that divides the size and the alignment
      std::size_t{1} << std::countr_zero(sizeof(T) | (kAlignment > 0 ? kAlignment : alignof(T)) | sizeof(uint4));
  if constexpr (kPiece > alignof(T) || kPiece == sizeof(uint4)) {
    using Piece = std::conditional_t<kPiece == sizeof(uint4), uint4,
                                     std::conditional_t<kPiece == sizeof(uint2), uint2, std::uint32_t>>;
    static_assert(kPiece >= sizeof(std::uint32_t));
    struct Pieces {
      Piece of[sizeof(T) / kPiece];
    } pieces;
    const auto* const all = reinterpret_cast<const Piece*>(&from);
#pragma unroll
    for (std::size_t i = 0; i < sizeof(T) / kPiece; ++i) pieces.of[i] = all[i];
    return std::bit_cast<T>(pieces);
  } else {
    return (from);
  }
#else
  return (from);
#endif
}

}  // namespace dynasoar::detail
