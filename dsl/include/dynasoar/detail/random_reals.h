/// @file
/// Implements `random::exponential` and `random::normal` with integers only. Unlike floating-point arithmetic, integers
/// do not depend on the compiler, its options and its library of functions. Used by random.h.
///
/// Fixed-point numbers are integers with a name that ends in the number of bits behind the point: `log58` stands for
/// log58 / 2^58. The coefficients are those of the polynomials through the functions' values at Chebyshev nodes,
/// rounded.
#pragma once

#include <cstdint>

#include <dynasoar/platform/backend.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// A polynomial of a number in (-1, 1) with 31 bits behind the point. @pre no partial result is 2^31 or more
template <int terms>
__host__ __device__ constexpr std::int64_t polynomial(const std::int32_t (&coefficients)[terms], std::int64_t x31) {
  std::int64_t sum = coefficients[terms - 1];
  DYNASOAR_UNROLL()
  for (int i = terms - 2; i >= 0; --i) sum = coefficients[i] + ((sum * x31) >> 31);
  return sum;
}

/// -ln(x), with an absolute error below 2^-29 and a relative error below 2^-28. @param x64   0 < x < 1
__host__ __device__ constexpr std::int64_t minus_log58(std::uint64_t x64) {
  constexpr std::int64_t kLogOf2 = 199786072581291495;  // 58 bits behind the point
  // x = (1 + f) / 2^halvings with 1 + f from 1 / sqrt(2) to sqrt(2).
  int halvings = 63 - highest_bit(x64);
  const std::uint64_t mantissa = x64 << halvings;
  std::int64_t f64 = static_cast<std::int64_t>(mantissa);  // minus 2^64, which does not change the bits
  if (mantissa < 0xB504F333F9DE6485) {
    ++halvings;
    f64 = static_cast<std::int64_t>(mantissa << 1);
  }
  // ln(1 + f) = f * (ln(1 + f) / f), so that the relative error is small if x is close to 1.
  constexpr std::int32_t kLogPerF[] = {1041523072, -247540255, 78052804, -27631973, 10423468, -4093514,
                                       1655885,    -682823,    274591,   -115473,   69391,    -30648};
  const std::int64_t log_per_f30 = polynomial(kLogPerF, (f64 - (std::int64_t{1} << 60)) >> 32);
  const std::int64_t low = static_cast<std::int64_t>(static_cast<std::uint32_t>(f64)) * log_per_f30;
  const std::int64_t log62 = (f64 >> 32) * log_per_f30 + (low >> 32);
  return halvings * kLogOf2 - (log62 >> 4);
}

/// The square root of an integer, rounded down. Computes one bit of the root from two bits of the number at a time.
__host__ __device__ constexpr std::int64_t root_of(std::int64_t square) {
  auto rest = static_cast<std::uint64_t>(square);
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 62; bit != 0; bit >>= 2) {
    const bool is_set = rest >= root + bit;
    if (is_set) rest -= root + bit;
    root = (root >> 1) + (is_set ? bit : 0);
  }
  return static_cast<std::int64_t>(root);
}

/// See random::exponential: the inverse of the distribution function.
__host__ __device__ constexpr float exponential_of(std::uint32_t word) {
  const std::uint64_t x64 = (std::uint64_t{word} << 32) + (std::uint64_t{1} << 31);
  return static_cast<float>(minus_log58(x64)) * 0x1p-58f;
}

/// See random::normal: the inverse of the distribution function, p = (word + 1/2) / 2^32.
///
/// It is x * g(-ln(1 - x^2)) with x = 2p - 1. Up to 5, g is close to a straight line in its argument; beyond 5, in the
/// square root of its argument. Nearly all lanes of a warp take the same branch. The idea is that of M. Giles,
/// "Approximating the erfinv function", GPU Computing Gems 2, 2011.
__host__ __device__ constexpr float normal_of(std::uint32_t word) {
  const std::uint64_t twice_p32 = 2 * std::uint64_t{word} + 1;
  const std::uint64_t complement = (std::uint64_t{1} << 33) - twice_p32;
  const std::int64_t log58 = minus_log58(twice_p32 * complement);  // 1 - x^2 = 4 p (1 - p), exactly
  const std::int64_t x32 = static_cast<std::int64_t>(twice_p32) - (std::int64_t{1} << 32);
  if (log58 < std::int64_t{5} << 58) {
    constexpr std::int32_t kMiddle[] = {1139945238, 749046644, -50746153, -60871595, 42423568, -3884251,
                                        -10655306,  5954687,   821192,    -2161847,  345571,   393180};
    const std::int64_t argument = (log58 - (std::int64_t{5} << 57)) >> 29;  // (log - 2.5) / 4
    return static_cast<float>(x32 * polynomial(kMiddle, argument)) * 0x1p-61f;
  }
  constexpr std::int32_t kTails[] = {1266233974, 764844931, 4975740, -6268307, 6649353, -8209188, 10347453,
                                     -11365334,  8474728,   664473,  -8309540, 4340775, 1064020};
  const std::int64_t argument = (root_of(log58) - (std::int64_t{7} << 28)) * 2;  // (root - 3.5) / 2
  return static_cast<float>(x32 * polynomial(kTails, argument)) * 0x1p-60f;
}

}  // namespace dynasoar::detail
