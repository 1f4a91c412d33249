/// @file
/// Requests: whether an allocator combines the requests that the lanes of a warp make at the same time. For allocators
/// that exist in both forms, so that the difference can be measured. Used by SoaAllocator and those in malloc/.
#pragma once

#include <cstdint>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/warp.h>

namespace dynasoar {

/// How requests that the lanes of a warp make at the same time are served.
enum class Requests {
  combined,  ///< one lane works for all that want the same
  separate,  ///< every lane works for itself
};

namespace detail {

/// A warp of one lane, for a lane that makes a request on behalf of others, which wait for it elsewhere.
struct LoneLane {
  std::uint32_t warp;  ///< its warp's id
  __device__ SingleLaneGroup coalesce() const { return {}; }
  __device__ SingleLaneGroup callers() const { return {}; }
  __device__ std::uint32_t id() const { return warp; }
};
static_assert(Warp<LoneLane>);

/// The lanes that the caller makes its request with.
template <Requests kRequests, Warp W>
__device__ auto requesting_lanes([[maybe_unused]] const W& warp) {
  if constexpr (kRequests == Requests::combined) {
    return warp.coalesce();
  } else {
    return SingleLaneGroup{};
  }
}

/// The lanes that called the caller together; the caller waits for all of them before it returns.
template <Requests kRequests, Warp W>
__device__ auto calling_lanes([[maybe_unused]] const W& warp) {
  if constexpr (kRequests == Requests::combined) {
    return warp.callers();
  } else {
    return SingleLaneGroup{};
  }
}

}  // namespace detail

}  // namespace dynasoar
