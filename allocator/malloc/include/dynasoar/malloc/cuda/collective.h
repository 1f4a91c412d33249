/// @file
/// The threads that allocate together, on a GPU.
#pragma once

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/warp.h>

namespace dynasoar::detail {

__device__ inline PlatformWarp collective_warp() {
  return {};
}

/// There is only one host thread.
template <class Make>
void first_rank_enters(const Make& make) {
  make();
}

template <class Destroy>
void last_rank_leaves(const Destroy& destroy) {
  destroy();
}

}  // namespace dynasoar::detail
