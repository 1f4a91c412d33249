/// @file
/// The geometry of lattices: coordinates, numbers, neighbours, and what is refused.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/loops/lattice_shape.h>
#include <dynasoar/platform/error.h>

#include "lattice_shadow.h"

namespace lattice_test {

namespace {

using namespace dynasoar;

std::int64_t number_or_none(const LatticeShape& shape, Place place) {
  return place.exists() ? static_cast<std::int64_t>(shape.number(place)) : -1;
}

template <class Neighbourhood>
void check_neighbourhood(const LatticeShape& shape, const Shadow& shadow, Place place, std::int64_t number) {
  std::vector<std::int64_t> found;
  shape.for_each_neighbour(place, Neighbourhood{}, [&](Place next) { found.push_back(number_or_none(shape, next)); });
  CHECK(found ==
        shadow.neighbours(number, Neighbourhood::kRadius, Neighbourhood::reach(1, 1) == Neighbourhood::kRadius));
}

TEST_CASE("places have coordinates and numbers, and each has a slot of its own") {
  for (const auto& sizes : kSizes) {
    CAPTURE(sizes[0]);
    const LatticeShape shape(sizes, {});
    const Shadow shadow{sizes, {}};
    REQUIRE(static_cast<std::int64_t>(shape.size()) == shadow.size());
    std::vector<bool> used(shape.words() * 64);
    std::uint64_t in_words = 0;
    for (std::uint64_t word = 0; word < shape.words(); ++word) {
      in_words += static_cast<std::uint64_t>(std::popcount(shape.places_of_word(word)));
    }
    CHECK(in_words == shape.size());
    for (std::uint64_t number = 0; number < shape.size(); ++number) {
      const Place place = shape.place_of_number(number);
      REQUIRE(place.slot() < used.size());
      CHECK(!used[place.slot()]);
      used[place.slot()] = true;
      CHECK((shape.places_of_word(place.slot() / 64) >> place.slot() % 64 & 1) == 1);
      CHECK(shape.number(place) == number);
      const LatticeVector at = shape.coordinates(place);
      CHECK(shape.place(at) == place);
      CHECK((std::int64_t{at.z} * shadow.length(1) + at.y) * shadow.length(0) + at.x ==
            static_cast<std::int64_t>(number));
    }
  }
}

TEST_CASE("rows are padded to whole blocks where that wastes at most an eighth, or little memory") {
  CHECK(LatticeShape({64, 100}, {}).words() == 100);
  CHECK(LatticeShape({56, 100}, {}).words() == 100);
  CHECK(LatticeShape({55, 4096}, {}).words() == 4096);  // the largest lattice that is small
  CHECK(LatticeShape({55, 4097}, {}).words() == 3521);
  CHECK(LatticeShape({65, 32, 64}, {}).words() == 4096);
  CHECK(LatticeShape({65, 33, 64}, {}).words() == 2145);
  CHECK(LatticeShape({300, 200}, {}).words() == 1000);
  CHECK(LatticeShape({65, 64}, {}).words() == 128);
  CHECK(LatticeShape({60}, {}).words() == 1);
  CHECK(LatticeShape({100000, 100000}, {}).words() == 156300000);  // 1563 blocks a row
}

TEST_CASE("neighbours are where arithmetic on coordinates says, at every border") {
  for_each_lattice(kSizes, [](const auto& sizes, const auto& periodic) {
    const LatticeShape shape(sizes, periodic);
    const Shadow shadow{sizes, periodic};
    const auto size = static_cast<std::int64_t>(shape.size());
    for (std::int64_t number = 0; number<size; number += size> 1000 ? 61 : 1) {
      const Place place = shape.place_of_number(static_cast<std::uint64_t>(number));
      const auto check = [&](Place found, LatticeVector by) {
        CHECK(number_or_none(shape, found) == shadow.neighbour(number, by));
      };
      check(shape.left(place), {-1, 0, 0});
      check(shape.right(place), {1, 0, 0});
      check(shape.up(place), {0, -1, 0});
      check(shape.down(place), {0, 1, 0});
      check(shape.front(place), {0, 0, -1});
      check(shape.back(place), {0, 0, 1});
      check(shape.neighbour(place, Direction::left), {-1, 0, 0});
      check(shape.neighbour(place, Direction::up), {0, -1, 0});
      check(shape.neighbour(place, Direction::right), {1, 0, 0});
      check(shape.neighbour(place, Direction::down), {0, 1, 0});
      check(shape.neighbour(place, Direction::front), {0, 0, -1});
      check(shape.neighbour(place, Direction::back), {0, 0, 1});
      for (const LatticeVector by :
           {LatticeVector{7, -3, 2}, LatticeVector{-1000, 999, -500}, LatticeVector{0, 0, 0}}) {
        check(shape.neighbour(place, by), by);
      }
      check_neighbourhood<Moore<1>>(shape, shadow, place, number);
      check_neighbourhood<Moore<3>>(shape, shadow, place, number);
      check_neighbourhood<VonNeumann<1>>(shape, shadow, place, number);
      check_neighbourhood<VonNeumann<2>>(shape, shadow, place, number);
    }
  });
  for (const Direction d : {Direction::left, Direction::up, Direction::right, Direction::down, Direction::front}) {
    const LatticeShape shape({5, 5, 5}, {true, true, true});
    const Place place = shape.place({0, 4, 2});
    CHECK(shape.neighbour(shape.neighbour(place, d), opposite(d)) == place);
  }
}

TEST_CASE("a lattice of 2^33 places has places beyond 2^32") {
  const LatticeShape shape({std::size_t{1} << 17, std::size_t{1} << 16}, {true, true});
  const Place last = shape.place_of_number((std::uint64_t{1} << 33) - 1);
  CHECK(shape.number(last) == (std::uint64_t{1} << 33) - 1);
  CHECK(shape.coordinates(last) == LatticeVector{(1 << 17) - 1, (1 << 16) - 1, 0});
  CHECK(shape.number(shape.down(last)) == (1u << 17) - 1);
  CHECK(shape.number(shape.right(shape.down(last))) == 0);
}

TEST_CASE("a lattice that makes no sense is refused, and the message says why") {
  const auto shape_of = [](const std::vector<std::size_t>& sizes) { return LatticeShape(sizes, {}); };
  constexpr std::size_t kMost = std::size_t{1} << 30;
  CHECK_THROWS_WITH_AS(shape_of({}), doctest::Contains("1 to 3 axes"), dynasoar::Error);
  CHECK_THROWS_WITH_AS(shape_of({2, 2, 2, 2}), doctest::Contains("1 to 3 axes"), dynasoar::Error);
  CHECK_THROWS_WITH_AS(shape_of({5, 0}), doctest::Contains("given 0 along axis 1"), dynasoar::Error);
  CHECK_THROWS_WITH_AS(shape_of({kMost + 1}), doctest::Contains("1 to 2^30 places"), dynasoar::Error);
  CHECK_THROWS_WITH_AS(shape_of({kMost, kMost, kMost}), doctest::Contains("2^37"), dynasoar::Error);
}

TEST_CASE("a part of a lattice has the numbers and coordinates of the whole one") {
  for (const bool is_periodic : {true, false}) {
    for (const std::vector<std::size_t>& sizes : {std::vector<std::size_t>{7, 12}, {64, 12}, {5, 3, 12}}) {
      const std::array<bool, 3> periodic = {true, is_periodic, is_periodic};
      const LatticeShape whole(sizes, periodic);
      for (const detail::Slab& slab : {detail::Slab{0, 12, 3}, {0, 4, 3}, {4, 5, 3}, {9, 3, 3}, {3, 6, 1}, {0, 0, 0}}) {
        CAPTURE(slab.first);
        CAPTURE(slab.length);
        const LatticeShape part(sizes, periodic, slab);
        REQUIRE(part.size() == whole.size());
        REQUIRE(part.height() == whole.height());
        REQUIRE(part.own_size() == whole.size() / 12 * slab.length);
        std::uint64_t own = 0;
        for (std::uint64_t n = 0; n < whole.size(); ++n) {
          const LatticeVector at = whole.coordinates(whole.place_of_number(n));
          const auto layer = static_cast<std::size_t>(sizes.size() > 2 ? at.z : at.y);
          const std::size_t after = (layer + 12 - slab.first) % 12, before = (slab.first + 11 - layer) % 12;
          const bool is_own = layer >= slab.first && layer < slab.first + slab.length;
          const bool is_ghost = !is_own && slab.length > 0 &&
                                ((after < slab.length + slab.ghosts && (is_periodic || layer >= slab.first)) ||
                                 (before < slab.ghosts && (is_periodic || layer < slab.first)));
          const Place place = part.place_of_number(n);
          REQUIRE(place.exists() == (is_own || is_ghost));
          REQUIRE(part.place(at) == place);
          if (!place.exists()) continue;
          REQUIRE(part.number(place) == n);
          REQUIRE(part.coordinates(place) == at);
          const bool is_in_own_words = place.slot() / 64 - part.own_words().first < part.own_words().words;
          REQUIRE(is_in_own_words == is_own);
          own += is_own ? 1 : 0;
          if (!is_own) continue;
          for (const Direction direction : {Direction::left, Direction::up, Direction::right, Direction::down}) {
            REQUIRE(number_or_none(part, part.neighbour(place, direction)) ==
                    number_or_none(whole, whole.neighbour(whole.place_of_number(n), direction)));
          }
        }
        REQUIRE(own == part.own_size());
      }
    }
  }
}

TEST_CASE("a place of another part is known by its number") {
  const LatticeShape first({7, 12}, {}, detail::Slab{0, 4, 1}), second({7, 12}, {}, detail::Slab{4, 8, 1});
  for (std::uint64_t n = 0; n < 5 * 7; ++n) {  // with the ghosts behind
    const Place place = first.place_of_number(n);
    const Place there = second.converted(place, first, 0);
    REQUIRE(there.exists() == (n >= 3 * 7));
    if (there.exists()) REQUIRE(second.number(there) == n);
    REQUIRE(first.number(first.converted(there, second, 0)) == n);
  }
  CHECK_FALSE(second.converted(Place(), first, 0).exists());
  CHECK_FALSE(first.converted(second.converted(Place(), first, 0), second, 0).exists());
}

TEST_CASE("of several copies of a place, the nearest one is found") {
  const LatticeShape part({7, 12}, {true, true, false}, detail::Slab{0, 12, 3});  // layers 9 to 11, all, 0 to 2
  const LatticeShape other({7, 12}, {true, true, false}, detail::Slab{0, 12, 1});
  const Place place = other.place({3, 11, 0});
  CHECK(part.converted(place, other, 0) == Place(2 * 64 + 3));
  CHECK(part.converted(place, other, 8) == Place(2 * 64 + 3));
  CHECK(part.converted(place, other, 9) == Place(14 * 64 + 3));
  CHECK(part.converted(place, other, 17) == Place(14 * 64 + 3));
}

}  // namespace

}  // namespace lattice_test
