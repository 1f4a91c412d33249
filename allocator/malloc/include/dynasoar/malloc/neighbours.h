/// @file
/// Neighbours: finds adjacent pieces among the pieces of memory that lanes of a warp release together, so that they can
/// be released as one. Used by SegmentLists and CircularMalloc.
#pragma once

#include <cstdint>

#include <dynasoar/platform/bits.h>
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
    const auto own = static_cast<std::uint32_t>(group.rank());
    const auto lanes = static_cast<std::uint32_t>(group.size());
    const std::uint32_t end = begin + size;
    // Most pieces are in the order of the lanes.
    const std::uint32_t behind = group.shuffle(begin, static_cast<int>(own + 1 < lanes ? own + 1 : own));
    bool has_next = own + 1 < lanes && behind == end;
    std::uint32_t next = own + 1;  // the lane with the next piece, if there is one
    const std::uint32_t in_order = group.ballot(has_next);
    const std::uint32_t starts = ~(in_order << 1) & static_cast<std::uint32_t>(first_bits(group.size()));
    std::uint32_t found = 0;  // of `starts`: those behind the lane's piece
    if (starts != 1) {        // otherwise, all pieces are one run
      for (std::uint32_t left = starts; left != 0; left &= left - 1) {
        const auto other = static_cast<std::uint32_t>(lowest_bit(std::uint64_t{left}));
        if (group.shuffle(begin, static_cast<int>(other)) == end) found = left & (0 - left);
      }
      if (found != 0) {
        has_next = true;
        next = static_cast<std::uint32_t>(lowest_bit(std::uint64_t{found}));
      }
      found = static_cast<std::uint32_t>(group.combine(found));
    }
    Neighbours result{((starts & ~found) >> own & 1) != 0, size};
    if (!has_next) next = own;
    if (group.ballot(has_next) == 0) return result;
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
