// Misuse of become: it is found and reported, and changes nothing. This file is always compiled with
// DYNASOAR_CHECKED=1.
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../heap/handle_check.h"
#include "../platform/test_support.h"
#include "become_classes.h"

namespace become_test {

static_assert(dynasoar::kChecked, "this file is about checked builds");

struct Use {
  Thing** things;
  __device__ void operator()(std::size_t i) const { things[i]->tag_ = things[i]->tag_; }  // two accesses
};

struct BecomeTumour {
  Thing** things;
  __device__ void operator()(std::size_t i) const { dynasoar::become<Tumour>(things[i], 0); }
};

/// What a checked build says of a loop over the first `count` pointers of an array.
template <class F>
std::string misuse_of(HandleT& handle, std::size_t count, const F& function) {
  handle.parallel_for(count, function);
  try {
    handle.synchronize();
  } catch (const MisuseError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("pointers to an object that has become another one are stale, and a stale pointer cannot become anything") {
  HandleT handle(small_heap());
  DeviceArray<Thing*> old(10), now(10);
  handle.parallel_for(10, [old = old.data(), now = now.data()] __device__(std::size_t i) {
    old[i] = dynasoar::make_new<Cell>(static_cast<std::uint32_t>(i));
    now[i] = dynasoar::become<Tumour>(old[i], 0);
  });
  handle.synchronize();
  CHECK(misuse_of(handle, 10, Use{now.data()}) == "");
  CHECK(misuse_of(handle, 10, Use{old.data()}).find("accessed in an object that had been destroyed 20 times") !=
        std::string::npos);
  const std::string again = misuse_of(handle, 10, BecomeTumour{old.data()});
  CHECK(again.find("passed to become after it had been destroyed or had become another class, 10 times") !=
        std::string::npos);
  CHECK(handle.count<Thing>() == 10);
  CHECK(heap_errors(handle) == "");
}

TEST_CASE(
    "of many threads that let one object become others, or destroy it, one does so, and the others are reported") {
  HandleT handle(small_heap(8));
  constexpr std::uint32_t kThings = 500 / dynasoar::test::kSlowdown;
  DeviceArray<Thing*> things(kThings);
  handle.parallel_for(kThings, [things = things.data()] __device__(std::size_t i) {
    things[i] = dynasoar::make_new<Cell>(static_cast<std::uint32_t>(i + 1));
  });
  Counters made(1);
  const std::string misuse = misuse_of(
      handle, std::size_t{16} * kThings, [things = things.data(), made = made.data()] __device__(std::size_t i) {
        if (i % 16 == 5) {
          dynasoar::destroy(things[i / 16]);
        } else {
          dynasoar::test::count_if(made[0], dynasoar::become<Tumour>(things[i / 16], 0) != nullptr);
        }
      });
  CHECK(misuse != "");
  CHECK(made[0] <= kThings);
  CHECK(handle.count<Thing>() == made[0]);
  CHECK(handle.count<Cell>() == handle.count<Tumour>());
  CHECK(heap_errors(handle) == "");
}

TEST_CASE("an object may not let another one that the loop visits become anything, nor may host code") {
  HandleT handle(small_heap());
  DeviceArray<Thing*> things(2);
  things.fill_bytes(0);
  handle.parallel_new<Cell>(2, 0u);
  handle.parallel_do<Cell>([things = things.data()] __device__(Cell * cell) { things[cell->id_] = cell; });
  handle.parallel_do<Cell>(
      [things = things.data()] __device__(Cell * cell) { dynasoar::become<Tumour>(things[1 - cell->id_], 0); });
  CHECK_THROWS_WITH_AS(handle.synchronize(),
                       doctest::Contains("passed to become by another object in a loop that visits it 2 times"),
                       MisuseError);
  CHECK(handle.count<Tumour>() == 0);
#if !DYNASOAR_CUDA_BACKEND
  dynasoar::become<Tumour>(things.download()[0], 0);
  CHECK_THROWS_WITH_AS(handle.synchronize(), doctest::Contains("become called in host code outside of a loop"),
                       MisuseError);
  CHECK(handle.count<Tumour>() == 0);
#endif
}

TEST_CASE("an object that was refused can become another one later, and so can one on whose request one fails") {
  HandleT handle({.heap_bytes = std::size_t{16} << 20,
                  .on_refusal = OnRefusal::record,
                  .threads = 2,
                  .failing_allocations = {.first = 11, .every = 2}});
  handle.parallel_new<StemCell>(10, 1u);
  for (const std::uint64_t left : {5u, 3u, 1u}) {
    handle.parallel_do<StemCell>([] __device__(StemCell * cell) { dynasoar::become<Tumour>(cell, 9); });
    CHECK(handle.count<StemCell>() == left);
    CHECK(handle.count<Thing>() == 10);
    CHECK(count_wrong(handle, 9) == 0);
  }
}

TEST_CASE("a field that was never set is found also after the object has become another one") {
  HandleT handle(small_heap());
  handle.parallel_new<StemCell>(5, 1u);
  handle.parallel_do<StemCell>([] __device__(StemCell * cell) { dynasoar::become<Tumour>(cell, 0); });
  handle.parallel_do<Tumour>([] __device__(Tumour * tumour) { tumour->age_ += 1; });
  handle.synchronize();
  handle.parallel_do<Tumour>([] __device__(Tumour * tumour) { tumour->note_ += 1; });
  CHECK_THROWS_WITH_AS(handle.synchronize(), doctest::Contains("note_: read, but neither the constructor"),
                       MisuseError);
}

TEST_CASE("pointers that were stale before objects became others stay stale") {
  HandleT handle(small_heap());
  DeviceArray<Thing*> things(100);
  Thing** const all = things.data();
  handle.parallel_for(100, [all] __device__(std::size_t i) {
    all[i] = dynasoar::make_new<Cell>(static_cast<std::uint32_t>(i));
    dynasoar::destroy(all[i]);
  });
  handle.parallel_new<Cell>(100, 1u);
  handle.become<Cell, Tumour>(Chosen{1, 100}, std::tuple(0), dynasoar::pointers(all, 100));
  CHECK(handle.count<Tumour>() == 100);
  CHECK(misuse_of(handle, 100, Use{all}).find("had been destroyed 200 times") != std::string::npos);
}

}  // namespace become_test
