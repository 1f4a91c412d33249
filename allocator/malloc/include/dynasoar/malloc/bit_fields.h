/// @file
/// Bit fields for 64 chunks each, from which threads take bits. Used by ScatterMalloc and Halloc.
#pragma once

#include <cstdint>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// Bit `by` modulo 64 becomes bit 0.
__device__ inline std::uint64_t rotated(std::uint64_t bits, std::uint32_t by) {
  return bits >> by % 64 | bits << (0u - by) % 64;
}

/// Takes `count` bits that are 0 in a bit field, within `valid`, preferably from `start` on.
///
/// @return the bits; fewer if there are not enough, or if other threads took them in many tries
__device__ inline std::uint64_t claim_bits(AtomicWord<std::uint64_t>& field, std::uint64_t valid, std::uint32_t start,
                                           int count) {
  constexpr int kTries = 64;
  std::uint64_t claimed = 0;
  std::uint64_t clear = valid;  // a guess, which is cheaper than a load
  for (int i = 0; i < kTries && clear != 0; ++i) {
    const std::uint64_t wanted = rotated(lowest_set_bits(rotated(clear, start), count), 0u - start);
    // Acquires the chunks from the threads that cleared their bits, after all accesses of their last owners.
    const std::uint64_t before = field.fetch_or(wanted, Order::acquire);
    claimed |= wanted & ~before;
    count -= popcount(wanted & ~before);
    if (count == 0) break;
    clear = valid & ~(before | wanted);
  }
  return claimed;
}

}  // namespace dynasoar::detail
