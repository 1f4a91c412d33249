/// @file
/// back_off: the pause of a thread that lost a race before its next attempt. Used by Slabs and SegmentLists.
#pragma once

#include <cstdint>

#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/warp.h>

namespace dynasoar::detail {

/// Pauses for a random time on a GPU. With equal pauses, warps that lost together would try again together, and all but
/// one would lose again.
///
/// @param round     attempts so far: each doubles the maximum pause
/// @param longest   number of attempts after which the maximum pause stays the same
__device__ inline void back_off(int round, int longest) {
  const std::uint32_t random = (PlatformWarp{}.id() * kSpread + static_cast<std::uint32_t>(round)) * kSpread >> 16;
  const std::uint32_t choices = static_cast<std::uint32_t>(round < longest ? round : longest) + 1;
  PlatformAtomics::pause(kCudaBackend ? static_cast<int>(random % choices) : round);
}

}  // namespace dynasoar::detail
