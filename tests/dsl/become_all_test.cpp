// Become of all objects of a class for which a condition holds: pointers follow them, and nothing is lost.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../platform/test_support.h"
#include "become_classes.h"
#include "record_and_run.h"

namespace become_test {

class World : public NumberedWorld<AllocatorT, Thing, Post> {
 public:
  explicit World(std::uint32_t most, const HandleOptions& options = {.heap_bytes = std::size_t{64} << 20, .threads = 4})
      : NumberedWorld(most, options) {}

  template <class T>
  void create(std::uint32_t count) {
    handle.parallel_new<T>(count, take_numbers(count));
  }

  void populate(std::uint32_t each) {
    create<Stone>(each);
    create<Cell>(each);
    create<StemCell>(each);
    create<Tumour>(each);
    handle.parallel_new<Watcher>(each);
    create_posts();
    register_anew();
    const Point point{everybody()};
    handle.parallel_do<Thing>(point);
    handle.parallel_do<Watcher>(point);
    handle.parallel_do<Post>(point);
  }

  template <class From, class To, class F, class... Args>
  void become(F condition, const std::tuple<Args...>& arguments) {
    handle.become<From, To>(condition, arguments, registered());
  }

  /// Checks that everything is as `Point` has left it.
  void check() { check_all<Check, Thing, Watcher, Post>(); }

  /// The same, but for pointers to cells, which cannot follow a cell that has become a stone.
  void check_things() { check_all<Check, Thing, Post>(); }

  /// The numbers of the objects of a class, in order.
  template <class T>
  std::vector<std::uint32_t> ids() {
    std::vector<std::uint32_t> all = handle.columns<T>()["id_"].template as<std::uint32_t>();
    std::sort(all.begin(), all.end());
    return all;
  }
};

TEST_CASE("all objects of a class for which a condition holds become others, and all pointers follow them") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  constexpr std::uint32_t kEach = 4000 / dynasoar::test::kSlowdown;
  for (const int threads : dynasoar::kCudaBackend ? std::vector{1} : std::vector{1, 4}) {
    CAPTURE(threads);
    World world(4 * kEach, {.heap_bytes = std::size_t{64} << 20, .threads = threads});
    world.populate(kEach);
    world.check();
    for (const std::uint32_t percent : {30u, 0u, 60u, 100u}) {
      CAPTURE(percent);
      const Chosen chosen{seed + percent, percent};
      const std::uint64_t changing = world.handle.count_if<StemCell>(chosen);
      const std::uint64_t tumours = world.handle.count<Tumour>(), stem_cells = world.handle.count<StemCell>();
      std::vector<std::uint32_t> expected = world.ids<Tumour>();
      for (const std::uint32_t id : world.ids<StemCell>()) {
        if (mixed(id, seed + percent) % 100 < percent) expected.push_back(id);
      }
      std::sort(expected.begin(), expected.end());
      world.become<StemCell, Tumour>(chosen, std::tuple(0));
      CHECK(world.handle.count<Tumour>() == tumours + changing);
      CHECK(world.handle.count<StemCell>() == stem_cells - changing);
      CHECK(world.ids<Tumour>() == expected);
      world.check();
      CHECK(count_wrong(world.handle, 0) == 0);
    }
    CHECK(world.handle.count<StemCell>() == 0);
  }
}

TEST_CASE("objects go through several classes and between them through compaction and sort") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  constexpr std::uint32_t kEach = 2000 / dynasoar::test::kSlowdown;
  World world(4 * kEach);
  world.populate(kEach);
  const auto pointers = world.registered();
  const std::vector<std::uint32_t> all = world.ids<Thing>();
  for (std::uint64_t round = 0; round < 4; ++round) {
    CAPTURE(round);
    world.become<Tumour, Cell>(Chosen{seed + round, 50}, std::tuple(std::uint32_t{kNobody}));  // a base
    world.check();
    world.become<Cell, StemCell>(Chosen{seed + 10 + round, 50}, std::tuple(std::uint32_t{kNobody}));  // a subclass
    world.check();
    world.become<StemCell, Tumour>(Chosen{seed + 20 + round, 50}, std::tuple(0));
    world.check();
    if (round % 2 == 0) world.handle.compact<Thing>({}, pointers);
    if (round % 2 == 1) world.handle.sort<Tumour, &Cell::age_>({}, pointers);
    world.check();
    CHECK(world.ids<Thing>() == all);
    CHECK(count_wrong(world.handle, 0) == 0);
  }
}

TEST_CASE("fields that cannot point to the new class keep the old pointers, and the others follow") {
  World world(4000);
  world.populate(1000);
  world.become<Cell, Stone>(EverySecond{}, std::tuple(std::uint32_t{kNobody}));
  CHECK(world.handle.count<Stone>() == 1500);
  world.check_things();
  Counters wrong(2);
  world.handle.parallel_do<Watcher>([words = wrong.data()] __device__(Watcher * watcher) {
    dynasoar::test::count_if(words[0], !leads_to(watcher->thing_.get(), watcher->thing_id_));
    const Thing* const pointer = watcher->cell_;
    // Not to a stone: its class is in the pointer, also in one that is stale.
    dynasoar::test::count_if(words[1], pointer != nullptr && dynasoar::is_a<Stone>(pointer));
  });
  world.handle.synchronize();
  CHECK(wrong.values() == std::vector<std::uint64_t>(2));
}

TEST_CASE("a method is the condition, and pointers that are not named stay as they are") {
  World world(400);
  world.populate(100);
  const std::vector<Thing*> before = world.pointers();
  world.handle.become<StemCell, Tumour, &Cell::is_even>(std::tuple(6));
  CHECK(world.pointers() == before);
  world.register_anew();
  world.check();
  CHECK(world.handle.count<Tumour>() == 150);
  CHECK(world.handle.count_if<Tumour>([] __device__(Tumour * tumour) { return tumour->has_grade(6); }) == 50);
  world.handle.become<StemCell, Tumour>(EverySecond{}, std::tuple(1));  // there are none left
  CHECK(world.handle.count<Tumour>() == 150);
}

TEST_CASE("subclasses of the class stay what they are") {
  World world(400);
  world.populate(100);
  world.become<Cell, Tumour>(EverySecond{}, std::tuple(0));
  CHECK(world.handle.count<StemCell>() == 100);
  CHECK(world.handle.count<Tumour>() == 150);
  world.check();
}

TEST_CASE("where a full heap has no room, objects stay what they are with all pointers to them") {
  World world(100'000, {.heap_bytes = std::size_t{1} << 19, .on_refusal = OnRefusal::record, .threads = 4});
  world.populate(300);
  world.create<StemCell>(20'000);
  world.handle.synchronize();
  world.register_anew();
  world.handle.parallel_do<Thing>(Point{world.everybody()});
  const std::uint64_t refused = world.handle.statistics().types[3].refused();
  const std::vector<std::uint32_t> all = world.ids<Thing>();
  const std::uint64_t stem_cells = world.handle.count<StemCell>(), tumours = world.handle.count<Tumour>();
  world.become<StemCell, Tumour>(Chosen{1, 100}, std::tuple(0));
  const std::uint64_t left = world.handle.count<StemCell>();
  CHECK(left > 0);
  CHECK(left < stem_cells);
  CHECK(world.handle.count<Tumour>() == tumours + stem_cells - left);
  CHECK(world.handle.statistics().types[3].refused() - refused == left);
  CHECK(world.ids<Thing>() == all);
  world.check();
  CHECK(count_wrong(world.handle, 0) == 0);
}

TEST_CASE("a heap that can grow does so before objects become others") {
  HandleT handle({.heap_bytes = 1 << 19, .heap_limit_bytes = 64 << 20, .threads = 3});
  constexpr std::uint32_t kCells = 20'000;
  handle.parallel_new<StemCell>(kCells, 1u);
  handle.synchronize();
  const std::uint64_t growths = handle.statistics().growths;
  handle.become<StemCell, Tumour>(Chosen{1, 100}, std::tuple(8));
  handle.synchronize();  // throws if any was refused
  CHECK(handle.count<Tumour>() == kCells);
  CHECK(handle.statistics().growths > growths);
  CHECK(count_wrong(handle, 8) == 0);
}

TEST_CASE("a recorded step, code that a loop runs, and the scope of kept lists cannot do it") {
  World world(400);
  world.populate(50);
  const auto become = [&] { world.become<StemCell, Tumour>(EverySecond{}, std::tuple(0)); };
  CHECK_THROWS_WITH_AS(record_and_run(world.handle, become), doctest::Contains("cannot wait"), Error);
#if !DYNASOAR_CUDA_BACKEND
  CHECK_THROWS_WITH_AS(world.handle.parallel_for(1, [&](std::size_t) { become(); }), doctest::Contains("between loops"),
                       Error);
#endif
  {
    const auto kept = world.handle.keep_lists();
    CHECK_THROWS_WITH_AS(become(), doctest::Contains("neither load nor become"), Error);
  }
  CHECK(world.handle.count<StemCell>() == 50);
  become();
  CHECK(world.handle.count<StemCell>() == 25);
  world.check();
}

}  // namespace become_test
