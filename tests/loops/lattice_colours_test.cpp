/// @file
/// Colours of places: each place has one, neighbours have different ones, and how many there are.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/loops/lattice_colours.h>
#include <dynasoar/loops/lattice_shape.h>

#include "lattice_shadow.h"

namespace lattice_test {

namespace {

using namespace dynasoar;
using dynasoar::detail::for_each_colour;

template <class Neighbourhood>
int count_colours(const std::vector<std::size_t>& sizes, const std::array<bool, 3>& periodic) {
  int count = 0;
  for_each_colour(LatticeShape(sizes, periodic), Neighbourhood{}, [&](const auto&) { ++count; });
  return count;
}

template <class Neighbourhood>
void check_colours(const Shadow& shadow, bool is_moore) {
  const LatticeShape shape(shadow.sizes, shadow.periodic);
  std::vector<int> colours(shape.size(), -1);
  int colour = 0;
  std::uint64_t visited = 0, empty = 0, wrong = 0;
  for_each_colour(shape, Neighbourhood{}, [&](const auto& places) {
    std::int64_t last = -1;
    for (std::uint64_t i = 0; i < places.size(); ++i) {
      const Place place = places(i);
      if (!place.exists()) continue;
      const std::uint64_t number = place.slot() < 64 * shape.words() ? shape.number(place) : shape.size();
      if (number >= shape.size()) FAIL("no place of the lattice");
      wrong += static_cast<std::int64_t>(number) <= last;  // in ascending order
      last = static_cast<std::int64_t>(number);
      colours[number] = colour;
      ++visited;
    }
    empty += last < 0 ? 1 : 0;
    ++colour;
  });
  CHECK(visited == shape.size());
  CHECK(empty == 0);
  std::uint64_t without = 0;
  for (std::size_t number = 0; number < colours.size(); ++number) {
    without += colours[number] < 0;
    if (number % (colours.size() > 2000 ? 31 : 1) != 0) continue;
    const auto here = static_cast<std::int64_t>(number);
    for (const std::int64_t next : shadow.neighbours(here, Neighbourhood::kRadius, is_moore)) {
      wrong += next != here && colours[static_cast<std::size_t>(next)] == colours[number];
    }
  }
  CHECK(without == 0);
  CHECK(wrong == 0);
}

TEST_CASE("each place has one colour, and its neighbours have others") {
  for_each_lattice(kSizes, [](const auto& sizes, const auto& periodic) {
    const Shadow shadow{sizes, periodic};
    check_colours<VonNeumann<1>>(shadow, false);
    check_colours<VonNeumann<2>>(shadow, false);
    check_colours<Moore<1>>(shadow, true);
    check_colours<Moore<2>>(shadow, true);
    check_colours<Moore<5>>(shadow, true);
  });
}

TEST_CASE("there are no more colours than the sizes of the lattice and the radius require") {
  constexpr std::array<bool, 3> kPeriodic = {true, true, true}, kBounded = {false, false, false};
  CHECK(count_colours<VonNeumann<>>({64, 100}, kPeriodic) == 2);
  CHECK(count_colours<VonNeumann<>>({64, 101}, kPeriodic) == 3);
  CHECK(count_colours<VonNeumann<>>({65, 101}, kPeriodic) == 3);
  CHECK(count_colours<VonNeumann<>>({65, 101}, kBounded) == 2);
  CHECK(count_colours<VonNeumann<>>({64, 33, 7}, kPeriodic) == 3);
  CHECK(count_colours<VonNeumann<>>({1, 1}, kPeriodic) == 1);
  CHECK(count_colours<Moore<>>({64, 100}, kPeriodic) == 4);
  CHECK(count_colours<Moore<>>({65, 100}, kPeriodic) == 6);
  CHECK(count_colours<Moore<>>({65, 101}, kPeriodic) == 9);
  CHECK(count_colours<Moore<>>({65, 101}, kBounded) == 4);
  CHECK(count_colours<Moore<>>({64, 8, 4}, kPeriodic) == 8);
  CHECK(count_colours<Moore<>>({100}, kPeriodic) == 2);
  CHECK(count_colours<Moore<2>>({9, 9}, kPeriodic) == 9);
  CHECK(count_colours<Moore<2>>({10, 11}, kPeriodic) == 16);    // 3 and one more on each axis
  CHECK(count_colours<Moore<2>>({5, 9}, kPeriodic) == 15);      // all of 5 are neighbours
  CHECK(count_colours<VonNeumann<2>>({9, 9}, kPeriodic) == 9);  // those of Moore<2>
  CHECK(count_colours<Moore<31>>({1, 7}, kBounded) == 7);
}

TEST_CASE("places of a colour are found beyond 2^32") {
  const LatticeShape shape({std::size_t{1} << 18, std::size_t{1} << 18}, {true, true});
  int colour = 0;
  for_each_colour(shape, VonNeumann<>{}, [&](const auto& places) {
    REQUIRE(places.size() == std::uint64_t{1} << 35);
    const auto at = shape.coordinates(places((std::uint64_t{1} << 35) - 1));
    CHECK(at.x == (1 << 18) - 1 - colour);
    CHECK(at.y == (1 << 18) - 1);
    ++colour;
  });
  CHECK(colour == 2);
}

}  // namespace

}  // namespace lattice_test
