/// @file
/// back_off: how long who lost a race waits before the next attempt. Used by Slabs and SegmentLists.
#pragma once

#include <cstdint>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/warp.h>

namespace dynasoar::detail {

/// Pauses for a random time on a GPU: warps that lost together would sleep equally long, come back together, and all
/// but one would lose again.
///
/// @param round     attempts so far: with each, the longest pause doubles
/// @param longest   after so many it does not any more
__device__ inline void back_off(int round, int longest) {
  constexpr std::uint32_t kFactor = 2654435761u;  // 2^32 / golden ratio: multiples lie evenly apart
  const std::uint32_t random = (PlatformWarp{}.id() * kFactor + static_cast<std::uint32_t>(round)) * kFactor >> 16;
  const std::uint32_t choices = static_cast<std::uint32_t>(round < longest ? round : longest) + 1;
  PlatformAtomics::pause(kCudaBackend ? static_cast<int>(random % choices) : round);
}

}  // namespace dynasoar::detail
