// What happens when the heap is full: null, a record, an exception on the host, and everything usable again afterwards.
#include <chrono>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../platform/test_support.h"
#include "../platform/thrown.h"
#include "handle_check.h"
#include "test_classes.h"

namespace exhaustion_test {

using namespace dynasoar;
using namespace dynasoar::test;

class Lone;
using OneType = SoaAllocator<Lone>;
class Lone : public SoaBase<OneType> {
 public:
  DYNASOAR_FIELDS(Lone, (next_, Lone*), (value_, std::uint32_t))
  __device__ explicit Lone(std::size_t value) : next_(nullptr), value_(static_cast<std::uint32_t>(value)) {}
};

TEST_CASE("objects that are refused together are counted one by one") {
  using dynasoar::Refusal;
  using dynasoar::detail::refused_objects;
  constexpr std::uint64_t kUnit = std::uint64_t{1} << 32;
  dynasoar::Executor executor(1);
  for (const std::uint64_t objects : {std::uint64_t{1}, kUnit - 1, kUnit, kUnit + 1, 3 * kUnit, ~std::uint64_t{0}}) {
    CAPTURE(objects);
    const Counters words(dynasoar::detail::refusal_words(2));
    executor.for_each_index(1, [words = words.data(), objects] __device__(std::size_t) {
      dynasoar::detail::refuse_together(words, 2, 1, objects);
    });
    executor.synchronize();
    CHECK(refused_objects(words.values(), 1, Refusal::heap_full) == objects);
    CHECK(refused_objects(words.values(), 1, Refusal::contended) == 0);
    CHECK(refused_objects(words.values(), 0, Refusal::heap_full) == 0);
  }
}

template <class Allocator, class T>
std::uint64_t capacity(std::uint64_t pages) {
  return pages * Allocator::pages().blocks_per_page[static_cast<std::size_t>(Allocator::template index_of<T>)] * 64;
}

template <class T, class Allocator>
std::uint64_t refused_of(AllocatorHandle<Allocator>& handle, std::uint64_t wanted) {
  Counters refused(1);
  // Asks for one object per index and counts the refusals.
  handle.parallel_for(wanted, [refused = refused.data()] __device__(std::size_t i) {
    dynasoar::test::count_if(*refused, dynasoar::make_new<T>(static_cast<std::uint32_t>(i)) == nullptr);
  });
  handle.executor().synchronize();
  return refused[0];
}

template <class T, class Allocator>
void destroy_all(AllocatorHandle<Allocator>& handle) {
  handle.template parallel_do<T>([] __device__(T * object) { dynasoar::destroy(object); });
}

TEST_CASE("a heap of one type creates exactly as many objects as it has slots, and then returns null") {
  for (std::size_t pages : {1, 2, 3, 64, 65, 200}) {
    CAPTURE(pages);
    AllocatorHandle<OneType> handle(heap_of_pages<OneType>(pages));
    const std::uint64_t slots = capacity<OneType, Lone>(pages);
    CHECK(refused_of<Lone>(handle, slots) == 0);
    CHECK(handle.count<Lone>() == slots);
    CHECK(refused_of<Lone>(handle, 1000) == 1000);
    CHECK(handle.count<Lone>() == slots);
    const Statistics statistics = handle.statistics();
    CHECK(statistics.types[0].refused_full == 1000);
    CHECK(statistics.types[0].refused_contended == 0);
    CHECK(statistics.used() == 1.0);
    CHECK(statistics.fragmentation() == 0.0);
    CHECK(dynasoar::test::heap_errors(handle) == "");
  }
}

template <class T>
void fill_and_empty(AllocatorHandle<FourTypes>& handle, std::size_t pages) {
  const std::uint64_t slots = capacity<FourTypes, T>(pages);
  constexpr auto type = static_cast<std::size_t>(FourTypes::index_of<T>);
  CAPTURE(type);
  const std::uint64_t recorded = handle.statistics().types[type].refused_full;
  CHECK(refused_of<T>(handle, slots + 77) == 77);
  CHECK(handle.count<T>() == slots);
  CHECK(handle.count<Stamped>() == slots);
  const Statistics statistics = handle.statistics();
  CHECK(statistics.types[type].refused_full == recorded + 77);
  CHECK(statistics.types[type].refused_contended == 0);
  CHECK(statistics.free_pages == 0);
  CHECK(dynasoar::test::heap_errors(handle) == "");
  destroy_all<T>(handle);
  CHECK(handle.count<Stamped>() == 0);
  CHECK(handle.statistics().free_pages == pages);
  CHECK(dynasoar::test::heap_errors(handle) == "");
}

TEST_CASE("when everything has been freed, every type can have the whole heap, again and again") {
  for (std::size_t pages : {4, 70}) {
    CAPTURE(pages);
    AllocatorHandle<FourTypes> handle(heap_of_pages<FourTypes>(pages));
    for (int round = 0; round < 3; ++round) {
      fill_and_empty<Tiny>(handle, pages);
      fill_and_empty<Large>(handle, pages);
      fill_and_empty<Small>(handle, pages);
      fill_and_empty<Medium>(handle, pages);
    }
  }
}

TEST_CASE("several types at once fill the heap to the last slot of every page before any of them is refused for good") {
  constexpr std::size_t kPages = 30;
  AllocatorHandle<FourTypes> handle(heap_of_pages<FourTypes>(kPages));
  const std::uint64_t wanted = 4 * capacity<FourTypes, Tiny>(kPages);  // each type alone could fill the heap
  Counters refused(4);
  // Asks for objects of all four types.
  handle.parallel_for(wanted, [refused = refused.data()] __device__(std::size_t i) {
    const auto type = static_cast<std::uint32_t>(i % 4);
    dynasoar::test::count_if(refused[type],
                             dynasoar::test::make_of_type(type, static_cast<std::uint32_t>(i)) == nullptr);
  });
  handle.synchronize();
  const Statistics statistics = handle.statistics();
  CHECK(statistics.free_pages == 0);
  std::uint64_t pages = 0;
  for (std::size_t type = 0; type < 4; ++type) {
    CAPTURE(type);
    const auto& now = statistics.types[type];
    CHECK(now.objects > 0);
    CHECK(now.objects == now.slots);  // every open block is full
    CHECK(now.blocks % FourTypes::pages().blocks_per_page[type] == 0);
    CHECK(now.objects + refused[type] == wanted / 4);
    CHECK(now.refused_full == refused[type]);
    CHECK(now.refused_contended == 0);
    pages += now.blocks / FourTypes::pages().blocks_per_page[type];
  }
  CHECK(pages == kPages);
  CHECK(dynasoar::test::heap_errors(handle) == "");
}

TEST_CASE("synchronize throws what could not be created, by class, once") {
  AllocatorHandle<FourTypes> handle(heap_of_pages<FourTypes>(4, OnRefusal::throw_error));
  const std::uint64_t slots = capacity<FourTypes, Medium>(4);
  CHECK_NOTHROW(handle.synchronize());
  refused_of<Medium>(handle, slots + 12);
  refused_of<Large>(handle, 3);
  const auto error = thrown<AllocationError>([&] { handle.synchronize(); });
  const std::string message = error.what();
  CAPTURE(message);
  CHECK(error.failures() == 15);
  CHECK(message.find("test::Medium: make_new failed 12 times, heap full") != std::string::npos);
  CHECK(message.find("test::Large: make_new failed 3 times, heap full") != std::string::npos);
  CHECK(message.find("Tiny") == std::string::npos);
  CHECK(message.find(std::to_string(4 * FourTypes::pages().bytes) + " bytes, 100.0% used") != std::string::npos);
  CHECK(message.find("heap_bytes") != std::string::npos);  // what to do
  CHECK_NOTHROW(handle.synchronize());
  refused_of<Small>(handle, 1);
  CHECK_THROWS_AS(handle.synchronize(), AllocationError);
  CHECK(handle.statistics().refused() == 16);  // since the start
}

TEST_CASE("synchronize only records refusals if it was asked to") {
  AllocatorHandle<OneType> handle(heap_of_pages<OneType>(1, OnRefusal::record));
  CHECK(refused_of<Lone>(handle, 70) == 6);
  CHECK_NOTHROW(handle.synchronize());
  CHECK(handle.statistics().refused() == 6);
}

TEST_CASE("the one slot that was freed in a full heap is what the next request gets") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  for (std::size_t pages : {1, 5, 130}) {
    CAPTURE(pages);
    AllocatorHandle<OneType> handle(heap_of_pages<OneType>(pages));
    const auto slots = static_cast<std::uint32_t>(capacity<OneType, Lone>(pages));
    DeviceArray<Lone*> objects(slots);
    Counters wrong(1);
    // Replaces one object of a full heap by another, over and over.
    handle.parallel_for(1, [objects = objects.data(), slots, seed, wrong = wrong.data()] __device__(std::size_t) {
      Random random{seed};
      for (std::uint32_t i = 0; i < slots; ++i) objects[i] = dynasoar::make_new<Lone>(i);
      dynasoar::test::count_if(*wrong, objects[slots - 1] == nullptr || dynasoar::make_new<Lone>(0) != nullptr);
      for (std::uint32_t i = 0; i < 2000; ++i) {
        const std::uint32_t which = random.below(slots);
        Lone* const old = objects[which];
        dynasoar::destroy(old);
        objects[which] = dynasoar::make_new<Lone>(i);
        dynasoar::test::count_if(*wrong, slot_number(objects[which]) != slot_number(old));
        dynasoar::test::count_if(*wrong, i % 16 == 0 && dynasoar::make_new<Lone>(0) != nullptr);
      }
    });
    handle.synchronize();
    CHECK(wrong[0] == 0);
    CHECK(dynasoar::test::heap_errors(handle) == "");
  }
}

TEST_CASE("a request is refused because the heap is full, not as contended, when its hint leads to another type") {
  AllocatorHandle<FourTypes> handle(heap_of_pages<FourTypes>(4));
  DeviceArray<std::uint32_t> got_large(1);
  // One thread: a large object comes and goes, medium ones take its place, and one slot of them is free again.
  handle.parallel_for(1, [got_large = got_large.data()] __device__(std::size_t) {
    Large* const large = dynasoar::make_new<Large>(0u);
    const std::uint32_t block = dynasoar::test::slot_number(large) / 64;
    dynasoar::destroy(large);
    Medium* in_its_place = nullptr;
    while (Medium* medium = dynasoar::make_new<Medium>(0u)) {
      if (dynasoar::test::slot_number(medium) / 64 == block) in_its_place = medium;
    }
    dynasoar::destroy(in_its_place);
    *got_large = dynasoar::make_new<Large>(0u) != nullptr;
  });
  handle.synchronize();
  CHECK(got_large.download()[0] == 0);
  const Statistics statistics = handle.statistics();
  CHECK(statistics.types[3].objects == 0);
  CHECK(statistics.types[2].objects == capacity<FourTypes, Medium>(4) - 1);
  CHECK(statistics.types[3].refused_full == 1);
  CHECK(statistics.types[3].refused_contended == 0);
}

TEST_CASE("many threads that fail at once are done quickly") {
  constexpr std::size_t kPages = 2000;
  constexpr std::uint64_t kRequests = (dynasoar::kCudaBackend ? 4000000 : 1000000) / dynasoar::test::kSlowdown;
  AllocatorHandle<FourTypes> handle(heap_of_pages<FourTypes>(kPages));
  CHECK(refused_of<Tiny>(handle, capacity<FourTypes, Tiny>(kPages)) == 0);
  const auto start = std::chrono::steady_clock::now();
  CHECK(refused_of<Tiny>(handle, kRequests) == kRequests);
  CHECK(refused_of<Large>(handle, kRequests) == kRequests);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  MESSAGE((2 * kRequests) << " refusals in " << seconds.count() << " s");
  CHECK(seconds.count() < 20);
  CHECK(handle.statistics().types[0].refused_contended == 0);
  CHECK(handle.statistics().types[3].refused_contended == 0);
}

/// Each worker has at most `most` objects, of any of the types, and may never be refused one.
template <class Make>
struct StayBelow {
  static constexpr std::uint32_t kMost = 64;
  Make make;
  std::uint32_t most, operations;
  std::uint64_t seed;
  Counter* refused;

  __device__ void operator()(std::size_t worker) const {
    using Object = decltype(make(0u));
    Random random = Random::of(seed, worker);
    Object objects[kMost];
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < operations; ++i) {
      // Runs of one kind, so that blocks fill up and drain.
      const bool grow = (i / 16 + worker) % 2 == 0 ? random.below(4) != 0 : random.below(4) == 0;
      if (grow && count < most) {
        objects[count] = make(random.below(1u << 16));
        if (objects[count] == nullptr) {
          refused->fetch_add(1, Order::relaxed);
        } else {
          ++count;
        }
      } else if (count > 0) {
        const std::uint32_t which = random.below(count);
        dynasoar::destroy(objects[which]);
        objects[which] = objects[--count];
      }
    }
    while (count > 0) dynasoar::destroy(objects[--count]);
  }
};

struct MakeLone {
  __device__ Lone* operator()(std::uint32_t value) const { return dynasoar::make_new<Lone>(value); }
};

struct MakeAny {
  __device__ Stamped* operator()(std::uint32_t value) const { return dynasoar::test::make_of_type(value % 4, value); }
};

/// @param workers   that run at once
/// @param most      objects of each
template <class Make, class Allocator>
void never_refused(std::size_t pages, std::uint32_t workers, std::uint32_t most, std::uint64_t seed,
                   std::uint32_t total_operations) {
  CAPTURE(pages);
  CAPTURE(workers);
  CAPTURE(most);
  AllocatorHandle<Allocator> handle(heap_of_pages<Allocator>(pages));
  Counters refused(1);
  const std::uint32_t wanted =
      dynasoar::kCudaBackend ? std::min(20000u, 4 * total_operations / workers) : total_operations / workers;
  const std::uint32_t operations = wanted / dynasoar::test::kSlowdown;
  handle.parallel_for(workers, StayBelow<Make>{{}, most, operations, seed, refused.data()});
  handle.synchronize();
  CHECK(refused[0] == 0);
  CHECK(handle.statistics().refused() == 0);
  CHECK(handle.statistics().free_pages == pages);
  CHECK(dynasoar::test::heap_errors(handle) == "");
}

TEST_CASE("no request is refused while at most half of the slots hold objects") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  for (std::size_t pages : {1, 2, 3, 8}) {
    const auto half = static_cast<std::uint32_t>(capacity<OneType, Lone>(pages) / 2);
    never_refused<MakeLone, OneType>(pages, 8, std::min(half / 8, 64u), seed, 1600000);
    never_refused<MakeLone, OneType>(pages, dynasoar::kCudaBackend ? half : 8, 1, seed + 1, 800000);
  }
}

TEST_CASE("a thread that creates objects takes no more pages than they need") {
  const std::uint64_t pages = kCudaBackend ? 16384 : 512;  // more than warps
  AllocatorHandle<FourTypes> handle(heap_of_pages<FourTypes>(pages));
  const std::uint64_t objects = 40 * capacity<FourTypes, Tiny>(1);
  handle.parallel_for(1, [objects] __device__(std::size_t) {
    for (std::uint64_t i = 0; i < objects; ++i) dynasoar::make_new<Tiny>(static_cast<std::uint32_t>(i));
  });
  CHECK(handle.count<Tiny>() == objects);
  CHECK(pages - handle.statistics().free_pages <= 41);
}

TEST_CASE("no request is refused while there are more pages than objects, whatever their types") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  never_refused<MakeAny, FourTypes>(9, 8, 1, seed, 1600000);
  never_refused<MakeAny, FourTypes>(8 * 4 + 1, 8, 4, seed + 1, 800000);
  if (dynasoar::kCudaBackend) never_refused<MakeAny, FourTypes>(2049, 2048, 1, seed + 2, 1000000);
}

}  // namespace exhaustion_test
