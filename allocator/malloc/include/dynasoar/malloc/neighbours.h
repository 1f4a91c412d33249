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
    const int last_rank = group.size() - 1;
    const std::uint32_t end = begin + size;
    // Most pieces are in the order of the lanes.
    const bool is_last = group.rank() == last_rank;
    const std::uint32_t behind = group.shuffle(begin, is_last ? last_rank : group.rank() + 1);
    const bool is_in_order = !is_last && behind == end;
    const std::uint32_t starts =  // lanes whose piece does not follow that of the lane before
        ~(group.ballot(is_in_order) << 1) & static_cast<std::uint32_t>(first_bits(group.size()));
    std::uint32_t found = 0;  // of `starts`, the one that follows this lane's piece
    if (starts != 1) {        // otherwise, all pieces are one run
      for (std::uint32_t left = starts; left != 0; left &= left - 1) {
        if (group.shuffle(begin, lowest_bit(std::uint64_t{left})) == end) found = left & (0 - left);
      }
    }
    const std::uint32_t all_found = starts != 1 ? static_cast<std::uint32_t>(group.combine(found)) : 0;
    Neighbours result{((starts & ~all_found) >> own & 1) != 0, size};
    if (all_found == 0) {  // each run ends in front of the next lane that starts one
      const std::uint32_t later = starts >> own >> 1;
      const int last = later == 0 ? last_rank : group.rank() + lowest_bit(std::uint64_t{later});
      result.size = group.shuffle(end, last) - begin;
      return result;
    }
    std::uint32_t next = own;  // the lane with the next piece, if there is one
    if (is_in_order) next = own + 1;
    if (found != 0) next = static_cast<std::uint32_t>(lowest_bit(std::uint64_t{found}));
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
