// Checked builds: every misuse is found, reported with what, who and how often, and changes nothing. This file is
// always compiled with DYNASOAR_CHECKED=1.
#include <array>
#include <cstdint>
#include <cstdio>
#include <regex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../heap/handle_check.h"
#include "../platform/test_support.h"
#include "../platform/thrown.h"

namespace misuse_test {

using namespace dynasoar;
using dynasoar::detail::Handle;
using dynasoar::test::run_loop;
using dynasoar::test::thrown;

static_assert(dynasoar::kChecked, "this file is about checked builds");

class Fish;
class Shark;
class Nest;
class Clinger;
using AllocatorT = dynasoar::SoaAllocator<Fish, Shark, Nest, Clinger>;

class Agent : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Agent, (prey_, Agent*), (short_prey_, CompressedPointer<Agent>), (value_, int))
  __device__ explicit Agent(int value) : prey_(nullptr), short_prey_(nullptr), value_(value) {}

  __device__ void eat() { dynasoar::destroy(prey_.get()); }
  __device__ void eat_short_prey() { dynasoar::destroy(static_cast<Agent*>(short_prey_)); }
  __device__ void vanish() { dynasoar::destroy(this); }
  __device__ void add_one() { ++value_; }
  __device__ void throw_away_a_new_one();
};

class Fish : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Fish, (ages_, std::array<int, 4>))
  __device__ explicit Fish(int value) : Agent(value) { ages_.fill(value); }
};

class Shark : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Shark, (teeth_, double))
  __device__ explicit Shark(int value) : Agent(value), teeth_(value) {}
  __device__ Shark(std::size_t, int value) : Shark(value) {}
};

/// Its constructor makes another one, `depth` times; without end if that is negative.
class Nest : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Nest, (inner_, Nest*))
  __device__ explicit Nest(int depth) : Agent(depth) {
    inner_ = depth == 0 ? nullptr : dynasoar::make_new<Nest>(depth - 1);
  }
};

/// Its destructor destroys it again.
class Clinger : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Clinger)
  __device__ explicit Clinger(int value) : Agent(value) {}
  __device__ ~Clinger() { dynasoar::destroy(this); }
};

__device__ void Agent::throw_away_a_new_one() {
  dynasoar::destroy(dynasoar::make_new<Fish>(0));
}

enum class Act {
  make_fish,
  make_shark,
  make_nest,
  make_clinger,
  destroy,
  destroy_as_shark,
  set,
  set_if_any,
  get,
  set_teeth,
  get_age_4,
  set_age_9,
  pair_up
};

/// Does something with pointer i of an array, or with pointer 0 where `all_on_first` says so.
struct Do {
  Act act;
  Agent** pointers;
  int value = 0;
  bool all_on_first = false;

  __device__ Agent*& pointer(std::size_t i) const { return pointers[all_on_first ? 0 : i]; }

  // What null pointers make of it is what some tests are about.
#if defined(__GNUC__) && !defined(__CUDACC__)
  __attribute__((no_sanitize("undefined")))
#endif
  __device__ void
  operator()(std::size_t i) const {
    switch (act) {
      case Act::make_fish: pointer(i) = dynasoar::make_new<Fish>(value); break;
      case Act::make_shark: pointer(i) = dynasoar::make_new<Shark>(value); break;
      case Act::make_nest: pointer(i) = dynasoar::make_new<Nest>(value); break;
      case Act::make_clinger: pointer(i) = dynasoar::make_new<Clinger>(value); break;
      case Act::destroy: dynasoar::destroy(pointer(i)); break;
      case Act::destroy_as_shark: dynasoar::destroy(static_cast<Shark*>(pointer(i))); break;
      case Act::set: pointer(i)->value_ = value; break;
      case Act::set_if_any:
        if (pointer(i) != nullptr) pointer(i)->value_ = value;
        break;
      case Act::get: pointer(i)->value_ = pointer(i)->value_ + 1; break;
      case Act::set_teeth: static_cast<Shark*>(pointer(i))->teeth_ = value; break;
      case Act::get_age_4: pointer(i)->value_ = static_cast<Fish*>(pointer(i))->ages_[4]; break;
      case Act::set_age_9: static_cast<Fish*>(pointer(i))->ages_[9] = value; break;
      case Act::pair_up:
        pointers[i]->prey_ = pointers[i ^ 1];
        pointers[i]->short_prey_ = pointers[i ^ 1];
        break;
    }
  }
};

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

/// A heap and some pointers.
class World {
 public:
  explicit World(std::size_t count, dynasoar::FaultInjection faults = {}, std::size_t pages = 8)
      : handle({.heap_bytes = pages * AllocatorT::pages().bytes, .threads = 4, .failing_allocations = faults}),
        count_(count),
        pointers_(count) {
    pointers_.fill_bytes(0);
  }

  void run(Act act, int value = 0) { handle.parallel_for(count_, Do{act, pointers_.data(), value}); }
  void run_on_first(Act act, int times, int value = 0) {
    handle.parallel_for(static_cast<std::size_t>(times), Do{act, pointers_.data(), value, true});
  }

  Agent** device_pointers() const { return pointers_.data(); }
  std::vector<Agent*> pointers() const { return pointers_.download(); }
  std::uint64_t bits(std::size_t i = 0) const { return reinterpret_cast<std::uint64_t>(pointers()[i]); }
  void put(const std::vector<Agent*>& pointers) { pointers_.upload(pointers); }
  void forge(std::uint64_t bits) { pointers_.upload({reinterpret_cast<Agent*>(bits)}); }

  /// Makes fish and waits. @return pointer 0
  std::uint64_t make_fish(int value) {
    run(Act::make_fish, value);
    handle.synchronize();
    return bits();
  }

  /// Makes fish until one has the block and slot of an object that is gone; pointer 0 is the last of them. On a GPU,
  /// which block a thread fills first depends on the multiprocessor that it runs on.
  void make_fish_in_place_of(std::uint64_t gone, int value) {
    const Handle place(gone);
    do {
      run_on_first(Act::make_fish, 1, value);
      handle.synchronize();  // throws if the heap is full
    } while (AllocatorT::block_of(Handle(bits())) != AllocatorT::block_of(place) ||
             Handle(bits()).slot() != place.slot());
  }

  /// Sum of `value_` over all objects of a class.
  template <class T>
  std::uint64_t sum() {
    dynasoar::test::Counters counters(1);
    handle.parallel_do<T>([sum = counters.data()] __device__(Agent * agent) {
      sum->fetch_add(static_cast<std::uint64_t>(agent->value_.get()), dynasoar::Order::relaxed);
    });
    handle.synchronize();
    return counters[0];
  }

  /// The reports of the next synchronizing call; none if there are none.
  std::vector<MisuseReport> reports() {
    try {
      handle.synchronize();
    } catch (const MisuseError& error) {
      MESSAGE(doctest::String(error.what()));
      for (const MisuseReport& report : error.reports()) {
        CHECK(std::string(error.what()).find(report.text) != std::string::npos);
      }
      return error.reports();
    }
    return {};
  }

  /// Checks that there is one report, and the heap in order. @return it
  MisuseReport only(Misuse kind, std::uint64_t count) {
    const std::vector<MisuseReport> all = reports();
    CHECK(dynasoar::test::heap_errors(handle) == "");
    CHECK(reports().empty());  // a report is made once
    REQUIRE(all.size() == 1);
    CHECK(all[0].kind == kind);
    CHECK(all[0].count == count);
    CHECK(all[0].text.find(count == 1 ? "once" : std::to_string(count) + " times") != std::string::npos);
    return all[0];
  }

  AllocatorHandle<AllocatorT> handle;

 private:
  std::size_t count_;
  DeviceArray<Agent*> pointers_;
};

/// Whether the report says that, but for the namespace.
bool says(const MisuseReport& report, const std::string& text) {
  const std::string said = std::regex_replace(report.text, std::regex("misuse_test::"), "");
  return said.find(text) != std::string::npos;
}

TEST_CASE("correct use is not reported, and null may be destroyed") {
  World world(1000, {}, 24);  // room for twice as many: each may have its new one at the same time
  world.run(Act::destroy);    // all null
  world.run(Act::make_fish, 5);
  world.run(Act::get);
  world.handle.parallel_do<Agent, &Agent::add_one>();
  world.handle.parallel_do<Agent, &Agent::throw_away_a_new_one>();
  CHECK(world.sum<Fish>() == 7000);
  world.handle.parallel_do<Fish, &Agent::vanish>();
  CHECK(world.handle.count<Agent>() == 0);
  CHECK(world.reports().empty());
}

TEST_CASE("an object that is destroyed twice, in one loop or in two, is destroyed once") {
  World world(2);
  world.run(Act::make_fish, 1);
  world.run_on_first(Act::destroy, 100);
  const MisuseReport report = world.only(Misuse::double_destroy, 99);
  const Handle first(world.bits());
  CHECK(says(report, "Fish: destroyed again 99 times; first: Fish (block " +
                         std::to_string(AllocatorT::block_of(first)) + ", slot " + std::to_string(first.slot()) +
                         ", generation " + std::to_string(first.generation()) + "). Let"));  // by no other object
  CHECK(report.first.by == 0);
  CHECK(report.first.object == world.bits());
  CHECK(world.handle.count<Fish>() == 1);
  world.run_on_first(Act::destroy, 3);
  world.only(Misuse::double_destroy, 3);
  CHECK(world.handle.count<Fish>() == 1);
}

TEST_CASE("destroying through a stale pointer leaves the object that now has the slot alone") {
  World world(1);
  const std::uint64_t stale = world.make_fish(1);
  world.run(Act::destroy);
  world.make_fish_in_place_of(stale, 2);
  const std::uint64_t before = world.sum<Fish>();
  world.forge(stale);
  world.run(Act::destroy);
  world.only(Misuse::double_destroy, 1);
  CHECK(world.sum<Fish>() == before);
}

TEST_CASE("a field of a destroyed object is neither read nor written, also when the slot has a new object") {
  World world(1);
  const std::uint64_t stale = world.make_fish(1);
  world.run(Act::destroy);
  world.run(Act::set, 3);
  const MisuseReport freed = world.only(Misuse::stale_access, 1);
  CHECK(says(freed, "Agent::value_: accessed in an object that had been destroyed once; first: Fish (block " +
                        std::to_string(AllocatorT::block_of(Handle(stale))) + ", slot 0"));
  world.make_fish_in_place_of(stale, 10);
  const std::uint64_t before = world.sum<Fish>();
  world.forge(stale);
  world.run(Act::set, 3);
  world.only(Misuse::stale_access, 1);
  CHECK(world.sum<Fish>() == before);
}

TEST_CASE("a compressed pointer to a destroyed object is stale, also when the slot has a new object") {
  World world(2);
  world.make_fish(1);
  world.run(Act::pair_up);
  world.handle.synchronize();
  const std::uint64_t stale = world.bits();
  world.put({world.pointers()[0], nullptr});
  world.run(Act::destroy);
  world.make_fish_in_place_of(stale, 10);
  const std::uint64_t before = world.sum<Fish>();
  world.handle.parallel_do<Fish, &Agent::eat_short_prey>();
  world.only(Misuse::double_destroy, 1);
  CHECK(world.sum<Fish>() == before);
}

TEST_CASE("a stale pointer is told when its page has changed to another class") {
  World world(1, {}, 4);
  const std::uint64_t stale = world.make_fish(1);
  world.run(Act::destroy);
  world.handle.parallel_new<Shark>(4 * 64 * 64, 7);  // fills the heap
  CHECK_THROWS_AS(world.handle.synchronize(), AllocationError);
  REQUIRE(world.handle.statistics().free_pages == 0);
  world.forge(stale);
  world.run(Act::set, 3);
  world.only(Misuse::stale_access, 1);
  world.run(Act::destroy);
  world.only(Misuse::double_destroy, 1);
}

TEST_CASE("pointers to objects that have moved are stale, and compaction makes none that is stale look fresh") {
  constexpr std::size_t kFish = 512;
  constexpr std::size_t kAlive = (kFish + 2) / 3;
  World world(kFish, {}, 32);
  world.make_fish(1);
  const std::vector<Agent*> gone = world.pointers();
  world.run(Act::destroy);
  world.run(Act::make_fish, 2);  // in the same slots
  world.handle.synchronize();
  const std::vector<Agent*> before = world.pointers();
  std::vector<Agent*> dead = before;
  for (std::size_t i = 0; i < kFish; i += 3) dead[i] = nullptr;
  world.put(dead);
  world.run(Act::destroy);
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
  world.run(Act::set_if_any, 3);
  CHECK(world.reports().empty());
  CHECK(world.sum<Fish>() == 3 * kAlive);
  world.put(gone);
  world.run(Act::set, 7);
  world.only(Misuse::stale_access, kFish);
  world.put(left);
  world.run(Act::destroy);
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
  world.run(Act::set, 3);
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
    world.run(Act::set, 3);
    world.only(Misuse::foreign_pointer, 1);
    world.run(Act::destroy);
    const MisuseReport report = world.only(Misuse::foreign_pointer, 1);
    CHECK(report.first.object == bits);
  }
  world.forge(good + 1);  // the next slot, in which no object has ever been
  world.run(Act::destroy);
  CHECK(says(world.only(Misuse::never_created, 1), "Fish: used without having been created once"));
  CHECK(world.sum<Fish>() == 1);
}

TEST_CASE("a null pointer's field is neither read nor written") {
  World world(300);
  world.run(Act::set, 3);
  const MisuseReport report = world.only(Misuse::null_access, 300);
  CHECK(says(report, "Agent::value_: accessed through a null pointer 300 times; first: a null pointer"));
}

TEST_CASE("an object is not used as one of another class") {
  World world(1);
  world.run(Act::make_fish, 1);
  world.run(Act::set_teeth, 3);
  const MisuseReport access = world.only(Misuse::wrong_class, 1);
  CHECK(says(access, "Shark::teeth_: used through a pointer to another class than the object's once; first: Fish"));
  world.run(Act::destroy_as_shark);
  CHECK(says(world.only(Misuse::wrong_class, 1), "Shark: used"));
  CHECK(world.sum<Fish>() == 1);
}

TEST_CASE("an array field's element beyond the end is neither read nor written") {
  World world(2);
  world.run(Act::make_fish, 1);
  world.run(Act::get_age_4);
  const MisuseReport read = world.only(Misuse::index_out_of_range, 2);
  CHECK(read.first.element == 4);
  CHECK(says(read, "Fish::ages_: element 4 accessed, which is beyond the end, 2 times"));
  world.run(Act::set_age_9, 1000);
  world.only(Misuse::index_out_of_range, 2);
}

TEST_CASE("a loop's object may not destroy another one that the loop visits") {
  World world(64);
  world.run(Act::make_fish, 1);
  world.run(Act::pair_up);
  world.handle.parallel_do<Fish, &Agent::eat>();
  const MisuseReport report = world.only(Misuse::destroyed_by_other, 64);
  CHECK(says(report, "Fish: destroyed by another object in a loop that visits it"));
  CHECK(says(report, " by Fish (block "));
  CHECK(report.first.by != report.first.object);
  CHECK(world.handle.count<Fish>() == 64);
}

TEST_CASE("a loop's object may destroy objects that the loop does not visit") {
  World world(2);
  world.run(Act::make_fish, 1);
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
  world.run(Act::set, 3);
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
  world.run(Act::make_fish, 10);
  world.handle.parallel_do<Fish, &Agent::add_one>();
  other.parallel_do<Coral>([pointers = world.device_pointers()] __device__(Coral*) { dynasoar::destroy(pointers[0]); });
  CHECK(world.reports().empty());
  CHECK(world.handle.count<Fish>() == 0);
}

TEST_CASE("objects that many threads destroy at once are destroyed once, and what takes their slots stays") {
  constexpr std::size_t kObjects = 512, kThreads = 30000;
  for (int round = 0; round < 20; ++round) {
    World world(kObjects, {}, 64);
    world.run(Act::make_fish, 1);
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

TEST_CASE("constructors may create objects, but not without end") {
  World world(10, {}, 64);
  world.run(Act::make_nest, 3);
  CHECK(world.handle.count<Nest>() == 40);
  constexpr std::uint64_t kDeepest = dynasoar::kCudaBackend ? 8 : 1000;
  world.run(Act::make_nest, -1);
  CHECK(says(world.only(Misuse::nested_construction, 10),
             "Nest: make_new called in constructors in one another, too deep, 10 times. Create"));
  CHECK(world.handle.count<Nest>() == 40 + 10 * kDeepest);
}

TEST_CASE("a destructor that destroys its own object does it no harm") {
  World world(3);
  world.run(Act::make_clinger, 1);
  world.run(Act::destroy);
  world.only(Misuse::double_destroy, 3);
  CHECK(world.handle.count<Clinger>() == 0);
}

TEST_CASE("several kinds of misuse are reported together, and counting reports them as well") {
  World world(1);
  world.run(Act::set, 3);
  world.run(Act::make_fish, 1);
  world.run(Act::set_teeth, 3);
  const auto reports = thrown<MisuseError>([&] { world.handle.count<Fish>(); }).reports();
  REQUIRE(reports.size() == 2);
  CHECK(reports[0].kind == Misuse::null_access);
  CHECK(reports[1].kind == Misuse::wrong_class);
}

TEST_CASE("chosen allocations fail, and everything else goes on") {
  World world(100, {.first = 10, .every = 5});
  world.run(Act::make_fish, 1);
  const auto error = thrown<AllocationError>([&] { world.handle.synchronize(); });
  CHECK(error.failures() == 19);  // 10, 15, ..., 100
  CHECK(std::string(error.what()).find("Fish: make_new failed 19 times, as asked for by failing_allocations") !=
        std::string::npos);
  CHECK(world.handle.count<Fish>() == 81);
  CHECK(world.handle.statistics().types[0].refused_on_request == 19);
}

TEST_CASE("a constructor whose own allocation fails makes an object all the same") {
  for (std::uint64_t failing = 1; failing <= 5; ++failing) {
    World world(1, {.first = failing});
    world.run(Act::make_nest, 3);  // four, one in another
    if (failing > 4) {
      CHECK(world.handle.count<Nest>() == 4);
    } else {
      CHECK_THROWS_AS(world.handle.synchronize(), AllocationError);
      CHECK(world.handle.count<Nest>() == failing - 1);
    }
  }
}

TEST_CASE("wherever allocations fail, nothing but what they would have made is missing") {
  for (std::uint64_t first = 1; first <= 100; first += 9) {
    for (std::uint64_t every : {0, 1, 2, 7}) {
      CAPTURE(first);
      CAPTURE(every);
      World world(50, {.first = first, .every = every}, 8);
      const auto synchronize = [&] {
        try {
          world.handle.synchronize();
        } catch (const AllocationError&) {
        }
      };
      world.run(Act::make_fish, 1);  // 50
      world.run(Act::destroy);
      world.run(Act::make_nest, 2);  // at most 50 times three
      world.handle.parallel_do<Nest, &Agent::throw_away_a_new_one>();
      synchronize();
      const dynasoar::Statistics statistics = world.handle.statistics();
      const std::uint64_t nests = world.handle.count<Nest>();
      CHECK(world.handle.count<Agent>() == nests);  // no fish is left
      CHECK(statistics.created() == 50 - statistics.types[0].refused() + statistics.types[2].created.value() + nests);
      CHECK(statistics.refused() > 0);
      CHECK(dynasoar::test::heap_errors(world.handle) == "");
    }
  }
}

/// Runs this program again, only the test of that name. @return its exit status and what it printed
std::pair<int, std::string> run_child(const std::string& test) {
  const std::string command =
      "\"$(readlink /proc/" + std::to_string(::getpid()) + "/exe)\" --no-skip '--test-case=" + test + "' 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string output;
  char buffer[256];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) output += buffer;
  return {::pclose(pipe), output};
}

TEST_CASE("child: uses an object when no handle is alive" * doctest::skip()) {
  const std::uint64_t old = World(1).make_fish(1);
  DeviceArray<Agent*> pointers(1);
  pointers.upload({reinterpret_cast<Agent*>(old)});
  run_loop(1, Do{Act::set, pointers.data(), 1});
}

TEST_CASE("an object that is used when no handle is alive ends the program with a message") {
  const auto [status, output] = run_child("child: uses an object when no handle is alive");
  CHECK(status != 0);
  CHECK(output.find("there is no AllocatorHandle of its allocator alive") != std::string::npos);
}

TEST_CASE("child: misuse that nobody asks for" * doctest::skip()) {
  World world(1);
  world.run(Act::set, 3);
}

TEST_CASE("misuse that nobody asked for is printed when the handle is destroyed") {
  const auto [status, output] = run_child("child: misuse that nobody asks for");
  CHECK(status == 0);
  CHECK(output.find("Agent::value_: accessed through a null pointer once") != std::string::npos);
}

#if DYNASOAR_CUDA_BACKEND
TEST_CASE("a pointer to the host's memory is found among the arguments of a loop, unless the GPU can read it") {
  World world(1);
  world.run(Act::make_fish, 1);
  int reads_host = 0;
  dynasoar::detail::check_cuda(cudaDeviceGetAttribute(&reads_host, cudaDevAttrPageableMemoryAccess, 0), "attribute");
  const auto run = [&](const int* one, const int* other) {
    world.handle.parallel_do<Fish>([] __device__(Fish*, int, const int*, const int*) {}, 1, one, other);
  };
  dynasoar::DeviceArray<int> array(1 << 20);
  const int on_host = 0;
  CHECK_NOTHROW(run(array.data(), array.data() + array.size()));
  CHECK_NOTHROW(run(array.data(), nullptr));
  CHECK_NOTHROW(
      world.handle.parallel_do<Fish>([] __device__(Fish*, Fish*) {}, reinterpret_cast<Fish*>(0x0100000000000040)));
  if (reads_host != 0) {
    CHECK_NOTHROW(run(array.data(), &on_host));
  } else {
    CHECK_THROWS_WITH_AS(run(array.data(), &on_host),
                         doctest::Contains("argument 3 of a loop points to memory of the host"), Error);
  }
  CHECK_NOTHROW(world.handle.synchronize());
}

TEST_CASE("child: a kernel is aborted" * doctest::skip()) {
  World world(1);
  world.run(Act::make_fish, 1);
  world.handle.parallel_do<Fish>([] __device__(Fish*) { __trap(); });
  CHECK_THROWS_WITH_AS(world.handle.synchronize(), doctest::Contains("cudaErrorLaunchFailure"), Error);
  CHECK_THROWS_AS(world.handle.count<Fish>(), Error);
}

TEST_CASE("a kernel that is aborted leaves an error and a handle that can be destroyed") {
  const auto [status, output] = run_child("child: a kernel is aborted");
  CAPTURE(output);
  CHECK(status == 0);
  CHECK(output.find("1 passed") != std::string::npos);
}
#else
struct Throw {
  void operator()(Fish*) const { throw std::runtime_error("given up"); }
};

TEST_CASE("a loop that an exception ends passes it on and leaves a heap in order") {
  World world(100);
  world.run(Act::make_fish, 1);
  CHECK_THROWS_WITH_AS(world.handle.parallel_do<Fish>(Throw{}), "given up", std::runtime_error);
  CHECK(dynasoar::test::heap_errors(world.handle) == "");
  CHECK(world.sum<Fish>() == 100);
}
#endif

// ---- Fields that nothing has set

class Larva;
using LarvaAllocator = dynasoar::SoaAllocator<Larva>;

/// Its constructor creates others and sets next_, byte_ and late_ only, some of them to what unset fields hold.
class Larva : public dynasoar::SoaBase<LarvaAllocator> {
 public:
  DYNASOAR_FIELDS(Larva, (age_, int), (small_, std::uint8_t), (force_, double), (next_, Larva*),
                  (parts_, std::array<int, 3>), (byte_, std::uint8_t), (late_, std::uint32_t))
  __device__ explicit Larva(std::size_t others) : byte_(0xb5) {
    next_ = others == 0 ? nullptr : dynasoar::make_new<Larva>(others - 1);
    late_ = 0xb5b5b5b5u;
  }
};

/// What is reported after a loop over two larvae, of which one has created the other.
template <class F>
std::string said_after(F loop) {
  AllocatorHandle<LarvaAllocator> handle({.heap_bytes = std::size_t{1} << 20});
  handle.parallel_for(1, [] __device__(std::size_t) { dynasoar::make_new<Larva>(std::size_t{1}); });
  handle.synchronize();
  handle.parallel_do<Larva>(loop);
  try {
    handle.synchronize();
  } catch (const MisuseError& error) {
    CHECK(error.reports().size() == 1);
    CHECK(error.reports()[0].kind == Misuse::unset_field);
    CHECK(error.reports()[0].count == 2);
    return error.reports()[0].text.substr(0, error.reports()[0].text.find(": read"));
  }
  return "";
}

TEST_CASE("a field that no constructor has set is found when it is read") {
  CHECK(said_after([] __device__(Larva * larva) { larva->late_ = larva->age_ + 1; }) == "misuse_test::Larva::age_");
  CHECK(said_after([] __device__(Larva * larva) { larva->age_ += 1; }) == "misuse_test::Larva::age_");
  CHECK(said_after([] __device__(Larva * larva) { ++larva->age_; }) == "misuse_test::Larva::age_");
  CHECK(said_after([] __device__(Larva * larva) { larva->late_ = larva->small_; }) == "misuse_test::Larva::small_");
  CHECK(said_after([] __device__(Larva * larva) { larva->age_ = larva->force_ > 1 ? 1 : 2; }) ==
        "misuse_test::Larva::force_");
  CHECK(said_after([] __device__(Larva * larva) {
          const Larva* const same = larva;
          larva->late_ = static_cast<std::uint32_t>(same->parts_[2]);
        }) == "misuse_test::Larva::parts_");
}

TEST_CASE("a field that is set before it is read is no misuse, whatever its value") {
  CHECK(said_after([] __device__(Larva * larva) {
          larva->age_ = 1;
          larva->force_ = larva->age_ + larva->late_ + larva->byte_;
          larva->parts_.fill(2);
          larva->parts_[0] += larva->parts_[2];
          larva->small_.get() = larva->next_ == nullptr ? 1 : 2;
          larva->small_ += larva->force_ > 0 ? 1 : 2;
        }) == "");
}

TEST_CASE("fields that a constructor has set keep their values beside those that it has not") {
  AllocatorHandle<LarvaAllocator> handle({.heap_bytes = std::size_t{1} << 20});
  handle.parallel_for(1, [] __device__(std::size_t) { dynasoar::make_new<Larva>(std::size_t{7}); });
  CHECK(handle.count<Larva>() == 8);
  CHECK(handle.count_if<Larva>([] __device__(Larva * larva) { return larva->next_ == nullptr; }) == 1);
  CHECK(handle.count_if<Larva>(
            [] __device__(Larva * larva) { return larva->byte_ == 0xb5 && larva->late_ == 0xb5b5b5b5u; }) == 8);
}

}  // namespace misuse_test
