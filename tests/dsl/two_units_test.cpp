// Two translation units that include the whole library, in one program: both run loops on a handle that either made.

#include <doctest/doctest.h>

#include "two_units.h"

namespace two_units {

void check(const Unit& maker, const Unit& other) {
  Handle handle({.heap_bytes = std::size_t{2} << 20});
  maker.create(handle, 1000);
  CHECK(other.count(handle) == 1000);
  other.add_with_method(handle, 1);
  maker.add_with_method(handle, 10);
  other.add_with_lambda(handle, 100);
  maker.add_with_lambda(handle, 1000);
  CHECK(maker.sum(handle) == 1111 * 1000);
  CHECK(other.sum(handle) == 1111 * 1000);
  other.create(handle, 500);
  other.throw_balls(handle);
  maker.throw_balls(handle);
  CHECK(maker.count(handle) == 1500);
  CHECK(handle.count<Ball>() == 3000);
  maker.add_with_method(handle, 2);
  CHECK(other.sum(handle) == 1111 * 1000 + 2 * 1500);
}

TEST_CASE("two translation units run loops on one handle, whichever made its objects") {
  for (int round = 0; round < 3; ++round) {  // each round has a new heap, which both units have to notice
    check(first_unit(), second_unit());
    check(second_unit(), first_unit());
  }
}

TEST_CASE("a unit that slept while the other used a heap finds the next one") {
  {
    Handle handle({.heap_bytes = std::size_t{2} << 20});
    first_unit().create(handle, 10);
    CHECK(first_unit().sum(handle) == 0);
  }
  Handle handle({.heap_bytes = std::size_t{3} << 20});
  second_unit().create(handle, 20);
  second_unit().add_with_lambda(handle, 3);
  CHECK(first_unit().sum(handle) == 60);
  CHECK(first_unit().count(handle) == 20);
}

}  // namespace two_units
