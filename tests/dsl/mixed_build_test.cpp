// A program of which one file was compiled with checks, or counts accesses to fields, and this one not.
#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

namespace mixed_build_test {

class Thing;
using AllocatorT = dynasoar::SoaAllocator<Thing>;

class Thing : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Thing, (value_, int))
};

TEST_CASE("a program of which not all files have checks, or count accesses to fields, is told so") {
  static_assert(!dynasoar::kChecked && !dynasoar::kCountsAccesses);
  CHECK_THROWS_WITH_AS(dynasoar::AllocatorHandle<AllocatorT>(),
                       doctest::Contains("Compile all of them with the same setting"), dynasoar::Error);
}

}  // namespace mixed_build_test
