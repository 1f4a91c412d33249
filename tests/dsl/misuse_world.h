/// @file
/// What the tests of misuse share: classes, what threads do with pointers to objects, and heaps whose reports are
/// checked. These tests are always compiled with DYNASOAR_CHECKED=1.
///
/// With few classes, and a kernel for each thing that threads do: in checked builds each place that creates an object,
/// or destroys one through a pointer to a base class, is thousands of instructions that nvcc compiles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <regex>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../heap/handle_check.h"
#include "../platform/test_support.h"

namespace misuse_test {

using namespace dynasoar;
using dynasoar::detail::Handle;

static_assert(dynasoar::kChecked, "these tests are about checked builds");

class Fish;
class Shark;
using AllocatorT = dynasoar::SoaAllocator<Fish, Shark>;

class Agent : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Agent, (prey_, Agent*), (short_prey_, CompressedPointer<Agent>), (value_, int))
  __device__ explicit Agent(int value) : prey_(nullptr), short_prey_(nullptr), value_(value) {}

  __device__ void eat() { dynasoar::destroy(prey_.get()); }
  __device__ void eat_short_prey() { dynasoar::destroy(static_cast<Agent*>(short_prey_)); }
  __device__ void vanish() { dynasoar::destroy(this); }
  __device__ void add_one() { ++value_; }
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

/// Does something with pointer i of an array, or with pointer 0 where `all_on_first` says so.
template <class Base, class Action>
struct ForPointers {
  Base** pointers;
  int value = 0;
  bool all_on_first = false;

  __device__ void operator()(std::size_t i) const { Action{}(pointers[all_on_first ? 0 : i], value); }
};

// What null pointers make of these is what some tests are about.
#if defined(__GNUC__) && !defined(__CUDACC__)
#define DYNASOAR_TEST_TAKES_NULL __attribute__((no_sanitize("undefined")))
#else
#define DYNASOAR_TEST_TAKES_NULL
#endif

template <class T>
struct Make {
  template <class Base>
  __device__ void operator()(Base*& pointer, int value) const {
    pointer = dynasoar::make_new<T>(value);
  }
};
struct Destroy {
  template <class Base>
  __device__ void operator()(Base* pointer, int) const {
    dynasoar::destroy(pointer);
  }
};
struct Set {
  DYNASOAR_TEST_TAKES_NULL __device__ void operator()(Agent* pointer, int value) const { pointer->value_ = value; }
};
struct SetTeeth {
  DYNASOAR_TEST_TAKES_NULL __device__ void operator()(Agent* pointer, int value) const {
    static_cast<Shark*>(pointer)->teeth_ = value;
  }
};

/// Lets agents 2i and 2i + 1 be each other's prey.
struct PairUp {
  Agent** pointers;
  __device__ void operator()(std::size_t i) const {
    pointers[i]->prey_ = pointers[i ^ 1];
    pointers[i]->short_prey_ = pointers[i ^ 1];
  }
};

/// A heap and some pointers to its objects.
template <class A, class Base>
class WatchedHeap {
 public:
  explicit WatchedHeap(std::size_t count, dynasoar::FaultInjection faults = {}, std::size_t pages = 8)
      : handle({.heap_bytes = pages * A::pages().bytes, .threads = 4, .failing_allocations = faults}),
        count_(count),
        pointers_(dynasoar::test::zeroed<Base*>(count)) {}

  template <class Action>
  void run(int value = 0) {
    handle.parallel_for(count_, ForPointers<Base, Action>{pointers_.data(), value});
  }
  template <class Action>
  void run_on_first(int times, int value = 0) {
    handle.parallel_for(static_cast<std::size_t>(times), ForPointers<Base, Action>{pointers_.data(), value, true});
  }

  Base** device_pointers() const { return pointers_.data(); }
  std::vector<Base*> pointers() const { return pointers_.download(); }
  std::uint64_t bits(std::size_t i = 0) const { return reinterpret_cast<std::uint64_t>(pointers()[i]); }
  void put(const std::vector<Base*>& pointers) { pointers_.upload(pointers); }
  void forge(std::uint64_t bits) { pointers_.upload({reinterpret_cast<Base*>(bits)}); }

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

  AllocatorHandle<A> handle;

 private:
  std::size_t count_;
  DeviceArray<Base*> pointers_;
};

/// A heap of fish and sharks.
class World : public WatchedHeap<AllocatorT, Agent> {
 public:
  using WatchedHeap::WatchedHeap;

  void pair_up() { handle.parallel_for(pointers().size(), PairUp{device_pointers()}); }

  /// Makes fish and waits. @return pointer 0
  std::uint64_t make_fish(int value) {
    run<Make<Fish>>(value);
    handle.synchronize();
    return bits();
  }

  /// Makes fish until one has the block and slot of an object that is gone; pointer 0 is the last of them. On a GPU,
  /// which block a thread fills first depends on the multiprocessor that it runs on.
  void make_fish_in_place_of(std::uint64_t gone, int value) {
    const Handle place(gone);
    do {
      run_on_first<Make<Fish>>(1, value);
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
};

/// Whether the report says that, but for the namespace.
inline bool says(const MisuseReport& report, const std::string& text) {
  const std::string said = std::regex_replace(report.text, std::regex("misuse_test::"), "");
  return said.find(text) != std::string::npos;
}

}  // namespace misuse_test
