/// @file
/// What tests of lattices share: classes of placed objects and of one that points to them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

#include "placing_allocator.h"

namespace lattice_test {

using namespace dynasoar;
using namespace dynasoar::test;

class Fish;
class Shark;
class Spot;
class Free;
using AllocatorT = dynasoar::test::PlacingAllocator<Fish, Shark, Spot, Free>;

/// A word, a byte and an array, to find fields that are copied wrongly.
class Fish final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  using Marks = std::array<std::uint16_t, 3>;
  DYNASOAR_FIELDS(Fish, (age_, std::uint32_t), (tag_, std::uint8_t), (marks_, Marks), (seen_by_, std::uint32_t));

  __device__ explicit Fish(std::uint32_t age) : age_(age), tag_(static_cast<std::uint8_t>(age)), seen_by_(0) {
    for (std::uint16_t i = 0; i < 3; ++i) marks_[i] = static_cast<std::uint16_t>(age + i);
  }

  __device__ bool is_sound() const {
    if (tag_ != static_cast<std::uint8_t>(age_)) return false;
    for (std::uint32_t i = 0; i < 3; ++i) {
      if (marks_[i] != static_cast<std::uint16_t>(age_ + i)) return false;
    }
    return true;
  }

  __device__ void visit() { seen_by_ += 1; }
  __device__ void die() { dynasoar::destroy(this); }
};

class Shark : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Shark, (meal_, bool), (prey_, Fish*));
  __device__ Shark() : meal_(false), prey_(nullptr) {}

  __device__ void look() { prey_ = dynasoar::at<Fish>(dynasoar::place_of(this)); }
};

/// As small as can be.
class Spot final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Spot, (is_black_, bool));
  __device__ Spot() : is_black_(false) {}
};

/// Not placed, and points to what is.
class Free : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Free, (fish_, Fish*), (age_, std::uint32_t), (place_, Place));
  __device__ Free(std::size_t, Fish* fish)
      : fish_(fish), age_(0), place_(fish != nullptr ? dynasoar::place_of(fish) : Place()) {}
  __device__ void look() { age_ = fish_->age_; }
};

using Handle = dynasoar::AllocatorHandle<AllocatorT>;
inline constexpr bool kInPieces = AllocatorT::kPlacement == dynasoar::detail::Placement::in_pieces;

/// Puts a fish into every place, with the number of the place as its age.
struct Settle {
  LatticeShape shape;
  __device__ void operator()(Place place) const {
    dynasoar::make_new_at<Fish>(place, static_cast<std::uint32_t>(shape.number(place)));
  }
};

/// What is at each place, as the host sees it: the age, or -1.
template <class L>
std::vector<std::int64_t> ages_of(Handle& handle, L& lattice) {
  dynasoar::DeviceArray<std::int64_t> ages(lattice.shape().size());
  lattice.parallel_for([shape = lattice.shape(), ages = ages.data()] __device__(Place place) {
    const Fish* const fish = dynasoar::at<Fish>(place);
    ages[shape.number(place)] = fish == nullptr ? -1 : fish->is_sound() ? std::int64_t{fish->age_} : -2;
  });
  handle.synchronize();
  return ages.download();
}

}  // namespace lattice_test
