// AosAllocator: the DSL over allocators of plain memory does what it does over a SoaAllocator.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/malloc/aos_allocator.h>
#include <dynasoar/malloc/bitmap_malloc.h>
#include <dynasoar/malloc/foreign_malloc.h>
#include <dynasoar/malloc/toolkit_malloc.h>

#include "../platform/test_support.h"

namespace aos_allocator_test {

using dynasoar::AllocatorHandle;
using namespace dynasoar::test;

/// The classes of the tests, over one Malloc.
template <class Malloc>
struct World {
  class Animal;
  class Fish;
  class Shark;
  class Den;
  using AllocatorT = dynasoar::AosAllocator<Malloc, Fish, Shark, Den>;

  class Animal : public dynasoar::SoaBase<AllocatorT> {
   public:
    DYNASOAR_FIELDS(Animal, (age_, std::uint8_t), (number_, std::uint64_t));

    __device__ explicit Animal(std::uint64_t number) : age_(std::uint8_t{0}), number_(number) {}
    __device__ void grow(int years) { age_ = static_cast<std::uint8_t>(age_ + years); }
    __device__ std::uint64_t number() const { return number_; }
  };

  class Fish : public Animal {
   public:
    using BaseClass = Animal;
    using Positions = std::array<float, 3>;
    DYNASOAR_FIELDS(Fish, (weight_, std::uint16_t), (position_, Positions), (friend_, Fish*));

    __device__ explicit Fish(std::uint64_t number) : Animal(number), weight_(std::uint16_t{7}), friend_(nullptr) {
      for (std::size_t i = 0; i < 3; ++i) position_[i] = static_cast<float>(number + i);
    }
    /// Whether everything is as it was made.
    __device__ bool intact(int age) const {
      bool same = this->age_ == age && weight_ == 7;
      for (std::size_t i = 0; i < 3; ++i) same = same && position_[i] == static_cast<float>(this->number() + i);
      return same;
    }
    __device__ void die_if_in_class(std::uint64_t remainder, std::uint64_t divisor) {
      if (this->number() % divisor == remainder) dynasoar::destroy(this);
    }
    __device__ void divide(std::uint64_t offset) { dynasoar::make_new<Fish>(this->number() + offset); }
  };

  class Shark : public Animal {
   public:
    using BaseClass = Animal;
    DYNASOAR_FIELDS(Shark, (energy_, double));
    __device__ explicit Shark(std::uint64_t number) : Animal(number), energy_(1.5) {}
    __device__ double energy() const { return energy_; }
  };

  /// A class of another base, and with a destructor.
  class Den : public dynasoar::SoaBase<AllocatorT> {
   public:
    DYNASOAR_FIELDS(Den, (closed_, Counter*));
    __device__ explicit Den(std::size_t, Counter* closed) : closed_(closed) {}
    __device__ ~Den() { closed_->fetch_add(1, dynasoar::Order::relaxed); }
    __device__ void close() { dynasoar::destroy(this); }
  };

  /// Counts fishes, and what is wrong with them.
  struct Look {
    Counter* seen;  // [numbers]
    Counter* wrong;
    int age;
    __device__ void operator()(Fish* fish) const {
      seen[fish->number()].fetch_add(1, dynasoar::Order::relaxed);
      dynasoar::test::count_if(*wrong, !fish->intact(age) || !dynasoar::is_a<Fish>(static_cast<Animal*>(fish)) ||
                                           dynasoar::cast<Shark>(static_cast<Animal*>(fish)) != nullptr);
    }
  };

  /// Counts fishes by number.
  struct Number {
    Counter* seen;
    __device__ void operator()(Fish* fish) const { seen[fish->number()].fetch_add(1, dynasoar::Order::relaxed); }
  };

  struct NumberOf {
    __device__ std::uint64_t operator()(const Animal* animal) const { return animal->number(); }
  };

  /// Counts, from one thread, the sharks that are alive.
  struct CountSharks {
    Counter* count;
    __device__ void operator()(std::size_t) const {
      dynasoar::device_do<Shark>(
          [](Shark* shark, Counter* counter) { counter->fetch_add(shark->number(), dynasoar::Order::relaxed); }, count);
    }
  };
};

TEST_CASE_TEMPLATE("objects in one piece are created, visited, deleted and counted", Malloc, dynasoar::ToolkitMalloc,
                   dynasoar::BitmapMalloc) {
  using W = World<Malloc>;
  using Fish = typename W::Fish;
  using Animal = typename W::Animal;
  using Shark = typename W::Shark;
  using Den = typename W::Den;
  constexpr std::uint64_t kFish = 5000;
  AllocatorHandle<typename W::AllocatorT> handle({.heap_bytes = 16 << 20, .threads = 4});
  Counters seen(2 * kFish), wrong(1);
  const auto check_fish = [&](int age, auto expected) {
    Counters now(4 * kFish);
    handle.template parallel_do<Fish>(typename W::Look{now.data(), wrong.data(), age});
    handle.synchronize();
    const std::vector<std::uint64_t> found = now.values();
    std::uint64_t count = 0;
    bool right = true;
    for (std::uint64_t i = 0; i < found.size(); ++i) {
      right = right && found[i] == (expected(i) ? 1u : 0u);
      count += found[i];
    }
    CHECK(right);
    CHECK(wrong[0] == 0);
    CHECK(handle.template count<Fish>() == count);
  };

  handle.template parallel_new<Fish>(kFish);
  handle.template parallel_new<Shark>(100);
  check_fish(0, [](std::uint64_t i) { return i < kFish; });
  CHECK(handle.template count<Animal>() == kFish + 100);
  handle.template parallel_do<Animal, &Animal::grow>(3);
  check_fish(3, [](std::uint64_t i) { return i < kFish; });

  handle.template parallel_do<&Fish::die_if_in_class>(std::uint64_t{1}, std::uint64_t{2});
  check_fish(3, [](std::uint64_t i) { return i < kFish && i % 2 == 0; });
  // Births are not visited by the loop that makes them; gaps in the table are filled.
  handle.template parallel_do<&Fish::divide>(kFish);
  handle.template parallel_do<Animal, &Animal::grow>(0);
  CHECK(handle.template count<Fish>() == kFish);
  CHECK(handle.template reduce<Animal>(std::uint64_t{0}, dynasoar::Plus{}, typename W::NumberOf{}) ==
        kFish / 2 * (kFish - 2) + kFish / 2 * kFish + 99 * 100 / 2);
  CHECK(handle.template maximum<&Animal::number_>() == 2 * kFish - 2);

  // Objects whose entries have moved are found again.
  handle.template parallel_do<&Fish::die_if_in_class>(std::uint64_t{0}, std::uint64_t{4});
  handle.template parallel_do<&Fish::die_if_in_class>(kFish + 2, 2 * kFish);
  Counters left(2 * kFish);
  handle.template parallel_do<Fish>(typename W::Number{left.data()});
  handle.synchronize();
  bool right = true;
  const std::vector<std::uint64_t> found = left.values();
  for (std::uint64_t i = 0; i < found.size(); ++i)
    right = right && found[i] == (i % 4 == 2 && i != kFish + 2 ? 1u : 0u);
  CHECK(right);
  CHECK(handle.template count<Fish>() == kFish / 2 - 1);

  Counters sharks(1);
  handle.parallel_for(1, typename W::CountSharks{sharks.data()});
  handle.synchronize();
  CHECK(sharks[0] == 99 * 100 / 2);

  Counters closed(1);
  handle.template parallel_new<Den>(77, closed.data());
  handle.template parallel_do<&Den::close>();
  handle.synchronize();
  CHECK(closed[0] == 77);
  CHECK(handle.template count<Den>() == 0);

  const dynasoar::Statistics now = handle.statistics();
  CHECK(now.types[0].objects == kFish / 2 - 1);
  CHECK(now.types[0].created == kFish + kFish / 2);
  CHECK(now.types[2].deleted() == 77);
  CHECK(now.fragmentation() == 0);
  CHECK(now.refused() == 0);
  CHECK(now.used() > 0);
}

TEST_CASE("an object in one piece has its fields behind one another, each aligned, bases first") {
  using W = World<dynasoar::ToolkitMalloc>;
  using dynasoar::detail::aos_bytes_v;
  using dynasoar::detail::aos_offset_v;
  // A header of 4 bytes; then 1 byte, 8 bytes; 2 bytes, three of 4 bytes, a pointer.
  CHECK(aos_offset_v<W::Animal, 0> == 4);
  CHECK(aos_offset_v<W::Animal, 1> == 8);
  CHECK(aos_offset_v<W::Fish, 0> == 16);
  CHECK(aos_offset_v<W::Fish, 1> == 20);
  CHECK(aos_offset_v<W::Fish, 2> == 32);
  CHECK(aos_bytes_v<W::Fish> == 40);
  CHECK(aos_bytes_v<W::Shark> == 24);
}

/// A class for tests of what does not fit.
class Brick;
using BrickAllocator = dynasoar::AosAllocator<dynasoar::BitmapMalloc, Brick>;
class Brick : public dynasoar::SoaBase<BrickAllocator> {
 public:
  DYNASOAR_FIELDS(Brick, (number_, std::uint64_t));
  __device__ explicit Brick(std::uint64_t number) : number_(number) {}
  __device__ void crumble() { dynasoar::destroy(this); }
};

/// Creates and deletes many objects in one loop.
struct Churn {
  std::uint32_t times;
  __device__ void operator()(std::size_t i) const {
    for (std::uint32_t k = 0; k < times; ++k) dynasoar::destroy(dynasoar::make_new<Brick>(std::uint64_t{i}));
  }
};

TEST_CASE("a full heap of objects in one piece says so, and can be filled again") {
  constexpr std::size_t kHeap = std::size_t{16} << 16;  // 65536 bricks of 16 bytes
  AllocatorHandle<BrickAllocator> handle({.heap_bytes = kHeap, .threads = 4});
  for (int round = 0; round < 3; ++round) {
    CAPTURE(round);
    handle.parallel_new<Brick>(70000);
    CHECK_THROWS_WITH_AS(handle.synchronize(), doctest::Contains("Brick: make_new failed 4464 times, heap full"),
                         dynasoar::AllocationError);
    CHECK(handle.count<Brick>() == 65536);
    CHECK(handle.statistics().used() == 1);
    handle.parallel_do<&Brick::crumble>();
    CHECK(handle.count<Brick>() == 0);
  }
}

TEST_CASE("a heap of objects in one piece does not grow, and a request to grow is an error") {
  AllocatorHandle<BrickAllocator> handle({.heap_bytes = std::size_t{16} << 10, .threads = 4});
  handle.parallel_new<Brick>(1025);
  CHECK_THROWS_WITH_AS(static_cast<void>(handle.retry_with_growth()), doctest::Contains("with more heap_bytes"),
                       dynasoar::AllocationError);
  CHECK_FALSE(handle.retry_with_growth());
}

TEST_CASE("a loop that creates and deletes more than the table of objects has room for says so") {
  AllocatorHandle<BrickAllocator> handle({.heap_bytes = std::size_t{16} << 10, .threads = 4});
  handle.parallel_for(16, Churn{200});
  CHECK_THROWS_WITH_AS(handle.synchronize(), doctest::Contains("table of objects is full"), dynasoar::AllocationError);
  CHECK(handle.count<Brick>() == 0);
  CHECK(handle.statistics().types[0].created == 2 * 1024 + 64);
  CHECK(handle.statistics().types[0].refused_table == 16 * 200 - (2 * 1024 + 64));
  // The next loop has all of the table.
  handle.parallel_for(16, Churn{100});
  handle.synchronize();
  CHECK(handle.statistics().types[0].created == 2 * 1024 + 64 + 1600);
}

TEST_CASE("loops over indices that create and delete find room in the table of objects also while lists are kept") {
  AllocatorHandle<BrickAllocator> handle({.heap_bytes = std::size_t{16} << 10, .threads = 4});
  const auto kept = handle.keep_lists();
  for (int loop = 0; loop < 4; ++loop) handle.parallel_for(16, Churn{100});
  handle.synchronize();
  CHECK(handle.statistics().types[0].created == 4 * 1600);
  CHECK(handle.count<Brick>() == 0);
}

TEST_CASE("a class that is too large for an allocator of memory is refused when the handle is made") {
  // The bitmap's chunks are as large as asked for, so only a heap that is too small is left.
  CHECK_THROWS_WITH_AS((AllocatorHandle<BrickAllocator>({.heap_bytes = 8})),
                       doctest::Contains("smaller than one chunk"), dynasoar::Error);
}

/// An adapter that counts its heaps and serves nothing above 8 bytes.
struct TinyAdapter {
  static constexpr dynasoar::MallocProperties kProperties{"tiny", true, false, false};
  static inline int heaps = 0;

  static TinyAdapter make(const dynasoar::MallocNeeds& needs) {
    if (needs.heap_bytes < 8) throw dynasoar::Error("tiny: too little memory");
    ++heaps;
    return {};
  }
  void destroy() const { --heaps; }
  std::size_t largest() const { return 8; }
  __device__ void* malloc(std::size_t) const { return nullptr; }
  __device__ void free(void*) const {}
};

TEST_CASE("the heap of an adapter is destroyed once, and only if it was made") {
  using TinyMalloc = dynasoar::ForeignMalloc<TinyAdapter>;
  dynasoar::Executor executor(2);
  CHECK_THROWS_WITH_AS((TinyMalloc::Storage(executor, {.heap_bytes = 4})), "tiny: too little memory", dynasoar::Error);
  CHECK(TinyAdapter::heaps == 0);
  {
    const TinyMalloc::Storage storage(executor, {.heap_bytes = 64});
    CHECK(TinyAdapter::heaps == 1);
    CHECK(storage.heap_bytes() == 64);
    CHECK(storage.view().largest() == 8);
  }
  CHECK(TinyAdapter::heaps == 0);
}

class Pebble;
using PebbleAllocator = dynasoar::AosAllocator<dynasoar::ForeignMalloc<TinyAdapter>, Pebble>;
class Pebble : public dynasoar::SoaBase<PebbleAllocator> {
 public:
  DYNASOAR_FIELDS(Pebble, (weight_, double), (age_, double));
};

TEST_CASE("a class that is larger than what an adapter serves is refused when the handle is made") {
  CHECK_THROWS_WITH_AS((AllocatorHandle<PebbleAllocator>({.heap_bytes = 1 << 20})),
                       doctest::Contains("the allocator 'tiny' hands out 8 at most"), dynasoar::Error);
  CHECK(TinyAdapter::heaps == 0);
}

}  // namespace aos_allocator_test
