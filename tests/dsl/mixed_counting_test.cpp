// A program of which one file counts accesses to fields and this one does not.
#include <cstddef>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

namespace mixed_counting_test {

class Thing;
using AllocatorT = dynasoar::SoaAllocator<Thing>;

class Thing : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Thing, (value_, int))
};

TEST_CASE("a program of which some files count accesses to fields is told so") {
  static_assert(!dynasoar::kCountsAccesses);
  CHECK_THROWS_WITH_AS(dynasoar::AllocatorHandle<AllocatorT>(), doctest::Contains("Compile all of them alike"),
                       dynasoar::Error);
}

}  // namespace mixed_counting_test
