/// @file
/// Which objects could not be created since the host last looked, and what to tell people about it. Used by
/// AllocatorHandle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <dynasoar/classes/class_table.h>
#include <dynasoar/heap/refusal.h>
#include <dynasoar/statistics.h>

namespace dynasoar::detail {

/// Objects that could not be created.
struct Refused {
  std::uint64_t objects = 0;
  std::uint64_t pages = 0;  ///< that those take for which there was no memory
  std::string text;         ///< "Fish: make_new failed 3 times, heap full; Shark: ..."
};

/// Remembers which refusals have been reported.
class RefusalLog {
 public:
  /// Those since the last call. @param refusals   since the start, see refused_objects
  Refused take(const ClassTable& classes, const std::vector<std::uint64_t>& refusals);

 private:
  std::vector<std::uint64_t> reported_;
};

/// The error for objects that could not be created: how large the heap is, and what to do about that.
/// @param grows      whether heaps of its allocator can grow
/// @param has_room   whether it has grown, so that there is room for them now
AllocationError allocation_error(const Refused& refused, const Statistics& now, bool grows, bool has_room);

}  // namespace dynasoar::detail
