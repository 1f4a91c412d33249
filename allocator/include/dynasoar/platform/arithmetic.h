/// @file
/// Arithmetic whose results have the same bits on host and GPU: products that compilers do not fuse with a following
/// addition, and remainders. Used by grid_space.h and random_counts.h. Also an inverse square root, for which a GPU has
/// a fast instruction.
#pragma once

#include <cmath>
#include <type_traits>

#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// a * b, rounded. Otherwise nvcc would combine a product and a sum in one instruction, which rounds only once.
/// Compilers for CPUs do so, too, if the target processor has the instruction; -ffp-contract=off prevents it.
__host__ __device__ inline float rounded_product(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}
__host__ __device__ inline double rounded_product(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

/// The value rounded down to an integer. @pre an int can hold it
template <class Real>
__host__ __device__ int rounded_down(Real value) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<Real, float>) {
    return __float2int_rd(value);
  } else {
    return __double2int_rd(value);
  }
#else
  const auto whole = static_cast<int>(value);
  return whole - (static_cast<Real>(whole) > value ? 1 : 0);
#endif
}

/// The value rounded down to an integer, at least 0 and at most `most`; 0 if it is not a number.
template <class Real>
__host__ __device__ int rounded_down_within(Real value, int most) {
#if defined(__CUDA_ARCH__)
  const int whole = rounded_down(value);  // the nearest int if the value is out of range, and at most 0 for a NaN
  return whole < 0 ? 0 : whole < most ? whole : most;
#else
  if (!(value >= 1)) return 0;
  return value < static_cast<Real>(most) ? static_cast<int>(value) : most;
#endif
}

/// a * b, rounded, which no compiler fuses with a sum, for any target processor. Slower on a CPU than rounded_product,
/// because loops with it are not vectorized.
__host__ __device__ constexpr double separate_product(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rn(a, b);
#else
  double product = a * b;
  if (!std::is_constant_evaluated()) {
    // The compiler has to assume that this changes the product, so it cannot fuse the product with a sum.
#if defined(__x86_64__)
    asm("" : "+x"(product));
#elif defined(__aarch64__)
    asm("" : "+w"(product));
#else
    asm("" : "+m"(product));
#endif
  }
  return product;
#endif
}

/// 1 / sqrt(value); on a GPU with an error of up to 2 units in the last place.
__host__ __device__ inline float inverse_square_root(float value) {
#if defined(__CUDA_ARCH__)
  return rsqrtf(value);
#else
  return 1.0f / std::sqrt(value);
#endif
}

/// `value` minus the nearest multiple of `period`; `value` itself if its magnitude is at most `half_period`, which may
/// be infinite.
template <class Real>
__host__ __device__ Real nearest_remainder(Real value, Real period, Real half_period, Real periods_per_length) {
  const Real distance = std::abs(value);
  if (distance <= half_period) return value;
  // Avoids std::rint, which is slow on a GPU and a function call on many other processors.
  if (distance < 3 * half_period) return value - std::copysign(period, value);
  return value - rounded_product(period, std::rint(rounded_product(value, periods_per_length)));
}

}  // namespace dynasoar::detail
