// The block heap under many threads: four types that take pages from each other in a heap that is almost full, with a
// table with the owner of each slot, and afterwards a check of every bitmap against every other.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../platform/test_support.h"
#include "handle_check.h"
#include "test_classes.h"

namespace block_heap_test {

using namespace dynasoar;
using namespace dynasoar::test;

constexpr std::uint32_t kTypes = FourTypes::kTypes;

enum Tally {
  kSlotTwice,  // a new object in an owned slot
  kNotMine,    // a released slot of another worker
  kDamaged,    // an object that is not as it was left
  kWrongType,  // a handle of another class than the one asked for
  kRefused,    // no object
  kCreated,    // + type
  kTallies = kCreated + kTypes
};

/// What every worker has: handles and how many, kept from loop to loop.
struct Holdings {
  Stamped** objects;     // [workers * most]
  std::uint32_t* count;  // [workers]
  std::uint32_t* bytes;  // [workers] of heap that the objects take
  std::uint32_t most;
};

/// The owners of slots.
struct Owners {
  AtomicWord<std::uint32_t>* of_slot;  // [slots] 1 + worker; 0: free
  Counter* tally;

  __device__ void take(Stamped* object, std::uint32_t worker) const {
    const std::uint32_t before = of_slot[dynasoar::test::slot_number(object)].exchange(worker + 1, Order::relaxed);
    dynasoar::test::count_if(tally[kSlotTwice], before != 0);
  }
  __device__ void give_back(Stamped* object, std::uint32_t worker) const {
    const std::uint32_t before = of_slot[dynasoar::test::slot_number(object)].exchange(0, Order::relaxed);
    dynasoar::test::count_if(tally[kNotMine], before != worker + 1);
  }
};

__device__ std::uint32_t stamp_of(Stamped* object, std::uint32_t worker) {
  return dynasoar::test::slot_number(object) * 2654435761u ^ worker;
}

__device__ std::uint32_t bytes_of(std::uint32_t type) {
  constexpr std::uint32_t kBytes[] = {4, 12, 40, 204};  // per slot
  return kBytes[type];
}

/// Creates and destroys at random around a level that moves between nothing and a little more than the worker's share
/// of the heap; which type is in demand changes, so pages change hands.
struct Churn {
  Holdings holdings;
  Owners owners;
  std::uint64_t seed;
  std::uint32_t operations;
  std::uint32_t share;  // bytes

  __device__ void create(std::uint32_t worker, std::uint32_t type) const {
    // The stamp depends on the slot, which the constructor does not know: stamped again below.
    Stamped* const object = dynasoar::test::make_of_type(type, worker);
    if (object == nullptr) {
      owners.tally[kRefused].fetch_add(1, Order::relaxed);
      return;
    }
    owners.tally[kCreated + type].fetch_add(1, Order::relaxed);
    owners.take(object, worker);
    dynasoar::test::count_if(owners.tally[kWrongType], type_of(object) != type);
    dynasoar::test::count_if(owners.tally[kDamaged], !dynasoar::test::intact(object, worker));
    restamp(object, type, stamp_of(object, worker));
    holdings.objects[worker * holdings.most + holdings.count[worker]++] = object;
    holdings.bytes[worker] += bytes_of(type);
  }

  __device__ static void restamp(Stamped* object, std::uint32_t type, std::uint32_t stamp) {
    switch (type) {
      case 0: ::new (static_cast<void*>(object)) dynasoar::test::Tiny(stamp); break;
      case 1: ::new (static_cast<void*>(object)) dynasoar::test::Small(stamp); break;
      case 2: ::new (static_cast<void*>(object)) dynasoar::test::Medium(stamp); break;
      default: ::new (static_cast<void*>(object)) dynasoar::test::Large(stamp); break;
    }
  }

  __device__ void destroy(std::uint32_t worker, std::uint32_t which) const {
    Stamped** const objects = holdings.objects + worker * holdings.most;
    Stamped* const object = objects[which];
    objects[which] = objects[--holdings.count[worker]];
    holdings.bytes[worker] -= bytes_of(type_of(object));
    dynasoar::test::count_if(owners.tally[kDamaged], !dynasoar::test::intact(object, stamp_of(object, worker)));
    owners.give_back(object, worker);
    dynasoar::destroy(object);
  }

  __device__ void operator()(std::size_t index) const {
    const auto worker = static_cast<std::uint32_t>(index);
    Random random = Random::of(seed, worker);
    std::uint32_t level = share;
    std::uint32_t favourite = 0;
    for (std::uint32_t i = 0; i < operations; ++i) {
      if (i % 64 == 0) {
        favourite = random.below(kTypes);
        // Mostly around the full mark, sometimes anywhere, sometimes nothing at all.
        switch (random.below(8)) {
          case 0: level = 0; break;
          case 1: level = random.below(share); break;
          default: level = share - random.below(share / 8 + 1); break;
        }
      }
      const std::uint32_t count = holdings.count[worker];
      const bool create_one = holdings.bytes[worker] < level ? random.below(8) != 0 : random.below(8) == 0;
      if (create_one && count < holdings.most) {
        create(worker, random.below(4) != 0 ? favourite : random.below(kTypes));
      } else if (count > 0) {
        destroy(worker, random.below(count));
      }
    }
  }
};

/// The table of owners against the heap's slots, and the heap against itself.
void check(AllocatorHandle<FourTypes>& handle, const AtomicWord<std::uint32_t>* owners) {
  const HeapCopy heap = dynasoar::test::copy_heap(handle);
  CHECK(dynasoar::test::heap_errors(heap) == "");
  const std::vector<std::uint32_t> owner =
      dynasoar::test::download_words<std::uint32_t>(handle.executor(), owners, heap.slots.size() * 64);
  CHECK(dynasoar::test::slots_wrong(heap, owner) == 0);
}

void churn(std::uint32_t pages, std::uint64_t seed, int rounds, std::uint32_t total_operations) {
  CAPTURE(pages);
  AllocatorHandle<FourTypes> handle(dynasoar::test::heap_of_pages<FourTypes>(pages));
  const std::size_t heap_bytes = handle.statistics().heap_bytes;
  // Thousands of workers are at their levels on average, which is three quarters of a share.
  const auto share = static_cast<std::uint32_t>(heap_bytes * (dynasoar::kCudaBackend ? 130 : 102) / 100 / kWorkers);
  const Holdings holdings{nullptr, nullptr, nullptr, share / 4 + 8};

  DeviceArray<Stamped*> objects(std::size_t{kWorkers} * holdings.most);
  DeviceArray<std::uint32_t> count(kWorkers), bytes(kWorkers);
  count.fill_bytes(0);
  bytes.fill_bytes(0);
  const std::size_t slots = std::size_t{handle.state().heap.blocks()} * 64;
  auto owners = zeroed<AtomicWord<std::uint32_t>>(slots);
  Counters tally(kTallies);

  Churn work{{objects.data(), count.data(), bytes.data(), holdings.most},
             {owners.data(), tally.data()},
             seed,
             dynasoar::test::operations_per_worker(total_operations),
             share};
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    work.seed = seed + static_cast<std::uint64_t>(round);
    handle.parallel_for(kWorkers, work);
    handle.synchronize();
    check(handle, owners.data());
    Counters held(kTypes);
    // Counts what the workers hold, by type.
    handle.parallel_for(kWorkers, [holdings = work.holdings, totals = held.data()] __device__(std::size_t worker) {
      for (std::uint32_t i = 0; i < holdings.count[worker]; ++i) {
        totals[type_of(holdings.objects[worker * holdings.most + i])].fetch_add(1, Order::relaxed);
      }
    });
    handle.synchronize();
    CHECK(handle.count<dynasoar::test::Tiny>() == held[0]);
    CHECK(handle.count<dynasoar::test::Small>() == held[1]);
    CHECK(handle.count<dynasoar::test::Medium>() == held[2]);
    CHECK(handle.count<dynasoar::test::Large>() == held[3]);
    CHECK(handle.count<Stamped>() == held[0] + held[1] + held[2] + held[3]);
  }
  CHECK(handle.statistics().refused() == tally[kRefused]);
  if (!dynasoar::kCudaBackend) {  // eight threads do not keep blocks on the move for longer than a request waits
    for (const auto& type : handle.statistics().types) CHECK(type.refused_contended == 0);
  }

  // Destroys everything that the workers have.
  handle.parallel_for(kWorkers, [work] __device__(std::size_t index) {
    const auto worker = static_cast<std::uint32_t>(index);
    while (work.holdings.count[worker] > 0) work.destroy(worker, 0);
  });
  handle.synchronize();
  check(handle, owners.data());
  CHECK(handle.statistics().free_pages == pages);
  CHECK(handle.count<Stamped>() == 0);

  CHECK(tally[kSlotTwice] == 0);
  CHECK(tally[kNotMine] == 0);
  CHECK(tally[kDamaged] == 0);
  CHECK(tally[kWrongType] == 0);
  // Three types may keep four pages to themselves from beginning to end: a type gets a page only when one is empty.
  for (std::uint32_t type = 0; type < kTypes; ++type) CHECK((tally[kCreated + type] > 0 || pages < 2 * kTypes));
  CHECK(tally[kRefused] > 0);  // else the heap was never full, and this tests less than it says
  MESSAGE("pages " << pages << ", created " << tally[kCreated] << " " << tally[kCreated + 1] << " "
                   << tally[kCreated + 2] << " " << tally[kCreated + 3] << ", refused " << tally[kRefused]);
}

TEST_CASE("four types in a heap that is almost full never share a slot, lose none, and leave all bitmaps consistent") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  constexpr std::uint32_t kScale = dynasoar::kCudaBackend ? std::max(10u, 100 / dynasoar::test::kSlowdown) : 1;
  churn(4 * kScale, seed, 3, 1600000);
  churn(8 * kScale, seed + 100, 3, 1600000);
  // Under a GPU's sanitizers there is no time to fill a larger heap.
  if (dynasoar::test::kSlowdown == 1) churn(40 * kScale, seed + 200, 3, 1600000);
}

}  // namespace block_heap_test
