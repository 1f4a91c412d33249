/// @file
/// SizeSteps: sizes in powers of two and halfway between them, so that less than a third is lost. Used by XMalloc and
/// Halloc.
#pragma once

#include <bit>
#include <cstdint>

#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// @tparam kLeast   size 0 in bytes, a power of two
template <std::uint32_t kLeast>
struct SizeSteps {
  static constexpr std::uint32_t kLeastBit = std::countr_zero(kLeast);

  __host__ __device__ static constexpr std::uint32_t bytes(std::uint32_t size) {
    return (size % 2 == 0 ? kLeast : kLeast / 2 * 3) << size / 2;
  }

  /// total / bytes(size), without the division by a variable, which takes long on a GPU.
  __host__ __device__ static constexpr std::uint32_t count_in(std::uint32_t total, std::uint32_t size) {
    const std::uint32_t steps = total >> (size / 2) >> (size % 2 == 0 ? kLeastBit : kLeastBit - 1);
    return size % 2 == 0 ? steps : steps / 3;
  }

  /// The smallest one of at least `bytes` bytes. @pre bytes > 0
  __host__ __device__ static std::uint32_t holding(std::uint32_t bytes) {
    if (bytes <= kLeast) return 0;
    const auto bit = static_cast<std::uint32_t>(highest_bit(bytes - 1));  // 2^bit < bytes <= 2^(bit + 1)
    return 2 * (bit - kLeastBit) + (bytes <= 3u << (bit - 1) ? 1 : 2);
  }
};

}  // namespace dynasoar::detail
