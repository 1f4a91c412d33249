/// @file
/// Saturating sums and products: they stop at the greatest number instead of wrapping. For counts and sizes that
/// callers ask for.
#pragma once

#include <cstdint>
#include <limits>

namespace dynasoar::detail {

/// a + b, or the greatest number if the sum is greater.
constexpr std::uint64_t capped_sum(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return a <= kMost - b ? a + b : kMost;
}

/// a * b, or the greatest number if the product is greater.
constexpr std::uint64_t capped_product(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return b == 0 || a <= kMost / b ? a * b : kMost;
}

}  // namespace dynasoar::detail
