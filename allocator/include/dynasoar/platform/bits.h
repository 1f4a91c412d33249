/// @file
/// Bit operations on 64-bit masks for both backends: counts, the lowest n set bits, the n-th set bit. Used for masks of
/// slots and places.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// Number of set bits.
__host__ __device__ inline int popcount(std::uint64_t mask) {
#if defined(__CUDA_ARCH__)
  return __popcll(static_cast<long long>(mask));
#else
  return std::popcount(mask);
#endif
}

/// Number of set bits, for constants.
constexpr int popcount_constant(std::uint64_t mask) {
  return std::popcount(mask);
}

/// Number of set bits.
__host__ __device__ inline int popcount(std::uint32_t mask) {
#if defined(__CUDA_ARCH__)
  return __popc(mask);
#else
  return std::popcount(mask);
#endif
}

/// Position of the lowest set bit. @pre mask != 0
__host__ __device__ inline int lowest_bit(std::uint64_t mask) {
#if defined(__CUDA_ARCH__)
  return __ffsll(static_cast<long long>(mask)) - 1;
#else
  return std::countr_zero(mask);
#endif
}

/// Position of the highest set bit. @pre mask != 0
__host__ __device__ constexpr int highest_bit(std::uint64_t mask) {
#if defined(__CUDA_ARCH__)
  if (!std::is_constant_evaluated()) return 63 - __clzll(static_cast<long long>(mask));
#endif
  return 63 - std::countl_zero(mask);
}

/// A mask of the lowest `count` bits, 0 <= count <= 64.
__host__ __device__ constexpr std::uint64_t first_bits(int count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

/// Whether a bit of an array of words is set. @param bit   number of the bit; only bits 0 to 37 of it are used
__host__ __device__ inline bool has_bit(const std::uint64_t* words, std::uint64_t bit) {
#ifdef __CUDA_ARCH__
  // Uses halves of words, and a shift of two registers, for which compilers would generate five instructions.
  const auto low = static_cast<std::uint32_t>(bit);
  const std::uint32_t half = __funnelshift_r(low, static_cast<std::uint32_t>(bit >> 32), 5);
  return (reinterpret_cast<const std::uint32_t*>(words)[half] >> low % 32 & 1) != 0;
#else
  return (words[static_cast<std::uint32_t>(bit / 64)] >> bit % 64 & 1) != 0;
#endif
}

/// At most 32 bits of an array of words, `count` bits from a bit on. Higher bits of the result are unspecified.
/// @pre the word behind the last one can be read; its value does not matter
__host__ __device__ inline std::uint32_t bits_from(const std::uint64_t* words, std::uint64_t bit,
                                                   [[maybe_unused]] int count) {
#ifdef __CUDA_ARCH__
  const auto low = static_cast<std::uint32_t>(bit);
  const std::uint32_t half = __funnelshift_r(low, static_cast<std::uint32_t>(bit >> 32), 5);
  const auto* const halves = reinterpret_cast<const std::uint32_t*>(words);
  return __funnelshift_r(halves[half], halves[half + 1], low);
#else
  const auto word = static_cast<std::uint32_t>(bit / 64);
  const auto offset = static_cast<int>(bit % 64);
  std::uint64_t bits = words[word] >> offset;
  if (offset + count > 64) bits |= words[word + 1] << (64 - offset);
  return static_cast<std::uint32_t>(bits);
#endif
}

/// Computes a word bit by bit: bit i is `f(i, whether bit i of the mask is set)`. On a CPU, the loop has a byte per
/// bit, because compilers vectorize such a loop if `f` is straight-line arithmetic.
template <class F>
[[gnu::always_inline]] __host__ __device__ inline std::uint64_t map_bits(std::uint64_t mask, const F& f) {
#if defined(__CUDA_ARCH__)
  std::uint32_t half[2] = {0, 0};
#pragma unroll
  for (std::uint32_t h = 0; h < 2; ++h) {
    const auto given = static_cast<std::uint32_t>(mask >> 32 * h);
#pragma unroll 4
    for (std::uint32_t i = 0; i < 32; ++i) {
      half[h] |= (f(32 * h + i, (given >> i & 1) != 0) ? std::uint32_t{1} : std::uint32_t{0}) << i;
    }
  }
  return std::uint64_t{half[1]} << 32 | half[0];
#else
  constexpr std::uint64_t kEach = 0x0101010101010101, kDiagonal = 0x8040201008040201;  // bit i of byte i
  std::uint8_t given[64], found[64];
  for (int i = 0; i < 64; i += 8) {
    const std::uint64_t bits = (mask >> i & 0xFF) * kEach & kDiagonal;
    const std::uint64_t bytes = (bits + 0x7F * kEach) >> 7 & kEach;  // 1 for each byte that is not 0
    std::memcpy(given + i, &bytes, 8);
  }
  for (std::uint32_t i = 0; i < 64; ++i) found[i] = f(i, given[i] != 0) ? 1 : 0;
  std::uint64_t result = 0;
  for (int i = 0; i < 64; i += 8) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, found + i, 8);
    result |= (bytes * 0x0102040810204080 >> 56) << i;
  }
  return result;
#endif
}

/// Position of the n-th set bit, counted from 0. @pre n < popcount(mask)
///
/// Fast if all set bits are neighbours, as they often are. Otherwise, a binary search over popcounts, in 32-bit
/// registers on a GPU.
__host__ __device__ inline int nth_set_bit(std::uint64_t mask, int n) {
  const int lowest = lowest_bit(mask);
  const std::uint64_t neighbours = mask >> lowest;
  if ((neighbours & (neighbours + 1)) == 0) return lowest + n;
  auto half = static_cast<std::uint32_t>(mask);
  int position = 0;
  if (const int below = popcount(half); n >= below) {
    n -= below;
    half = static_cast<std::uint32_t>(mask >> 32);
    position = 32;
  }
  for (int width = 16; width > 0; width >>= 1) {
    const int below = popcount(half & ((std::uint32_t{1} << width) - 1));
    if (n >= below) {
      n -= below;
      half >>= width;
      position += width;
    }
  }
  return position;
}

/// The `count` lowest set bits of `mask`, or all of them if there are fewer. @pre count >= 1
__host__ __device__ inline std::uint64_t lowest_set_bits(std::uint64_t mask, int count) {
  return popcount(mask) <= count ? mask : mask & first_bits(nth_set_bit(mask, count));
}

/// The first set bit at or after `start`, cyclically, within the lowest `width` bits. @pre mask != 0
__host__ __device__ inline int next_set_bit(std::uint64_t mask, int start) {
  const std::uint64_t after = mask >> start;
  return after != 0 ? start + lowest_bit(after) : lowest_bit(mask);
}

/// Returns its argument, but hides it from the optimizer: in device code and, in checked builds, in host code.
/// Otherwise compilers would conclude from `object->field` that the object is not null.
__host__ __device__ inline std::uint64_t opaque(std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  asm("" : "+l"(bits));
#elif DYNASOAR_CHECKED
  asm("" : "+r"(bits));
#endif
  return bits;
}

}  // namespace dynasoar::detail
