// SoaAllocator's warp-collective code with a thread per lane: what only runs on a GPU otherwise, and what
// ThreadSanitizer cannot see there. A program of its own, on the host only.
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../platform/test_support.h"
#include "handle_check.h"
#include "test_classes.h"
#include "thread_warp.h"

namespace thread_warp_test {

using dynasoar::AllocatorHandle;
using dynasoar::detail::Handle;
using namespace dynasoar::test;

constexpr int kLanes = WarpTeam::kLanes;
constexpr std::uint32_t kTypes = FourTypes::kTypes;

// Of each lane. Most of the time goes into waking threads, which sanitizers make little slower.
constexpr std::uint32_t kSteps = dynasoar::test::kSlowdown > 1 ? 900 : 1500;

// Places of the program: lanes that do different things are not together.
constexpr int kAllocate = 0;  // + type
constexpr int kRelease = kAllocate + static_cast<int>(kTypes);

Handle handle_of(Stamped* object) {
  return Handle(reinterpret_cast<std::uint64_t>(object));
}

/// As make_new, for another warp than the platform's.
template <class T>
Stamped* make(ThreadWarp warp, std::uint32_t stamp) {
  T* const object = FourTypes::Lanes::allocate<T>(warp.at(kAllocate + FourTypes::index_of<T>));
  return object == nullptr ? nullptr : ::new (static_cast<void*>(object)) T(stamp);
}

Stamped* make_of_type(std::uint32_t type, ThreadWarp warp, std::uint32_t stamp) {
  switch (type) {
    case 0: return make<Tiny>(warp, stamp);
    case 1: return make<Small>(warp, stamp);
    case 2: return make<Medium>(warp, stamp);
    default: return make<Large>(warp, stamp);
  }
}

void release(Stamped* object, ThreadWarp warp) {
  const Handle handle = handle_of(object);
  FourTypes::Lanes::release(handle, handle.type_index(), warp.at(kRelease));
}

/// What lanes share; one word per lane, written by that lane only, read when the lanes have been joined.
template <class T>
using PerLane = std::array<T, kLanes>;

TEST_CASE("the model of a warp puts every lane into one group, and its operations do what the concept says") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  WarpTeam team(0, WarpScheduling::capricious(), seed);
  std::atomic<int> wrong = 0;
  run_warp(team, [&](ThreadWarp warp) {
    for (std::uint32_t round = 0; round < kSteps / 4; ++round) {
      if (warp.lane() % 3 == 0 && round % 2 == 0) continue;  // diverged
      const auto group = warp.at(warp.lane() % 2).coalesce();
      const std::uint64_t self = std::uint64_t{1} << warp.lane();
      const std::uint64_t lanes = group.combine(self);
      wrong += (lanes & self) == 0 || std::popcount(lanes) != group.size();
      wrong += group.rank() != std::popcount(lanes & (self - 1));
      wrong += (lanes & (warp.lane() % 2 == 0 ? 0xAAAAAAAAu : 0x55555555u)) != 0;  // lanes at another place
      wrong +=
          group.broadcast(static_cast<std::uint32_t>(warp.lane())) != static_cast<unsigned>(std::countr_zero(lanes));
      const std::uint32_t key = static_cast<std::uint32_t>(warp.lane()) / 2 % 3;
      const std::uint64_t equal = group.matching(key).combine(self);
      for (int lane = 0; lane < kLanes; ++lane) {
        const bool expected = (lanes >> lane & 1) != 0 && static_cast<std::uint32_t>(lane) / 2 % 3 == key;
        wrong += (equal >> lane & 1) != std::uint64_t{expected};
      }
      wrong += std::popcount(group.ballot(warp.lane() % 3 == 0)) != std::popcount(lanes & 0x49249249u);
      wrong += (group.ballot(warp.lane() % 3 == 0) >> group.rank() & 1) != unsigned{warp.lane() % 3 == 0};
      const int other = (group.rank() + 3) % group.size();
      wrong += group.shuffle(static_cast<std::uint32_t>(group.rank()), other) != static_cast<std::uint32_t>(other);
      if (warp.lane() == 7 && round == 5) return;  // no lane waits for one that has left
      if (round % 8 == 7) warp.meet();
    }
  });
  CHECK(wrong.load() == 0);
}

TEST_CASE("lanes that ask together get a slot each from one request, and those that got none ask again together") {
  AllocatorHandle<FourTypes> handle(dynasoar::test::heap_of_pages<FourTypes>(8));
  WarpTeam team(0, WarpScheduling::together(), 0);
  PerLane<std::vector<Stamped*>> objects;
  const auto allocate = [&](int lanes) {
    return run_warp(team, [&](ThreadWarp warp) {
      if (warp.lane() >= lanes) return;
      objects[static_cast<std::size_t>(warp.lane())].push_back(make<Medium>(warp, 1));
    });
  };
  // One group of callers, and one for each round of requests.
  CHECK(allocate(20).coalesced == 1 + 1);
  CHECK(allocate(20).coalesced == 1 + 1);
  CHECK(allocate(32).coalesced == 1 + 2);  // 24 lanes take what is left of the block, 8 go round again
  CHECK(allocate(32).coalesced == 1 + 1);
  std::set<std::uint32_t> slots;
  std::set<std::uint32_t> blocks;
  for (const auto& of_lane : objects) {
    for (Stamped* object : of_lane) {
      REQUIRE(object != nullptr);
      slots.insert(dynasoar::test::slot_number(object));
      blocks.insert(dynasoar::test::slot_number(object) / 64);
    }
  }
  CHECK(slots.size() == 104);
  CHECK(blocks.size() == 2);
  CHECK(handle.count<Medium>() == 104);
  CHECK(dynasoar::test::heap_errors(handle) == "");
}

TEST_CASE("lanes that free together give the slots of a block back with one atomic, whatever the number of blocks") {
  AllocatorHandle<FourTypes> handle(dynasoar::test::heap_of_pages<FourTypes>(8));
  WarpTeam team(0, WarpScheduling::together(), 0);
  PerLane<std::array<Stamped*, 8>> objects;  // two of each type; a block has 64 slots, so a lane's two share one
  run_warp(team, [&](ThreadWarp warp) {
    for (std::uint32_t i = 0; i < 8; ++i) {
      warp.meet();
      objects[static_cast<std::size_t>(warp.lane())][i] = make_of_type(i / 2, warp, i);
    }
  });
  const auto release_together = [&](auto which) {
    std::set<std::uint32_t> blocks;
    for (int lane = 0; lane < kLanes; ++lane) {
      blocks.insert(dynasoar::test::slot_number(objects[static_cast<std::size_t>(lane)][which(lane)]) / 64);
    }
    const WarpCounts counts = run_warp(team, [&](ThreadWarp warp) {
      release(objects[static_cast<std::size_t>(warp.lane())][which(warp.lane())], warp);
    });
    CHECK(counts.coalesced == 1);
    CHECK(counts.combined == blocks.size());
    return blocks.size();
  };
  CHECK(release_together([](int) { return 0u; }) == 1);
  CHECK(release_together([](int lane) { return lane % 2 == 0 ? 1u : 2u; }) == 2);
  CHECK(release_together([](int lane) { return lane % 2 == 0 ? 4u : 6u; }) == 2);
  CHECK(release_together([](int lane) { return std::array{2u, 1u}[static_cast<std::size_t>(lane % 2)]; }) == 2);
  CHECK(release_together([](int lane) { return std::array{3u, 7u}[static_cast<std::size_t>(lane % 2)]; }) == 2);
  CHECK(dynasoar::test::heap_errors(handle) == "");
  CHECK(handle.count<Stamped>() == 8 * 32 - 5 * 32);
}

TEST_CASE("lanes that ask together leave together, although some got a slot earlier than others") {
  AllocatorHandle<FourTypes> handle(dynasoar::test::heap_of_pages<FourTypes>(8));
  WarpTeam team(0, WarpScheduling::together(), 0);
  const auto create = [&](int lanes) {
    std::atomic<int> apart = 0;
    const WarpCounts counts = run_warp(team, [&](ThreadWarp warp) {
      if (warp.lane() >= lanes) return;
      CHECK(make<Medium>(warp, 1) != nullptr);
      apart += warp.at(-2).coalesce().size() != lanes;
    });
    CHECK(apart.load() == 0);
    return counts.coalesced;
  };
  CHECK(create(20) == 1 + 1 + 1);
  CHECK(create(20) == 1 + 1 + 1);
  CHECK(create(32) == 1 + 2 + 1);  // some ask twice
}

/// The owners of slots, and the errors that were found.
struct Shadow {
  explicit Shadow(std::size_t slots) : owner(slots) {}

  std::vector<std::atomic<std::uint32_t>> owner;  // 1 + thread; 0: free
  std::atomic<std::uint64_t> created = 0, refused = 0, slot_twice = 0, not_mine = 0, damaged = 0, wrong_type = 0;

  void take(Stamped* object, std::uint32_t thread) {
    // relaxed: the allocator is to order things, not the test.
    slot_twice += owner[dynasoar::test::slot_number(object)].exchange(thread + 1, std::memory_order_relaxed) != 0;
  }
  void give_back(Stamped* object, std::uint32_t thread) {
    not_mine += owner[dynasoar::test::slot_number(object)].exchange(0, std::memory_order_relaxed) != thread + 1;
  }
};

/// One lane of a warp that does everything that lanes can do, by itself or with others.
class BusyLane {
 public:
  BusyLane(ThreadWarp warp, Shadow& shadow, std::vector<Stamped*>& mine, std::size_t most, std::uint64_t seed)
      : warp_(warp),
        shadow_(shadow),
        mine_(mine),
        most_(most),
        thread_(warp.id() * kLanes + static_cast<std::uint32_t>(warp.lane())),
        own_(Random::of(seed, thread_)),
        common_(Random::of(~seed, warp.id())) {}

  /// One step. What it is, all lanes of the warp agree about; what it means for a lane is the lane's own affair.
  void step() {
    const std::uint32_t what = common_.below(8);
    const std::uint32_t type = common_.below(kTypes);
    const bool together = common_.below(2) == 0;
    switch (what) {
      case 0: create(type); break;                // all the same
      case 1: create(own_.below(kTypes)); break;  // as many groups as types
      case 2: destroy(true); break;               // mostly in one block
      case 3: destroy(false); break;              // in different blocks
      case 4: repeat([&] { create(type); }); break;
      case 5: repeat([&] { destroy(own_.below(2) == 0); }); break;
      default: diverge(type); break;
    }
    if (together) warp_.meet();
  }

  void destroy_all() {
    while (!mine_.empty()) destroy(true);
  }

 private:
  /// Some create, some destroy, some do nothing.
  void diverge(std::uint32_t type) {
    switch (own_.below(4)) {
      case 0: destroy(false); break;
      case 1: create(type); break;
      case 2: create(own_.below(kTypes)); break;
      default: break;
    }
  }

  /// Loops that lanes leave at different times.
  template <class F>
  void repeat(F f) {
    const std::uint32_t trips = own_.below(6);
    for (std::uint32_t i = 0; i < trips; ++i) f();
  }

  std::uint32_t stamp_of(Stamped* object) const { return dynasoar::test::slot_number(object) * 2654435761u ^ thread_; }

  void create(std::uint32_t type) {
    if (mine_.size() >= most_) return;
    Stamped* const object = make_of_type(type, warp_, thread_);
    if (object == nullptr) {
      ++shadow_.refused;
      return;
    }
    ++shadow_.created;
    shadow_.take(object, thread_);
    shadow_.wrong_type += handle_of(object).type_index() != static_cast<int>(type);
    shadow_.damaged += !dynasoar::test::intact(object, thread_);
    mine_.push_back(object);
  }

  void destroy(bool newest) {
    if (mine_.empty()) return;
    if (!newest) std::swap(mine_[own_.below(static_cast<std::uint32_t>(mine_.size()))], mine_.back());
    Stamped* const object = mine_.back();
    mine_.pop_back();
    shadow_.damaged += !dynasoar::test::intact(object, thread_);
    shadow_.give_back(object, thread_);
    release(object, warp_);
  }

  ThreadWarp warp_;
  Shadow& shadow_;
  std::vector<Stamped*>& mine_;
  std::size_t most_;
  std::uint32_t thread_;
  Random own_;
  Random common_;  // the same numbers in all lanes of the warp
};

/// The heap against itself, against the table of owners and against what the lanes hold.
void check_at_rest(AllocatorHandle<FourTypes>& handle, const Shadow& shadow,
                   const std::vector<std::vector<Stamped*>>& held) {
  const HeapCopy heap = dynasoar::test::copy_heap(handle);
  CHECK(dynasoar::test::heap_errors(heap) == "");
  CHECK(dynasoar::test::slots_wrong(heap, shadow.owner) == 0);
  std::uint64_t objects = 0;
  for (const auto& mine : held) objects += mine.size();
  CHECK(handle.count<Stamped>() == objects);
  const auto statistics = handle.statistics();
  CHECK(statistics.created() == shadow.created.load());
  CHECK(statistics.refused() == shadow.refused.load());  // every lane that got null, and none else
  CHECK(shadow.slot_twice.load() == 0);
  CHECK(shadow.not_mine.load() == 0);
  CHECK(shadow.damaged.load() == 0);
  CHECK(shadow.wrong_type.load() == 0);
}

/// Warps of busy lanes, checked whenever they rest. @return the number of refusals
std::uint64_t stress(std::uint32_t warps, std::size_t pages, std::size_t most, WarpScheduling scheduling,
                     std::uint64_t seed) {
  CAPTURE(warps);
  CAPTURE(pages);
  constexpr int kRounds = 3;
  AllocatorHandle<FourTypes> handle(dynasoar::test::heap_of_pages<FourTypes>(pages));
  Shadow shadow(std::size_t{handle.state().heap.blocks()} * 64);
  std::vector<std::vector<Stamped*>> held(warps * kLanes);
  WarpCounts counts;
  for (int round = 0; round <= kRounds; ++round) {
    CAPTURE(round);
    const auto program = [&](ThreadWarp warp) {
      BusyLane lane(warp, shadow, held[warp.id() * kLanes + static_cast<std::uint32_t>(warp.lane())], most,
                    seed + static_cast<std::uint64_t>(round));
      for (std::uint32_t i = 0; i < kSteps / kRounds && round < kRounds; ++i) lane.step();
      if (round == kRounds) lane.destroy_all();
    };
    std::vector<std::unique_ptr<WarpTeam>> teams;
    std::vector<std::vector<std::jthread>> threads;
    for (std::uint32_t warp = 0; warp < warps; ++warp) {
      teams.push_back(std::make_unique<WarpTeam>(warp, scheduling, seed + static_cast<std::uint64_t>(round)));
      threads.push_back(teams.back()->start(program));
    }
    threads.clear();
    check_at_rest(handle, shadow, held);
    for (auto& team : teams) {
      const WarpCounts more = team->take_counts();
      counts.coalesced += more.coalesced;
      counts.combined += more.combined;
    }
  }
  CHECK(handle.statistics().free_pages == pages);
  CHECK(shadow.created.load() > 0);
  MESSAGE(warps << " warps, " << pages << " pages: created " << shadow.created.load() << ", refused "
                << shadow.refused.load() << ", groups " << counts.coalesced << ", releases " << counts.combined);
  return shadow.refused;
}

TEST_CASE("diverging lanes of one warp never share a slot, lose none, and leave all bitmaps consistent") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  CHECK(stress(1, 4, 20, WarpScheduling::together(), seed) > 0);
  CHECK(stress(1, 4, 20, WarpScheduling::capricious(), seed + 1) > 0);
}

TEST_CASE("two warps of diverging lanes do the same, in a heap that is full and in one that is not") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  CHECK(stress(2, 4, 16, WarpScheduling::capricious(), seed) > 0);
  CHECK(stress(2, 40, 16, WarpScheduling::capricious(), seed + 1) == 0);
}

}  // namespace thread_warp_test
