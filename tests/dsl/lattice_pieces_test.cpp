/// @file
/// Placed objects of an AosAllocator, each in a piece of memory: what SoaAllocators do not have, memory that is used up
/// and given back. The other tests of lattices run with it, too.

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>
#include <dynasoar/malloc/aos_allocator.h>
#include <dynasoar/malloc/bitmap_malloc.h>
#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/malloc/malloc_storage.h>

#include "placing_allocator.h"

namespace lattice_pieces_test {

using namespace dynasoar;
using namespace dynasoar::test;

class Brick;
class Fly;
using AllocatorT = dynasoar::AosAllocator<dynasoar::BitmapMalloc, Brick, Fly>;

class Brick final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Brick, (number_, std::uint32_t), (copy_, std::uint32_t));
  __device__ explicit Brick(std::uint32_t number) : number_(number), copy_(number) {}
};

/// Not placed.
class Fly final : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Fly, (number_, std::uint32_t));
  __device__ explicit Fly(std::size_t number) : number_(static_cast<std::uint32_t>(number)) {}
};

constexpr std::size_t kBytes = 16;  // of a brick: its slot and two fields
constexpr std::size_t kBricks = 1024;

using Handle = dynasoar::AllocatorHandle<AllocatorT>;

/// Moves bricks to the right, for as long as the row is free there.
struct Slide {
  dynasoar::LatticeShape shape;
  __device__ void operator()(Brick* brick) const { dynasoar::move_to(brick, shape.right(dynasoar::place_of(brick))); }
};

TEST_CASE("a lattice whose objects find no memory says so, and leaves their places free") {
  Handle handle({.heap_bytes = kBricks * kBytes});
  Lattice<Brick> wall(handle, {50, 40});
  wall.parallel_new<Brick>(Everywhere{}, 1u);
  CHECK_THROWS_WITH_AS(handle.synchronize(), doctest::Contains("Brick: make_new failed 976 times, heap full"),
                       dynasoar::AllocationError);
  CHECK(handle.count<Brick>() == kBricks);
  CHECK(handle.statistics().used() == 1);

  // A move needs memory, too. Without, the brick stays.
  handle.parallel_do<Brick>(Slide{wall.shape()});
  CHECK_THROWS_AS(handle.synchronize(), dynasoar::AllocationError);
  CHECK(handle.count<Brick>() == kBricks);

  // What is destroyed has its memory until the loop ends, and others have it in the next loop.
  wall.parallel_for_blocks([] __device__(dynasoar::PlaceBlock block) {
    dynasoar::destroy_where<Brick>(block, ~std::uint64_t{0});
    dynasoar::create_where<Brick>(block, ~std::uint64_t{0}, 2u);
  });
  CHECK_THROWS_AS(handle.synchronize(), dynasoar::AllocationError);
  CHECK(handle.count<Brick>() == 0);
  wall.parallel_new<Brick>([shape = wall.shape()] __device__(Place place) { return shape.number(place) < kBricks; },
                           3u);
  handle.synchronize();
  CHECK(handle.count<Brick>() == kBricks);
  CHECK(handle.sum<&Brick::number_>() == 3 * kBricks);
}

TEST_CASE("a lattice gives all memory back, that of moved objects and of those that no loop has looked at since") {
  Handle handle({.heap_bytes = 2 * kBricks * kBytes});
  for (int round = 0; round < 4; ++round) {
    Lattice<Brick> wall(handle, {64, 32});
    wall.parallel_new<Brick>([shape = wall.shape()] __device__(Place place) { return shape.number(place) % 2 == 0; },
                             1u);
    auto step = handle.record([&] { handle.parallel_do<Brick>(Slide{wall.shape()}); });
    for (int i = 0; i < 5; ++i) step();
    handle.synchronize();
    CHECK(handle.count<Brick>() == kBricks);
    // The lattice goes when these have just been destroyed, created and moved.
    if (round % 2 == 0) {
      wall.parallel_for([] __device__(Place place) {
        Brick* const brick = dynasoar::at<Brick>(place);
        if (brick != nullptr && brick->number_ % 2 == 1) dynasoar::destroy(brick);
        if (brick == nullptr) dynasoar::make_new_at<Brick>(place, 2u);
      });
      handle.synchronize();
    } else {
      step();
    }
  }
  handle.parallel_new<Fly>(2 * kBricks);
  handle.synchronize();
  CHECK(handle.count<Fly>() == 2 * kBricks);
}

#if DYNASOAR_CUDA_BACKEND

TEST_CASE("threads that lose a place to another one give their memory back") {
  constexpr std::size_t kPlaces = 64, kThreads = 256;
  Handle handle({.heap_bytes = 2 * kPlaces * kThreads * kBytes});  // what is tried at the same time, and as many losses
  Lattice<Brick> wall(handle, {kPlaces});
  for (int loop = 0; loop < 100; ++loop) {
    handle.parallel_for(kPlaces * kThreads, [shape = wall.shape()] __device__(std::size_t i) {
      dynasoar::make_new_at<Brick>(shape.place_of_number(i % kPlaces), 1u);
    });
    wall.parallel_for([] __device__(Place place) { dynasoar::destroy(dynasoar::at<Brick>(place)); });
  }
  handle.synchronize();
  CHECK(handle.count<Brick>() == 0);
}

#else

/// A BitmapMalloc during whose next request something else happens, as if another thread were faster.
struct SlowMalloc {
  static constexpr dynasoar::MallocProperties kProperties{"slow", true, false, false};
  inline static void (*meanwhile)() = nullptr;

  struct Storage : dynasoar::detail::MallocStorage<dynasoar::BitmapMalloc> {
    using MallocStorage::MallocStorage;
    SlowMalloc view() const { return {MallocStorage::view()}; }
  };

  void* malloc(std::size_t bytes, dynasoar::PlatformWarp warp = {}) const {
    void* const found = memory.malloc(bytes, warp);
    if (auto* const happens = std::exchange(meanwhile, nullptr)) happens();
    return found;
  }
  void free(void* pointer, dynasoar::PlatformWarp warp = {}) const { memory.free(pointer, warp); }
  std::size_t largest() const { return memory.largest(); }

  dynasoar::BitmapMalloc memory;
};

class Stone;
using SlowAllocator = dynasoar::AosAllocator<SlowMalloc, Stone>;
class Stone final : public dynasoar::SoaBase<SlowAllocator> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Stone);
};

TEST_CASE("a thread that loses a place to another one while it asks for memory gives that back") {
  dynasoar::AllocatorHandle<SlowAllocator> handle({.heap_bytes = 3 * 16, .threads = 1});
  const Lattice<Stone> row(handle, {10});
  const auto take = [] { CHECK(dynasoar::make_new_at<Stone>(Place(5)) != nullptr); };
  handle.parallel_for(1, [&](std::size_t) {
    SlowMalloc::meanwhile = take;
    CHECK(dynasoar::make_new_at<Stone>(Place(5)) == nullptr);
    CHECK(dynasoar::make_new_at<Stone>(Place(4)) != nullptr);
  });
  handle.parallel_for(1, [&](std::size_t) { dynasoar::destroy(dynasoar::at<Stone>(Place(5))); });
  handle.parallel_for(1, [&](std::size_t) {
    SlowMalloc::meanwhile = take;
    CHECK(dynasoar::move_to(dynasoar::at<Stone>(Place(4)), Place(5)) == nullptr);
    CHECK(dynasoar::make_new_at<Stone>(Place(3)) != nullptr);
  });
  CHECK(handle.count<Stone>() == 3);
  CHECK(handle.statistics().used() == 1);
}

/// A BitmapMalloc that fails once.
struct FailingMalloc {
  static constexpr dynasoar::MallocProperties kProperties{"failing", true, false, false};
  inline static int frees = 0;
  inline static int fails_after = -1;

  struct Storage : dynasoar::detail::MallocStorage<dynasoar::BitmapMalloc> {
    using MallocStorage::MallocStorage;
    FailingMalloc view() const { return {MallocStorage::view()}; }
  };

  void* malloc(std::size_t bytes, dynasoar::PlatformWarp warp = {}) const { return memory.malloc(bytes, warp); }
  void free(void* pointer, dynasoar::PlatformWarp warp = {}) const {
    if (frees == fails_after) {
      fails_after = -1;
      throw std::runtime_error("fails");
    }
    memory.free(pointer, warp);
    ++frees;
  }
  std::size_t largest() const { return memory.largest(); }

  dynasoar::BitmapMalloc memory;
};

class Pebble;
using FailingAllocator = dynasoar::AosAllocator<FailingMalloc, Pebble>;
class Pebble final : public dynasoar::SoaBase<FailingAllocator> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Pebble);
};

TEST_CASE("a loop that cannot begin, because memory cannot be given back, leaves that to the next one") {
  dynasoar::AllocatorHandle<FailingAllocator> handle({.heap_bytes = 100 * 16, .threads = 1});
  Lattice<Pebble> beach(handle, {100});
  for (int round = 0; round < 2; ++round) {
    beach.parallel_new<Pebble>(Everywhere{});
    CHECK(handle.count<Pebble>() == 100);
    beach.parallel_for([](Place place) {
      if (place.slot() % 2 == 0) dynasoar::destroy(dynasoar::at<Pebble>(place));
    });
    FailingMalloc::frees = 0;
    FailingMalloc::fails_after = 20;
    bool has_begun = false;
    CHECK_THROWS_WITH(handle.parallel_for(1, [&](std::size_t) { has_begun = true; }), "fails");
    CHECK(!has_begun);
    CHECK(FailingMalloc::frees == 20);
    CHECK(handle.count<Pebble>() == 50);
    CHECK(FailingMalloc::frees == 50);
  }
}

#endif

TEST_CASE("whoever sees an object where it was reads what it was, while it is written where it has moved") {
  Handle handle({.heap_bytes = std::size_t{1} << 20});
  Lattice<Brick> wall(handle, {100, 2});  // a row of bricks, and a free one
  const dynasoar::LatticeShape shape = wall.shape();
  wall.parallel_for([shape] __device__(Place place) {
    const dynasoar::LatticeVector at = shape.coordinates(place);
    if (at.y == 0) dynasoar::make_new_at<Brick>(place, static_cast<std::uint32_t>(at.x));
  });
  dynasoar::DeviceArray<std::uint32_t> wrong(1);
  wrong.fill_bytes(0);
  handle.parallel_do<Brick>([shape, wrong = wrong.data()] __device__(Brick * brick) {
    const Place here = dynasoar::place_of(brick);
    Brick* const moved = dynasoar::move_to(brick, shape.down(here));
    const std::uint32_t number = brick->number_;
    moved->number_ = number + 1000;
    const Brick* const seen = dynasoar::at<Brick>(here);
    const bool is_right = seen == brick && seen->number_ == number && dynasoar::place_of(seen) == here &&
                          moved->number_ == number + 1000 && dynasoar::place_of(moved) == shape.down(here) &&
                          moved->copy_ == number && dynasoar::at<Brick>(shape.down(here)) == nullptr;
    if (!is_right) wrong[0] = 1;
  });
  handle.synchronize();
  CHECK(wrong.download()[0] == 0);
  CHECK(handle.sum<&Brick::number_>() == 100 * 1000 + 99 * 100 / 2);
}

TEST_CASE("a lattice of objects in pieces takes a pointer and three bits per place, and the heap has the objects") {
  Handle handle({.heap_bytes = std::size_t{1} << 20});
  Lattice<Brick> wall(handle, {128, 10});
  CHECK(wall.bytes() == 1280 * 8 + 1280 * 3 / 8);
  wall.parallel_new<Brick>([shape = wall.shape()] __device__(Place place) { return shape.number(place) < 100; }, 1u);
  const dynasoar::Statistics now = handle.statistics();
  CHECK(now.types[0].objects == 100);
  CHECK(now.types[0].blocks == 100);
  CHECK(now.types[0].slots == 100);
  CHECK(now.types[0].in_heap);
  CHECK(now.types[0].places == 1280);
  CHECK(now.types[0].lattice_bytes == wall.bytes());
  CHECK(now.fragmentation() == 0);
  CHECK((now.pages - now.free_pages) * now.page_bytes == 100 * kBytes);
}

}  // namespace lattice_pieces_test
