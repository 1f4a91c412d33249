/// @file
/// What the algorithms of graph.h compute for a node, for host and device. Used by all variants and by the reference.
#pragma once

#include <cstdint>

#include <dynasoar/platform/config.h>

#include "graph.h"

namespace benchmarks::polymorphism {

inline constexpr std::uint64_t kUnreached = ~std::uint64_t{0};
inline constexpr std::uint64_t kOne = std::uint64_t{1} << 32;  ///< a rank of 1
inline constexpr int kPageRankSteps = 20;

/// A node's first value. @param node   its number
__host__ __device__ inline std::uint64_t first_value(Algorithm algorithm, std::uint32_t node) {
  if (algorithm == Algorithm::levels) return node == 0 ? 0 : kUnreached;
  return algorithm == Algorithm::components ? node : kOne;
}

/// A node's rank out of the sum of what edges have passed to it: 0.15 and 0.85 of the sum, about.
__host__ __device__ inline std::uint64_t new_rank(std::uint64_t received) {
  return kOne / 1024 * 154 + received / 1024 * 870;
}

}  // namespace benchmarks::polymorphism
