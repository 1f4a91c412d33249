/// @file
/// Densities: objects at places that are chosen at random.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>
#include <dynasoar/random.h>

#include "../loops/lattice_shadow.h"

namespace lattice_loops_test {

using dynasoar::Density;
using dynasoar::Lattice;
using dynasoar::LatticeShape;
using dynasoar::Place;
using dynasoar::random::Seed;

class Spin;
using AllocatorT = dynasoar::SoaAllocator<Spin>;

class Spin final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Spin, (is_up_, bool));
  __device__ Spin() : is_up_(false) {}
};

using Handle = dynasoar::AllocatorHandle<AllocatorT>;

constexpr Seed kSeed{7};
enum class Chance : std::uint32_t { walkers };

struct WriteSpins {
  int* spins;
  __device__ void operator()(Spin* spin) const {
    spins[dynasoar::lattice_of<Spin>().number(dynasoar::place_of(spin))] = spin->is_up_ ? 1 : -1;
  }
};

TEST_CASE("objects are created where a density chooses, if the place is free") {
  Handle handle({.heap_bytes = 8 << 20});
  for (const auto& sizes : lattice_test::kSizes) {
    Lattice<Spin> lattice(handle, sizes);
    const LatticeShape shape = lattice.shape();
    const Density few(0.1, kSeed, 1), many(0.6, Seed{std::uint64_t{1} << 40}, 2);
    lattice.parallel_new<Spin>(few);
    handle.parallel_do<Spin>([] __device__(Spin * spin) { spin->is_up_ = true; });
    lattice.parallel_new<Spin>(many);
    std::vector<int> expected(shape.size());
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = few.chooses(i) ? 1 : many.chooses(i) ? -1 : 0;
    dynasoar::DeviceArray<int> spins(shape.size());
    spins.fill_bytes(0);
    handle.parallel_do<Spin>(WriteSpins{spins.data()});
    handle.synchronize();
    CHECK(spins.download() == expected);
  }
}

TEST_CASE("a density chooses its share of all places, and for each purpose and seed others") {
  constexpr std::uint64_t kNumbers = 1 << 17;
  const auto count = [](const auto& chooses) {
    double chosen = 0;
    for (std::uint64_t number = 0; number < kNumbers; ++number) chosen += chooses(number << 16) ? 1 : 0;
    return chosen;
  };
  const auto check_share = [&](double share, const auto& chooses) {
    CHECK(std::abs(count(chooses) - share * kNumbers) <= 5 * std::sqrt(share * (1 - share) * kNumbers));
  };
  for (const double probability : {0.0, 0.0001, 0.3, 0.5, 0.999, 1.0}) {
    const Density density(probability, kSeed, Chance::walkers);
    check_share(probability, [&](std::uint64_t number) { return density.chooses(number); });
  }
  const Density first(0.3, kSeed, 1), other_purpose(0.3, kSeed, 2), other_seed(0.3, Seed{8}, 1);
  check_share(0.09, [&](std::uint64_t number) { return first.chooses(number) && other_purpose.chooses(number); });
  check_share(0.09, [&](std::uint64_t number) { return first.chooses(number) && other_seed.chooses(number); });
  check_share(0.09, [&](std::uint64_t number) { return first.chooses(number) && first.chooses(number + 1); });
}

TEST_CASE("a density that is no probability is refused") {
  CHECK_THROWS_WITH_AS(Density(1.5, kSeed, 0),
                       "dynasoar: a Density is a probability from 0 to 1, but this one is 1.500000",
                       const dynasoar::Error&);
  CHECK_THROWS_AS(Density(-0.1, kSeed, 0), const dynasoar::Error&);
  CHECK_THROWS_AS(Density(std::numeric_limits<double>::quiet_NaN(), kSeed, 0), const dynasoar::Error&);
}

}  // namespace lattice_loops_test
