/// @file
/// Classes with an object at every place of their lattice (kAtEveryPlace): what device code, loops and the host see of
/// them, and neighbours as objects.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

#include "../loops/lattice_shadow.h"
#include "placing_allocator.h"
#include "test_folder.h"

namespace lattice_full_test {

using dynasoar::Lattice;
using dynasoar::LatticeShape;
using dynasoar::Moore;
using dynasoar::Place;
using dynasoar::VonNeumann;
using lattice_test::kSizes;
using lattice_test::Shadow;

class Cell;
class Ground;
class Tree;
class Keeper;
using AllocatorT = dynasoar::test::PlacingAllocator<Cell, Ground, Tree, Keeper>;

template <class T>
__device__ std::uint32_t number_of(Place place);

/// The object at a place with this number has this byte and word.
__host__ __device__ constexpr std::uint8_t byte_of(std::uint64_t number) {
  return static_cast<std::uint8_t>(number * 7 + 1);
}

/// Two bytes, as in a game of life, and no more.
class Cell final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  static constexpr bool kAtEveryPlace = true;
  using Bytes = std::array<std::uint8_t, 2>;
  DYNASOAR_FIELDS(Cell, (bytes_, Bytes));

  __device__ Cell() {
    bytes_[0] = byte_of(number_of<Cell>(dynasoar::place_of(this)));
    bytes_[1] = 0;
  }
  __device__ void visit() { bytes_[1] = static_cast<std::uint8_t>(bytes_[1] + 1); }
  __device__ std::uint64_t value() const { return bytes_[0]; }
};

/// Not final, a block of an odd number of units, and a pointer.
class Ground : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  static constexpr bool kAtEveryPlace = true;
  using Keepers = std::array<Keeper*, 2>;
  DYNASOAR_FIELDS(Ground, (number_, std::uint32_t), (height_, float), (keepers_, Keepers), (byte_, std::uint8_t));

  __device__ Ground() : number_(number_of<Ground>(dynasoar::place_of(this))), height_(0), byte_(byte_of(number_)) {
    keepers_.fill(nullptr);
  }
  __device__ bool is_third() { return number_ % 3 == 0; }
  __device__ void rise() { height_ += 1; }
  __device__ std::uint64_t value() const { return byte_; }
};

/// At some places.
class Tree final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Tree, (number_, std::uint32_t));
  __device__ Tree() : number_(number_of<Tree>(dynasoar::place_of(this))) {}
  __device__ std::uint64_t value() const { return byte_of(number_); }
};

/// Not placed.
class Keeper final : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Keeper, (number_, std::uint32_t), (sum_, std::uint64_t));
  __device__ explicit Keeper(std::size_t number) : number_(static_cast<std::uint32_t>(number)), sum_(0) {}
  __device__ auto add_up() {
    return dynasoar::device_reduce<Ground>(std::uint64_t{0}, dynasoar::Plus{},
                                           [](Ground* ground) { return std::uint64_t{ground->number_}; })
        .then([this](std::uint64_t sum) { sum_ = sum; });
  }
};

template <class T>
__device__ std::uint32_t number_of(Place place) {
  return static_cast<std::uint32_t>(dynasoar::lattice_of<T>().number(place));
}

using Handle = dynasoar::AllocatorHandle<AllocatorT>;
const dynasoar::HandleOptions kSmall{.heap_bytes = 64 << 20};
using Land = Lattice<Cell, Ground, Tree>;

/// Numbers that a loop writes, one for each place.
class Numbers {
 public:
  explicit Numbers(std::size_t size) : words_(size) { words_.fill_bytes(0); }
  std::uint64_t* data() const { return words_.data(); }
  std::vector<std::uint64_t> take(Handle& handle) {
    handle.synchronize();
    return words_.download();
  }

 private:
  dynasoar::DeviceArray<std::uint64_t> words_;
};

/// Whether a place looks as one with objects of Cell and Ground.
struct LookAround {
  std::uint64_t* wrong;
  __device__ void operator()(Place place) const {
    const LatticeShape& land = dynasoar::lattice_of<Cell>();
    const std::uint32_t number = number_of<Cell>(place);
    const Cell* const cell = dynasoar::at<Cell>(place);
    const Ground* const ground = dynasoar::at<Ground>(place);
    int visited = 0, neighbours = 0;
    dynasoar::for_each_at<Ground>(place, [&](Ground* there) { visited += there == ground ? 1 : 0; });
    land.for_each_neighbour(place, Moore<>{}, [&](Place) { ++neighbours; });
    const auto counts = dynasoar::count_each_neighbours<Cell, Ground>(place, Moore<>{});
    const bool is_right = cell->value() == byte_of(number) && dynasoar::place_of(cell) == place &&
                          ground->number_ == number && dynasoar::place_of(ground) == place && visited == 1 &&
                          !dynasoar::is_free<Cell>(place) && !dynasoar::is_free<Tree, Ground>(place) &&
                          dynasoar::is_free<Tree>(place) == (number % 3 != 0) &&
                          dynasoar::count_neighbours<Ground>(place) == neighbours && counts[0] == neighbours &&
                          counts[1] == neighbours && dynasoar::count_free_neighbours<Cell>(place, Moore<2>{}) == 0 &&
                          !dynasoar::random_free_neighbour<Cell, Tree>(place, Moore<>{}, 7) &&
                          dynasoar::at<Cell>(Place()) == nullptr && !dynasoar::is_free<Cell>(Place());
    if (!is_right) wrong[number] = 1;
  }
};

/// Whether sets of places have them all.
struct LookAtBlock {
  std::uint64_t* wrong;
  __device__ void operator()(dynasoar::PlaceBlock block) const {
    const LatticeShape& land = dynasoar::lattice_of<Cell>();
    const std::uint64_t places = land.places(block);
    std::uint64_t with_left = 0;
    for (int i = 0; i < 64; ++i) {
      if ((places >> i & 1) != 0 && land.left(block.place(i)).exists()) with_left |= std::uint64_t{1} << i;
    }
    const bool is_right = dynasoar::where<Cell>(block) == places && dynasoar::where<Tree, Ground>(block) == places &&
                          dynasoar::where<Cell>(block, dynasoar::Direction::left) == with_left;
    if (!is_right) wrong[0] = 1;
  }
};

struct Third {
  __device__ bool operator()(Place place) const { return number_of<Cell>(place) % 3 == 0; }
};

TEST_CASE("there is an object at every place from the start, and loops visit each of them once") {
  Handle handle(kSmall);
  for (const auto& sizes : kSizes) {
    Land land(handle, sizes, {.periodic = {sizes.size() != 1, true, false}});
    const std::size_t size = land.shape().size();
    land.parallel_new<Tree>(Third{});
    CHECK(handle.count<Cell>() == size);
    CHECK(handle.count<Ground>() == size);
    CHECK(handle.count<Tree>() == (size + 2) / 3);
    Numbers wrong(size);
    land.parallel_for(LookAround{wrong.data()});
    land.parallel_for_blocks(LookAtBlock{wrong.data()});
    CHECK(wrong.take(handle) == std::vector<std::uint64_t>(size));
    handle.parallel_do<&Cell::visit>();
    handle.parallel_do_if<&Ground::is_third, &Ground::rise>();
    Numbers visits(size);
    handle.parallel_do<Cell>([visits = visits.data()] __device__(Cell * cell) {
      visits[number_of<Cell>(dynasoar::place_of(cell))] += std::uint64_t{cell->bytes_[1]};
    });
    CHECK(visits.take(handle) == std::vector<std::uint64_t>(size, 1));
    CHECK(handle.sum<&Ground::height_>() == doctest::Approx(static_cast<double>((size + 2) / 3)));
    CHECK(handle.sum<&Ground::number_>() == size * (size - 1) / 2);
  }
}

/// Adds up what the neighbours of a place have, in their order: once as objects, once place by place.
template <class T, class Neighbourhood>
struct AddNeighbours {
  std::uint64_t* as_objects;
  std::uint64_t* by_places;
  __device__ void operator()(Place place) const {
    std::uint64_t objects = 1, places = 1;
    dynasoar::for_each_neighbour<T>(place, Neighbourhood{},
                                    [&](const T* next) { objects = objects * 31 + next->value(); });
    dynasoar::lattice_of<T>().for_each_neighbour(place, Neighbourhood{}, [&](Place next) {
      if (const T* const object = dynasoar::at<T>(next)) places = places * 31 + object->value();
    });
    as_objects[number_of<Cell>(place)] = objects;
    by_places[number_of<Cell>(place)] = places;
  }
};

template <class T, class Neighbourhood>
std::vector<std::uint64_t> neighbours_of(Handle& handle, Land& land) {
  Numbers as_objects(land.shape().size()), by_places(land.shape().size());
  land.parallel_for(AddNeighbours<T, Neighbourhood>{as_objects.data(), by_places.data()});
  const std::vector<std::uint64_t> result = as_objects.take(handle);
  CHECK(result == by_places.take(handle));
  return result;
}

/// What objects at every place should find.
std::vector<std::uint64_t> expected_neighbours(const Shadow& shadow, int radius, bool is_moore) {
  std::vector<std::uint64_t> result;
  for (std::int64_t number = 0; number < shadow.size(); ++number) {
    std::uint64_t sum = 1;
    for (const std::int64_t next : shadow.neighbours(number, radius, is_moore)) {
      sum = sum * 31 + byte_of(static_cast<std::uint64_t>(next));
    }
    result.push_back(sum);
  }
  return result;
}

TEST_CASE("objects are found in a neighbourhood as at its places one by one, at every border") {
  Handle handle(kSmall);
  for (const auto& sizes : kSizes) {
    for (const bool is_periodic : {true, false}) {
      const Shadow shadow{sizes, {is_periodic, true, !is_periodic}};
      Land land(handle, sizes, {.periodic = shadow.periodic});
      land.parallel_new<Tree>(Third{});
      CHECK(neighbours_of<Cell, Moore<>>(handle, land) == expected_neighbours(shadow, 1, true));
      CHECK(neighbours_of<Cell, VonNeumann<>>(handle, land) == expected_neighbours(shadow, 1, false));
      CHECK(neighbours_of<Cell, Moore<2>>(handle, land) == expected_neighbours(shadow, 2, true));
      CHECK(neighbours_of<Cell, VonNeumann<3>>(handle, land) == expected_neighbours(shadow, 3, false));
      CHECK(neighbours_of<Ground, Moore<>>(handle, land) == expected_neighbours(shadow, 1, true));
      neighbours_of<Tree, Moore<>>(handle, land);
    }
  }
}

TEST_CASE("what writes, describes and adds up objects knows those at every place") {
  Handle handle(kSmall);
  Land land(handle, {300, 4});
  const dynasoar::Columns columns = handle.columns<Ground>();
  std::vector<std::uint32_t> numbers(1200);
  for (std::uint32_t i = 0; i < 1200; ++i) numbers[i] = i;
  CHECK(columns["number_"].as<std::uint32_t>() == numbers);
  CHECK(columns["place"].as<std::uint32_t>() == numbers);

  dynasoar::Raster<float> heights{300, 4, std::vector<float>(1200)};
  for (std::size_t i = 0; i < 1200; ++i) heights.values[i] = static_cast<float>(i % 17);
  land.set_field<&Ground::height_>(heights);
  CHECK(land.raster_of<&Ground::height_>().values == heights.values);

  handle.parallel_new<Keeper>(10);
  handle.parallel_do<&Keeper::add_up>();
  CHECK(handle.sum<&Keeper::sum_>() == std::uint64_t{10} * 1200 * 1199 / 2);

  const dynasoar::Statistics statistics = handle.statistics();
  CHECK(statistics.types[0].objects == 1200);
  CHECK(statistics.types[0].places == 1200);
  CHECK(statistics.types[1].places == 1200);
  const std::vector<dynasoar::detail::PlacedMap> maps = handle.loops().placed().maps();
  REQUIRE(maps.size() == 3);
  std::size_t objects = 0;
  for (const dynasoar::detail::BlockMark& mark : maps[0].marks) objects += mark.objects;
  CHECK(objects == 1200);

  auto step = handle.record([&] { handle.parallel_do<&Cell::visit>(); });
  for (int i = 0; i < 3; ++i) step();
  CHECK(handle.count_if<Cell>([] __device__(Cell * cell) -> bool { return cell->bytes_[1] == 3; }) == 1200);
}

#if !defined(DYNASOAR_TEST_MALLOC)

TEST_CASE("objects at every place take the bytes of their fields and nothing else") {
  Handle handle(kSmall);
  CHECK(Lattice<Cell>(handle, {128, 100}).bytes() == 12800 * 2);
  CHECK(Lattice<Cell>(handle, {57, 100}).bytes() == 6400 * 2);
}

TEST_CASE("a checkpoint holds the fields of objects at every place, for a lattice of the same size") {
  const dynasoar::test::TestFolder folder;
  const std::string path = folder / "run.checkpoint";
  Handle handle(kSmall);
  const auto sum = [&] { return handle.count_if<Cell>([] __device__(Cell * cell) { return cell->bytes_[1] == 1; }); };
  {
    Land land(handle, {65, 7});
    land.parallel_new<Tree>(Third{});
    handle.parallel_do<&Cell::visit>();
    handle.save(path);
  }
  {
    Land land(handle, {65, 7});
    CHECK(sum() == 0);
    handle.load(path);
    CHECK(sum() == 65 * 7);
    CHECK(handle.count<Cell>() == 65 * 7);
    CHECK(handle.count<Tree>() == (65 * 7 + 2) / 3);
    CHECK(handle.statistics().types[0].objects == 65 * 7);
    // The file changes while it is read: objects at every place stay, without values.
    const auto fail = []() -> int {
      throw dynasoar::CheckpointError(dynasoar::CheckpointFault::lost_while_reading, "a", "is not what it was");
    };
    CHECK_THROWS_AS(handle.loops().placed().load(fail), const dynasoar::CheckpointError&);
    CHECK(handle.count<Tree>() == 0);
    CHECK(handle.count<Cell>() == 65 * 7);
    CHECK(handle.count_if<Cell>([] __device__(Cell * cell) { return cell->value() != 0; }) == 0);
  }
  Land other(handle, {7, 65});
  CHECK_THROWS_AS(handle.load(path), const dynasoar::CheckpointError&);
}

TEST_CASE("compaction updates pointers in objects at every place") {
  Handle handle(kSmall);
  Land land(handle, {300, 4});  // with padding, which holds no pointers
  constexpr std::uint32_t kKeepers = 5000;
  handle.parallel_new<Keeper>(kKeepers);
  dynasoar::DeviceArray<Keeper*> all(kKeepers);
  handle.parallel_do<Keeper>([all = all.data()] __device__(Keeper * keeper) { all[keeper->number_] = keeper; });
  handle.parallel_do<Ground>(
      [all = all.data()] __device__(Ground * ground) { ground->keepers_[1] = all[4 * ground->number_]; });
  handle.parallel_do<Keeper>([] __device__(Keeper * keeper) {
    if (keeper->number_ % 4 != 0) dynasoar::destroy(keeper);
  });
  handle.compact<Keeper>();
  CHECK(handle.count_if<Ground>([] __device__(Ground * ground) {
    return ground->keepers_[1]->number_ == 4 * ground->number_ && ground->keepers_[0] == nullptr;
  }) == 1200);
  CHECK(handle.count_if<Ground>([all = all.data()] __device__(Ground * ground) {
    return ground->keepers_[1] != all[4 * ground->number_];
  }) > 500);
}

#if DYNASOAR_CHECKED
TEST_CASE("checked builds find pointers to where there is no place") {
  Handle handle(kSmall);
  const Lattice<Cell> land(handle, {300, 4});
  const auto misuse_at = [&](std::uint64_t slot) {
    handle.parallel_for(1, [slot] __device__(std::size_t) {
      reinterpret_cast<Cell*>(dynasoar::detail::placed_handle<Cell>(slot).bits())->visit();
    });
    try {
      handle.synchronize();
    } catch (const dynasoar::MisuseError& error) {
      return error.reports()[0].kind;
    }
    return dynasoar::Misuse::none;
  };
  CHECK(misuse_at(299) == dynasoar::Misuse::none);
  CHECK(misuse_at(300) == dynasoar::Misuse::stale_access);  // padding
  CHECK(misuse_at(4 * 320) == dynasoar::Misuse::foreign_pointer);
}
#endif

#else

TEST_CASE("a lattice whose objects at every place find no memory is not made, and gives back what there was") {
  for (const auto on_refusal : {dynasoar::OnRefusal::throw_error, dynasoar::OnRefusal::record}) {
    Handle handle({.heap_bytes = std::size_t{1} << 20, .on_refusal = on_refusal});
    for (int i = 0; i < 3; ++i) CHECK_THROWS_AS(Lattice<Ground>(handle, {1000, 1000}), const dynasoar::Error&);
    const Lattice<Ground> land(handle, {10, 10});
    CHECK(handle.count<Ground>() == 100);
  }
}

#endif

}  // namespace lattice_full_test
