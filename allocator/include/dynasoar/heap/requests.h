/// @file
/// Requests: whether an allocator combines simultaneous requests of the lanes of a warp. Some allocators exist in both
/// forms, so that the difference can be measured. Used by SoaAllocator and the allocators in malloc/.
#pragma once

#include <cstdint>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/warp.h>

namespace dynasoar {

/// The treatment of simultaneous requests of the lanes of a warp.
enum class Requests {
  combined,  ///< one lane makes the request for all lanes that need the same
  separate,  ///< every lane makes its own request
};

namespace detail {

/// A warp of one lane, for a lane that makes a request on behalf of other lanes, which wait for it elsewhere.
struct LoneLane {
  std::uint32_t warp;  ///< the id of its warp
  __device__ SingleLaneGroup coalesce() const { return {}; }
  __device__ SingleLaneGroup callers() const { return {}; }
  __device__ std::uint32_t id() const { return warp; }
};
static_assert(Warp<LoneLane>);

/// The lanes with which the caller makes its request.
template <Requests kRequests, Warp W>
__device__ auto requesting_lanes([[maybe_unused]] const W& warp) {
  if constexpr (kRequests == Requests::combined) {
    return warp.coalesce();
  } else {
    return SingleLaneGroup{};
  }
}

/// The lanes that called the caller's function together. The caller waits for all of them before it returns.
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
