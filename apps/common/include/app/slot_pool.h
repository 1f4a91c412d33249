/// @file
/// SlotPool: slots for objects that are created and destroyed in hand-written baselines, without an allocator. A free
/// list contains the slots of dead objects. Used by the baselines of ants, epidemic and tumour.
///
/// One loop notes births, and a later loop gives them slots, so that no thread reads a slot while another thread fills
/// it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <app/collect.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace app {

/// The pool as device code uses it, by value.
///
/// @tparam Birth   the data of an object to be born
template <class Birth>
struct SlotPoolView {
  struct Counters {
    dynasoar::AtomicWord<std::uint32_t> used;    ///< greatest number of slots in use; capacity + 1: not all got a slot
    dynasoar::AtomicWord<std::uint32_t> free;    ///< length of the free list
    dynasoar::AtomicWord<std::uint32_t> births;  ///< births that have no slot yet
  };
  static constexpr auto kRelaxed = dynasoar::Order::relaxed;  // the end of a loop publishes its stores

  std::uint32_t capacity;
  Counters* counters;
  std::uint32_t* free;  ///< [capacity]
  Birth* births;        ///< [capacity]

  /// The number of slots that have contained an object. These are the first slots.
  __device__ std::uint32_t used() const {
    const std::uint32_t used = counters->used.load(kRelaxed);
    return used < capacity ? used : capacity;
  }

  /// Adds the slot of a dead object to the free list.
  __device__ void release(std::uint32_t slot) const { free[counters->free.fetch_add(1, kRelaxed)] = slot; }

  /// Notes a birth. @pre at most one per object and step
  __device__ void add_birth(const Birth& birth) const { births[counters->births.fetch_add(1, kRelaxed)] = birth; }
};

/// Each of kThreads threads gives slots to some births: free slots from the end of the list first, and then new ones.
template <class Birth, class Put>
struct PlaceBirths {
  static constexpr std::uint32_t kThreads = 1 << 14;

  SlotPoolView<Birth> pool;
  Put put;

  __device__ void operator()(std::size_t thread) const {
    const std::uint32_t births = pool.counters->births.load(pool.kRelaxed);
    const std::uint32_t free = pool.counters->free.load(pool.kRelaxed);
    const std::uint32_t used = pool.used();
    for (auto b = static_cast<std::uint32_t>(thread); b < births; b += kThreads) {
      const std::uint32_t slot = b < free ? pool.free[free - 1 - b] : used + (b - free);
      if (slot < pool.capacity) put(slot, pool.births[b]);
    }
  }
};

/// Updates the counters afterwards.
template <class Birth>
struct CountBirths {
  SlotPoolView<Birth> pool;

  __device__ void operator()(std::size_t) const {
    const std::uint32_t births = pool.counters->births.load(pool.kRelaxed);
    const std::uint32_t free = pool.counters->free.load(pool.kRelaxed);
    const std::uint32_t used = pool.counters->used.load(pool.kRelaxed) + (births < free ? 0 : births - free);
    pool.counters->used.store(used <= pool.capacity ? used : pool.capacity + 1, pool.kRelaxed);
    pool.counters->free.store(births < free ? free - births : 0, pool.kRelaxed);
    pool.counters->births.store(0, pool.kRelaxed);
  }
};

template <class Birth>
class SlotPool {
 public:
  /// @param limit     greatest number of objects
  /// @param objects   number of objects at the start, in the first slots; if it exceeds the limit, so does `capacity()`
  SlotPool(std::uint64_t limit, std::size_t objects)
      : limit_(limit),
        capacity_(static_cast<std::uint32_t>(std::max<std::uint64_t>(limit, objects))),
        counters_(1),
        free_(capacity_),
        births_(capacity_) {
    Counters counters{};
    counters.used.store(static_cast<std::uint32_t>(objects), dynasoar::Order::relaxed);
    counters_.upload(std::vector{counters});
  }

  std::uint64_t limit() const { return limit_; }
  std::uint32_t capacity() const { return capacity_; }
  SlotPoolView<Birth> view() const { return {capacity_, counters_.data(), free_.data(), births_.data()}; }

  /// Submits two loops, after which no births are noted.
  ///
  /// @param put   device callable: `put(slot, birth)` creates an object
  template <class Put>
  void place_births(dynasoar::Executor& executor, const Put& put) const {
    using Place = PlaceBirths<Birth, Put>;
    executor.for_each_index(Place::kThreads, Place{view(), put});
    executor.for_each_index(1, CountBirths<Birth>{view()});
  }

  /// The greatest number of objects so far, counted after births. Numbers over `capacity()` are capacity() + 1; the
  /// objects that got no slot are missing then. Waits.
  std::uint32_t peak(dynasoar::Executor& executor) const {
    executor.synchronize();
    return counters_.download()[0].used.load(dynasoar::Order::relaxed);
  }

  /// The states of all objects, ordered by number. Waits.
  ///
  /// @param state_of   device callable: the State of a slot, with the `number` 0 if the slot is free
  template <class State, class F>
  std::vector<State> states(dynasoar::Executor& executor, const F& state_of) const {
    std::vector<State> states = collect<State>(executor, std::min(peak(executor), capacity_), state_of);
    std::erase_if(states, [](const State& state) { return state.number == 0; });
    std::sort(states.begin(), states.end(), [](const State& a, const State& b) { return a.number < b.number; });
    return states;
  }

 private:
  using Counters = typename SlotPoolView<Birth>::Counters;

  std::uint64_t limit_;
  std::uint32_t capacity_;
  dynasoar::DeviceArray<Counters> counters_;
  dynasoar::DeviceArray<std::uint32_t> free_;
  dynasoar::DeviceArray<Birth> births_;
};

}  // namespace app
