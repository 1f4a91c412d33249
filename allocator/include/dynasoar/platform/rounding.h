/// @file
/// rounded_product: products that compilers do not fuse with the addition that follows, so that host and GPU compute
/// the same bits. Used by grid_space.h.
#pragma once

#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// a * b, rounded. nvcc would make one instruction of a product and a sum, which rounds once; compilers for CPUs do so
/// too, if they are told of a processor that can: -ffp-contract=off forbids it.
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

}  // namespace dynasoar::detail
