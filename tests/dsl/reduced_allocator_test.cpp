// ReducedSoaAllocator: what is left out for measurements changes the speed and nothing else.
#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../platform/test_support.h"

namespace reduced_allocator_test {

using namespace dynasoar;

struct WithoutCombining : AllFeatures {
  static constexpr bool kCombines = false;
};
struct WithoutRotation : AllFeatures {
  static constexpr bool kRotates = false;
};
struct WithoutCurrentBlocks : AllFeatures {
  static constexpr bool kKeepsCurrentBlocks = false;
};

/// Two classes of different sizes.
template <class Features>
struct World {
  class Seed;
  class Tree;
  using AllocatorT = dynasoar::ReducedSoaAllocator<Features, Seed, Tree>;

  class Plant : public dynasoar::SoaBase<AllocatorT> {
   public:
    DYNASOAR_FIELDS(Plant, (number_, std::uint32_t));
    __device__ explicit Plant(std::size_t number) : number_(static_cast<std::uint32_t>(number)) {}
    __device__ std::uint32_t number() const { return number_; }
    __device__ void die_if_odd() {
      if (number_ % 2 == 1) dynasoar::destroy(this);
    }
    __device__ void die() { dynasoar::destroy(this); }
  };

  class Seed : public Plant {
   public:
    using BaseClass = Plant;
    DYNASOAR_FIELDS(Seed);
    using Plant::Plant;
    __device__ void grow() {
      dynasoar::make_new<Tree>(this->number());
      dynasoar::destroy(this);
    }
  };

  class Tree : public Plant {
   public:
    using BaseClass = Plant;
    DYNASOAR_FIELDS(Tree, (height_, double), (width_, double));
    __device__ explicit Tree(std::size_t number) : Plant(number), height_(1.0), width_(2.0) {}
    __device__ void drop() { dynasoar::make_new<Seed>(this->number() + 1); }
  };
};

/// A method for reductions.
struct Number {
  template <class P>
  __device__ std::uint64_t operator()(P* plant) const {
    return plant->number();
  }
};

TEST_CASE_TEMPLATE("objects come and go without a feature as with it", Features, AllFeatures, WithoutCombining,
                   WithoutRotation, WithoutCurrentBlocks) {
  using W = World<Features>;
  using Plant = typename W::Plant;
  using Seed = typename W::Seed;
  using Tree = typename W::Tree;
  AllocatorHandle<typename W::AllocatorT> handle({.heap_bytes = std::size_t{8} << 20});
  constexpr std::uint64_t kSeeds = 20000;
  for (int round = 0; round < 3; ++round) {
    CAPTURE(round);
    handle.template parallel_new<Seed>(kSeeds);
    handle.template parallel_do<&Seed::grow>();
    handle.template parallel_do<Tree, &Plant::die_if_odd>();
    handle.template parallel_do<&Tree::drop>();
    CHECK(handle.template count<Seed>() == kSeeds / 2);
    CHECK(handle.template count<Tree>() == kSeeds / 2);
    // Seeds 1, 3, ... of the even trees.
    CHECK(handle.template reduce<Seed>(std::uint64_t{0}, dynasoar::Plus{}, Number{}) == kSeeds * kSeeds / 4);
    handle.template parallel_do<Plant, &Plant::die>();
    CHECK(handle.template count<Plant>() == 0);
  }
}

}  // namespace reduced_allocator_test
