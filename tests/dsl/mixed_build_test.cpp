// A program of which one file was compiled with checks and this one without.
#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

namespace mixed_build_test {

class Thing;
using AllocatorT = dynasoar::SoaAllocator<Thing>;

class Thing : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Thing, (value_, int))
};

TEST_CASE("a program that mixes checked and unchecked files is told so") {
  static_assert(!dynasoar::kChecked);
  CHECK_THROWS_WITH_AS(dynasoar::AllocatorHandle<AllocatorT>(), doctest::Contains("Compile all of them alike"),
                       dynasoar::Error);
}

}  // namespace mixed_build_test
