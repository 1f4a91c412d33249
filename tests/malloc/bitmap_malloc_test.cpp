#include <dynasoar/malloc/bitmap_malloc.h>

#include "malloc_suite.h"

namespace dynasoar::test {

// All chunks are as large as the largest.
template <>
struct MallocSuite<BitmapMalloc> : MallocSuite<void> {
  static constexpr std::size_t kLargest = 1024;
  static constexpr double kLeastFilled = 1;
  static constexpr double kLeastFilledAgain = 1;
};

DYNASOAR_MALLOC_SUITE(BitmapMalloc);

TEST_CASE("a bitmap allocator's heap must hold a chunk") {
  check_refused<BitmapMalloc>({.heap_bytes = 63, .largest_request = 64}, "smaller than one chunk");
}

}  // namespace dynasoar::test
