#include <dynasoar/malloc/circular_malloc.h>

#include "../platform/test_support.h"

#include <doctest/doctest.h>

namespace dynasoar::test {

using detail::HeapSplit;

TEST_CASE("the heap is split as a binary heap, and hardly anything is left") {
  const HeapSplit split = HeapSplit::of(1u << 18, 1);  // 8 MiB
  CHECK(split.heaps == 1);
  CHECK(split.levels == 8);
  CHECK(split.leaf == 256);
  CHECK(split.root() == 256 << 7);
  CHECK(split.heap() == 1u << 18);
  for (const std::uint32_t units : {128u, 1000u, 12345u, 1u << 20, 0xffffffffu}) {
    CAPTURE(units);
    for (const std::uint32_t offsets : {1u, 8u, 132u}) {
      const HeapSplit any = HeapSplit::of(units, offsets);
      const std::uint64_t used = std::uint64_t{any.heaps} * any.heap();
      CHECK(any.leaf >= HeapSplit::kLeastLeaf);
      CHECK(used <= units);
      CHECK(used >= units - units / 50 * 49);
    }
  }
}

TEST_CASE("a multiprocessor's heap is that of its share of the memory") {
  const HeapSplit split = HeapSplit::of(132u << 18, 132);
  CHECK(split.heaps == 132);
  CHECK(split.leaf == 256);
  CHECK(split.levels == 8);
}

TEST_CASE("a heap that is too small for that is one chunk per offset at most") {
  CHECK(HeapSplit::of(1, 132).heaps == 1);
  CHECK(HeapSplit::of(127, 132).leaf == 127);
  const HeapSplit split = HeapSplit::of(300, 132);
  CHECK(split.heaps == 2);
  CHECK(split.levels == 1);
  CHECK(split.leaf == 150);
}

}  // namespace dynasoar::test
