// Checked builds: pointers that lead to no object, or to another one than they did, are found and reported with what,
// who and how often; nothing is read or written through them.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../heap/handle_check.h"
#include "../platform/test_support.h"
#include "../platform/thrown.h"
#include "misuse_world.h"

namespace misuse_test {

using dynasoar::test::thrown;

struct DestroyAsShark {
  __device__ void operator()(Agent* pointer, int) const { dynasoar::destroy(static_cast<Shark*>(pointer)); }
};
struct SetIfAny {
  __device__ void operator()(Agent* pointer, int value) const {
    if (pointer != nullptr) pointer->value_ = value;
  }
};
struct GetAge4 {
  __device__ void operator()(Agent* pointer, int) const { pointer->value_ = static_cast<Fish*>(pointer)->ages_[4]; }
};
struct SetAge9 {
  __device__ void operator()(Agent* pointer, int value) const { static_cast<Fish*>(pointer)->ages_[9] = value; }
};

TEST_CASE("a field of a destroyed object is neither read nor written, also when the slot has a new object") {
  World world(1);
  const std::uint64_t stale = world.make_fish(1);
  world.run<Destroy>();
  world.run<Set>(3);
  const MisuseReport freed = world.only(Misuse::stale_access, 1);
  CHECK(says(freed, "Agent::value_: accessed in an object that had been destroyed once; first: Fish (block " +
                        std::to_string(AllocatorT::block_of(Handle(stale))) + ", slot 0"));
  world.make_fish_in_place_of(stale, 10);
  const std::uint64_t before = world.sum<Fish>();
  world.forge(stale);
  world.run<Set>(3);
  world.only(Misuse::stale_access, 1);
  CHECK(world.sum<Fish>() == before);
}

TEST_CASE("a compressed pointer to a destroyed object is stale, also when the slot has a new object") {
  World world(2);
  world.make_fish(1);
  world.pair_up();
  world.handle.synchronize();
  const std::uint64_t stale = world.bits();
  world.put({world.pointers()[0], nullptr});
  world.run<Destroy>();
  world.make_fish_in_place_of(stale, 10);
  const std::uint64_t before = world.sum<Fish>();
  world.handle.parallel_do<Fish, &Agent::eat_short_prey>();
  world.only(Misuse::double_destroy, 1);
  CHECK(world.sum<Fish>() == before);
}

TEST_CASE("a stale pointer is told when its page has changed to another class") {
  World world(1, {}, 4);
  const std::uint64_t stale = world.make_fish(1);
  world.run<Destroy>();
  world.handle.parallel_new<Shark>(4 * 64 * 64, 7);  // fills the heap
  CHECK_THROWS_AS(world.handle.synchronize(), AllocationError);
  REQUIRE(world.handle.statistics().free_pages == 0);
  world.forge(stale);
  world.run<Set>(3);
  world.only(Misuse::stale_access, 1);
  world.run<Destroy>();
  world.only(Misuse::double_destroy, 1);
}

TEST_CASE("pointers to objects that have moved are stale, and compaction makes none that is stale look fresh") {
  constexpr std::size_t kFish = 512;
  constexpr std::size_t kAlive = (kFish + 2) / 3;
  World world(kFish, {}, 32);
  world.make_fish(1);
  const std::vector<Agent*> gone = world.pointers();
  world.run<Destroy>();
  world.run<Make<Fish>>(2);  // in the same slots
  world.handle.synchronize();
  const std::vector<Agent*> before = world.pointers();
  std::vector<Agent*> dead = before;
  for (std::size_t i = 0; i < kFish; i += 3) dead[i] = nullptr;
  world.put(dead);
  world.run<Destroy>();
  world.put(before);
  const auto told = dynasoar::test::on_device(gone);
  world.handle.compact<Fish>({}, dynasoar::pointers(told.data(), kFish),
                             dynasoar::pointers(world.device_pointers(), kFish));
  CHECK(dynasoar::test::heap_errors(world.handle) == "");
  CHECK(world.sum<Fish>() == 2 * kAlive);
  CHECK(told.download() == gone);
  const std::vector<Agent*> after = world.pointers();
  std::vector<Agent*> alive(kFish, nullptr);
  std::vector<Agent*> left(kFish, nullptr);  // pointers that compaction was not told of
  std::uint64_t moves = 0;
  for (std::size_t i = 0; i < kFish; ++i) {
    if (dead[i] != nullptr) {
      CHECK(after[i] == dead[i]);
      continue;
    }
    alive[i] = after[i];
    if (after[i] != before[i]) {
      left[i] = before[i];
      ++moves;
    }
  }
  REQUIRE(moves > 0);
  world.put(alive);
  world.run<SetIfAny>(3);
  CHECK(world.reports().empty());
  CHECK(world.sum<Fish>() == 3 * kAlive);
  world.put(gone);
  world.run<Set>(7);
  world.only(Misuse::stale_access, kFish);
  world.put(left);
  world.run<Destroy>();
  world.only(Misuse::double_destroy, moves);
  CHECK(world.sum<Fish>() == 3 * kAlive);
}

TEST_CASE("generations wrap after 256 objects in one slot: then, and only then, a stale pointer looks fresh") {
  World world(1);
  const std::uint64_t first = world.make_fish(0);
  for (int i = 1; i < 256; ++i) {
    world.handle.parallel_do<Fish, &Agent::vanish>();
    world.make_fish_in_place_of(first, 0);
    CHECK(world.bits() != first);
  }
  world.handle.parallel_do<Fish, &Agent::vanish>();
  world.make_fish_in_place_of(first, 0);
  CHECK(world.bits() == first);
}

TEST_CASE("pointers of an AllocatorHandle that is gone are stale for the next one") {
  const std::uint64_t old = World(1).make_fish(1);
  World world(1);
  world.make_fish_in_place_of(old, 10);
  const std::uint64_t before = world.sum<Fish>();
  world.forge(old);
  world.run<Set>(3);
  world.only(Misuse::stale_access, 1);
  CHECK(world.sum<Fish>() == before);
}

TEST_CASE("pointers that the allocator never made are told from its own") {
  World world(1);
  const std::uint64_t good = world.make_fish(1);
  const std::uint64_t page = AllocatorT::pages().bytes;
  const std::uint64_t foreign[] = {good + page * 8, good + 64,
                                   (good & ~(std::uint64_t{255} << 56)) | std::uint64_t{77} << 56,
                                   std::uint64_t{0x7ffe12345678}};
  for (const std::uint64_t bits : foreign) {
    CAPTURE(bits);
    world.forge(bits);
    world.run<Set>(3);
    world.only(Misuse::foreign_pointer, 1);
    world.run<Destroy>();
    const MisuseReport report = world.only(Misuse::foreign_pointer, 1);
    CHECK(report.first.object == bits);
  }
  world.forge(good + 1);  // the next slot, in which no object has ever been
  world.run<Destroy>();
  CHECK(says(world.only(Misuse::never_created, 1), "Fish: used without having been created once"));
  CHECK(world.sum<Fish>() == 1);
}

TEST_CASE("a null pointer's field is neither read nor written") {
  World world(300);
  world.run<Set>(3);
  const MisuseReport report = world.only(Misuse::null_access, 300);
  CHECK(says(report, "Agent::value_: accessed through a null pointer 300 times; first: a null pointer"));
}

TEST_CASE("an object is not used as one of another class") {
  World world(1);
  world.run<Make<Fish>>(1);
  world.run<SetTeeth>(3);
  const MisuseReport access = world.only(Misuse::wrong_class, 1);
  CHECK(says(access, "Shark::teeth_: used through a pointer to another class than the object's once; first: Fish"));
  world.run<DestroyAsShark>();
  CHECK(says(world.only(Misuse::wrong_class, 1), "Shark: used"));
  CHECK(world.sum<Fish>() == 1);
}

TEST_CASE("an array field's element beyond the end is neither read nor written") {
  World world(2);
  world.run<Make<Fish>>(1);
  world.run<GetAge4>();
  const MisuseReport read = world.only(Misuse::index_out_of_range, 2);
  CHECK(read.first.element == 4);
  CHECK(says(read, "Fish::ages_: element 4 accessed, which is beyond the end, 2 times"));
  world.run<SetAge9>(1000);
  world.only(Misuse::index_out_of_range, 2);
}

TEST_CASE("several kinds of misuse are reported together, and counting reports them as well") {
  World world(1);
  world.run<Set>(3);
  world.run<Make<Fish>>(1);
  world.run<SetTeeth>(3);
  const auto reports = thrown<MisuseError>([&] { world.handle.count<Fish>(); }).reports();
  REQUIRE(reports.size() == 2);
  CHECK(reports[0].kind == Misuse::null_access);
  CHECK(reports[1].kind == Misuse::wrong_class);
}

}  // namespace misuse_test
