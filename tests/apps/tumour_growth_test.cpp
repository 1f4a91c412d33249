/// @file
/// The growth of the tumour: what it starts from, and that its radius is as expected.

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "model_suite.h"
#include "tumour/pictures.h"
#include "tumour/simulation.h"

using namespace dynasoar::test;
using namespace tumour;

TEST_CASE("a tumour grows exponentially at first, and then as its rim does") {
  Parameters parameters;
  parameters.growth = 1;
  parameters.division = 1;
  CHECK(growth_rate(parameters) == doctest::Approx(std::log(2)));
  parameters.growth = 0.01;  // eleven steps
  CHECK(growth_rate(parameters) == doctest::Approx(std::log(2) / 11));
  CHECK(expected_radius(parameters, 1, 11).back() ==
        doctest::Approx(std::cbrt(2) * expected_radius(parameters, 1, 0)[0]).epsilon(0.01));
  if (kSlowdown > 1) return;
  parameters = {};
  parameters.growth = 0.005;  // twice as fast as by default
  parameters.division = 0.04;
  parameters.initial = random_spheroid(1, 42);
  const std::vector<Census> history = history_of(*make_cells(parameters), 600);
  const std::vector<double> expected = expected_radius(parameters, 1, 600);
  const double doublings =
      std::log2(static_cast<double>(history[400].cells()) / static_cast<double>(history[200].cells()));
  CHECK(doublings * std::log(2) / 200 == doctest::Approx(growth_rate(parameters)).epsilon(0.1));
  CHECK(history[600].hypoxic > history[600].proliferating / 2);
  for (std::size_t step = 500; step <= 600; step += 20) {
    CHECK(history[step].radius == doctest::Approx(expected[step]).epsilon(0.1));  // README.md says so
  }
}

TEST_CASE("random spheroids are balls of cells of different sizes") {
  const std::vector<CellState> cells = random_spheroid(5000, 7);
  CHECK((cells == random_spheroid(5000, 7)));
  CHECK_FALSE((cells == random_spheroid(5000, 8)));
  double x = 0, size = 0;
  for (const CellState& cell : cells) {
    CHECK_UNARY(std::hypot(cell.x, cell.y, cell.z) <= std::cbrt(5000 / 1.6 * 3 / 4 / 3.14159));
    CHECK_UNARY(cell.radius >= kDaughterRadius && cell.radius < kFullRadius);
    x += cell.x;
    size += cell.radius;
  }
  CHECK(std::abs(x / 5000) < 0.3);
  CHECK(size / 5000 == doctest::Approx((kDaughterRadius + kFullRadius) / 2).epsilon(0.01));
  CHECK(random_spheroid(1, 7)[0].x == 0);
}

TEST_CASE("the chart has the radius, and the expected one from its first row") {
  const Parameters parameters;
  const app::Chart chart = tumour_chart({{10, 0, 0, 2, 1}, {12, 0, 0, 2.5, 0.9}}, parameters, "");
  REQUIRE(chart.series.size() == 2);
  CHECK((chart.series[0].values == std::vector<double>{2, 2.5}));
  CHECK((chart.series[1].values == expected_radius(parameters, 10, 1)));
  CHECK(tumour_chart({}, parameters, "").series[1].values.empty());
}
