// Builds that count accesses to fields count each as what it is, for the loop and the class that it is of.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/malloc/aos_allocator.h>
#include <dynasoar/malloc/bitmap_malloc.h>

#include "../platform/test_support.h"

namespace field_accesses_test {

using dynasoar::AllocatorHandle;

DYNASOAR_METHOD(Grow, grow);

/// Classes over a SoaAllocator or an AosAllocator.
template <template <class...> class Allocator>
struct World {
  class Agent;
  class Fish;
  class Shark;
  using AllocatorT = Allocator<Fish, Shark>;

  struct Size {
    float value;
  };

  class Agent : public dynasoar::SoaBase<AllocatorT> {
   public:
    using Three = std::array<int, 3>;
    DYNASOAR_FIELDS(Agent, (age_, int), (places_, Three), (next_, Agent*), (size_, Size));
    __device__ explicit Agent(std::size_t number) : age_(static_cast<int>(number)), next_(this) {}

    __device__ void read_age() {
      const Agent& constant = *this;
      if (age_ + 1 == constant.age_) age_ = 0;  // never
    }
    __device__ void write_age() { age_ = 1; }
    __device__ void change_age() {
      age_ += 1;
      ++age_;
      age_--;
    }
    __device__ void refer_to_age() {
      age_.get() = 5;
      *&age_ = 6;
      size_->value = 7;
    }
    __device__ void use_places() {
      places_ = Three{1, 2, 3};         // 3 writes
      places_.fill(4);                  // 3 more
      places_[1] = 5;                   // by reference
      const Three copy = places_;       // 3 reads
      if (places_ == copy) places_[0];  // 3 more, and by reference
    }
    __device__ void follow() {
      if (next_->age_ < 0) next_ = nullptr;  // reads next_ of this and age_ of another one
    }
    __device__ void grow() {}
  };
  class Fish : public Agent {
   public:
    using BaseClass = Agent;
    DYNASOAR_FIELDS(Fish);
    using Agent::Agent;
    __device__ void grow() { this->age_ = 3; }
  };
  class Shark : public Agent {
   public:
    using BaseClass = Agent;
    DYNASOAR_FIELDS(Shark, (energy_, float), (unused_, double));
    __device__ explicit Shark(std::size_t number) : Agent(number), energy_(1) {}
    __device__ void grow() { energy_ *= 2.0f; }
  };
  struct Look {
    template <class T>
    __device__ int operator()(const T* agent) const {
      return agent->age_;
    }
  };
};

template <class... Ts>
using Soa = dynasoar::SoaAllocator<Ts...>;
template <class... Ts>
using Aos = dynasoar::AosAllocator<dynasoar::BitmapMalloc, Ts...>;

using Counts = std::array<std::uint64_t, 3>;  // reads, writes, by reference

/// What was counted for a field of a class in a loop; zeros if there is no such line. An empty loop: all together.
Counts counted(const dynasoar::FieldAccesses& accesses, const std::string& loop, const std::string& type,
               const std::string& field) {
  for (const dynasoar::FieldAccess& one : loop.empty() ? accesses.fields : accesses.loops) {
    if (one.loop.ends_with(loop) && one.type.ends_with("::" + type) && one.field == field) {
      return {one.reads, one.writes, one.by_reference};
    }
  }
  return {};
}

TEST_CASE_TEMPLATE("accesses are counted as reads, writes or references, by loop, class and field", W, World<Soa>,
                   World<Aos>) {
  using Agent = typename W::Agent;
  using Fish = typename W::Fish;
  using Shark = typename W::Shark;
  AllocatorHandle<typename W::AllocatorT> handle({.heap_bytes = std::size_t{4} << 20, .threads = 4});
  handle.template parallel_new<Fish>(1000);
  handle.template parallel_new<Shark>(100);
  handle.template parallel_do<Fish, &Agent::read_age>();
  handle.template parallel_do<Agent, &Agent::write_age>();
  handle.template parallel_do<Fish, &Agent::change_age>();
  handle.template parallel_do<Shark, &Agent::change_age>();
  handle.template parallel_do<Fish, &Agent::refer_to_age>();
  handle.template parallel_do<Shark, &Agent::use_places>();
  for (int i = 0; i < 3; ++i) handle.template parallel_do<Fish, &Agent::follow>();
  handle.template parallel_do<Agent>(Grow{});
  handle.template reduce<Agent>(0, dynasoar::Plus{}, typename W::Look{});
  const dynasoar::FieldAccesses accesses = handle.field_accesses();
  const auto fish = [&](const std::string& loop, const std::string& field) {
    return counted(accesses, loop, "Fish", field);
  };
  const auto shark = [&](const std::string& loop, const std::string& field) {
    return counted(accesses, loop, "Shark", field);
  };
  CHECK(fish("::Fish", "age_") == Counts{0, 1000, 0});  // new Fish
  CHECK(fish("::Fish", "next_") == Counts{0, 1000, 0});
  CHECK(fish("::Fish", "places_") == Counts{});
  CHECK(shark("::Shark", "energy_") == Counts{0, 100, 0});
  CHECK(fish("::read_age", "age_") == Counts{2000, 0, 0});
  CHECK(shark("::read_age", "age_") == Counts{});
  CHECK(fish("::write_age", "age_") == Counts{0, 1000, 0});
  CHECK(shark("::write_age", "age_") == Counts{0, 100, 0});
  CHECK(fish("::change_age", "age_") == Counts{3000, 3000, 0});
  CHECK(shark("::change_age", "age_") == Counts{300, 300, 0});
  CHECK(fish("::refer_to_age", "age_") == Counts{0, 0, 2000});
  CHECK(fish("::refer_to_age", "size_") == Counts{0, 0, 1000});
  CHECK(shark("::use_places", "places_") == Counts{600, 600, 200});
  CHECK(fish("::follow", "next_") == Counts{3000, 0, 0});
  CHECK(fish("::follow", "age_") == Counts{3000, 0, 0});
  CHECK(fish("::Grow", "age_") == Counts{0, 1000, 0});
  CHECK(shark("::Grow", "age_") == Counts{});
  CHECK(shark("::Grow", "energy_") == Counts{100, 100, 0});
  CHECK(fish("::Look", "age_") == Counts{1000, 0, 0});
  CHECK(counted(accesses, "", "Shark", "unused_") == Counts{});
  CHECK(counted(accesses, "", "Shark", "age_") == Counts{300 + 100, 100 + 100 + 300, 0});
  CHECK(accesses.fields.size() == 4 + 6);  // whether they are accessed or not
  for (const dynasoar::FieldAccess& one : accesses.loops) CHECK(one.all() > 0);
}

using SoaWorld = World<Soa>;

TEST_CASE("loops of a recorded step are counted each time that it runs") {
  AllocatorHandle<SoaWorld::AllocatorT> handle({.heap_bytes = std::size_t{4} << 20, .threads = 2});
  handle.parallel_new<SoaWorld::Fish>(100);
  auto step = handle.record([&] {
    handle.parallel_do<SoaWorld::Fish, &SoaWorld::Agent::write_age>();
    handle.parallel_do<SoaWorld::Fish, &SoaWorld::Agent::follow>();
  });
  for (int i = 0; i < 5; ++i) step();
  const dynasoar::FieldAccesses accesses = handle.field_accesses();
  CHECK(counted(accesses, "::write_age", "Fish", "age_") == Counts{0, 500, 0});
  CHECK(counted(accesses, "::follow", "Fish", "age_") == Counts{500, 0, 0});
}

#if !DYNASOAR_CUDA_BACKEND

TEST_CASE("what many threads count is added up") {
  constexpr int kThreads = 70;
  AllocatorHandle<SoaWorld::AllocatorT> handle({.heap_bytes = std::size_t{4} << 20, .threads = kThreads});
  handle.parallel_new<SoaWorld::Fish>(1);
  SoaWorld::Fish* fish = nullptr;
  handle.parallel_do<SoaWorld::Fish>([&](SoaWorld::Fish* one) { fish = one; });
  // Each waits until all have begun, so each has a thread of its own, where there are as many.
  std::atomic<int> begun = 0, old = 0;
  handle.parallel_for(kThreads, [&](std::size_t) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    ++begun;
    while (begun < kThreads && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    if (fish->age_ > 100) ++old;
  });
  CHECK(begun == kThreads);
  CHECK(counted(handle.field_accesses(), "", "Fish", "age_") == Counts{kThreads, 1, 0});
}

#endif

TEST_CASE("accesses in a heap that has grown are counted with those before") {
  AllocatorHandle<SoaWorld::AllocatorT> handle({.heap_limit_bytes = std::size_t{64} << 20, .threads = 2});
  handle.parallel_new<SoaWorld::Fish>(10);
  handle.reserve<SoaWorld::Fish>(100'000);
  handle.parallel_new<SoaWorld::Fish>(100'000);
  CHECK(counted(handle.field_accesses(), "", "Fish", "age_") == Counts{0, 100'010, 0});
}

TEST_CASE("more loops than can be told apart are counted together") {
  using Counts = dynasoar::detail::AccessCounts<SoaWorld::AllocatorT>;
  AllocatorHandle<SoaWorld::AllocatorT> handle({.heap_bytes = std::size_t{4} << 20, .threads = 1});
  Counts counts;
  for (int i = 0; i < 300; ++i) counts.begin_loop(handle.executor(), "loop " + std::to_string(i));
  counts.begin_loop(handle.executor(), "loop 7");
  CHECK(counts.names().size() == dynasoar::detail::AccessCounters::kMostLoops);
  CHECK(counts.names()[0] == "outside of loops");
  CHECK(counts.names()[254] == "loop 253");
  CHECK(counts.names()[255] == "all other loops");
  CHECK(counts.take(handle.executor()).size() == 256 * Counts::kWords);
}

TEST_CASE("counts are shown as a table and as JSON") {
  const dynasoar::FieldAccesses accesses{
      {{"Fish::\"up\"", "Fish", "age_", 1, 20, 300}, {"follow", "Fish", "age_", 0, 1, 0}},
      {{"", "Fish", "age_", 1, 21, 300}, {"", "Jellyfish", "tentacles_", 0, 0, 0}}};
  std::ostringstream out;
  out << accesses;
  CHECK(out.str() ==
        "loop        class      field                reads          writes    by reference\n"
        "Fish::\"up\"  Fish       age_                     1              20             300\n"
        "follow      Fish       age_                     0               1               0\n"
        "all loops   Fish       age_                     1              21             300\n"
        "all loops   Jellyfish  tentacles_               0               0               0\n");
  CHECK(dynasoar::to_json(accesses) ==
        R"({"loops": [{"loop": "Fish::\"up\"", "type": "Fish", "field": "age_", "reads": 1, "writes": 20, )"
        R"("by_reference": 300}, {"loop": "follow", "type": "Fish", "field": "age_", "reads": 0, "writes": 1, )"
        R"("by_reference": 0}], "fields": [{"type": "Fish", "field": "age_", "reads": 1, "writes": 21, )"
        R"("by_reference": 300}, {"type": "Jellyfish", "field": "tentacles_", "reads": 0, "writes": 0, )"
        R"("by_reference": 0}]})");
}

TEST_CASE("a table of short names is as wide as its headings") {
  std::ostringstream out;
  out << dynasoar::FieldAccesses{{{"f", "A", "b_", 1, 0, 0}}, {}};
  CHECK(out.str() ==
        "loop       class  field           reads          writes    by reference\n"
        "f          A      b_                  1               0               0\n");
}

}  // namespace field_accesses_test
