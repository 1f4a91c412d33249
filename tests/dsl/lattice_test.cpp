/// @file
/// Objects that are placed on a lattice: the rules of what a loop sees, a random model against arrays, columns and
/// checkpoints.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

#include "../loops/lattice_shadow.h"
#include "../platform/test_support.h"
#include "lattice_fish.h"
#include "placing_allocator.h"
#include "test_folder.h"

namespace lattice_test {

[[maybe_unused]] constexpr std::size_t kTagBytes = dynasoar::kChecked ? 4 : 0;  // per slot

TEST_CASE("objects are where they were created, and loops visit each of them once") {
  Handle handle(kSmall);
  for (const auto& sizes : kSizes) {
    Lattice<Fish> lattice(handle, sizes);
    const auto size = lattice.shape().size();
    CHECK(handle.count<Fish>() == 0);
    lattice.parallel_for(Settle{lattice.shape()});
    CHECK(handle.count<Fish>() == size);
    handle.parallel_do<&Fish::visit>();
    std::vector<std::int64_t> expected(size);
    for (std::size_t i = 0; i < size; ++i) expected[i] = static_cast<std::int64_t>(i);
    CHECK(ages_of(handle, lattice) == expected);
    CHECK(handle.sum<&Fish::seen_by_>() == size);
    CHECK(handle.maximum<&Fish::seen_by_>() == 1u);
    // Each third one dies, by itself.
    handle.parallel_do<Fish>([] __device__(Fish * fish) {
      if (fish->age_ % 3 == 0) dynasoar::destroy(fish);
    });
    for (std::size_t i = 0; i < size; i += 3) expected[i] = -1;
    CHECK(ages_of(handle, lattice) == expected);
    CHECK(handle.count<Fish>() == size - (size + 2) / 3);
    CHECK(handle.statistics().types[0].objects == size - (size + 2) / 3);
    CHECK(handle.statistics().types[0].places == size);
    handle.synchronize();
  }
}

TEST_CASE("free places are those where no object of the named classes is") {
  Handle handle(kSmall);
  Lattice<Fish, Shark> lattice(handle, {65, 4});
  const LatticeShape shape = lattice.shape();
  lattice.parallel_new<Fish>([shape] __device__(Place place) { return shape.number(place) % 2 == 0; }, 5u);
  lattice.parallel_new<Shark>([shape] __device__(Place place) { return shape.number(place) % 3 == 0; });
  const Counters without_fish(1), without_shark(1), without_any(1);
  lattice.parallel_for_free<Fish>(
      [count = without_fish.data()] __device__(Place) { count->fetch_add(1, Order::relaxed); });
  lattice.parallel_for_free<Shark>(
      [count = without_shark.data()] __device__(Place) { count->fetch_add(1, Order::relaxed); });
  lattice.parallel_for_free([count = without_any.data()] __device__(Place place) {
    count_if(*count, dynasoar::is_free<Fish, Shark>(place));
  });
  handle.synchronize();
  CHECK(without_fish[0] == 130);
  CHECK(without_shark[0] == 260 - 87);
  CHECK(without_any[0] == 87);  // of 260 numbers, those that neither 2 nor 3 divides
  handle.parallel_do<&Shark::look>();
  CHECK(handle.count_if<Shark>([] __device__(Shark * shark) { return shark->prey_.get() != nullptr; }) == 44);
}

TEST_CASE("a place that is taken refuses a second object, and one that was vacated in the loop refuses a new one") {
  Handle handle(kSmall);
  Lattice<Fish> lattice(handle, {8, 8});
  const Counters made(1), refused(1);
  const LatticeShape shape = lattice.shape();
  // All threads want to create at one place.
  lattice.parallel_for([shape, made = made.data()] __device__(Place place) {
    const auto number = static_cast<std::uint32_t>(shape.number(place));
    count_if(*made, dynasoar::make_new_at<Fish>(shape.place({3, 3}), number) != nullptr);
  });
  CHECK(handle.count<Fish>() == 1);
  CHECK(made[0] == 1);
  // The one that is there dies, and nothing takes its place before the loop has ended.
  handle.parallel_do<Fish>([made = made.data(), refused = refused.data()] __device__(Fish * fish) {
    count_if(*refused, dynasoar::make_new_at<Fish>(dynasoar::place_of(fish), 1u) == nullptr);
    count_if(*made, dynasoar::destroy(fish));
    count_if(*refused, dynasoar::make_new_at<Fish>(dynasoar::place_of(fish), 1u) == nullptr);
    count_if(*made, dynasoar::at<Fish>(dynasoar::place_of(fish)) == fish);  // seen as before
    count_if(*refused, dynasoar::destroy(fish));                            // has been destroyed
  });
  CHECK(handle.count<Fish>() == 0);
  CHECK(made[0] == 3);
  CHECK(refused[0] == 2);
  // The place of an object that was created and destroyed in one loop stays taken until the loop has ended.
  const Counters again(1);
  lattice.parallel_for([shape, again = again.data()] __device__(Place place) {
    if (place != shape.place({0, 0})) return;
    Fish* const first = dynasoar::make_new_at<Fish>(place, 1u);
    count_if(*again, dynasoar::at<Fish>(place) == nullptr && dynasoar::destroy(first));
    count_if(*again, dynasoar::make_new_at<Fish>(place, 2u) == nullptr);
  });
  CHECK(handle.count<Fish>() == 0);
  CHECK(again[0] == 2);
  handle.synchronize();
}

TEST_CASE("beyond a bounded edge there is no place, and nothing can be there") {
  Handle handle(kSmall);
  Lattice<Fish> lattice(handle, {3, 2}, {.periodic = {false, false}});
  lattice.parallel_for(Settle{lattice.shape()});
  const Counters none(1);
  handle.parallel_do<Fish>([none = none.data()] __device__(Fish * fish) {
    const LatticeShape& shape = dynasoar::lattice_of<Fish>();
    const Place left = shape.left(dynasoar::place_of(fish));
    if (left.exists()) return;
    count_if(*none, dynasoar::at<Fish>(left) == nullptr);
    count_if(*none, !dynasoar::is_free<Fish>(left));
    count_if(*none, dynasoar::make_new_at<Fish>(left, 1u) == nullptr);
    count_if(*none, dynasoar::move_to(fish, left) == nullptr);
  });
  handle.synchronize();
  CHECK(none[0] == 8);
  CHECK(handle.count<Fish>() == 6);
}

TEST_CASE("moving takes all fields along, and a fish cannot follow one that leaves in the same loop") {
  Handle handle(kSmall);
  Lattice<Fish> lattice(handle, {70, 1});
  const LatticeShape shape = lattice.shape();
  lattice.parallel_new<Fish>([shape] __device__(Place place) { return shape.number(place) < 3; }, 7u);
  handle.parallel_do<Fish>([shape] __device__(Fish * fish) {
    const auto number = static_cast<std::uint32_t>(shape.number(dynasoar::place_of(fish)));
    fish->age_ = 60000 + number;
    fish->tag_ = static_cast<std::uint8_t>(60000 + number);
    for (std::uint16_t i = 0; i < 3; ++i) fish->marks_[i] = static_cast<std::uint16_t>(60000 + number + i);
  });
  // All go one to the right: only the first one can, because the places of the others are taken as the loop sees it.
  const Counters moved(1);
  handle.parallel_do<Fish>([shape, moved = moved.data()] __device__(Fish * fish) {
    const Place from = dynasoar::place_of(fish);
    Fish* const now = dynasoar::move_to(fish, shape.right(from));
    if (now == nullptr) return;
    count_if(*moved, dynasoar::place_of(now) == shape.right(from) && now->is_sound());
    count_if(*moved, dynasoar::at<Fish>(from) == fish && fish->is_sound());  // the old bytes are still there
    count_if(*moved, dynasoar::move_to(fish, shape.right(shape.right(from))) == nullptr);
    count_if(*moved, !dynasoar::destroy(fish));
  });
  handle.synchronize();
  CHECK(moved[0] == 4);
  std::vector<std::int64_t> expected(70, -1);
  expected[0] = 60000;
  expected[1] = 60001;
  expected[3] = 60002;
  CHECK(ages_of(handle, lattice) == expected);
  // Those that failed can go now, one after the other.
  const auto go = [&] {
    handle.parallel_do<Fish>(
        [shape] __device__(Fish * fish) { dynasoar::move_to(fish, shape.right(dynasoar::place_of(fish))); });
  };
  go();
  expected = std::vector<std::int64_t>(70, -1);
  expected[0] = 60000;
  expected[2] = 60001;
  expected[4] = 60002;
  CHECK(ages_of(handle, lattice) == expected);
}

TEST_CASE("a fish that is eaten and moves in one loop does one of both") {
  Handle handle(kSmall);
  Lattice<Fish> lattice(handle, {64, 40});
  const LatticeShape shape = lattice.shape();
  std::uint64_t all_moves = 0;
  for (int round = 0; round < 20; ++round) {
    lattice.parallel_new<Fish>([shape] __device__(Place place) { return shape.coordinates(place).x == 0; }, 3u);
    const Counters eaten(1), moved(1);
    // In each row, some threads move the fish away, others eat it: on the host, those that are first.
    lattice.parallel_for([shape, eaten = eaten.data(), moved = moved.data()] __device__(Place place) {
      const LatticeVector at = shape.coordinates(place);
      Fish* const fish = dynasoar::at<Fish>(shape.place({0, at.y}));
      if (at.x % 7 == 3) {
        count_if(*eaten, dynasoar::destroy(fish));
      } else if (at.x % 7 == (at.y % 2 == 0 ? 5 : 1)) {
        count_if(*moved, dynasoar::move_to(fish, place) != nullptr);
      }
    });
    const std::uint64_t left = handle.count<Fish>();
    const std::uint64_t moves = moved[0];
    all_moves += moves;
    CHECK(eaten[0] + moves == 40);
    CHECK(left == moves);
    handle.parallel_do<&Fish::die>();
    CHECK(handle.count<Fish>() == 0);
  }
#if !DYNASOAR_CUDA_BACKEND
  CHECK((all_moves > 0 && all_moves < 20 * 40));
#endif
}

template <class Neighbourhood>
struct CountAround {
  LatticeShape shape;
  std::int64_t* counts;
  __device__ void operator()(Place place) const {
    const std::uint64_t number = shape.number(place);
    counts[3 * number] = dynasoar::count_neighbours<Fish>(place, Neighbourhood{});
    counts[3 * number + 1] = dynasoar::count_free_neighbours<Fish, Shark>(place, Neighbourhood{});
    const auto random = mixed(static_cast<std::uint32_t>(number));
    const Place chosen = dynasoar::random_free_neighbour<Fish, Shark>(place, Neighbourhood{}, random);
    counts[3 * number + 2] = chosen.exists() ? static_cast<std::int64_t>(shape.number(chosen)) : -1;
  }
};

/// Whether there is an object of a class at a place at first. @param key   of the class
__host__ __device__ bool is_scattered(std::uint64_t number, std::uint32_t key) {
  return mixed(static_cast<std::uint32_t>(number) + key) % 5 < 2;
}
struct Scattered {
  LatticeShape shape;
  std::uint32_t key;
  __device__ bool operator()(Place place) const { return is_scattered(shape.number(place), key); }
};
bool has_fish(std::uint64_t number) {
  return is_scattered(number, 1000);
}
bool has_shark(std::uint64_t number) {
  return is_scattered(number, 2000);
}

template <class Neighbourhood>
void check_counts(Handle& handle, Lattice<Fish, Shark>& lattice, const Shadow& shadow, bool is_moore) {
  const LatticeShape shape = lattice.shape();
  dynasoar::DeviceArray<std::int64_t> counts(3 * shape.size());
  lattice.parallel_for(CountAround<Neighbourhood>{shape, counts.data()});
  handle.synchronize();
  const std::vector<std::int64_t> found = counts.download();
  std::size_t wrong = 0;
  for (std::uint64_t number = 0; number < shape.size(); ++number) {
    std::int64_t fish = 0;
    std::vector<std::int64_t> free;
    for (const std::int64_t next :
         shadow.neighbours(static_cast<std::int64_t>(number), Neighbourhood::kRadius, is_moore)) {
      const auto n = static_cast<std::uint64_t>(next);
      fish += has_fish(n);
      if (!has_fish(n) && !has_shark(n)) free.push_back(next);
    }
    const std::uint64_t random = mixed(static_cast<std::uint32_t>(number));
    const std::int64_t chosen = free.empty() ? -1 : free[random * free.size() >> 32];
    wrong += found[3 * number] != fish || found[3 * number + 1] != static_cast<std::int64_t>(free.size()) ||
             found[3 * number + 2] != chosen;
  }
  CHECK(wrong == 0);
}

TEST_CASE("neighbours are counted and chosen from words as one by one, at every border") {
  Handle handle(kSmall);
  for_each_lattice(kSizes, [&](const auto& sizes, const auto& periodic) {
    Lattice<Fish, Shark> lattice(handle, sizes, {.periodic = periodic});
    const LatticeShape shape = lattice.shape();
    const Shadow shadow{sizes, periodic};
    lattice.template parallel_new<Fish>(Scattered{shape, 1000}, 1u);
    lattice.template parallel_new<Shark>(Scattered{shape, 2000});
    check_counts<Moore<1>>(handle, lattice, shadow, true);
    check_counts<Moore<4>>(handle, lattice, shadow, true);
    check_counts<VonNeumann<1>>(handle, lattice, shadow, false);
    check_counts<VonNeumann<3>>(handle, lattice, shadow, false);
  });
}

/// A step of a random model in which nothing depends on the order of threads: a fish dies, moves where its place's
/// number sends it, or has a child there. Only places with even numbers send, and each to its own odd neighbour.
struct RandomStep {
  LatticeShape shape;
  std::uint32_t now;
  __device__ void operator()(Fish* fish) const {
    const std::uint64_t number = shape.number(dynasoar::place_of(fish));
    const std::uint32_t fate = mixed(static_cast<std::uint32_t>(number) + 7919 * now);
    if (fate % 8 == 0) {
      dynasoar::destroy(fish);
    } else if ((number ^ now) % 2 == 0 && (number ^ 1) < shape.size()) {
      const Place to = shape.place_of_number(number ^ 1);
      if (fate % 8 < 4) {
        dynasoar::move_to(fish, to);
      } else {
        dynasoar::make_new_at<Fish>(to, fate % 60000);
      }
    }
  }
};

void step_shadow(std::vector<std::int64_t>& ages, std::uint32_t now) {
  const std::vector<std::int64_t> before = ages;
  for (std::size_t number = 0; number < before.size(); ++number) {
    if (before[number] < 0) continue;
    const std::uint32_t fate = mixed(static_cast<std::uint32_t>(number) + 7919 * now);
    const std::size_t to = number ^ 1;
    if (fate % 8 == 0) {
      ages[number] = -1;
    } else if ((number ^ now) % 2 == 0 && to < before.size() && before[to] < 0) {
      ages[to] = fate % 8 < 4 ? before[number] : std::int64_t{fate % 60000};
      if (fate % 8 < 4) ages[number] = -1;
    }
  }
}

TEST_CASE("a random model equals one on arrays, step by step, recorded or not") {
  Handle handle(kSmall);
  for (const auto& sizes : kSizes) {
    CAPTURE(sizes[0]);
    Lattice<Fish> lattice(handle, sizes);
    const LatticeShape shape = lattice.shape();
    lattice.parallel_for(Settle{shape});
    std::vector<std::int64_t> expected = ages_of(handle, lattice);
    for (std::uint32_t now = 0; now < 6; ++now) {
      handle.parallel_do<Fish>(RandomStep{shape, now});
      step_shadow(expected, now);
      CHECK(ages_of(handle, lattice) == expected);
    }
    auto two_steps = handle.record([&] {
      handle.parallel_do<Fish>(RandomStep{shape, 10});
      handle.parallel_do<Fish>(RandomStep{shape, 11});
    });
    for (int i = 0; i < 3; ++i) {
      two_steps();
      step_shadow(expected, 10);
      step_shadow(expected, 11);
    }
    CHECK(ages_of(handle, lattice) == expected);
    lattice.parallel_for(Settle{shape});  // what a loop outside of the step changes, the step sees
    two_steps();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (expected[i] < 0) expected[i] = static_cast<std::int64_t>(i);
    }
    step_shadow(expected, 10);
    step_shadow(expected, 11);
    CHECK(ages_of(handle, lattice) == expected);
  }
}

TEST_CASE("free objects and placed ones point to each other, and device_do visits placed ones") {
  Handle handle(kSmall);
  Lattice<Fish> lattice(handle, {9, 9});
  lattice.parallel_for(Settle{lattice.shape()});
  handle.parallel_do<Fish>([] __device__(Fish * fish) { dynasoar::make_new<Free>(std::size_t{0}, fish); });
  handle.parallel_do<&Free::look>();
  CHECK(handle.sum<&Free::age_>() == 80 * 81 / 2);
  dynasoar::DeviceArray<std::uint32_t> sums(1);
  handle.parallel_for(1, [sums = sums.data()] __device__(std::size_t) {
    std::uint32_t sum = 0;
    dynasoar::device_do<Fish>([&sum](Fish* fish) { sum += fish->age_; });
    sums[0] = sum;
  });
  handle.synchronize();
  CHECK(sums.download()[0] == 80 * 81 / 2);
}

TEST_CASE("columns have the fields of placed objects in the order of their places") {
  Handle handle(kSmall);
  Lattice<Fish> lattice(handle, {300, 4});  // rows of 320 slots
  lattice.parallel_for(Settle{lattice.shape()});
  handle.parallel_do<Fish>([] __device__(Fish * fish) {
    if (fish->age_ % 10 != 7) dynasoar::destroy(fish);
  });
  const dynasoar::Columns fish = handle.columns<Fish>();
  const std::vector<std::uint32_t> ages = fish["age_"].as<std::uint32_t>();
  REQUIRE(ages.size() == 120);
  for (std::uint32_t i = 0; i < 120; ++i) CHECK(ages[i] == 10 * i + 7);
  CHECK(fish.names().find("id, place, x, y, ") == 0);
  CHECK(fish["place"].as<std::uint32_t>() == ages);
  const auto x = fish["x"].as<std::uint32_t>(), y = fish["y"].as<std::uint32_t>();
  for (std::uint32_t i = 0; i < 120; ++i) CHECK(300 * y[i] + x[i] == ages[i]);
  if (kInPieces) return;  // objects have addresses for numbers
  // A field that is a place says which object is there.
  handle.parallel_do<Fish>([] __device__(Fish * fish) { dynasoar::make_new<Free>(std::size_t{0}, fish); });
  const dynasoar::Columns free = handle.columns<Free>();
  CHECK(free["place_"].as<std::int64_t>() == free["fish_"].as<std::int64_t>());
}

TEST_CASE("columns have as many coordinates as the lattice has axes, and none if that is one") {
  Handle handle(kSmall);
  Lattice<Shark> box(handle, {2, 3, 4});
  Lattice<Spot> row(handle, {70});
  box.parallel_new<Shark>([shape = box.shape()] __device__(Place place) { return shape.number(place) == 23; });
  row.parallel_new<Spot>([shape = row.shape()] __device__(Place place) { return shape.number(place) == 66; });
  const dynasoar::Columns sharks = handle.columns<Shark>(), spots = handle.columns<Spot>();
  CHECK(sharks.names().find("id, place, x, y, z, meal_") == 0);
  CHECK(spots.names() == "id, place, is_black_");
  const auto first = [](const dynasoar::Columns& table, const char* name) { return table[name].as<int>().front(); };
  CHECK(first(sharks, "place") == 23);
  CHECK(first(sharks, "x") == 1);
  CHECK(first(sharks, "y") == 2);
  CHECK(first(sharks, "z") == 3);
  CHECK(first(spots, "place") == 66);
}

#if !defined(DYNASOAR_TEST_MALLOC)

TEST_CASE("a checkpoint holds placed objects, for a lattice of the same size") {
  const dynasoar::test::TestFolder folder;
  const std::string path = folder / "run.checkpoint";
  Handle handle(kSmall);
  std::vector<std::int64_t> expected;
  {
    Lattice<Fish, Shark> lattice(handle, {65, 7});
    lattice.parallel_for(Settle{lattice.shape()});
    handle.parallel_do<Fish>(RandomStep{lattice.shape(), 1});
    lattice.parallel_new<Shark>(Everywhere{});
    handle.parallel_do<&Shark::look>();
    handle.parallel_do<Fish>([] __device__(Fish * fish) { dynasoar::make_new<Free>(std::size_t{0}, fish); });
    handle.save(path);
    expected = ages_of(handle, lattice);
  }
  {
    Lattice<Fish, Shark> lattice(handle, {65, 7});
    lattice.parallel_for(Settle{lattice.shape()});
    handle.load(path);
    CHECK(ages_of(handle, lattice) == expected);
    if constexpr (dynasoar::detail::counts_placed_v<AllocatorT>) {
      CHECK(handle.statistics().types[0].created == handle.count<Fish>());
    }
    // Pointers to placed objects are what they were.
    CHECK(handle.count_if<Shark>([] __device__(Shark * shark) {
      Fish* const fish = dynasoar::at<Fish>(dynasoar::place_of(shark));
      return shark->prey_.get() == fish;
    }) == 65 * 7);
    handle.parallel_do<&Free::look>();
    CHECK(handle.sum<&Free::age_>() == handle.sum<&Fish::age_>());
    CHECK(handle.count<Free>() == handle.count<Fish>());
  }
  Lattice<Fish, Shark> other(handle, {7, 65});
  CHECK_THROWS_AS(handle.load(path), const dynasoar::CheckpointError&);
}

TEST_CASE("a forged checkpoint puts no objects where there are no places") {
  const dynasoar::test::TestFolder folder;
  const std::string path = folder / "run.checkpoint";
  Handle handle(kSmall);
  dynasoar::DeviceArray<std::uint64_t> everywhere(20);  // rows of 300 places in 320 slots
  everywhere.fill_bytes(0xFF);
  std::size_t block_bytes = 0;
  {
    const Lattice<Fish> lattice(handle, {300, 4});
    block_bytes = (lattice.bytes() - 3 * everywhere.bytes()) / 20 - 64 * kTagBytes;
  }
  dynasoar::DeviceArray<char> fields(20 * block_bytes);
  fields.fill_bytes(0);
  const std::string name = "Fish (class 0) on 300 x 4 places";
  handle.save(path, dynasoar::array(name, everywhere), dynasoar::array(name + ", fields", fields));
  const Lattice<Fish> lattice(handle, {300, 4});
  handle.load(path);
  CHECK(handle.count<Fish>() == 1200);
}

TEST_CASE("a checkpoint of a small lattice says that rows are not packed, as they were in version 0.1") {
  const dynasoar::test::TestFolder folder;
  const std::string path = folder / "run.checkpoint";
  Handle handle(kSmall);
  constexpr std::size_t kWords = 2;  // packed or not
  dynasoar::DeviceArray<std::uint64_t> everywhere(kWords);
  everywhere.fill_bytes(0xFF);
  std::size_t field_bytes = 0;
  {
    const Lattice<Fish> lattice(handle, {50, 2});
    REQUIRE(lattice.shape().words() == kWords);
    field_bytes = lattice.bytes() - 3 * everywhere.bytes() - 64 * kWords * kTagBytes;
  }
  dynasoar::DeviceArray<char> fields(field_bytes);
  fields.fill_bytes(0);
  const auto objects_loaded = [&](const std::string& name) {
    handle.save(path, dynasoar::array(name, everywhere), dynasoar::array(name + ", fields", fields));
    const Lattice<Fish> lattice(handle, {50, 2});
    handle.load(path);
    return handle.count<Fish>();
  };
  CHECK(objects_loaded("Fish (class 0) on 50 x 2 places, rows of 64 slots") == 100);
  CHECK_THROWS_AS(objects_loaded("Fish (class 0) on 50 x 2 places"), const dynasoar::CheckpointError&);
}

TEST_CASE(
    "a checkpoint that changes while it is loaded leaves no placed objects, another one that is wrong leaves all") {
  using dynasoar::CheckpointError, dynasoar::CheckpointFault;
  Handle handle(kSmall);
  Lattice<Fish> lattice(handle, {8, 8});
  lattice.parallel_new<Fish>(Everywhere{}, 1u);
  const auto fail = [&](CheckpointFault fault) {
    const auto load = [fault]() -> int { throw CheckpointError(fault, "a", "is not what it was"); };
    CHECK_THROWS_AS(handle.loops().placed().load(load), const CheckpointError&);
  };
  fail(CheckpointFault::damaged);
  CHECK(handle.count<Fish>() == 64);
  lattice.parallel_for([] __device__(Place place) { dynasoar::destroy(dynasoar::at<Fish>(place)); });
  fail(CheckpointFault::lost_while_reading);
  CHECK(handle.count<Fish>() == 0);
  lattice.parallel_new<Fish>(Everywhere{}, 1u);
  CHECK(handle.count<Fish>() == 64);
}

TEST_CASE("placed objects take the bytes of their fields and three bits per place and class") {
  Handle handle(kSmall);
  CHECK(Lattice<Spot>(handle, {128, 100}).bytes() == 12800 * (1 + kTagBytes) + 12800 * 3 / 8);
  CHECK(Lattice<Shark>(handle, {128, 100}).bytes() == 12800 * (10 + kTagBytes) + 12800 * 3 / 8);  // 1, 1 of padding, 8
  CHECK(Lattice<Shark, Spot>(handle, {57, 100}).bytes() == 6400 * (11 + 2 * kTagBytes) + 6400 * 6 / 8);
}

#endif

}  // namespace lattice_test
