/// @file
/// Neighbours: finds adjacent pieces among the pieces of memory that lanes of a warp release together, so that they can
/// be released as one. Used by SegmentLists and CircularMalloc.
#pragma once

#include <cstdint>

#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// A lane's piece, and the pieces of its group that follow it without a gap.
struct Neighbours {
  bool is_first;       ///< no other piece ends where the lane's begins
  std::uint32_t size;  ///< from the beginning of the lane's piece to the end of the last one

  /// @param begin, size   the lane's piece
  /// @pre all lanes of the group call it together
  template <class Group>
  __device__ static Neighbours of(std::uint32_t begin, std::uint32_t size, const Group& group) {
    Neighbours result{true, size};
    const auto own = static_cast<std::uint32_t>(group.rank());
    std::uint32_t next = own;  // the lane with the next piece, if there is one
    for (int rank = 0; rank < group.size(); ++rank) {
      const std::uint32_t other = group.shuffle(begin, rank);
      const std::uint32_t end = other + group.shuffle(size, rank);
      if (other == begin + size) next = static_cast<std::uint32_t>(rank);
      if (end == begin) result.is_first = false;
    }
    // Each step doubles the distance, until there is no further lane.
    for (int reach = 1; reach < group.size(); reach *= 2) {
      const std::uint32_t more = group.shuffle(result.size, static_cast<int>(next));
      const std::uint32_t further = group.shuffle(next, static_cast<int>(next));
      if (next == own) continue;
      result.size += more;
      next = further == next ? own : further;
    }
    return result;
  }
};

}  // namespace dynasoar::detail
