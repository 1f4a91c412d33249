/// @file
/// UniformGrid: the order of visits, loops in the grid's order, reductions over neighbours, objects of several classes
/// and objects that are sorted by cell.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

#include <dynasoar/dynasoar.h>
#include <dynasoar/uniform_grid.h>

#include "../platform/test_support.h"
#include "grid_dots.h"

namespace uniform_grid_test {

DYNASOAR_METHOD(Greet, greet);

/// Hashes of the neighbours of all dots, in the order in which they are visited.
std::vector<std::uint64_t> visits_in_order(const std::vector<Plane32>& positions, int threads, std::uint64_t seed) {
  Dots dots(positions, kSquare, threads, seed);
  dots.rebuild();
  std::vector<std::uint64_t> hashes;
  for (const Found& found : dots.search(positions, 1.5f)) hashes.push_back(found.in_order);
  return hashes;
}

TEST_CASE("the order of visits does not depend on threads or on where objects lie") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  const std::vector<Plane32> positions = random_positions(4 * kDots, seed);
  const std::vector<std::uint64_t> expected = visits_in_order(positions, 1, 1);
  for (int run = 2; run < 6; ++run) CHECK(visits_in_order(positions, run, static_cast<std::uint64_t>(run)) == expected);
}

TEST_CASE("within a cell, neighbours are visited in the order of the field that was named") {
  Dots dots(std::vector<Plane32>(50, Plane32{2.5f, 2.5f}));
  dots.rebuild();
  Found expected;
  for (std::uint32_t id = 0; id < 50; ++id) expected.add(id);
  CHECK(dots.search({{2, 2}}, 1)[0].in_order == expected.in_order);
}

TEST_CASE("in a grid that is full exactly, the last cell has its order, too") {
  World32::Handle handle({.heap_bytes = 1 << 20, .threads = 4});
  const std::vector<Plane32> positions(50, Plane32{7.5f, 7.5f});
  create<Plane32>(handle, positions, 3);
  World32::Grid grid(handle, with(kSquare, positions.size()));
  grid.rebuild<&World32::Dot::seen, &World32::Dot::id_>();
  Found expected;
  for (std::uint32_t id = 0; id < positions.size(); ++id) expected.add(id);
  CHECK(search<Plane32>(handle, grid.view(), {{7, 7}}, 1)[0].in_order == expected.in_order);
}

TEST_CASE("a loop in the grid's order visits every object once, also those in no cell") {
  std::vector<Plane32> positions = random_positions(1000, 4);
  positions[17].x = std::numeric_limits<float>::quiet_NaN();
  positions[18].y = std::numeric_limits<float>::infinity();
  Dots dots(positions);
  dots.rebuild();
  dots.visit();
  dots.grid->rebuild<&World32::Dot::seen>();
  dots.visit();
  CHECK(dots.handle.minimum<&World32::Dot::visits_>() == 2);
  CHECK(dots.handle.maximum<&World32::Dot::visits_>() == 2);
}

/// The numbers of dots in a row of cells, in the grid's order.
std::vector<std::uint32_t> in_order_of_cells(const std::vector<Plane32>& row) {
  std::vector<std::uint32_t> in_order(row.size());
  std::iota(in_order.begin(), in_order.end(), 0);
  std::stable_sort(in_order.begin(), in_order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return std::floor(row[a].x) < std::floor(row[b].x); });
  return in_order;
}

/// Neighbours in a row of cells, dealt out to several sums by their places, which are then added in pairs.
Totals expected_totals(const std::vector<Plane32>& row, const std::vector<std::uint32_t>& in_order, std::size_t count,
                       Plane32 center, float radius) {
  std::vector<Totals> sums(count);
  for (std::size_t place = 0; place < in_order.size(); ++place) {
    const std::uint32_t id = in_order[place];
    Totals& sum = sums[place % count];
    if (std::abs(row[id].x - center.x) <= radius) sum = sum + share_of(id);
  }
  for (std::size_t left = sums.size(); left > 1; left /= 2) {
    for (std::size_t i = 0; i < left / 2; ++i) sums[i] = sums[2 * i] + sums[2 * i + 1];
  }
  return sums[0];
}

enum class Loop { of_grid, of_handle };

std::vector<Totals> totals_of(const std::vector<Plane32>& positions, float radius, Loop loop, int threads,
                              float cell = 1) {
  World32::Options options = kSquare;
  options.cell = cell;
  Dots dots(positions, options, threads, static_cast<std::uint64_t>(threads));
  dots.rebuild();
  dynasoar::DeviceArray<Totals> totals(positions.size());
  if (loop == Loop::of_grid) {
    dots.grid->parallel_do<&World32::Dot::add_up>(radius, totals.data());
  } else {
    dots.handle.parallel_do<World32::Dot, &World32::Dot::add_up>(dots.grid->view(), radius, totals.data());
  }
  dots.handle.synchronize();
  CHECK(dots.handle.sum<&World32::Dot::visits_>() == positions.size());
  return totals.download();
}

TEST_CASE("a reduction over neighbours sees each once") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  for (const std::size_t count : {std::size_t{1}, std::size_t{3}, kDots, 40 * kDots}) {
    const std::vector<Plane32> positions = random_positions(count, seed);
    for (const float radius : {0.0f, 0.7f, 2.5f}) {
      if (count > kDots && radius > 1) continue;
      const std::vector<Totals> totals = totals_of(positions, radius, Loop::of_grid, 3);
      std::size_t different = 0;
      for (std::size_t i = 0; i < count; i += 1 + count / kDots) {
        different += totals[i].count != search_all<Plane32>(positions, kSquare, positions[i], radius).count ? 1 : 0;
      }
      CHECK(different == 0);
    }
  }
}

TEST_CASE("a reduction over neighbours adds the same to the same, whoever does it") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  // Sixteen sums of a few dots, and four of some more.
  for (const auto& [dots, sums, radius] : {std::tuple{kDots, 16, 0.8f}, std::tuple{std::size_t{32769}, 4, 1e-3f}}) {
    std::vector<Plane32> row = random_positions(dots, seed);
    for (Plane32& position : row) position.y = 4.5f;
    const std::vector<std::uint32_t> in_order = in_order_of_cells(row);
    const std::vector<Totals> totals = totals_of(row, radius, Loop::of_grid, 1);
    std::size_t different = 0;
    for (std::uint32_t i = 0; i < kDots; ++i) {
      different += totals[i] != expected_totals(row, in_order, static_cast<std::size_t>(sums), row[i], radius) ? 1 : 0;
    }
    CHECK(different == 0);
  }

  const std::vector<Plane32> positions = random_positions(4 * kDots, seed);
  const std::vector<Totals> expected = totals_of(positions, 1.5f, Loop::of_grid, 1);
  CHECK(totals_of(positions, 1.5f, Loop::of_grid, 4) == expected);
  CHECK(totals_of(positions, 1.5f, Loop::of_handle, 3) == expected);

  // Of so many there is one sum.
  std::vector<Plane32> many = random_positions(262145, seed);
  for (std::size_t i = 0; i < kDots; ++i) many[i] = {4.55f, 4.55f};  // all in one cell, in the order of their numbers
  const std::vector<Totals> one_sum = totals_of(many, 0, Loop::of_grid, 3, 0.05f);
  Totals sum;
  for (std::uint32_t id = 0; id < kDots; ++id) sum = sum + share_of(id);
  CHECK(one_sum[kDots / 2] == sum);
  CHECK(totals_of(many, 0.02f, Loop::of_grid, 3, 0.05f) == totals_of(many, 0.02f, Loop::of_handle, 2, 0.05f));
}

TEST_CASE("an object may move while others look at it: they see it where it was") {
  const std::vector<Plane32> positions = random_positions(500, 6);
  Dots dots(positions);
  dots.grid->rebuild<&World32::Dot::seen>();
  dynasoar::DeviceArray<std::uint64_t> sums(positions.size());
  dots.grid->parallel_do<&World32::Dot::flee>(sums.data());
  dots.handle.synchronize();
  const std::vector<std::uint64_t> found = sums.download();
  for (std::size_t i = 0; i < positions.size(); ++i) {
    std::uint64_t expected = 0;
    for (std::size_t j = 0; j < positions.size(); ++j) {
      const float x = positions[j].x - positions[i].x;
      const float y = positions[j].y - positions[i].y;
      const float xx = x * x;
      const float yy = y * y;
      if (xx + yy <= 1) expected += j + 1;
    }
    REQUIRE(found[i] == expected);
  }
}

/// Creates so many discs at the positions from the 100th on, which are their numbers.
void create_discs(World32::Handle& handle, const std::vector<Plane32>& positions, std::size_t count) {
  std::vector<std::uint32_t> ids(count);
  std::iota(ids.begin(), ids.end(), 100);
  dynasoar::DeviceArray<Plane32> uploaded(positions.size());
  dynasoar::DeviceArray<std::uint32_t> numbers(count);
  uploaded.upload(positions);
  numbers.upload(ids);
  handle.parallel_new<World32::Disc>(count, static_cast<const Plane32*>(uploaded.data()),
                                     static_cast<const std::uint32_t*>(numbers.data()));
  handle.synchronize();  // the arrays are freed now
}

TEST_CASE("objects of several classes with a base in common share a grid") {
  const std::vector<Plane32> positions = random_positions(300, 8);
  Dots dots(positions);
  World32::Handle& handle = dots.handle;
  World32::Grid& grid = *dots.grid;
  create_discs(handle, positions, 100);
  dots.rebuild();
  auto discs = dynasoar::test::zeroed<std::uint64_t>(1);
  handle.parallel_for(1, [view = grid.view(), discs = discs.data()] __device__(std::size_t) {
    view.for_each_neighbour({4, 4}, 100, [&](const World32::View::Neighbour& other) {
      if (dynasoar::cast<World32::Disc>(other.object) != nullptr) ++*discs;
    });
  });
  CHECK(dots.count() == 400);
  CHECK(discs.download()[0] == 100);
  grid.parallel_do<World32::Disc, &World32::Dot::visit>();
  CHECK(handle.count_if<World32::Dot>([] __device__(World32::Dot * dot) { return dot->visits_ == 1; }) == 100);
  CHECK(handle.count_if<World32::Disc>([] __device__(World32::Disc * disc) { return disc->visits_ == 1; }) == 100);
  // A method that Disc overrides, and a lambda: each object as one of its own class.
  grid.parallel_do<World32::Dot>(Greet{}, 9u);
  CHECK(handle.count_if<World32::Dot>([] __device__(World32::Dot * dot) { return dot->visits_ == 10; }) == 300);
  CHECK(handle.count_if<World32::Disc>([] __device__(World32::Disc * disc) { return disc->radius_ == 9.0f; }) == 100);
  grid.parallel_do<World32::Dot>(
      [] __device__(World32::Dot * dot, World32::View, std::uint32_t by) { dot->visits_ = dot->visits_ + by; }, 5u);
  CHECK(handle.sum<&World32::Dot::visits_>() == 300 * 15 + 100 * 6);
  grid.parallel_do<World32::Disc>([] __device__(World32::Disc * disc, World32::View) { disc->visits_ = 1; });
  auto totals = dynasoar::test::zeroed<Totals>(positions.size());
  grid.parallel_do<World32::Disc, &World32::Dot::add_up>(100.0f, totals.data());
  CHECK(handle.count_if<World32::Dot>([] __device__(World32::Dot * dot) { return dot->visits_ == 2; }) == 100);
  CHECK(totals.download()[150].count == 400);
}

TEST_CASE("objects are sorted by cell, class by class, and the grid finds them after a rebuild") {
  const std::vector<Plane32> positions = random_positions(3000, 21);
  Dots dots(positions);
  World32::Handle& handle = dots.handle;
  World32::Grid& grid = *dots.grid;
  create_discs(handle, positions, 500);
  grid.sort_objects<&World32::Dot::seen>();
  const std::vector<std::uint32_t> sorted = handle.columns<World32::Dot>()["id_"].as<std::uint32_t>();
  REQUIRE(sorted.size() == 3500);
  std::vector<std::uint32_t> cells;
  for (const std::uint32_t id : sorted) cells.push_back(grid.view().space().cell_of(positions[id]));
  CHECK(std::is_sorted(cells.begin(), cells.begin() + 3000));
  CHECK(std::is_sorted(cells.begin() + 3000, cells.end()));
  CHECK(cells[0] < cells[2999]);
  CHECK(!std::is_sorted(sorted.begin(), sorted.begin() + 3000));
  dots.rebuild();
  CHECK(dots.count() == 3500);
}

}  // namespace uniform_grid_test
