// parallel_new: every index gets one object, in whole blocks and in holes, alone in a page and beside other classes, in
// heaps with room and without.
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../platform/test_support.h"

namespace parallel_new_test {

using namespace dynasoar;
using dynasoar::test::Counters;

// Classes of one size have pages of a block; of different sizes, pages of several; and very different ones, pages of
// more blocks than a word of a bitmap has bits.
template <class Big>
struct World {
  class Thing;
  class Other;
  using AllocatorT = dynasoar::SoaAllocator<Thing, Other>;

  class Thing : public dynasoar::SoaBase<AllocatorT> {
   public:
    DYNASOAR_FIELDS(Thing, (index_, std::uint32_t), (check_, std::uint32_t))
    __device__ Thing(std::size_t index, std::uint32_t first)
        : index_(first + static_cast<std::uint32_t>(index)), check_(~index_) {}
    __device__ std::uint32_t index() const { return check_ == ~index_ ? index_.get() : 0; }
    __device__ void die_unless_divisible(std::uint32_t by) {
      if (index_ % by != 0) dynasoar::destroy(this);
    }
  };

  class Other : public dynasoar::SoaBase<AllocatorT> {
   public:
    DYNASOAR_FIELDS(Other, (big_, Big), (index_, std::uint32_t))
    __device__ explicit Other(std::size_t index) : index_(static_cast<std::uint32_t>(index)) {}
  };

  struct Count {
    dynasoar::test::Counter* counters;
    __device__ void operator()(Thing* thing) const { counters[thing->index()].fetch_add(1, Order::relaxed); }
  };

  /// How often each index below `count` occurs among the things. @pre no other does
  static std::vector<std::uint64_t> occurrences(AllocatorHandle<AllocatorT>& handle, std::size_t count) {
    Counters counters(count);
    handle.template parallel_do<Thing>(Count{counters.data()});
    return counters.values();
  }
};

struct OfOneSize : World<std::uint32_t> {};
struct OfSeveralSizes : World<std::array<float, 5>> {};
struct OfExtremeSizes : World<std::array<double, 60>> {};

// More than all threads of a GPU take at once, more than one share of a warp, a whole number of blocks and not, and
// around the slots of a block, the lanes of a warp, and nothing.
constexpr std::size_t kCounts[] = {1'000'001, 300'007, 64 * 200, 64 * 16 + 1, 97, 96, 65, 64, 63, 33, 32, 31, 1, 0};

TEST_CASE_TEMPLATE("parallel_new makes one object per index", W, OfOneSize, OfSeveralSizes, OfExtremeSizes) {
  AllocatorHandle<typename W::AllocatorT> handle({.heap_bytes = std::size_t{64} << 20});
  for (const std::size_t count : kCounts) {
    CAPTURE(count);
    handle.template parallel_new<typename W::Thing>(count, std::uint32_t{0});
    handle.template parallel_new<typename W::Other>(count / 100);
    handle.synchronize();
    CHECK(handle.template count<typename W::Thing>() == count);
    CHECK(handle.template count<typename W::Other>() == count / 100);
    CHECK(W::occurrences(handle, count) == std::vector<std::uint64_t>(count, 1));
    // Whole blocks, and some for the rest. In a heap of few pages, warps share them, and their blocks fill as they
    // come.
    if (!std::is_same_v<W, OfExtremeSizes>) CHECK(handle.statistics().types[0].blocks <= count / 60 + 4);
    handle.template parallel_do<typename W::Thing>(
        [] __device__(typename W::Thing * thing) { dynasoar::destroy(thing); });
    handle.template parallel_do<typename W::Other>(
        [] __device__(typename W::Other * other) { dynasoar::destroy(other); });
    handle.synchronize();
    CHECK(handle.statistics().types[0].blocks == 0);
    CHECK(handle.statistics().types[1].blocks == 0);
  }
}

TEST_CASE_TEMPLATE("parallel_new fills holes before it takes new blocks", W, OfOneSize, OfSeveralSizes) {
  AllocatorHandle<typename W::AllocatorT> handle({.heap_bytes = std::size_t{64} << 20});
  constexpr std::uint32_t kCount = 64 * 500;
  handle.template parallel_new<typename W::Thing>(kCount, std::uint32_t{0});
  handle.template parallel_do<&W::Thing::die_unless_divisible>(std::uint32_t{8});
  handle.synchronize();
  const std::uint64_t blocks = handle.statistics().types[0].blocks;
  handle.template parallel_new<typename W::Thing>(kCount / 8 * 7, kCount);
  handle.synchronize();
  CHECK(handle.template count<typename W::Thing>() == kCount);
  // A warp that finds nothing listed opens a block; on a GPU thousands do so at once.
  CHECK(handle.statistics().types[0].blocks <= blocks + blocks / 4);
  std::vector<std::uint64_t> expected(kCount + kCount / 8 * 7, 0);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = i >= kCount || i % 8 == 0 ? 1 : 0;
  CHECK(W::occurrences(handle, expected.size()) == expected);
}

TEST_CASE_TEMPLATE("parallel_new fills the heap to the last slot, and reports the rest", W, OfOneSize, OfSeveralSizes,
                   OfExtremeSizes) {
  AllocatorHandle<typename W::AllocatorT> handle(
      {.heap_bytes = std::size_t{8} << 20, .on_refusal = dynasoar::OnRefusal::record});
  const auto room = [&] {
    const dynasoar::Statistics statistics = handle.statistics();
    return statistics.pages * W::AllocatorT::pages().blocks_per_page[0] * 64;
  };
  const std::size_t too_many = room() + 64 * 100 + 5;
  handle.template parallel_new<typename W::Thing>(too_many, std::uint32_t{0});
  handle.synchronize();
  CHECK(handle.template count<typename W::Thing>() == room());
  CHECK(handle.statistics().types[0].refused() == too_many - room());
  for (const std::uint64_t times : W::occurrences(handle, too_many)) CHECK(times <= 1);
  handle.template parallel_do<typename W::Thing>(
      [] __device__(typename W::Thing * thing) { dynasoar::destroy(thing); });
  handle.template parallel_new<typename W::Thing>(too_many - 64 * 200, std::uint32_t{0});
  handle.synchronize();
  CHECK(handle.template count<typename W::Thing>() == too_many - 64 * 200);
}

}  // namespace parallel_new_test
