/// @file
/// What tests of misuse share: fish and sharks, and a heap of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <dynasoar/dynasoar.h>

#include "../platform/test_support.h"
#include "watched_heap.h"

namespace misuse_test {

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

// What null pointers make of these is what some tests are about.
#if defined(__GNUC__) && !defined(__CUDACC__)
#define DYNASOAR_TEST_TAKES_NULL __attribute__((no_sanitize("undefined")))
#else
#define DYNASOAR_TEST_TAKES_NULL
#endif

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

}  // namespace misuse_test
