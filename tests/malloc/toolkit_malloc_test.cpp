#include <dynasoar/malloc/toolkit_malloc.h>

#include "malloc_suite.h"

namespace dynasoar::test {

// Where thousands of threads ask at once, a GPU's malloc takes up to a millisecond for each of them.
template <>
struct MallocSuite<ToolkitMalloc> : MallocSuite<void> {
  static constexpr std::size_t kExhaustionBytes = kCudaBackend ? 4096 : MallocSuite<void>::kExhaustionBytes;
};

DYNASOAR_MALLOC_SUITE(ToolkitMalloc);
DYNASOAR_MALLOC_SUITE_WITHOUT_BOUND(BareToolkitMalloc);

}  // namespace dynasoar::test
