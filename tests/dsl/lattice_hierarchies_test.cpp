/// @file
/// Classes of a hierarchy on a lattice: those that share a place, and those of which a place has room for one object.

#include <array>
#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

#include "../platform/test_support.h"
#include "placing_allocator.h"
#include "test_folder.h"

namespace lattice_hierarchies_test {

using namespace dynasoar;
using namespace dynasoar::test;

class Plant;
class Moss;
class Oak;
class Beast;
class Wolf;
class Bear;
class Keeper;
using AllocatorT = dynasoar::test::PlacingAllocator<Plant, Moss, Oak, Beast, Wolf, Bear, Keeper>;

/// Moss grows where oaks do.
class Plant : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Plant, (height_, std::uint32_t));
  __device__ explicit Plant(std::uint32_t height) : height_(height) {}
};

class Moss final : public Plant {
 public:
  using BaseClass = Plant;
  DYNASOAR_FIELDS(Moss, (is_wet_, bool));
  __device__ Moss() : Plant(1), is_wet_(true) {}
};

class Oak final : public Plant {
 public:
  using BaseClass = Plant;
  DYNASOAR_FIELDS(Oak, (acorns_, std::uint16_t));
  __device__ Oak() : Plant(100), acorns_(7) {}
};

/// A place has room for a wolf or a bear.
class Beast : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  static constexpr bool kOnePerPlace = true;
  DYNASOAR_FIELDS(Beast, (number_, std::uint32_t));
  __device__ explicit Beast(std::uint32_t number) : number_(number) {}
  __device__ void die() { dynasoar::destroy(this); }
};

class Wolf final : public Beast {
 public:
  using BaseClass = Beast;
  DYNASOAR_FIELDS(Wolf, (speed_, std::uint8_t));
  __device__ explicit Wolf(std::uint32_t number) : Beast(number), speed_(3) {}
};

class Bear final : public Beast {
 public:
  using BaseClass = Beast;
  using Keepers = std::array<Keeper*, 2>;
  DYNASOAR_FIELDS(Bear, (fat_, double), (keepers_, Keepers));
  __device__ explicit Bear(std::uint32_t number) : Beast(number), fat_(0.5) { keepers_.fill(nullptr); }
};

/// At no place, and looks at all objects that are at one.
class Keeper final : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Keeper, (share_, std::uint32_t), (beasts_, std::uint32_t), (bears_, std::uint32_t));
  __device__ explicit Keeper(std::size_t number) : share_(static_cast<std::uint32_t>(number)), beasts_(0), bears_(0) {}
  __device__ auto count_beasts() {
    return dynasoar::device_reduce<Beast>(
               0u, dynasoar::Plus{}, [](Beast* beast) -> std::uint32_t { return beast->number_; },
               [share = share_.get()](std::uint32_t number) -> std::uint32_t { return number * share; })
        .then([this](std::uint32_t sum) { beasts_ = sum; });
  }
  __device__ auto count_bears() {
    return dynasoar::device_reduce<Bear>(0u, dynasoar::Plus{}, [](Bear*) -> std::uint32_t { return 1; })
        .then([this](std::uint32_t sum) { bears_ = sum; });
  }
};

using Handle = dynasoar::AllocatorHandle<AllocatorT>;

/// Whether the number of a place is one of some that repeat.
struct Every {
  LatticeShape shape;
  std::uint64_t step, first;
  __device__ bool operator()(Place place) const { return shape.number(place) % step == first; }
};

TEST_CASE("objects of several classes of a hierarchy are at one place, and all of them are visited") {
  Handle handle(kSmall);
  Lattice<Moss, Oak> forest(handle, {65, 4});
  const LatticeShape shape = forest.shape();
  forest.parallel_new<Moss>(Every{shape, 2, 0});
  forest.parallel_new<Oak>(Every{shape, 3, 0});
  const Counters found(5);
  forest.parallel_for([found = found.data(), shape] __device__(Place place) {
    const std::uint64_t number = shape.number(place);
    std::uint32_t height = 0;
    dynasoar::for_each_at<Plant>(place, [&](Plant* plant) { height += plant->height_; });
    count_if(found[0], height == (number % 2 == 0 ? 1u : 0u) + (number % 3 == 0 ? 100u : 0u));
    count_if(found[1], dynasoar::is_free<Plant>(place) == (height == 0));
    count_if(found[2], dynasoar::count_neighbours<Plant>(place) ==
                           8 - dynasoar::count_free_neighbours<Moss, Oak>(place, dynasoar::Moore<>{}));
    count_if(found[3], dynasoar::lattice_of<Plant>().size() == 260);
  });
  forest.parallel_for_blocks([found = found.data()] __device__(dynasoar::PlaceBlock block) {
    count_if(found[4], dynasoar::where<Plant>(block) == (dynasoar::where<Moss>(block) | dynasoar::where<Oak>(block)));
    count_if(found[4], dynasoar::where<Plant>(block, dynasoar::Direction::up) ==
                           dynasoar::where<Moss, Oak>(block, dynasoar::Direction::up));
  });
  handle.synchronize();
  for (std::size_t i = 0; i < 4; ++i) CHECK(found[i] == 260);
  CHECK(found[4] == 2 * shape.words());
  CHECK(handle.count<Plant>() == 130 + 87);
}

TEST_CASE("of a hierarchy with one object per place, at most one object is at a place, whatever its class") {
  Handle handle(kSmall);
  Lattice<Wolf, Bear> wood(handle, {9, 5});
  const LatticeShape shape = wood.shape();
  wood.parallel_new<Wolf>(Every{shape, 3, 0}, 1u);
  wood.parallel_new<Bear>(Everywhere{}, 2u);  // where no wolf is
  CHECK(handle.count<Wolf>() == 15);
  CHECK(handle.count<Bear>() == 30);
  const Counters found(3);
  wood.parallel_for([found = found.data(), shape] __device__(Place place) {
    const bool is_wolf = shape.number(place) % 3 == 0;
    const Beast* const beast = dynasoar::at<Beast>(place);
    if (beast == nullptr) return;
    count_if(found[0], beast->number_ == (is_wolf ? 1u : 2u));
    count_if(found[1], (dynasoar::cast<Wolf>(beast) != nullptr) == is_wolf);
    count_if(found[2],
             dynasoar::make_new_at<Wolf>(place, 3u) == nullptr && dynasoar::make_new_at<Bear>(place, 3u) == nullptr);
  });
  handle.synchronize();
  for (std::size_t i = 0; i < 3; ++i) CHECK(found[i] == 45);
}

struct WolfMovesRight {
  LatticeShape shape;
  __device__ bool operator()(Beast* beast) const {
    return dynasoar::cast<Wolf>(beast) != nullptr &&
           dynasoar::move_to(beast, shape.right(dynasoar::place_of(beast))) != nullptr;
  }
};

TEST_CASE(
    "no object enters a place in the loop in which an object of another class leaves it, but all can in the next") {
  Handle handle(kSmall);
  Lattice<Wolf, Bear> wood(handle, {64});
  const LatticeShape shape = wood.shape();
  wood.parallel_new<Wolf>(Every{shape, 64, 0}, 1u);
  wood.parallel_new<Bear>(Every{shape, 64, 1}, 2u);
  const Counters done(4);
  const WolfMovesRight wolf_moves_right{shape};
  // The bear dies; the wolf, which wants its place, stays.
  handle.parallel_do<Beast>([=, done = done.data()] __device__(Beast * beast) {
    if (dynasoar::cast<Bear>(beast) != nullptr) count_if(done[0], dynasoar::destroy(beast));
    count_if(done[1], wolf_moves_right(beast));
  });
  handle.synchronize();
  CHECK(done[0] == 1);
  CHECK(done[1] == 0);
  // Now it goes there, and a bear cannot take its old place yet.
  handle.parallel_do<Beast>([=, done = done.data()] __device__(Beast * beast) {
    const Place before = dynasoar::place_of(beast);
    count_if(done[2], wolf_moves_right(beast));
    count_if(done[3], dynasoar::make_new_at<Bear>(before, 3u) == nullptr);
  });
  handle.synchronize();
  CHECK(done[2] == 1);
  CHECK(done[3] == 1);
  wood.parallel_new<Bear>(Everywhere{}, 4u);
  CHECK(handle.count<Wolf>() == 1);
  CHECK(handle.count<Bear>() == 63);
  handle.parallel_do<Beast, &Beast::die>();
  wood.parallel_new<Wolf>(Everywhere{}, 5u);
  CHECK(handle.count<Wolf>() == 64);
  CHECK(handle.sum<&Beast::number_>() == 5 * 64);
}

#if !defined(DYNASOAR_TEST_MALLOC)

TEST_CASE("a checkpoint keeps classes apart that it has found apart, and a forged one does not bring them together") {
  const dynasoar::test::TestFolder folder;
  const std::string path = folder / "run.checkpoint";
  Handle handle(kSmall);
  Lattice<Wolf, Bear> wood(handle, {100});
  wood.parallel_new<Wolf>(Every{wood.shape(), 2, 0}, 1u);
  handle.save(path);
  handle.parallel_do<Beast, &Beast::die>();
  wood.parallel_new<Bear>(Everywhere{}, 2u);
  CHECK(handle.count<Bear>() == 100);
  handle.load(path);
  wood.parallel_new<Bear>(Everywhere{}, 3u);
  CHECK(handle.count<Wolf>() == 50);
  CHECK(handle.count<Bear>() == 50);
  CHECK(handle.sum<&Beast::number_>() == 50 * 1 + 50 * 3);

  // What a file may say: both at every place.
  handle.parallel_do<Beast, &Beast::die>();
  handle.synchronize();
  const auto forge = [&] {
    for (const std::size_t type : {4, 5}) {
      handle.executor().fill_bytes(handle.loops().placed().state(type).seen, 0xFF, 2 * sizeof(std::uint64_t));
    }
    return 0;
  };
  CHECK(handle.count<Beast>() == 0);
  handle.loops().placed().load(forge);
  CHECK(handle.count<Wolf>() == 100);
  CHECK(handle.count<Bear>() == 0);
}

#endif

TEST_CASE("objects without places see all objects at places with device_reduce") {
  Handle handle(kSmall);
  Lattice<Wolf, Bear> wood(handle, {257, 9});
  const LatticeShape shape = wood.shape();
  handle.parallel_new<Keeper>(100);
  wood.parallel_new<Wolf>(Every{shape, 3, 0}, 5u);
  wood.parallel_new<Bear>(Every{shape, 3, 1}, 7u);
  const std::uint64_t bears = handle.count<Bear>();
  handle.parallel_do<&Keeper::count_beasts>();
  handle.parallel_do<&Keeper::count_bears>();
  CHECK(bears == 771);
  CHECK(handle.sum<&Keeper::bears_>() == 100 * bears);
  CHECK(handle.sum<&Keeper::beasts_>() == 99 * 100 / 2 * 771 * (5 + 7));
  // What has died since is not seen.
  handle.parallel_do<Beast, &Beast::die>();
  auto step = handle.record([&] { handle.parallel_do<&Keeper::count_beasts>(); });
  step();
  CHECK(handle.sum<&Keeper::beasts_>() == 0);
}

#if !defined(DYNASOAR_TEST_MALLOC)

TEST_CASE("compaction updates pointers in placed objects") {
  Handle handle(kSmall);
  Lattice<Wolf, Bear> wood(handle, {257, 9});
  const LatticeShape shape = wood.shape();
  constexpr std::uint32_t kKeepers = 5000;
  handle.parallel_new<Keeper>(kKeepers);
  dynasoar::DeviceArray<Keeper*> all(kKeepers);
  handle.parallel_do<Keeper>([all = all.data()] __device__(Keeper * keeper) { all[keeper->share_] = keeper; });
  wood.parallel_new<Bear>(Every{shape, 3, 1}, 7u);
  // Each bear has one of the keepers that stay, every fourth one.
  handle.parallel_do<Bear>([all = all.data(), shape] __device__(Bear * bear) {
    const auto number = static_cast<std::uint32_t>(shape.number(dynasoar::place_of(bear)));
    bear->number_ = number;
    bear->keepers_[1] = all[4 * (number % (kKeepers / 4))];
  });
  handle.parallel_do<Keeper>([] __device__(Keeper * keeper) {
    if (keeper->share_ % 4 != 0) dynasoar::destroy(keeper);
  });
  handle.parallel_do<Bear>([shape] __device__(Bear * bear) {  // compaction finds them where they are now
    dynasoar::move_to(bear, shape.right(dynasoar::place_of(bear)));
  });
  handle.compact<Keeper>();
  const Counters found(3);
  handle.parallel_do<Bear>([all = all.data(), found = found.data()] __device__(Bear * bear) {
    const std::uint32_t keeper = 4 * (bear->number_ % (kKeepers / 4));
    count_if(found[0], bear->keepers_[1]->share_ == keeper);
    count_if(found[1], bear->keepers_[1] != all[keeper]);
    count_if(found[2], bear->keepers_[0] == nullptr);
  });
  handle.synchronize();
  CHECK(found[0] == 771);
  CHECK(found[1] > 500);  // three of four blocks are gone
  CHECK(found[2] == 771);
}

#endif

struct GrowBySlot {
  template <class P>
  __device__ void operator()(P* plant) const {
    plant->height_ += static_cast<std::uint32_t>(dynasoar::place_of(plant).slot()) + 1;
  }
};

TEST_CASE("a loop over a hierarchy visits the objects of each class once, on lattices of different sizes") {
  Handle handle(kSmall);
  Lattice<Moss> moor(handle, {7});
  Lattice<Oak> forest(handle, {300, 5});
  moor.parallel_new<Moss>(Everywhere{});
  forest.parallel_new<Oak>(Everywhere{});
  handle.parallel_do<Plant>(GrowBySlot{});
  handle.parallel_do_if<Plant>([] __device__(Plant * plant) { return plant->height_ % 2 == 0; }, GrowBySlot{});
  const auto grown = [](std::uint32_t height, std::uint64_t slot) {
    const std::uint64_t once = height + slot + 1;
    return once + (once % 2 == 0 ? slot + 1 : 0);
  };
  std::uint64_t moss = 0, oaks = 0;
  for (int x = 0; x < 7; ++x) moss += grown(1, moor.shape().place({x}).slot());
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 300; ++x) oaks += grown(100, forest.shape().place({x, y}).slot());
  }
  const dynasoar::Columns plants = handle.columns<Plant>();
  std::uint64_t found = 0;
  for (const auto height : plants["height_"].as<std::uint64_t>()) found += height;
  CHECK(plants.rows == 1507);
  CHECK(found == moss + oaks);
}

TEST_CASE("a loop over a hierarchy of which a class has no lattice does nothing") {
  Handle handle(kSmall);
  Lattice<Moss> moor(handle, {10, 10});  // and none for oaks
  moor.parallel_new<Moss>([] __device__(Place) { return true; });
  const Counters visits(1);
  auto* const counter = visits.data();
  const auto visit = [counter] __device__(Plant*) { counter->fetch_add(1, dynasoar::Order::relaxed); };
  CHECK_THROWS_AS(handle.parallel_do<Plant>(visit), dynasoar::Error);
  handle.synchronize();
  CHECK(visits[0] == 0);
}

#if !defined(DYNASOAR_TEST_MALLOC)

TEST_CASE("keeping classes apart takes a bit per place") {
  Handle handle(kSmall);
  // 4, 1; 4, 8, 16. 2 * 3 + 1 bits
  constexpr std::size_t kTagBytes = dynasoar::kChecked ? 2 * 4 : 0;
  CHECK(Lattice<Wolf, Bear>(handle, {128, 100}).bytes() == 12800 * (5 + 28 + kTagBytes) + 12800 * 7 / 8);
}

#endif

}  // namespace lattice_hierarchies_test
