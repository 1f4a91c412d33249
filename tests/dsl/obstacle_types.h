/// @file
/// What the tests of obstacles share: types of positions, and random numbers.
#pragma once

#include <cstdint>
#include <limits>

#include <dynasoar/obstacles.h>

#include "../platform/test_support.h"

namespace obstacles_test {

using dynasoar::AtWall;
using dynasoar::detail::coordinate;
using dynasoar::detail::kDimensions;
using dynasoar::test::kSlowdown;
using dynasoar::test::on_device;
using dynasoar::test::run_loop;

template <class Real>
struct Plane {
  Real x, y;
  bool operator==(const Plane&) const = default;
};
template <class Real>
struct Solid {
  Real x, y, z;
  bool operator==(const Solid&) const = default;
};
using Plane32 = Plane<float>;
using Plane64 = Plane<double>;
using Solid32 = Solid<float>;
using Solid64 = Solid<double>;
template <class P>
using RealOf = dynasoar::detail::Coordinate<P>;
template <class P>
using View = dynasoar::ObstacleView<P>;
template <class P>
using Options = dynasoar::GridOptions<P>;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Random numbers in device code: from -1 to 1, and words.
struct Dice {
  dynasoar::test::Random random;
  __host__ __device__ Dice(std::uint64_t seed, std::uint64_t number)
      : random(dynasoar::test::Random::of(seed, number)) {}
  __host__ __device__ std::uint64_t word() { return random.next(); }
  __host__ __device__ double number() { return static_cast<double>(random.next() >> 11) * 0x1p-52 - 1; }
};

}  // namespace obstacles_test
