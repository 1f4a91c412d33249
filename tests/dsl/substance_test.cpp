/// @file
/// Substances: diffusion against arrays and against the analytic solution, decay, deposits, and what agents sense.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>
#include <dynasoar/malloc/aos_allocator.h>
#include <dynasoar/malloc/bitmap_malloc.h>
#include <dynasoar/raster.h>
#include <dynasoar/substance.h>

#include "../platform/test_support.h"
#include "test_folder.h"

namespace substance_test {

using namespace dynasoar;
using namespace dynasoar::test;
using doctest::Contains;

struct Vector2 {
  float x, y;
};
struct Vector3 {
  double x, y, z;
};

struct InArrays {
  template <class... Types>
  using Allocator = dynasoar::SoaAllocator<Types...>;
};
struct InPieces {
  template <class... Types>
  using Allocator = dynasoar::AosAllocator<dynasoar::BitmapMalloc, Types...>;
};

/// Cells, and agents that visit them.
template <class Layout>
struct World {
  class Cell;
  class Agent;
  using AllocatorT = typename Layout::template Allocator<Cell, Agent>;
  using Handle = dynasoar::AllocatorHandle<AllocatorT>;

  class Cell final : public dynasoar::SoaBase<AllocatorT> {
   public:
    static constexpr bool kPlaced = true;
    static constexpr bool kAtEveryPlace = true;
    DYNASOAR_FIELDS(Cell, (kind_, std::uint8_t), (scent_, float), (oxygen_, double));
    __device__ Cell() : kind_(std::uint8_t{0}), scent_(0.0f), oxygen_(0.0) {}
  };

  class Agent final : public dynasoar::SoaBase<AllocatorT> {
   public:
    DYNASOAR_FIELDS(Agent, (number_, std::uint32_t));
    __device__ explicit Agent(std::size_t i) : number_(static_cast<std::uint32_t>(i)) {}
  };

  using Scent = dynasoar::Substance<&Cell::scent_, Vector2>;
  using Scent3 = dynasoar::Substance<&Cell::scent_, Vector3>;
  using Oxygen = dynasoar::Substance<&Cell::oxygen_, Vector2>;
};
using Arrays = World<InArrays>;
using Cell = Arrays::Cell;
using Agent = Arrays::Agent;

HandleOptions small(int threads = 0) {
  HandleOptions options{.heap_bytes = 16 << 20};
  if (threads > 0) options.threads = threads;
  return options;
}

template <class T, class F>
Raster<T> raster_of(const LatticeShape& shape, const F& f) {
  Raster<T> raster{static_cast<std::size_t>(shape.width()),
                   static_cast<std::size_t>(shape.height()) * static_cast<std::size_t>(shape.depth()),
                   {}};
  for (std::size_t i = 0; i < raster.width * raster.height; ++i) raster.values.push_back(static_cast<T>(f(i)));
  return raster;
}

template <class T>
double sum_of(const Raster<T>& raster) {
  double sum = 0;
  for (const T value : raster.values) sum += static_cast<double>(value);
  return sum;
}

/// What a call of `diffuse` does, with arrays.
struct Model {
  std::array<std::int32_t, 3> cells;
  std::array<bool, 3> periodic;
  std::array<float, 3> rates;
  float remaining;
  std::optional<float> border;
  std::vector<float> values;

  void step() {
    std::vector<float> after;
    for (std::int32_t z = 0; z < cells[2]; ++z) {
      for (std::int32_t y = 0; y < cells[1]; ++y) {
        for (std::int32_t x = 0; x < cells[0]; ++x) after.push_back(changed({x, y, z}));
      }
    }
    values = after;
  }

 private:
  using Where = std::array<std::int32_t, 3>;

  float& at(const Where& where) {
    return values[static_cast<std::size_t>((where[2] * cells[1] + where[1]) * cells[0] + where[0])];
  }
  float next(Where where, std::size_t axis, std::int32_t by) {
    const float here = at(where);
    where[axis] += by;
    if (where[axis] >= 0 && where[axis] < cells[axis]) return at(where);
    if (!periodic[axis]) return border.value_or(here);
    where[axis] = (where[axis] + cells[axis]) % cells[axis];
    return at(where);
  }
  float changed(const Where& where) {
    const float here = at(where);
    volatile float change = 0;  // volatile: products are not fused with sums
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const volatile float part = rates[axis] * ((next(where, axis, -1) - here) + (next(where, axis, 1) - here));
      change = change + part;
    }
    return remaining * (here + change);
  }
};

/// Diffuses a noisy field and compares it with a Model.
template <class Layout, class SubstanceT, class Position>
std::size_t wrong_cells(const std::vector<std::size_t>& sizes, const std::array<bool, 3>& periodic,
                        std::optional<double> border, int substeps) {
  using W = World<Layout>;
  typename W::Handle handle(small());
  Lattice<typename W::Cell> lattice(handle, sizes, {periodic});
  const LatticeShape& shape = lattice.shape();
  Position lower{}, upper{};
  std::array<double, 3> widths{1, 0.5, 2};
  for (int a = 0; a < shape.axes(); ++a) {
    const auto length = static_cast<double>(a == 0 ? shape.width() : a == 1 ? shape.height() : shape.depth());
    using Real = detail::Coordinate<Position>;
    detail::coordinate(lower, a) = Real(-3);
    detail::coordinate(upper, a) = static_cast<Real>(-3 + length * widths[static_cast<std::size_t>(a)]);
  }
  SubstanceT scent(lattice, {.lower = lower, .upper = upper, .border = border});
  const auto start = raster_of<float>(shape, [](std::size_t i) { return static_cast<double>(i * 7919 % 1009) / 64; });
  lattice.template set_field<&W::Cell::scent_>(start);
  Model model{{shape.width(), shape.height(), shape.depth()}, periodic, {}, 0, std::nullopt, start.values};
  if (border) model.border = static_cast<float>(*border);
  const double duration = 0.25 / substeps;
  for (std::size_t a = 0; a < static_cast<std::size_t>(shape.axes()); ++a) {
    model.rates[a] = static_cast<float>(0.3 * duration / (widths[a] * widths[a]));
  }
  model.remaining = static_cast<float>(std::exp(-0.5 * duration));
  for (int call = 0; call < 2; ++call) {
    scent.diffuse({.diffusion = 0.3, .decay = 0.5, .step = 0.25, .substeps = substeps});
    for (int i = 0; i < substeps; ++i) model.step();
  }
  const auto after = lattice.template raster_of<&W::Cell::scent_>();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < after.values.size(); ++i) wrong += after.values[i] != model.values[i] ? 1 : 0;
  return wrong;
}

TEST_CASE("diffusion and decay compute the explicit scheme, bit by bit, with all borders and shapes") {
  const std::vector<std::vector<std::size_t>> planes{{1, 1}, {1, 7},  {7, 1},    {2, 2},
                                                     {5, 4}, {64, 3}, {130, 70}, {300, 3}};
  const std::vector<std::vector<std::size_t>> spaces{{3, 4, 5}, {65, 2, 3}, {1, 1, 9}, {64, 8, 4}};
  for (const std::array<bool, 3> periodic :
       {std::array<bool, 3>{true, true, true}, std::array<bool, 3>{false, true, false},
        std::array<bool, 3>{false, false, false}}) {
    for (const std::optional<double> border : {std::optional<double>(), std::optional<double>(2.5)}) {
      if (border && periodic[0]) continue;
      for (const auto& sizes : planes) {
        CAPTURE(sizes[0]);
        CAPTURE(sizes[1]);
        CHECK(wrong_cells<InArrays, Arrays::Scent, Vector2>(sizes, periodic, border, 2) == 0);
      }
      for (const auto& sizes : spaces) {
        CAPTURE(sizes[0]);
        CHECK(wrong_cells<InArrays, Arrays::Scent3, Vector3>(sizes, periodic, border, 4) == 0);
      }
      CHECK(wrong_cells<InPieces, World<InPieces>::Scent, Vector2>({70, 5}, periodic, border, 2) == 0);
    }
  }
}

TEST_CASE("a thread that computes one place gets the same bits as one that computes a block") {
  Arrays::Handle handle(small());
  for (const bool is_mirrored : {true, false}) {
    for (const auto& sizes : std::vector<std::vector<std::size_t>>{{64, 3}, {300, 5}, {128, 1}, {64, 6, 5}}) {
      CAPTURE(sizes[0]);
      const bool is_periodic = sizes[0] == 64;
      Lattice<Cell> lattice(handle, sizes, {{is_periodic, false, is_periodic}});
      REQUIRE(lattice.shape().has_blocks_in_rows());
      const std::size_t blocks = lattice.shape().words();
      const auto start = raster_of<float>(lattice.shape(), [](std::size_t i) { return i * 7919 % 1009; });
      const detail::ExplicitStep<float> step{{0.1f, 0.07f, 0.03f}, 0.9f, 100.0f, is_mirrored};
      const auto run = [&](const auto& into_array, const auto& back) {
        using Units = AtomicWord<std::uint64_t>;
        using Field = detail::FieldCells<&Cell::scent_, Cell>;
        lattice.set_field<&Cell::scent_>(start);
        auto units = zeroed<std::uint64_t>(blocks * 64);
        units.upload({0, 77});
        const detail::Deposits deposits{reinterpret_cast<Units*>(units.data()), 0.1};
        DeviceArray<float> values(blocks * 64);
        const detail::ArrayCells<float> array{values.data()};
        into_array(detail::StepOfPlace<Cell, Field, detail::ArrayCells<float>>{step, {}, array, deposits});
        back(detail::StepOfPlace<Cell, detail::ArrayCells<float>, Field>{step, array, {}, {nullptr, 0}});
        return lattice.raster_of<&Cell::scent_>().values;
      };
      const auto by_place = [&](const auto& of_place) { handle.parallel_do<Cell>(of_place); };
      const auto by_block = [&]<class From, class To>(const detail::StepOfPlace<Cell, From, To>& of_place) {
        handle.parallel_for(blocks, detail::StepOfBlock<Cell, From, To>{of_place});
      };
      const auto expected = run(by_place, by_place);
      CHECK(run(by_block, by_block) == expected);
      CHECK(expected != start.values);
    }
  }
}

/// Deposits an amount at a position, once for each index.
template <class View, class P>
struct DepositAt {
  View view;
  P position;
  double amount;
  __device__ void operator()(std::size_t) const { view.deposit(position, amount); }
};

TEST_CASE("a point becomes the analytic Gaussian") {
  Arrays::Handle handle(small());
  constexpr double kDiffusion = 0.8, kTime = 40, kAmount = 3;
  for (const bool is_periodic : {true, false}) {
    Lattice<Cell> lattice(handle, {101, 101}, {{is_periodic, is_periodic, false}});
    Arrays::Oxygen oxygen(lattice, {.lower = {-50.5, -50.5}, .upper = {50.5, 50.5}});
    handle.parallel_for(1, DepositAt<Arrays::Oxygen::View, Vector2>{oxygen.view(), {0, 0}, kAmount});
    oxygen.diffuse({});
    for (int i = 0; i < 80; ++i) oxygen.diffuse({.diffusion = kDiffusion, .step = kTime / 80, .substeps = 4});
    const auto found = lattice.raster_of<&Cell::oxygen_>();
    const double peak = kAmount / (4 * std::numbers::pi * kDiffusion * kTime);
    double most = 0;
    for (std::size_t i = 0; i < found.values.size(); ++i) {
      const double x = static_cast<double>(i % 101) - 50, y = static_cast<double>(i / 101) - 50;
      const double exact = peak * std::exp(-(x * x + y * y) / (4 * kDiffusion * kTime));
      most = std::max(most, std::abs(found.values[i] - exact));
    }
    CHECK(most < 0.004 * peak);
    CHECK(most > 0);
    CHECK(std::abs(sum_of(found) - kAmount) < 1e-12);
  }
}

TEST_CASE("without decay nothing is lost, with borders through which nothing flows and without borders") {
  Arrays::Handle handle(small());
  for (const bool is_periodic : {true, false}) {
    Lattice<Cell> lattice(handle, {70, 33}, {{is_periodic, is_periodic, false}});
    Arrays::Scent scent(lattice, {.lower = {0, 0}, .upper = {70, 33}});
    Arrays::Oxygen oxygen(lattice, {.lower = {0, 0}, .upper = {70, 33}});
    const auto start = raster_of<float>(lattice.shape(), [](std::size_t i) { return i * 31 % 97; });
    lattice.set_field<&Cell::scent_>(start);
    lattice.set_field<&Cell::oxygen_>(start);
    for (int i = 0; i < 50; ++i) {
      scent.diffuse({.diffusion = 1, .step = 0.4});
      oxygen.diffuse({.diffusion = 1, .step = 0.4});
    }
    const double sum = sum_of(start);
    CHECK(std::abs(sum_of(lattice.raster_of<&Cell::scent_>()) - sum) < 1e-6 * sum);
    CHECK(std::abs(handle.sum<&Cell::oxygen_>() - sum) < 1e-13 * sum);
    CHECK(*handle.maximum<&Cell::oxygen_>() < 60);  // it has diffused
  }
}

TEST_CASE("decay leaves exactly the exponential share") {
  Arrays::Handle handle(small());
  Lattice<Cell> lattice(handle, {66, 3});
  Arrays::Oxygen oxygen(lattice, {.lower = {0, 0}, .upper = {66, 3}});
  Arrays::Scent scent(lattice, {.lower = {0, 0}, .upper = {66, 3}});
  lattice.set_field<&Cell::oxygen_>(raster_of<double>(lattice.shape(), [](std::size_t i) { return 1 + i; }));
  lattice.set_field<&Cell::scent_>(raster_of<float>(lattice.shape(), [](std::size_t) { return 5; }));
  oxygen.diffuse({.decay = 0.3, .step = 2});
  scent.diffuse({.diffusion = 0.1, .decay = 0.3, .step = 2});
  const auto left = lattice.raster_of<&Cell::oxygen_>();
  const auto even = lattice.raster_of<&Cell::scent_>();
  const double share = std::exp(-0.6);
  const auto half = static_cast<float>(std::exp(-0.3));
  for (std::size_t i = 0; i < left.values.size(); ++i) {
    REQUIRE(left.values[i] == share * static_cast<double>(1 + i));
    REQUIRE(even.values[i] == half * (half * 5.0f));
  }
}

TEST_CASE("a step that is not stable is refused with the longest one, or takes more substeps") {
  Arrays::Handle handle(small());
  Lattice<Cell> lattice(handle, {8, 8});
  Arrays::Scent scent(lattice, {.lower = {0, 0}, .upper = {16, 8}});  // cells of 2 x 1: 2 D dt (1/4 + 1) <= 1
  const auto start = raster_of<float>(lattice.shape(), [](std::size_t i) { return i % 3; });
  lattice.set_field<&Cell::scent_>(start);
  CHECK_THROWS_WITH_AS(
      scent.diffuse({.diffusion = 2, .step = 1}),
      Contains("Cell::scent_ would become unstable in a step of 1 with 2 substeps: the longest stable "
               "step is 0.4. Take shorter steps, or at least 6 substeps, or 0 for as many as stability "
               "needs"),
      const Error&);
  CHECK_THROWS_AS(scent.diffuse({.diffusion = 2, .decay = 1, .step = 0.401}), const Error&);
  CHECK(lattice.raster_of<&Cell::scent_>().values == start.values);  // nothing has happened
  scent.diffuse({.diffusion = 2, .step = 0.4});
  scent.diffuse({.diffusion = 2, .step = 0.4});
  const auto pairs = lattice.raster_of<&Cell::scent_>();
  for (const float value : pairs.values) REQUIRE((value >= 0 && value <= 2));
  lattice.set_field<&Cell::scent_>(start);
  scent.diffuse({.diffusion = 2, .step = 0.8, .substeps = 0});  // the same four substeps
  CHECK(lattice.raster_of<&Cell::scent_>().values == pairs.values);
  CHECK_THROWS_WITH_AS(scent.diffuse({.diffusion = 1, .step = 0.1, .substeps = 3}),
                       Contains("cannot diffuse in 3 substeps: choose an even number, or 0"), const Error&);
  CHECK_THROWS_AS(scent.diffuse({.diffusion = 1, .step = 0.1, .substeps = -2}), const Error&);
  CHECK_THROWS_WITH_AS(scent.diffuse({.diffusion = -1, .step = 1}),
                       Contains("a diffusion coefficient of -1: it must be finite, and not negative"), const Error&);
  CHECK_THROWS_WITH_AS(scent.diffuse({.decay = std::nan(""), .step = 1}), Contains("a decay of nan"), const Error&);
  CHECK_THROWS_WITH_AS(scent.diffuse({.step = std::numeric_limits<double>::infinity()}), Contains("a step of inf"),
                       const Error&);
  CHECK_THROWS_WITH_AS(scent.diffuse({.diffusion = 1, .step = 1e9, .substeps = 0}), Contains("a call takes 2^20"),
                       const Error&);
}

TEST_CASE("an axis of one cell, along which nothing flows, does not shorten the longest step") {
  Arrays::Handle handle(small());
  for (const bool is_periodic : {true, false}) {
    Lattice<Cell> lattice(handle, {8, 1}, {{is_periodic, is_periodic, false}});
    Arrays::Scent scent(lattice, {.lower = {0, 0}, .upper = {8, 0.01f}});
    CHECK_NOTHROW(scent.diffuse({.diffusion = 1, .step = 1}));
    CHECK_THROWS_AS(scent.diffuse({.diffusion = 1, .step = 1.01}), const Error&);
  }
  Lattice<Cell> lattice(handle, {8, 1}, {{false, false, false}});
  Arrays::Scent leaking(lattice, {.lower = {0, 0}, .upper = {8, 0.01f}, .border = 0});
  CHECK_THROWS_AS(leaking.diffuse({.diffusion = 1, .step = 1}), const Error&);
}

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

TEST_CASE("recorded steps compute what submitted ones do") {
  Arrays::Handle handle(small());
  handle.parallel_new<Agent>(100);
  const auto run = [&](bool is_recorded) {
    Lattice<Cell> lattice(handle, {40, 30});
    Arrays::Scent scent(lattice, {.lower = {0, 0}, .upper = {40, 30}});
    const auto submit = [&] {
      handle.parallel_do<Agent>([view = scent.view()] __device__(Agent * agent) {
        const auto number = static_cast<float>(agent->number_);
        view.deposit({number / 3, number / 5}, 1 + static_cast<double>(view.sample({number / 3, 7})));
      });
      scent.diffuse({.diffusion = 1, .decay = 0.1, .step = 0.9, .substeps = 0});
    };
    if (is_recorded) {
      auto step = handle.record(submit);
      for (int i = 0; i < 5; ++i) step();
    } else {
      for (int i = 0; i < 5; ++i) submit();
    }
    return lattice.raster_of<&Cell::scent_>().values;
  };
  CHECK(run(true) == run(false));
}

TEST_CASE("a recorded step uses the substance that has taken the place of another") {
  const auto run = [](bool is_recorded) {
    Arrays::Handle handle(small());
    Lattice<Cell> lattice(handle, {40, 30});
    std::optional<Arrays::Scent> scent;
    const auto submit = [&] {
      handle.parallel_for(1, DepositAt<Arrays::Scent::View, Vector2>{scent->view(), {20, 15}, 9});
      scent->diffuse({.diffusion = 1, .step = 0.1});
    };
    const auto make = [&] { scent.emplace(lattice, dynasoar::SubstanceOptions<Vector2>{{0, 0}, {40, 30}}); };
    make();
    if (is_recorded) {
      auto step = handle.record(submit);
      step();
      make();
      const dynasoar::DeviceArray<char> taken(1 << 16);  // perhaps the memory that the first one had
      step();
    } else {
      submit();
      make();
      submit();
    }
    return lattice.raster_of<&Cell::scent_>().values;
  };
  CHECK(run(true) == run(false));
}

TEST_CASE("a checkpoint has the concentrations, and deposits before it was loaded do not count") {
  TestFolder folder;
  const std::string path = folder / "substance.checkpoint";
  Arrays::Handle handle(small());
  Lattice<Cell> lattice(handle, {9, 9});
  Arrays::Scent scent(lattice, {.lower = {0, 0}, .upper = {9, 9}});
  const auto deposit = [&] {
    handle.parallel_for(1, DepositAt<Arrays::Scent::View, Vector2>{scent.view(), {4.5f, 4.5f}, 9});
  };
  deposit();
  scent.diffuse({.diffusion = 1, .step = 0.1});
  const auto saved = lattice.raster_of<&Cell::scent_>();
  handle.save(path);
  deposit();
  handle.parallel_for(1, DepositAt<Arrays::Scent::View, Vector2>{scent.view(), {1, 1}, std::nan("")});
  handle.load(path);
  CHECK_NOTHROW(handle.synchronize());
  scent.diffuse({});
  CHECK(lattice.raster_of<&Cell::scent_>().values == saved.values);
}

TEST_CASE("columns of the cells have concentrations and coordinates") {
  Arrays::Handle handle(small());
  Lattice<Cell> lattice(handle, {5, 2});
  Arrays::Scent scent(lattice, {.lower = {0, 0}, .upper = {5, 2}});
  handle.parallel_for(1, DepositAt<Arrays::Scent::View, Vector2>{scent.view(), {3.5f, 1.5f}, 2});
  scent.diffuse({});
  const Columns columns = handle.columns<Cell>();
  const auto values = columns["scent_"].as<float>();
  const auto x = columns["x"].as<std::int32_t>(), y = columns["y"].as<std::int32_t>();
  REQUIRE(values.size() == 10);
  for (std::size_t i = 0; i < 10; ++i) CHECK(values[i] == (x[i] == 3 && y[i] == 1 ? 2.0f : 0.0f));
}

TEST_CASE("a substance that cannot be is refused") {
  Arrays::Handle handle(small());
  Lattice<Cell> lattice(handle, {5, 2});
  const auto make = [&](const SubstanceOptions<Vector2>& options) { Arrays::Scent scent(lattice, options); };
  CHECK_THROWS_WITH_AS(
      make({.lower = {0, 3}, .upper = {5, 3}}),
      Contains("Cell::scent_ needs a space: lower must be less than upper, and both finite, along axis 1"),
      const Error&);
  CHECK_THROWS_AS(make({.lower = {0, 0}, .upper = {std::numeric_limits<float>::infinity(), 3}}), const Error&);
  CHECK_THROWS_WITH_AS(make({.lower = {0, 0}, .upper = {5, 2}, .border = 1}),
                       Contains("has no border, because all axes of its lattice are periodic"), const Error&);
  CHECK_THROWS_WITH_AS(make({.lower = {0, 0}, .upper = {5, 2}, .resolution = 0}),
                       Contains("cannot have a resolution of 0: choose the least amount that matters"), const Error&);
  using Scent3 = Arrays::Scent3;
  CHECK_THROWS_WITH_AS((Scent3(lattice, {.lower = {0, 0, 0}, .upper = {5, 2, 1}})),
                       Contains("has positions with 3 coordinates, but its lattice has 2 axes: make a lattice of 3"),
                       const Error&);
  auto step = handle.record([&] { CHECK_THROWS_AS(make({.lower = {0, 0}, .upper = {5, 2}}), const Error&); });
  step();
}

}  // namespace substance_test
