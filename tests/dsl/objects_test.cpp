// What device code does with objects: make_new, destroy, is_a, cast and device_do.
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../platform/test_support.h"

namespace objects_test {

using namespace dynasoar;
using namespace dynasoar::test;

class Fish;
class Trout;
class Shark;
class Egg;
using AllocatorT = dynasoar::SoaAllocator<Egg, Fish, Trout, Shark>;

/// Not in the list: no object is just an Agent.
class Agent : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Agent, (id_, std::uint32_t), (died_, Counter*))
  __device__ Agent(std::size_t id, Counter* died) : id_(static_cast<std::uint32_t>(id)), died_(died) {}
  __device__ std::uint32_t kind() const { return 1; }
  __device__ void sum_ids(std::uint64_t* sum) { *sum += id_; }
};

class Fish : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Fish, (size_, float))
  __device__ explicit Fish(std::size_t id, Counter* died = nullptr) : Agent(id, died), size_(1.0f) {}
  __device__ ~Fish() {
    if (died_ != nullptr) died_[0].fetch_add(id_, Order::relaxed);
  }
  __device__ void spawn(std::uint32_t number) {
    for (std::uint32_t i = 0; i < number; ++i) make_new<Fish>(id_ + 1000000u);
  }
  __device__ void count_fish(Counter* visits, std::uint64_t* seen) const;
};

class Trout : public Fish {
 public:
  using BaseClass = Fish;
  DYNASOAR_FIELDS(Trout)
  __device__ explicit Trout(std::size_t id, Counter* died = nullptr) : Fish(id, died) {}
  __device__ ~Trout() {
    if (died_ != nullptr) died_[1].fetch_add(id_, Order::relaxed);
  }
};

class Shark : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Shark, (prey_, Fish*))
  __device__ explicit Shark(std::size_t id, Counter* died = nullptr) : Agent(id, died), prey_(nullptr) {}
  __device__ ~Shark() {
    if (died_ != nullptr) died_[2].fetch_add(id_, Order::relaxed);
  }
};

/// No constructor of its own, no destructor, no fields.
class Egg : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Egg)
};

dynasoar::HandleOptions small_heap() {
  return {.heap_bytes = std::size_t{8} << 20, .threads = 8};
}

TEST_CASE("destroying through a base pointer runs the destructors of the object's own class and its bases") {
  AllocatorHandle<AllocatorT> handle(small_heap());
  Counters died(3);
  handle.parallel_for(1000, [died = died.data()] __device__(std::size_t i) {
    Agent* agents[] = {make_new<Fish>(1, died), make_new<Trout>(1000, died), make_new<Shark>(1000000, died)};
    destroy(agents[i % 3]);
    destroy(static_cast<Agent*>(agents[(i + 1) % 3]));
  });
  // Of the three objects of an index, one is left.
  handle.synchronize();
  const std::uint64_t fish_left = handle.count<Fish>() - handle.count<Trout>();
  const std::uint64_t trout_left = handle.count<Trout>();
  const std::uint64_t sharks_left = handle.count<Shark>();
  CHECK(fish_left + trout_left + sharks_left == 1000);
  CHECK(died[0] == (1000 - fish_left) * 1 + (1000 - trout_left) * 1000);  // a trout's destructor runs that of fish
  CHECK(died[1] == (1000 - trout_left) * 1000);
  CHECK(died[2] == (1000 - sharks_left) * 1000000);
  CHECK(fish_left == 333);
  CHECK(trout_left == 333);
  CHECK(sharks_left == 334);
}

TEST_CASE("destroying null does nothing") {
  AllocatorHandle<AllocatorT> handle(small_heap());
  handle.parallel_new<Fish>(10);
  handle.parallel_for(100, [] __device__(std::size_t) {
    destroy(static_cast<Fish*>(nullptr));
    destroy(static_cast<Agent*>(nullptr));
  });
  handle.synchronize();
  CHECK(handle.count<Agent>() == 10);
}

TEST_CASE("an object without fields and constructors can be created, counted and destroyed") {
  AllocatorHandle<AllocatorT> handle(small_heap());
  handle.parallel_for(1000, [] __device__(std::size_t i) {
    Egg* const egg = make_new<Egg>();
    if (i % 2 == 0) destroy(egg);
  });
  CHECK(handle.count<Egg>() == 500);
}

/// One bit per question.
__device__ std::uint32_t ask(Agent* agent) {
  return (is_a<Fish>(agent) ? 1u : 0u) | (is_a<Trout>(agent) ? 2u : 0u) | (is_a<Shark>(agent) ? 4u : 0u) |
         (is_a<Agent>(agent) ? 8u : 0u) | (cast<Fish>(agent) != nullptr ? 16u : 0u) |
         (cast<Trout>(agent) != nullptr ? 32u : 0u) | (cast<Shark>(agent) != nullptr ? 64u : 0u) |
         (cast<Agent>(agent) == agent ? 128u : 0u);
}

TEST_CASE("is_a and cast know an object's class, its bases and null") {
  AllocatorHandle<AllocatorT> handle(small_heap());
  DeviceArray<std::uint32_t> answers(10);
  handle.parallel_for(1, [answers = answers.data()] __device__(std::size_t) {
    Agent* const agents[] = {make_new<Fish>(1), make_new<Trout>(2), make_new<Shark>(3), nullptr};
    for (int i = 0; i < 4; ++i) answers[i] = ask(agents[i]);
    Fish* const trout = cast<Fish>(agents[1]);
    answers[4] = trout->id_;                                                 // still the same object
    answers[5] = is_a<Trout>(trout) && !is_a<Trout>(cast<Fish>(agents[0]));  // from the middle of the hierarchy
    answers[6] = is_a<Agent>(cast<Shark>(agents[2]));                        // upwards
    const Agent* const seen = agents[0];
    answers[7] = is_a<Fish>(seen);
    const Fish* const fish = cast<Fish>(seen);
    answers[8] = fish->id_;
    answers[9] = cast<Shark>(seen) == nullptr;
  });
  handle.synchronize();
  const std::vector<std::uint32_t> found = answers.download();
  CHECK(found[0] == (1 | 8 | 16 | 128));           // fish
  CHECK(found[1] == (1 | 2 | 8 | 16 | 32 | 128));  // trout
  CHECK(found[2] == (4 | 8 | 64 | 128));           // shark
  CHECK(found[3] == 128);                          // null is nothing; cast gives it back
  CHECK(found[4] == 2);
  CHECK(found[5] == 1);
  CHECK(found[6] == 1);
  CHECK(found[7] == 1);
  CHECK(found[8] == 1);
  CHECK(found[9] == 1);
}

TEST_CASE("objects can delete themselves in a loop, by their run-time class") {
  AllocatorHandle<AllocatorT> handle(small_heap());
  Counters died(3);
  handle.parallel_new<Fish>(5000, died.data());
  handle.parallel_new<Trout>(3000, died.data());
  handle.parallel_new<Shark>(2000, died.data());
  handle.parallel_do<Agent>([] __device__(Agent * agent) {
    if (agent->id_ % 2 == 0) destroy(agent);
  });
  CHECK(handle.count<Agent>() == 5000);
  CHECK(handle.count<Fish>() == 4000);  // trout included
  CHECK(handle.count<Trout>() == 1500);
  CHECK(handle.count<Shark>() == 1000);
  handle.parallel_do<Fish>([] __device__(Fish * fish) { destroy(fish); });
  CHECK(handle.count<Fish>() == 0);
  CHECK(handle.count<Shark>() == 1000);
  CHECK(died[1] == 3000u * 2999 / 2);  // all trout: the sum of their ids
}

TEST_CASE("objects can delete objects of classes that the loop does not visit") {
  AllocatorHandle<AllocatorT> handle(small_heap());
  handle.parallel_for(4000, [] __device__(std::size_t i) {
    Shark* const shark = make_new<Shark>(i);
    shark->prey_ = i % 2 == 0 ? make_new<Fish>(i) : make_new<Trout>(i);
  });
  handle.parallel_do<Shark>([] __device__(Shark * shark) {
    if (shark->prey_->id_ != shark->id_) return;  // not its own prey: the counts below would show it
    if (shark->id_ % 4 < 2) destroy(shark->prey_.get());
  });
  CHECK(handle.count<Trout>() == 1000);
  CHECK(handle.count<Fish>() == 2000);
  CHECK(handle.count<Shark>() == 4000);
}

TEST_CASE("a loop does not visit the objects that are created in it, the next one does") {
  AllocatorHandle<AllocatorT> handle(small_heap());
  handle.parallel_new<Fish>(1000);
  handle.parallel_do<Fish, &Fish::spawn>(3u);  // would go on for ever, or be refused, if it visited the children
  CHECK(handle.count<Fish>() == 4000);
  Counters visits(2);
  handle.parallel_do<Fish>([visits = visits.data()] __device__(Fish * fish) {
    visits[fish->id_ >= 1000000 ? 1 : 0].fetch_add(1, Order::relaxed);
  });
  handle.synchronize();
  CHECK(visits[0] == 1000);
  CHECK(visits[1] == 3000);
}

// ---- device_do ------------------------------------------------------------------------------------------------------

TEST_CASE("device_do visits every object of a class and its subclasses, by method or callable, in one thread") {
  AllocatorHandle<AllocatorT> handle(small_heap());
  handle.parallel_new<Fish>(300);
  handle.parallel_new<Trout>(200);
  handle.parallel_new<Shark>(100);
  constexpr std::uint64_t kFish = 300 * 299 / 2 + 200 * 199 / 2;
  constexpr std::uint64_t kAll = kFish + 100 * 99 / 2;
  Counters wrong(1);
  handle.parallel_do<Shark>([wrong = wrong.data()] __device__(Shark*) {
    std::uint64_t by_method = 0;
    dynasoar::device_do<Agent>(&Agent::sum_ids, &by_method);
    std::uint64_t by_callable = 0;
    dynasoar::device_do<Fish>([&](Fish* fish, std::uint32_t factor) { by_callable += fish->id_ * factor; }, 2u);
    std::uint64_t inherited = 0;
    dynasoar::device_do<Trout>(&Agent::sum_ids, &inherited);
    dynasoar::test::count_if(*wrong, by_method != kAll || by_callable != 2 * kFish || inherited != 200 * 199 / 2);
  });
  handle.synchronize();
  CHECK(wrong[0] == 0);
}

TEST_CASE("device_do does not visit objects that were made since the running loop began") {
  AllocatorHandle<AllocatorT> handle(small_heap());
  handle.parallel_new<Shark>(50);
  handle.parallel_new<Fish>(50);
  Counters wrong(1);
  handle.parallel_do<Shark>([wrong = wrong.data()] __device__(Shark*) {
    for (int i = 0; i < 20; ++i) make_new<Egg>();
    make_new<Trout>(7);
    std::uint32_t fish = 0;
    std::uint32_t trout = 0;
    std::uint32_t eggs = 0;
    dynasoar::device_do<Fish>([&](Fish* one) { ++(is_a<Trout>(one) ? trout : fish); });
    dynasoar::device_do<Egg>([&](Egg*) { ++eggs; });
    dynasoar::test::count_if(*wrong, fish != 50 || trout != 0 || eggs != 0);
  });
  handle.synchronize();
  CHECK(wrong[0] == 0);
  CHECK(handle.count<Egg>() == 1000);
  // In the next loop they are there, whichever class it visits.
  handle.parallel_do<Fish>([wrong = wrong.data()] __device__(Fish*) {
    std::uint32_t eggs = 0;
    dynasoar::device_do<Egg>([&](Egg*) { ++eggs; });
    dynasoar::test::count_if(*wrong, eggs != 1000);
  });
  handle.synchronize();
  CHECK(wrong[0] == 0);
}

TEST_CASE("device_do no longer visits objects that were deleted before") {
  AllocatorHandle<AllocatorT> handle(small_heap());
  handle.parallel_new<Fish>(640);
  handle.parallel_new<Shark>(10);
  handle.parallel_do<Fish>([] __device__(Fish * fish) {
    if (fish->id_ % 3 != 0) destroy(fish);
  });
  Counters wrong(1);
  handle.parallel_do<Shark>([wrong = wrong.data()] __device__(Shark*) {
    std::uint32_t left = 0;
    dynasoar::device_do<Fish>([&](Fish* fish) { left += fish->id_ % 3 == 0 ? 1 : 1000000; });
    dynasoar::test::count_if(*wrong, left != 214);
  });
  handle.synchronize();
  CHECK(wrong[0] == 0);
}

TEST_CASE("device_do passes over newborn and deleted objects also in blocks that the loop has listed") {
  AllocatorHandle<AllocatorT> handle({.heap_bytes = std::size_t{8} << 20, .threads = 1});
  handle.parallel_new<Fish>(100);  // one full block and one with free slots
  handle.parallel_for(1, [] __device__(std::size_t) { make_new<Shark>(1)->prey_ = make_new<Fish>(2); });
  DeviceArray<std::uint32_t> counts(4);
  // One thread creates and deletes fish, and looks at them after each.
  handle.parallel_do<Shark>([counts = counts.data()] __device__(Shark * shark) {
    const auto look = [] {
      std::uint32_t fish = 0;
      dynasoar::device_do<Fish>([&](Fish*) { ++fish; });
      return fish;
    };
    counts[0] = look();
    for (std::size_t i = 0; i < 100; ++i) make_new<Fish>(i);
    counts[1] = look();
    destroy(shark->prey_.get());
    counts[2] = look();
    dynasoar::device_do<Fish>([](Fish* fish) { destroy(fish); });  // blocks become empty
    counts[3] = look();
  });
  handle.synchronize();
  CHECK(counts.download() == std::vector<std::uint32_t>{101, 101, 100, 0});
  CHECK(handle.count<Fish>() == 100);
}

// ---- The paper's spelling -------------------------------------------------------------------------------------------

TEST_CASE("the paper's spelling works: an allocator pointer in device code") {
  AllocatorHandle<AllocatorT> handle(small_heap());
  AllocatorT* const device_allocator = handle.device_pointer();
  handle.parallel_for(1000, [device_allocator] __device__(std::size_t i) {
    Fish* const fish = device_allocator->make_new<Fish>(i);
    device_allocator->make_new<Shark>(i);
    if (i % 4 == 0) device_allocator->free<Fish>(fish);
    if (i % 4 == 1) {
      Agent* const agent = fish;
      device_allocator->free(agent);
    }
  });
  CHECK(handle.count<Fish>() == 500);
  CHECK(handle.count<Shark>() == 1000);
  Counters wrong(1);
  handle.parallel_do<Shark>([device_allocator, wrong = wrong.data()] __device__(Shark*) {
    std::uint64_t sum = 0;
    device_allocator->device_do<Fish>(&Agent::sum_ids, &sum);
    dynasoar::test::count_if(*wrong, sum != 250250);  // i % 4 is 2 or 3
  });
  handle.synchronize();
  CHECK(wrong[0] == 0);
}

}  // namespace objects_test
