// make_new_n: several objects at once in one thread, also where the threads of a warp want different numbers of them.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../platform/test_support.h"
#include "layouts.h"

namespace make_new_n_test {

using namespace dynasoar;
using namespace dynasoar::test;

struct WithoutCombining : dynasoar::AllFeatures {
  static constexpr bool kCombines = false;
};
struct OneByOne {
  template <class... Types>
  using Allocator = dynasoar::ReducedSoaAllocator<WithoutCombining, Types...>;
};

template <class Layout>
struct World {
  class Parent;
  class Child;
  using AllocatorT = typename Layout::template Allocator<Parent, Child>;

  class Parent : public dynasoar::SoaBase<AllocatorT> {
   public:
    DYNASOAR_FIELDS(Parent, (number_, std::uint32_t), (children_, std::uint32_t))
    __device__ explicit Parent(std::size_t number) : number_(static_cast<std::uint32_t>(number)), children_(0u) {}
    __device__ std::uint32_t number() const { return number_; }

    /// As many children as `wishes` says for this parent's number, cyclically.
    __device__ void have_children(const std::uint32_t* wishes, std::uint32_t count) {
      children_ += dynasoar::make_new_n<Child>(wishes[number_ % count], this, number_ + 7);
    }
  };

  class Child : public dynasoar::SoaBase<AllocatorT> {
   public:
    DYNASOAR_FIELDS(Child, (index_, std::uint32_t), (parent_, Parent*), (check_, std::uint32_t))
    __device__ Child(std::size_t index, Parent* parent, std::uint32_t check)
        : index_(static_cast<std::uint32_t>(index)), parent_(parent), check_(check) {}

    /// Counts itself in place [parent][index], of `most` each.
    __device__ void note(dynasoar::test::Counter* places, std::uint32_t most, dynasoar::test::Counter* wrong) {
      dynasoar::test::count_if(*wrong, index_ >= most || check_ != parent_->number() + 7);
      if (index_ < most) places[parent_->number() * most + index_].fetch_add(1, Order::relaxed);
    }
    __device__ void leave() {
      if (index_ % 2 == 0) dynasoar::destroy(this);
    }
  };
};

/// What parents wish for: none, one, more than a warp has lanes, more than a block has slots.
const std::vector<std::uint32_t> kWishes = {0, 1, 3, 0, 8, 2, 70, 0, 0, 5, 1, 33, 64, 130, 1, 0, 0};
constexpr std::uint32_t kMost = 130;

TEST_CASE_TEMPLATE("each of several objects is made once, with its number, whatever the other threads want", Layout,
                   InArrays, OneByOne, InOnePiece) {
  using W = World<Layout>;
  using Parent = typename W::Parent;
  using Child = typename W::Child;
  constexpr std::uint32_t kParents = 3000;
  AllocatorHandle<typename W::AllocatorT> handle({.heap_bytes = 64 << 20, .threads = 4});
  handle.template parallel_new<Parent>(kParents);
  const auto wishes = on_device(kWishes);
  const auto count = static_cast<std::uint32_t>(kWishes.size());
  std::uint64_t expected = 0;
  for (std::uint32_t p = 0; p < kParents; ++p) expected += kWishes[p % count];

  // The second time into blocks with gaps.
  for (int round = 0; round < 2; ++round) {
    CAPTURE(round);
    handle.template parallel_do<&Parent::have_children>(static_cast<const std::uint32_t*>(wishes.data()), count);
    handle.synchronize();
    CHECK(handle.template sum<&Parent::children_>() == expected * (round + 1));
    Counters places(std::size_t{kParents} * kMost);
    Counters wrong(1);
    handle.template parallel_do<&Child::note>(places.data(), kMost, wrong.data());
    handle.synchronize();
    CHECK(wrong[0] == 0);
    const std::vector<std::uint64_t> seen = places.values();
    std::uint64_t missing = 0;
    for (std::uint32_t p = 0; p < kParents; ++p) {
      for (std::uint32_t i = 0; i < kMost; ++i) {
        const std::uint64_t left = round == 1 && i % 2 == 1 ? 1 : 0;  // of the first round
        const std::uint64_t made = i < kWishes[p % count] ? 1 + left : 0;
        missing += seen[std::size_t{p} * kMost + i] != made ? 1 : 0;
      }
    }
    CHECK(missing == 0);
    handle.template parallel_do<&Child::leave>();
  }
}

TEST_CASE_TEMPLATE("in a full heap, as many are made as there is room for, and the others are reported", Layout,
                   InArrays, OneByOne, InOnePiece) {
  using W = World<Layout>;
  using Parent = typename W::Parent;
  using Child = typename W::Child;
  constexpr std::uint32_t kParents = 3000;
  AllocatorHandle<typename W::AllocatorT> handle(
      {.heap_bytes = 1 << 20, .on_refusal = dynasoar::OnRefusal::record, .threads = 4});
  handle.template parallel_new<Parent>(kParents);
  const auto wishes = on_device(std::vector<std::uint32_t>{90, 20});
  handle.template parallel_do<&Parent::have_children>(static_cast<const std::uint32_t*>(wishes.data()), 2u);
  handle.synchronize();
  const std::uint64_t made = handle.template sum<&Parent::children_>();
  CHECK(handle.template count<Parent>() == kParents);
  CHECK(handle.template count<Child>() == made);
  CHECK(made > 10000);
  CHECK(made < 55 * kParents);
  std::uint64_t refused = 0;
  for (const dynasoar::TypeStatistics& type : handle.statistics().types) {
    refused += type.refused_full + type.refused_contended + type.refused_table;
  }
  CHECK(made + refused == 55 * kParents);
}

TEST_CASE_TEMPLATE("in a full heap any number is refused at once, and every one of them is counted", Layout, InArrays,
                   OneByOne, InOnePiece) {
  using W = World<Layout>;
  using Parent = typename W::Parent;
  using Child = typename W::Child;
  constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max();
  AllocatorHandle<typename W::AllocatorT> handle(
      {.heap_bytes = 1 << 20, .on_refusal = dynasoar::OnRefusal::record, .threads = 4});
  const auto refused = [&](std::size_t type) { return handle.statistics().types[type].refused(); };
  handle.template parallel_new<Parent>(kHuge);
  const std::uint64_t parents = handle.template count<Parent>();
  CHECK(parents > 10000);
  CHECK(refused(0) == kHuge - parents);
  CHECK(handle.statistics().refused() == kHuge - parents);
  CHECK(handle.template minimum<&Parent::number_>() == 0u);

  // By threads, too: some of the parents ask for the greatest possible number.
  constexpr std::uint64_t kMany = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> wanted(50, 0);
  wanted[7] = kMany;
  const auto wishes = on_device(wanted);
  const std::uint64_t wishing =
      handle.template count_if<Parent>([] __device__(Parent * parent) { return parent->number() % 50 == 7; });
  handle.template parallel_do<&Parent::have_children>(static_cast<const std::uint32_t*>(wishes.data()), 50u);
  CHECK(wishing > 100);
  CHECK(handle.template count<Child>() + refused(1) == wishing * kMany);
  CHECK(handle.template sum<&Parent::children_>() == handle.template count<Child>());

  // Numbers above 2^64 - 1 are not wrapped.
  handle.template parallel_new<Child>(kHuge - 1, static_cast<Parent*>(nullptr), 0u);
  CHECK(refused(1) == kHuge);
  CHECK(handle.statistics().refused() == kHuge);
}

}  // namespace make_new_n_test
