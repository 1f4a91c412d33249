/// @file
/// Loops with a condition, parallel_do_if, parallel_for_if and parallel_for_free_if: whom they act on, with what
/// answer, once each; and neighbours of several classes that are counted together.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

#include "placing_allocator.h"

namespace lattice_if_test {

using namespace dynasoar;
using namespace dynasoar::test;

class Ant;
class Red;
class Blue;
class Egg;
using AllocatorT = dynasoar::test::PlacingAllocator<Ant, Red, Blue, Egg>;

class Ant : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Ant, (number_, std::uint32_t), (asked_, std::uint32_t), (acted_, std::uint32_t),
                  (wanted_, std::uint8_t));

  __device__ Ant() : number_(number_of(dynasoar::place_of(this))), asked_(0), acted_(0) {
    wanted_ = static_cast<std::uint8_t>(wanted_by(number_));
  }

  /// The direction in which an ant asks for a place; 4 to 6 if it asks for none in the plane.
  __host__ __device__ static std::uint32_t wanted_by(std::uint32_t number) { return number * 2654435761u % 7; }

  __device__ static std::uint32_t number_of(Place place) {
    return static_cast<std::uint32_t>(dynasoar::lattice_of<Ant>().number(place));
  }

  __device__ bool is_due(std::uint32_t every) {
    asked_ += 1;
    return number_ % every == 0;
  }
  __device__ void act(std::uint32_t every) { acted_ += every; }
};

class Red final : public Ant {
 public:
  using BaseClass = Ant;
  DYNASOAR_FIELDS(Red);
};

class Blue final : public Ant {
 public:
  using BaseClass = Ant;
  DYNASOAR_FIELDS(Blue);
};

/// Not placed.
class Egg final : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Egg, (number_, std::uint32_t), (age_, std::uint32_t));
  __device__ explicit Egg(std::size_t number) : number_(static_cast<std::uint32_t>(number)), age_(0) {}
  __device__ bool is_even() { return number_ % 2 == 0; }
  __device__ void grow() { age_ += 1; }
};

using Handle = dynasoar::AllocatorHandle<AllocatorT>;

/// Lattices of whole words, of parts of words, of more words than a warp takes, and of several rows in a word.
const std::vector<std::vector<std::size_t>> kSizes = {
    {1}, {63}, {64}, {65}, {3, 5}, {257, 129}, {1024, 64}, {5, 6, 7}, {7, 4100},
};

struct IsAt {
  std::uint32_t rest;  // of a division by 3: of a place
  __device__ bool operator()(Place place) const { return Ant::number_of(place) % 3 == rest; }
};

/// Adds one to the place's count if the answer is the right one.
struct Count {
  std::uint32_t* counts;
  __device__ void operator()(Place place, std::uint64_t answer, std::uint32_t) const {
    const std::uint32_t number = Ant::number_of(place);
    counts[number] += answer == (std::uint64_t{number} << 32 | 7) ? 1 : 100;
  }
  __device__ void operator()(Place place) const { counts[Ant::number_of(place)] += 1; }
};

/// How many of the numbers on the device are not `expected(i)`.
template <class F>
std::uint32_t wrong_in(Handle& handle, const dynasoar::DeviceArray<std::uint32_t>& counts, const F& expected) {
  handle.synchronize();
  const std::vector<std::uint32_t> found = counts.download();
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < found.size(); ++i) wrong += found[i] != expected(i);
  return wrong;
}

TEST_CASE("a loop with a condition acts once at each place that has an answer") {
  Handle handle(kSmall);
  for (const auto& sizes : kSizes) {
    Lattice<Red, Blue> lattice(handle, sizes);
    const auto size = static_cast<std::uint32_t>(lattice.shape().size());
    dynasoar::DeviceArray<std::uint32_t> counts(size);
    for (const std::uint32_t every : {1u, 2u, 3u, 64u, 1000u}) {  // the first lets it act nowhere
      counts.fill_bytes(0);
      // An answer that is no bool: a number, 0 for places at which nothing is to be done.
      lattice.parallel_for_if(
          [] __device__(Place place, std::uint32_t every) -> std::uint64_t {
            const std::uint32_t number = Ant::number_of(place);
            return number % every == 0 ? 0 : std::uint64_t{number} << 32 | 7;
          },
          Count{counts.data()}, every);
      CHECK(wrong_in(handle, counts, [&](std::uint32_t i) { return i % every == 0 ? 0u : 1u; }) == 0);
    }
  }
}

TEST_CASE("among free places, only those are asked") {
  Handle handle(kSmall);
  for (const auto& sizes : kSizes) {
    Lattice<Red, Blue> lattice(handle, sizes);
    const auto size = static_cast<std::uint32_t>(lattice.shape().size());
    lattice.parallel_new<Red>(IsAt{0});
    lattice.parallel_new<Blue>(IsAt{1});
    dynasoar::DeviceArray<std::uint32_t> counts(size);
    counts.fill_bytes(0);
    lattice.parallel_for_free_if([] __device__(Place place) -> bool { return Ant::number_of(place) % 2 == 0; },
                                 Count{counts.data()});
    lattice.parallel_for_free_if<Red>([] __device__(Place) -> bool { return true; }, Count{counts.data()});
    const auto expected = [](std::uint32_t i) { return (i % 3 == 2 && i % 2 == 0 ? 1u : 0u) + (i % 3 == 0 ? 0u : 1u); };
    CHECK(wrong_in(handle, counts, expected) == 0);
  }
}

/// Writes down from where a place is asked for, and that it has acted.
struct NoteAskers {
  std::uint32_t* notes;
  __device__ void operator()(Place place, std::uint32_t askers, std::uint32_t addend) const {
    notes[Ant::number_of(place)] += askers + addend;
  }
};

/// The directions from which ants at the places that `is_ant` selects ask for a place.
template <class IsAnt>
std::uint32_t askers_of(const LatticeShape& shape, std::uint32_t number, const IsAnt& is_ant) {
  std::uint32_t askers = 0;
  for (std::uint32_t d = 0; d < 4; ++d) {
    const auto direction = static_cast<Direction>(d);
    const Place next = shape.neighbour(shape.place_of_number(number), direction);
    if (!next.exists()) continue;
    const auto other = static_cast<std::uint32_t>(shape.number(next));
    if (is_ant(other) && Ant::wanted_by(other) == static_cast<std::uint32_t>(opposite(direction))) askers |= 1u << d;
  }
  return askers;
}

TEST_CASE("places know from which directions they are asked for") {
  constexpr std::uint32_t kActed = 100;
  const auto is_red = [](std::uint32_t number) { return number % 3 == 0; };
  Handle handle(kSmall);
  for (const bool periodic : {true, false}) {
    for (const auto& sizes : kSizes) {
      Lattice<Red, Blue> lattice(handle, sizes, {.periodic = {periodic, periodic, periodic}});
      const LatticeShape shape = lattice.shape();
      lattice.parallel_new<Red>(IsAt{0});
      lattice.parallel_new<Blue>(IsAt{1});
      dynasoar::DeviceArray<std::uint32_t> notes(shape.size());
      const auto expected = [&](std::uint32_t i) {
        const std::uint32_t askers = askers_of(shape, i, is_red);
        return askers == 0 ? 0 : askers + kActed;
      };
      notes.fill_bytes(0);
      lattice.parallel_for_free_if<Red>(AskedFrom<Red, &Ant::wanted_>{}, NoteAskers{notes.data()}, kActed);
      CHECK(wrong_in(handle, notes, [&](std::uint32_t i) { return is_red(i) ? 0 : expected(i); }) == 0);
      notes.fill_bytes(0);
      lattice.parallel_for_if(AskedFrom<Red, &Ant::wanted_>{}, NoteAskers{notes.data()}, kActed);
      CHECK(wrong_in(handle, notes, expected) == 0);
    }
  }
}

TEST_CASE("objects with something to do act once, and all are asked") {
  Handle handle(kSmall);
  for (const auto& sizes : kSizes) {
    Lattice<Red, Blue> lattice(handle, sizes);
    const auto size = static_cast<std::uint32_t>(lattice.shape().size());
    lattice.parallel_new<Red>(IsAt{0});
    lattice.parallel_new<Blue>(IsAt{1});
    handle.parallel_do_if<Ant, &Ant::is_due, &Ant::act>(5u);
    std::uint32_t ants = 0, due = 0;
    for (std::uint32_t i = 0; i < size; ++i) {
      ants += i % 3 != 2;
      due += i % 3 != 2 && i % 5 == 0;
    }
    CHECK(handle.sum<&Ant::asked_>() == ants);
    CHECK(handle.sum<&Ant::acted_>() == 5 * due);
    CHECK(handle.count_if<Ant>([] __device__(Ant * ant) { return ant->acted_ == (ant->number_ % 5 == 0 ? 5u : 0u); }) ==
          ants);
    // What an action creates and destroys, later loops see.
    handle.parallel_do_if<Red>([] __device__(Red * red) -> Place { return dynasoar::place_of(red); },
                               [] __device__(Red * red, Place here) {
                                 dynasoar::destroy(red);
                                 dynasoar::make_new_at<Blue>(here);
                               });
    CHECK(handle.count<Red>() == 0);
    CHECK(handle.count<Blue>() == ants);
  }
}

TEST_CASE("objects in the heap act if their condition says so, too") {
  Handle handle(kSmall);
  handle.parallel_new<Egg>(1001);
  handle.parallel_do_if<&Egg::is_even, &Egg::grow>();
  CHECK(handle.sum<&Egg::age_>() == 501);
  handle.parallel_do_if<Egg>([] __device__(Egg * egg) -> std::uint32_t { return egg->number_; },
                             [] __device__(Egg * egg, std::uint32_t number) { egg->age_ += number == egg->number_; });
  CHECK(handle.sum<&Egg::age_>() == 501 + 1000);
}

/// Compares counts of both classes with counts of each of them.
template <class Neighbourhood>
struct Compare {
  std::uint32_t* wrong;
  __device__ void operator()(Place place) const {
    const auto [red, blue] = dynasoar::count_each_neighbours<Red, Blue>(place, Neighbourhood{});
    if (red == dynasoar::count_neighbours<Red>(place, Neighbourhood{}) &&
        blue == dynasoar::count_neighbours<Blue>(place, Neighbourhood{})) {
      return;
    }
    reinterpret_cast<dynasoar::AtomicWord<std::uint32_t>*>(wrong)->fetch_add(1, dynasoar::Order::relaxed);
  }
};

TEST_CASE("neighbours of several classes are counted together as apart") {
  Handle handle(kSmall);
  for (const bool periodic : {true, false}) {
    for (const auto& sizes : kSizes) {
      Lattice<Red, Blue> lattice(handle, sizes, {.periodic = {periodic, periodic, periodic}});
      lattice.parallel_new<Red>(IsAt{0});
      lattice.parallel_new<Blue>(IsAt{1});
      dynasoar::DeviceArray<std::uint32_t> wrong(1);
      wrong.fill_bytes(0);
      lattice.parallel_for(Compare<Moore<>>{wrong.data()});
      lattice.parallel_for(Compare<Moore<3>>{wrong.data()});
      lattice.parallel_for(Compare<VonNeumann<2>>{wrong.data()});
      handle.synchronize();
      CHECK(wrong.download()[0] == 0);
    }
  }
}

}  // namespace lattice_if_test
