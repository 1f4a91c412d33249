/// @file
/// Substances: diffusion against arrays and against the analytic solution, decay, recorded steps, checkpoints and
/// columns.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>
#include <dynasoar/raster.h>
#include <dynasoar/substance.h>

#include "../platform/test_support.h"
#include "substance_world.h"
#include "test_folder.h"

namespace substance_test {

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
  const std::vector<std::vector<std::size_t>> planes{{1, 1},  {1, 7},    {7, 1},   {2, 2},   {5, 4},
                                                     {64, 3}, {130, 70}, {300, 3}, {3, 4100}};
  const std::vector<std::vector<std::size_t>> spaces{{3, 4, 5}, {65, 2, 3}, {1, 1, 9}, {64, 8, 4}, {3, 41, 100}};
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
  CHECK_THROWS_WITH_AS(scent.diffuse({.diffusion = 2, .step = 1}),
                       Contains("Cell::scent_ would become unstable in a step of 1 with 2 substeps: the longest stable "
                                "step is 0.4. Take shorter steps, or at least 6 substeps, or 0 for the number that "
                                "stability needs"),
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
