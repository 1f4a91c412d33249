/// @file
/// Substances: what agents sense, and what becomes of their deposits.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>
#include <dynasoar/raster.h>
#include <dynasoar/substance.h>

#include "../platform/test_support.h"
#include "substance_world.h"

namespace substance_test {

/// What an agent senses at some positions.
template <class View, class P>
struct Sense {
  View view;
  const P* positions;
  double* samples;
  P* gradients;
  std::uint64_t* numbers;
  LatticeShape shape;
  __device__ void operator()(std::size_t i) const {
    samples[i] = static_cast<double>(view.sample(positions[i]));
    gradients[i] = view.gradient(positions[i]);
    const Place place = view.cell(positions[i]);
    numbers[i] = place ? shape.number(place) : shape.size();
  }
};

template <class P>
struct Sensed {
  std::vector<double> samples;
  std::vector<P> gradients;
  std::vector<std::uint64_t> numbers;
};

template <class Handle, class SubstanceT, class P>
Sensed<P> sense(Handle& handle, const LatticeShape& shape, const SubstanceT& substance,
                const std::vector<P>& positions) {
  const auto at = on_device(positions);
  DeviceArray<double> samples(at.size());
  DeviceArray<P> gradients(at.size());
  DeviceArray<std::uint64_t> numbers(at.size());
  using View = typename SubstanceT::View;
  handle.parallel_for(
      at.size(), Sense<View, P>{substance.view(), at.data(), samples.data(), gradients.data(), numbers.data(), shape});
  handle.synchronize();
  return {samples.download(), gradients.download(), numbers.download()};
}

TEST_CASE("linear fields are sampled exactly, and so are their gradients") {
  Arrays::Handle handle(small());
  Lattice<Cell> plane(handle, {70, 9}, {{false, false, false}});
  Arrays::Scent scent(plane, {.lower = {-4, 8}, .upper = {31, 26}});  // cells of 0.5 x 2
  plane.set_field<&Cell::scent_>(raster_of<float>(plane.shape(), [](std::size_t i) {
    const double x = -4 + 0.5 * (static_cast<double>(i % 70) + 0.5), y = 8 + 2 * (static_cast<double>(i / 70) + 0.5);
    return 3 * x - 0.25 * y + 7;
  }));
  std::vector<Vector2> positions;
  for (int i = 0; i < 280; ++i)
    positions.push_back({-3 + 0.109375f * static_cast<float>(i), 10 + 0.046875f * static_cast<float>(i)});
  const auto sensed = sense(handle, plane.shape(), scent, positions);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const Vector2 at = positions[i];
    REQUIRE(sensed.samples[i] == 3.0 * at.x - 0.25 * at.y + 7);
    REQUIRE(sensed.gradients[i].x == 3.0f);
    REQUIRE(sensed.gradients[i].y == -0.25f);
    const auto column = static_cast<std::uint64_t>((at.x + 4) / 0.5f), row = static_cast<std::uint64_t>((at.y - 8) / 2);
    REQUIRE(sensed.numbers[i] == row * 70 + column);
  }
}

TEST_CASE("linear fields are sampled exactly in space") {
  Arrays::Handle handle(small());
  Lattice<Cell> space(handle, {6, 5, 4}, {{false, false, false}});
  Arrays::Scent3 scent(space, {.lower = {0, 0, 0}, .upper = {6, 10, 2}});  // cells of 1 x 2 x 0.5
  space.set_field<&Cell::scent_>(raster_of<float>(space.shape(), [](std::size_t i) {
    const double x = static_cast<double>(i % 6) + 0.5, y = 2 * (static_cast<double>(i / 6 % 5) + 0.5);
    return x + 0.5 * y - 8 * 0.5 * (static_cast<double>(i / 30) + 0.5);
  }));
  std::vector<Vector3> positions;
  for (int i = 0; i < 64; ++i) positions.push_back({1.25 + i / 32.0, 2.5 + i / 16.0, 0.5 + i / 64.0});
  const auto sensed = sense(handle, space.shape(), scent, positions);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const Vector3 at = positions[i];
    REQUIRE(sensed.samples[i] == at.x + 0.5 * at.y - 8 * at.z);
    REQUIRE(sensed.gradients[i].x == 1);
    REQUIRE(sensed.gradients[i].y == 0.5);
    REQUIRE(sensed.gradients[i].z == -8);
  }
}

TEST_CASE("at borders agents sense what lies beyond") {
  Arrays::Handle handle(small());
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
  const std::vector<Vector2> positions{{0, 0.5f}, {4, 0.5f},    {-9, 0.5f}, {99, 0.5f},   {4.25f, 1.5f},
                                       {2, -1},   {kNan, 0.5f}, {1, kInf},  {0.5f, 0.5f}, {3.75f, 0.5f}};
  const auto values = [](std::size_t i) { return i % 4 + 1; };  // 1 2 3 4 in each of two rows
  SUBCASE("nothing flows") {
    Lattice<Cell> lattice(handle, {4, 2}, {{false, false, false}});
    Arrays::Scent scent(lattice, {.lower = {0, 0}, .upper = {4, 2}});
    lattice.set_field<&Cell::scent_>(raster_of<float>(lattice.shape(), values));
    const auto sensed = sense(handle, lattice.shape(), scent, positions);
    const std::vector<double> expected{1, 4, 1, 4, 4, 2.5};
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(sensed.samples[i] == expected[i]);
    CHECK(sensed.gradients[0].x == 0.0f);
    CHECK(sensed.gradients[8].x == 0.5f);  // (2 - 1) / 2, with 1 beyond the border
    CHECK(sensed.gradients[9].x == 0.25f);
    CHECK(std::vector<std::uint64_t>(sensed.numbers.begin(), sensed.numbers.begin() + 6) ==
          std::vector<std::uint64_t>{0, 3, 0, 3, 7, 2});
    for (const std::size_t i : {6, 7}) {
      CHECK(std::isnan(sensed.samples[i]));
      CHECK(std::isnan(sensed.gradients[i].y));
      CHECK(sensed.numbers[i] == 8);
    }
  }
  SUBCASE("a fixed concentration") {
    Lattice<Cell> lattice(handle, {4, 2}, {{false, false, false}});
    Arrays::Scent scent(lattice, {.lower = {0, 0}, .upper = {4, 2}, .border = 11});
    lattice.set_field<&Cell::scent_>(raster_of<float>(lattice.shape(), values));
    const auto sensed = sense(handle, lattice.shape(), scent, positions);
    const std::vector<double> expected{6, 7.5, 6, 7.5, 7.5, 6.75};
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(sensed.samples[i] == expected[i]);
    CHECK(sensed.gradients[8].x == -4.5f);  // (2 - 11) / 2
  }
  SUBCASE("the other end") {
    Lattice<Cell> lattice(handle, {4, 2});
    Arrays::Scent scent(lattice, {.lower = {0, 0}, .upper = {4, 2}});
    lattice.set_field<&Cell::scent_>(raster_of<float>(lattice.shape(), values));
    const auto sensed = sense(handle, lattice.shape(), scent, positions);
    const std::vector<double> expected{2.5, 2.5, 3.5, 3.5, 1.75, 2.5};
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(sensed.samples[i] == expected[i]);
    CHECK(sensed.gradients[8].x == -1.0f);  // (2 - 4) / 2
    CHECK(std::vector<std::uint64_t>(sensed.numbers.begin(), sensed.numbers.begin() + 6) ==
          std::vector<std::uint64_t>{0, 0, 3, 3, 4, 6});
    CHECK(sensed.gradients[0].x == -3.0f);  // between 4 and 1
    CHECK(sensed.gradients[1].x == -3.0f);
    Arrays::Scent narrow(lattice, {.lower = {0, 0}, .upper = {2, 1}});  // so that 3e38 / width is infinite
    const auto far = sense(handle, lattice.shape(), narrow, std::vector<Vector2>{{1e30f, -1e30f}, {-3e38f, 3e38f}});
    for (std::size_t i = 0; i < 2; ++i) CHECK((far.samples[i] >= 1 && far.samples[i] <= 4 && far.numbers[i] < 8));
  }
}

/// Deposits of agents that crowd, of amounts that floating-point sums round.
template <class Handle, class SubstanceT, class LatticeT>
Raster<float> after_deposits(int threads) {
  Handle handle(small(threads));
  LatticeT lattice(handle, {20, 10});
  SubstanceT scent(lattice, {.lower = {0, 0}, .upper = {10, 10}, .resolution = 1e-6});
  handle.template parallel_new<Agent>(20000);
  handle.template parallel_do<Agent>([view = scent.view()] __device__(Agent * agent) {
    const auto number = static_cast<float>(agent->number_);
    view.deposit({number * 0.0001f, 5}, 1.0 / (1.0 + static_cast<double>(number)));
    view.deposit({3, 3}, static_cast<double>(number) * 1e-3 - 10);
  });
  scent.diffuse({.diffusion = 0.1, .step = 0.5});
  return lattice.template raster_of<&Cell::scent_>();
}

TEST_CASE("sums of deposits do not depend on the number of threads") {
  const auto one = after_deposits<Arrays::Handle, Arrays::Scent, Lattice<Cell>>(1);
  const auto four = after_deposits<Arrays::Handle, Arrays::Scent, Lattice<Cell>>(4);
  CHECK(one.values == four.values);
  CHECK(sum_of(one) != 0);
}

TEST_CASE("deposits count after the next call of diffuse, by the volume of a cell, in units") {
  Arrays::Handle handle(small());
  Lattice<Cell> lattice(handle, {3, 2});
  Arrays::Oxygen oxygen(lattice, {.lower = {0, 0}, .upper = {6, 8}, .resolution = 0.25});  // cells of 2 x 4
  using View = Arrays::Oxygen::View;
  const auto deposit = [&](Vector2 position, double amount) {
    handle.parallel_for(5, DepositAt<View, Vector2>{oxygen.view(), position, amount});
  };
  deposit({3, 1}, 8);
  deposit({1, 5}, -0.5);
  deposit({5, 5}, 0.12);  // less than half a unit
  deposit({5, 1}, 0.13);  // one unit
  deposit({1, 1}, -0.13);
  CHECK(handle.sum<&Cell::oxygen_>() == 0);
  oxygen.diffuse({});
  CHECK(lattice.raster_of<&Cell::oxygen_>().values ==
        std::vector<double>{-1.25 / 8, 40.0 / 8, 1.25 / 8, -2.5 / 8, 0, 0});
  oxygen.diffuse({});  // once
  CHECK(handle.sum<&Cell::oxygen_>() == 37.5 / 8);
  deposit({3, 1}, 8);
  oxygen.diffuse({.diffusion = 1, .step = 0.01});
  CHECK(std::abs(handle.sum<&Cell::oxygen_>() - 77.5 / 8) < 1e-14);
}

TEST_CASE("deposits that are lost are reported once") {
  Arrays::Handle handle(small());
  Lattice<Cell> lattice(handle, {4, 4});
  Arrays::Scent scent(lattice, {.lower = {0, 0}, .upper = {4, 4}});
  using View = Arrays::Scent::View;
  const auto deposit = [&](Vector2 position, double amount, std::size_t times) {
    handle.parallel_for(times, DepositAt<View, Vector2>{scent.view(), position, amount});
  };
  const auto check_message = [&](const std::string& text) {
    CHECK_THROWS_WITH_AS(handle.synchronize(), Contains(text.c_str()), const Error&);
    CHECK_NOTHROW(handle.synchronize());
  };
  deposit({1, 1}, std::nan(""), 1);
  check_message("Cell::scent_ were lost: a position or an amount was not finite, so nothing was added");
  deposit({std::numeric_limits<float>::infinity(), 1}, 1, 1);
  check_message("was not finite");
  deposit({1, 1}, 0x1p30, 1);
  check_message("one is 2^62 times as large: make the substance with a greater resolution");
  deposit({1, 1}, 0x1p29, 3);
  CHECK_NOTHROW(handle.synchronize());
  deposit({1, 1}, 0x1p29, 1);
  check_message("add up to 2^63 times the resolution of 2.3283064365386963e-10 or more");
  scent.diffuse({});
  deposit({2, 2}, -0x1p29, 4);  // -2^63 units: there is room for these
  CHECK_NOTHROW(handle.synchronize());
  deposit({2, 2}, -0x1p-31, 1);
  check_message("add up to 2^63");
  deposit({2, 2}, std::nan(""), 1);
  CHECK_THROWS_AS(static_cast<void>(handle.retry_with_growth()), const Error&);
}

TEST_CASE("deposits that are lost are reported also where refusals are only recorded") {
  auto options = small();
  options.on_refusal = dynasoar::OnRefusal::record;
  Arrays::Handle handle(options);
  Lattice<Cell> lattice(handle, {4, 4});
  Arrays::Scent scent(lattice, {.lower = {0, 0}, .upper = {4, 4}});
  handle.parallel_for(1, DepositAt<Arrays::Scent::View, Vector2>{scent.view(), {1, 1}, std::nan("")});
  CHECK_THROWS_WITH_AS(handle.synchronize(), Contains("was not finite"), const Error&);
}

}  // namespace substance_test
