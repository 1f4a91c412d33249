// Checked builds: what must not be destroyed, because it already was, or because others use it, is not destroyed, and
// is reported.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../heap/handle_check.h"
#include "misuse_world.h"

namespace misuse_test {

class Coral;
using OceanFloor = dynasoar::SoaAllocator<Coral>;

class Coral : public dynasoar::SoaBase<OceanFloor> {
 public:
  DYNASOAR_FIELDS(Coral, (size_, int))
  __device__ Coral() : size_(1) {}
};

struct MakeCoral {
  Coral** pointers;
  __device__ void operator()(std::size_t i) const { pointers[i] = dynasoar::make_new<Coral>(); }
};

TEST_CASE("an object that is destroyed twice, in one loop or in two, is destroyed once") {
  World world(2);
  world.run<Make<Fish>>(1);
  world.run_on_first<Destroy>(100);
  const MisuseReport report = world.only(Misuse::double_destroy, 99);
  const Handle first(world.bits());
  CHECK(says(report, "Fish: destroyed again 99 times; first: Fish (block " +
                         std::to_string(AllocatorT::block_of(first)) + ", slot " + std::to_string(first.slot()) +
                         ", generation " + std::to_string(first.generation()) + "). Let"));  // by no other object
  CHECK(report.first.by == 0);
  CHECK(report.first.object == world.bits());
  CHECK(world.handle.count<Fish>() == 1);
  world.run_on_first<Destroy>(3);
  world.only(Misuse::double_destroy, 3);
  CHECK(world.handle.count<Fish>() == 1);
}

TEST_CASE("destroying through a stale pointer leaves the object that now has the slot alone") {
  World world(1);
  const std::uint64_t stale = world.make_fish(1);
  world.run<Destroy>();
  world.make_fish_in_place_of(stale, 2);
  const std::uint64_t before = world.sum<Fish>();
  world.forge(stale);
  world.run<Destroy>();
  world.only(Misuse::double_destroy, 1);
  CHECK(world.sum<Fish>() == before);
}

TEST_CASE("a loop's object may not destroy another one that the loop visits") {
  World world(64);
  world.run<Make<Fish>>(1);
  world.pair_up();
  world.handle.parallel_do<Fish, &Agent::eat>();
  const MisuseReport report = world.only(Misuse::destroyed_by_other, 64);
  CHECK(says(report, "Fish: destroyed by another object in a loop that visits it"));
  CHECK(says(report, " by Fish (block "));
  CHECK(report.first.by != report.first.object);
  CHECK(world.handle.count<Fish>() == 64);
}

TEST_CASE("a loop's object may destroy objects that the loop does not visit") {
  World world(2);
  world.run<Make<Fish>>(1);
  // A shark that is after pointer 0.
  world.handle.parallel_for(1, [pointers = world.device_pointers()] __device__(std::size_t) {
    dynasoar::make_new<Shark>(5)->prey_ = pointers[0];
  });
  world.handle.parallel_do<Shark, &Agent::eat>();
  CHECK(world.reports().empty());
  CHECK(world.handle.count<Fish>() == 1);
}

TEST_CASE("pointers of another allocator's objects are not taken for this one's") {
  AllocatorHandle<OceanFloor> other;
  DeviceArray<Coral*> corals(1);
  other.parallel_for(1, MakeCoral{corals.data()});
  other.synchronize();
  World world(1);
  world.make_fish(10);
  const auto bits = reinterpret_cast<std::uint64_t>(corals.download()[0]);
  REQUIRE(Handle(bits).type_index() == Handle(world.bits()).type_index());
  world.forge(bits);
  world.run<Set>(3);
  const std::vector<MisuseReport> reports = world.reports();
  REQUIRE(reports.size() == 1);
  // Depending on where the coral lies, there is, was, never was or never can be a fish.
  const Misuse kind = reports[0].kind;
  CHECK((kind == Misuse::stale_access || kind == Misuse::never_created || kind == Misuse::foreign_pointer));
  CHECK(world.sum<Fish>() == 10);
}

TEST_CASE("a loop over one allocator's objects may destroy objects of another, whatever its last loop visited") {
  AllocatorHandle<OceanFloor> other;
  DeviceArray<Coral*> corals(1);
  other.parallel_for(1, MakeCoral{corals.data()});
  World world(1);
  world.run<Make<Fish>>(10);
  world.handle.parallel_do<Fish, &Agent::add_one>();
  other.parallel_do<Coral>([pointers = world.device_pointers()] __device__(Coral*) { dynasoar::destroy(pointers[0]); });
  CHECK(world.reports().empty());
  CHECK(world.handle.count<Fish>() == 0);
}

TEST_CASE("objects that many threads destroy at once are destroyed once, and what takes their slots stays") {
  constexpr std::size_t kObjects = 512, kThreads = 30000;
  for (int round = 0; round < 20; ++round) {
    World world(kObjects, {}, 64);
    world.run<Make<Fish>>(1);
    // Everybody destroys the same objects, and some make new ones meanwhile, so that slots are reused at once.
    world.handle.parallel_for(kThreads, [pointers = world.device_pointers()] __device__(std::size_t i) {
      dynasoar::destroy(pointers[i % kObjects]);
      if (i % 3 == 0) dynasoar::make_new<Fish>(1);
    });
    const std::vector<MisuseReport> reports = world.reports();
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].kind == Misuse::double_destroy);
    // A generation that wraps can make a stale pointer look fresh: one in 256 slots that are reused all the time.
    const std::uint64_t made = kThreads / 3, wrong = kThreads - kObjects - reports[0].count;
    CHECK(wrong <= reports[0].count / 100);
    CHECK(world.handle.count<Fish>() == made - wrong);
    CHECK(dynasoar::test::heap_errors(world.handle) == "");
  }
}

#if !DYNASOAR_CUDA_BACKEND
TEST_CASE("host code outside of loops does not create or destroy objects") {
  World world(1);
  world.make_fish(1);
  CHECK(dynasoar::make_new<Fish>(1) == nullptr);
  CHECK(says(world.only(Misuse::outside_loop, 1), "Fish: make_new called in host code outside of a loop once. Use"));
  dynasoar::destroy(world.pointers()[0]);
  CHECK(says(world.only(Misuse::outside_loop, 1), "Fish: destroy called in host code outside of a loop"));
  CHECK(world.handle.count<Fish>() == 1);
}
#endif

}  // namespace misuse_test
