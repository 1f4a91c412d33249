// A lattice of 10^10 places for objects of one byte: for GPUs that have the memory, in builds without checks; and the
// same on a small one.
#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

#include "../platform/test_support.h"

namespace huge_lattice_test {

using namespace dynasoar;

class Speck;
using AllocatorT = dynasoar::SoaAllocator<Speck>;

class Speck final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Speck, (shade_, std::uint8_t))
  __device__ Speck() : shade_(0) {}
};

/// What is at the place with a number at first: few specks, each with a shade of its own.
struct Sky {
  std::uint64_t size;
  std::uint64_t step;

  __host__ __device__ bool has_speck(std::uint64_t number) const { return number % step == 7 || number == size - 1; }
  __host__ __device__ static std::uint8_t shade(std::uint64_t number) {
    return static_cast<std::uint8_t>(number * 0x9E3779B97F4A7C15u >> 56);
  }
  /// Calls a function for the numbers of all places with specks.
  template <class F>
  void for_each_speck(const F& f) const {
    for (std::uint64_t number = 7; number < size; number += step) f(number);
    if ((size - 1) % step != 7) f(size - 1);
  }
};

void run(std::size_t side, std::uint64_t step) {
  dynasoar::AllocatorHandle<AllocatorT> handle({.heap_bytes = std::size_t{1} << 20});
  dynasoar::Lattice<Speck> lattice(handle, {side, side});
  const LatticeShape shape = lattice.shape();
  const Sky sky{shape.size(), step};
  CHECK(shape.size() == side * side);
  constexpr std::size_t kTagBytes = dynasoar::kChecked ? 64 * 4 : 0;
  CHECK(lattice.bytes() == shape.words() * (64 + 3 * 8 + kTagBytes));
  std::uint64_t specks = 0;
  std::uint64_t shades = 0;
  sky.for_each_speck([&](std::uint64_t number) { ++specks, shades += Sky::shade(number); });
  lattice.parallel_new<Speck>(
      [shape, sky] __device__(Place place) -> bool { return sky.has_speck(shape.number(place)); });
  CHECK(handle.count<Speck>() == specks);
  // All go to the next row, the last one to the first.
  handle.parallel_do<Speck>([shape] __device__(Speck * speck) {
    const Place place = dynasoar::place_of(speck);
    speck->shade_ = Sky::shade(shape.number(place));
    dynasoar::move_to(speck, shape.down(place));
  });
  const dynasoar::test::Counters right(1);
  handle.parallel_do<Speck>([shape, sky, right = right.data()] __device__(Speck * speck) {
    const std::uint64_t before = shape.number(shape.up(dynasoar::place_of(speck)));
    dynasoar::test::count_if(right[0], sky.has_speck(before) && speck->shade_ == Sky::shade(before));
  });
  handle.synchronize();
  CHECK(right[0] == specks);
  CHECK(handle.sum<&Speck::shade_>() == shades);
  lattice.parallel_for_free([] __device__(Place place) {
    if (place.slot() % 4096 == 1) dynasoar::make_new_at<Speck>(place);
  });
  CHECK(handle.count<Speck>() > specks + shape.size() / 5000);
}

TEST_CASE("a lattice of a million places for objects of one byte") {
  run(1000, 997);
}

TEST_CASE("a lattice of 10^10 places for objects of one byte") {
  constexpr std::size_t kGiB = std::size_t{1} << 30;
  if (!dynasoar::kCudaBackend || dynasoar::kChecked || dynasoar::test::kSlowdown > 1 ||
      dynasoar::detail::free_memory() < 18 * kGiB) {
    MESSAGE("skipped: this is for a GPU with 18 GiB of free memory, without checks and sanitizers");
    return;
  }
  run(100000, 9999991);
}

}  // namespace huge_lattice_test
