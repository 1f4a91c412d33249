/// @file
/// What differs for this allocator in the suite of all allocators.
#pragma once

namespace dynasoar::test {

template <>
struct MallocSuite<SlabsMalloc> : MallocSuite<void> {
  static constexpr std::size_t kLargest = 1024;  // all slabs are as large as the largest
  static constexpr double kLeastFilled = 0.9;    // the rest is the pool's own
};

}  // namespace dynasoar::test
