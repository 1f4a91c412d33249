/// @file
/// The visited block on a GPU: empty, because a GPU does not vectorize.
#pragma once

#include <cstdint>

#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

__device__ inline void note_visited_block(std::uint64_t) {}

__device__ inline bool is_in_visited_block(std::uint64_t, std::uint64_t&) {
  return false;
}

}  // namespace dynasoar::detail
