/// @file
/// UniformGrid: searches find the neighbours and the nearest objects that a search through all objects finds, each
/// once. Options that make no sense are refused.

#include <dynasoar/uniform_grid.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "../platform/test_support.h"
#include "grid_dots.h"

namespace uniform_grid_test {

/// The neighbours of all positions, and of some others, for several radii; compared with a search through all.
template <class P>
void check_neighbours(const std::vector<P>& positions, const typename World<P>::Options& options,
                      const std::vector<RealOf<P>>& radii, std::uint64_t seed) {
  using Dot = typename World<P>::Dot;
  typename World<P>::Handle handle({.heap_bytes = 16 << 20, .threads = 3});
  create<P>(handle, positions, seed);
  typename World<P>::Grid grid(handle, options);
  std::vector<P> centers = positions;
  centers.push_back(options.lower);
  centers.push_back(options.upper);
  for (const bool ordered : {false, true}) {
    if (ordered) {
      grid.template rebuild<&Dot::seen, &Dot::id_>();
    } else {
      grid.template rebuild<&Dot::seen>();
    }
    for (const RealOf<P> radius : radii) {
      CAPTURE(radius);
      const std::vector<Found> found = search<P>(handle, grid.view(), centers, radius);
      std::size_t different = 0;
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < centers.size(); ++i) {
        const Found expected = search_all<P>(positions, options, centers[i], radius);
        different += found[i].count != expected.count || found[i].ids != expected.ids ? 1 : 0;
        wrong += found[i].wrong;
      }
      CHECK(different == 0);
      CHECK(wrong == 0);
    }
  }
}

/// All ways in which axes can be periodic, with positions of every kind. The space is 8 wide, from -3 on.
template <class P>
void check_everywhere(std::uint64_t seed) {
  using Real = RealOf<P>;
  constexpr int kAxes = dynasoar::detail::kDimensions<P>;
  std::mt19937_64 random(seed);
  const auto between = [&random](Real from, Real to) { return std::uniform_real_distribution<Real>(from, to)(random); };
  P lower{}, upper{};
  for (int a = 0; a < kAxes; ++a) {
    dynasoar::detail::coordinate(lower, a) = -3;
    dynasoar::detail::coordinate(upper, a) = 5;
  }
  for (int periodic = 0; periodic < 1 << kAxes; ++periodic) {
    for (const Real cell : {Real(0.5), Real(1.1), Real(3), Real(20)}) {
      typename World<P>::Options options{.lower = lower, .upper = upper, .cell = cell};
      for (int a = 0; a < kAxes; ++a) options.periodic[static_cast<std::size_t>(a)] = (periodic >> a & 1) != 0;
      CAPTURE(periodic);
      CAPTURE(cell);
      const std::vector<Real> radii = {0, between(Real(0.1), 1), 1, 2, 4, between(5, 9), 30};
      check_neighbours<P>(positions_by<P>(kDots, [&] { return between(-3, 5); }), options, radii, seed);
      // On the borders of cells, many in one place.
      check_neighbours<P>(
          positions_by<P>(kDots, [&] { return Real(-3) + Real(0.5) * static_cast<Real>(random() % 17); }), options,
          radii, seed);
      // A bit below or above them.
      check_neighbours<P>(positions_by<P>(kDots,
                                          [&] {
                                            const Real border = static_cast<Real>(random() % 9) - 3;
                                            const Real far = std::numeric_limits<Real>::max();
                                            const auto which = random() % 3;
                                            return which == 0   ? border
                                                   : which == 1 ? std::nextafter(border, far)
                                                                : std::nextafter(border, -far);
                                          }),
                          options, radii, seed);
      // Up to a length outside.
      check_neighbours<P>(positions_by<P>(kDots, [&] { return between(-11, 13); }), options, radii, seed);
    }
  }
}

/// The objects that a search for the nearest considers. The object that searches is at place i, if there is one.
enum class Whom { all, others, with_even_number };

template <class P, int kMost>
struct FindNearest {
  typename World<P>::View view;
  const P* centers;
  RealOf<P> radius;
  Whom whom;
  std::uint32_t* places;  // [centers][kMost]
  std::uint32_t* counts;  // [centers]
  std::uint32_t* wrong;   // [centers]

  __device__ void operator()(std::size_t i) const {
    typename World<P>::Dot* const itself =
        whom == Whom::others && i < view.size() ? view.object(static_cast<std::uint32_t>(i)) : nullptr;
    const auto nearest =
        whom == Whom::with_even_number
            ? view.template nearest<kMost>(centers[i], radius, [](const auto& other) { return other.seen.id % 2 == 0; })
            : view.template nearest<kMost>(centers[i], radius, itself);
    counts[i] = static_cast<std::uint32_t>(nearest.size());
    wrong[i] = 0;
    for (int k = 0; k < nearest.size(); ++k) {
      const auto other = nearest[k];
      std::uint32_t place = 0;
      while (view.object(place) != other.object) ++place;
      places[i * kMost + static_cast<std::size_t>(k)] = place;
      const bool is_right = other.seen.id == other.object->id_ &&
                            other.squared_distance == view.space().squared_length(other.offset) &&
                            other.offset.x == view.space().offset(centers[i], other.seen.position).x;
      if (!is_right) ++wrong[i];
    }
  }
};

/// The nearest of all positions, which objects have in the order of their places, and of some others.
template <class P, int kMost>
void check_nearest(const std::vector<P>& positions, const typename World<P>::Options& options,
                   const std::vector<RealOf<P>>& radii, int threads) {
  using Real = RealOf<P>;
  typename World<P>::Handle handle({.heap_bytes = 16 << 20, .threads = threads});
  create<P>(handle, positions, 4);
  typename World<P>::Grid grid(handle, options);
  grid.template rebuild<&World<P>::Dot::seen, &World<P>::Dot::id_>();
  const auto view = grid.view();
  dynasoar::DeviceArray<P> in_order(positions.size() + 2);
  in_order.upload(std::vector<P>(positions.size() + 2, options.upper));
  handle.parallel_for(positions.size(), [view, to = in_order.data()] __device__(std::size_t i) {
    to[i] = view.seen(static_cast<std::uint32_t>(i)).position;
  });
  handle.synchronize();
  const std::vector<P> centers = in_order.download();
  auto ids = dynasoar::test::zeroed<std::uint32_t>(positions.size() + 1);
  handle.parallel_for(positions.size(), [view, to = ids.data()] __device__(std::size_t i) {
    to[i] = static_cast<std::uint32_t>(view.seen(static_cast<std::uint32_t>(i)).id);
  });
  handle.synchronize();
  const std::vector<std::uint32_t> ids_in_order = ids.download();
  for (const Whom whom : {Whom::all, Whom::others, Whom::with_even_number}) {
    for (const Real radius : radii) {
      CAPTURE(static_cast<int>(whom));
      CAPTURE(kMost);
      CAPTURE(radius);
      auto places = dynasoar::test::zeroed<std::uint32_t>(centers.size() * kMost);
      auto counts = dynasoar::test::zeroed<std::uint32_t>(centers.size());
      auto wrong = dynasoar::test::zeroed<std::uint32_t>(centers.size());
      handle.parallel_for(centers.size(), FindNearest<P, kMost>{view, in_order.data(), radius, whom, places.data(),
                                                                counts.data(), wrong.data()});
      handle.synchronize();
      std::vector<std::uint32_t> expected(centers.size() * kMost), expected_counts;
      for (std::size_t i = 0; i < centers.size(); ++i) {
        std::vector<std::pair<Real, std::uint32_t>> all;
        for (std::uint32_t place = 0; place < positions.size(); ++place) {
          const Real squared = view.space().squared_length(view.space().offset(centers[i], centers[place]));
          const bool counts_here = whom == Whom::others             ? place != i
                                   : whom == Whom::with_even_number ? ids_in_order[place] % 2 == 0
                                                                    : true;
          if (radius >= 0 && squared <= radius * radius && counts_here) all.emplace_back(squared, place);
        }
        std::sort(all.begin(), all.end());
        if (all.size() > kMost) all.resize(kMost);
        expected_counts.push_back(static_cast<std::uint32_t>(all.size()));
        for (std::size_t k = 0; k < all.size(); ++k) expected[i * kMost + k] = all[k].second;
      }
      CHECK(counts.download() == expected_counts);
      CHECK(places.download() == expected);
      CHECK(wrong.download() == std::vector<std::uint32_t>(centers.size(), 0));
    }
  }
}

/// Dense and sparse, in one place, at equal distances, outside of the space; periodic or not.
template <class P>
void check_nearest_everywhere(std::uint64_t seed) {
  using Real = RealOf<P>;
  constexpr int kAxes = dynasoar::detail::kDimensions<P>;
  std::mt19937_64 random(seed);
  P lower{}, upper{};
  for (int a = 0; a < kAxes; ++a) {
    dynasoar::detail::coordinate(lower, a) = -3;
    dynasoar::detail::coordinate(upper, a) = 5;
  }
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  for (int periodic = 0; periodic < 1 << kAxes; ++periodic) {
    CAPTURE(periodic);
    typename World<P>::Options options{.lower = lower, .upper = upper, .cell = Real(0.7)};
    for (int a = 0; a < kAxes; ++a) options.periodic[static_cast<std::size_t>(a)] = (periodic >> a & 1) != 0;
    std::uniform_real_distribution<Real> anywhere(-3, 5);
    std::uniform_real_distribution<Real> outside(-40, 40);
    const auto lattice = [&random] { return static_cast<Real>(random() % 9) - 3; };
    const bool is_cut = periodic == 0;  // far outside of a periodic axis, offsets are not what the page says
    check_nearest<P, 5>(positions_by<P>(kDots, [&] { return anywhere(random); }), options, {0, 1, Real(2.5), kInfinity},
                        3);
    check_nearest<P, 1>(positions_by<P>(40, [&] { return anywhere(random); }), options, {Real(0.3), kInfinity}, 1);
    check_nearest<P, 16>(positions_by<P>(kDots, lattice), options, {0, 1, kInfinity}, 4);
    check_nearest<P, 64>(positions_by<P>(50, [&] { return is_cut ? outside(random) : anywhere(random); }), options,
                         {3, 1000, kInfinity, -1, std::numeric_limits<Real>::quiet_NaN()}, 2);
  }
}

TEST_CASE("neighbours in a plane are those that a search through all objects finds") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  check_everywhere<Plane<float>>(seed);
}

TEST_CASE("neighbours in space are those that a search through all objects finds") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  check_everywhere<Solid<double>>(seed);
}

TEST_CASE("the nearest objects in a plane are those that a search through all finds, in the same order") {
  check_nearest_everywhere<Plane<float>>(dynasoar::test::test_seed());
}

TEST_CASE("the nearest objects in space are those that a search through all finds, in the same order") {
  check_nearest_everywhere<Solid<double>>(dynasoar::test::test_seed());
}

/// Positions near the space, up to a hundred lengths away from it, in small crowds far away, and at the end of numbers.
template <class P>
void check_unbounded(std::uint64_t seed) {
  using Real = RealOf<P>;
  constexpr int kAxes = dynasoar::detail::kDimensions<P>;
  std::mt19937_64 random(seed);
  const auto between = [&random](Real from, Real to) { return std::uniform_real_distribution<Real>(from, to)(random); };
  for (int unbounded = 1; unbounded < 1 << kAxes; ++unbounded) {
    for (const bool others_periodic : {false, true}) {
      CAPTURE(unbounded);
      typename World<P>::Options options{.lower = {}, .upper = {}, .cell = Real(1.1)};
      for (int a = 0; a < kAxes; ++a) {
        dynasoar::detail::coordinate(options.lower, a) = -3;
        dynasoar::detail::coordinate(options.upper, a) = 5;
        options.unbounded[static_cast<std::size_t>(a)] = (unbounded >> a & 1) != 0;
        options.periodic[static_cast<std::size_t>(a)] = others_periodic && (unbounded >> a & 1) == 0;
      }
      const auto check = [&](auto anywhere) {
        std::vector<P> positions(kDots);
        for (P& position : positions) {
          for (int a = 0; a < kAxes; ++a) {
            const bool is_free = (unbounded >> a & 1) != 0;
            dynasoar::detail::coordinate(position, a) = is_free ? anywhere() : between(-3, 5);
          }
        }
        check_neighbours<P>(positions, options, {0, Real(0.9), Real(3.9), 20, 1e4}, seed);
      };
      check([&] { return between(-11, 13); });
      check([&] { return between(-800, 800); });
      check([&] { return static_cast<Real>(random() % 40) * 8 - 3 + Real(1.6) * static_cast<Real>(random() % 5); });
      check([&] { return (random() % 2 == 0 ? Real(1e6) : Real(-1e6)) + between(-2, 2); });
      check([&] { return std::ldexp(between(-1, 1), static_cast<int>(random() % 127)); });
    }
  }
}

TEST_CASE("along unbounded axes, neighbours are those that a search through all objects finds, wherever they are") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  check_unbounded<Plane<float>>(seed);
  check_unbounded<Solid<double>>(seed);
}

TEST_CASE("along unbounded axes, objects beyond the ends share all cells, and elsewhere the cells at the border") {
  const auto occupied = [](const World32::Options& options) {
    std::vector<std::uint32_t> cells;
    for (float x = 0.5f; x < 8; ++x) {
      for (float y = 0.5f; y < 8; ++y) cells.push_back(options.space().cell_of({x + 8000, y - 80}));
    }
    std::sort(cells.begin(), cells.end());
    return std::unique(cells.begin(), cells.end()) - cells.begin();
  };
  World32::Options options = kSquare;
  CHECK(occupied(options) == 1);
  options.unbounded = {true, false};
  CHECK(occupied(options) == 8);
  options.unbounded = {true, true};
  CHECK(occupied(options) == 64);
  CHECK(options.space().wrapped({8000, 3}).x == 8000);
  CHECK(options.space().offset({0, 0}, {8000, 3}).x == 8000);
}

TEST_CASE("objects in no cell are counted") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const std::size_t capacity : {std::size_t{0}, std::size_t{5}}) {
    Dots dots({{1, 1}, {kNan, 1}, {2, std::numeric_limits<float>::infinity()}, {3, 1}, {-100, 1e9f}}, capacity);
    dots.rebuild();
    auto lost = dynasoar::test::zeroed<std::uint32_t>(1);
    dots.handle.parallel_for(
        1, [view = dots.grid->view(), lost = lost.data()] __device__(std::size_t) { *lost = view.size_in_no_cell(); });
    CHECK(lost.download()[0] == 2);
  }
}

TEST_CASE("all cells are near a position that is too far away for its place to be a number") {
  using World = dynasoar::GridSpace<Plane32>;
  dynasoar::GridOptions<Plane32> options{.lower = {-1e38f, -1e38f}, .upper = {1e38f, 1e38f}, .cell = 1e37f};
  options.periodic = {true, false};
  const World space = options.space();
  const dynasoar::detail::CellRange range = space.axes[0].near(3.4e38f, 1);
  CHECK(range.first == 0);
  CHECK(range.count == space.axes[0].cells);
}

TEST_CASE("no cells are near a position that is not finite") {
  dynasoar::GridOptions<Plane32> options{.lower = {-4, -4}, .upper = {4, 4}, .cell = 1};
  options.periodic = {true, false};
  const dynasoar::GridSpace<Plane32> space = options.space();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float x : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
    CHECK(space.axes[0].near(x, 1).count == 0);
    CHECK(space.axes[1].near(x, 1).count == 0);
  }
}

TEST_CASE("in a space so large that squares overflow, neighbours are found beyond its ends, too") {
  dynasoar::GridOptions<Plane32> options{.lower = {0, 0}, .upper = {1e20f, 1e20f}, .cell = 1e19f};
  options.periodic = {true, true};
  check_neighbours<Plane32>({{1e18f, 0}, {1.01e20f, 0}, {1e19f, 0}}, options, {1e15f, 1e18f}, 42);
}

TEST_CASE("an object whose position is not finite is not near, and has no nearest") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Dots dots({{1, 1}, {kNan, 1}, {2, -kInfinity}, {3, 1}});
  dots.rebuild();
  auto counts = dynasoar::test::zeroed<std::uint32_t>(3);
  dots.handle.parallel_for(3, [view = dots.grid->view(), counts = counts.data()] __device__(std::size_t i) {
    const Plane32 center{i == 1 ? std::numeric_limits<float>::quiet_NaN() : 1.0f, i == 2 ? 3e38f : 1.0f};
    counts[i] = static_cast<std::uint32_t>(view.nearest<8>(center, std::numeric_limits<float>::infinity()).size());
  });
  CHECK(counts.download() == std::vector<std::uint32_t>{2, 0, 2});
}

TEST_CASE("an axis may be periodic in any units, and far from zero") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  std::mt19937_64 random(seed);
  for (const float scale : {1e-6f, 0.3f, 1e6f}) {
    for (const float shift : {0.0f, -700.0f}) {
      CAPTURE(scale);
      CAPTURE(shift);
      std::uniform_real_distribution<float> anywhere(shift * scale, (shift + 7) * scale);
      World32::Options options{.lower = {shift * scale, shift * scale},
                               .upper = {(shift + 7) * scale, (shift + 7) * scale},
                               .cell = 0.9f * scale,
                               .periodic = {true, true}};
      check_neighbours<Plane32>(positions_by<Plane32>(kDots, [&] { return anywhere(random); }), options,
                                {0, 0.9f * scale, 2 * scale, 10 * scale}, seed);
    }
  }
}

TEST_CASE("a grid may have far more cells than objects") {
  World32::Options options = kSquare;
  options.cell = 0.02f;  // 400 x 400
  options.periodic = {true, false};
  check_neighbours<Plane32>(random_positions(kDots, 2), options, {0.05f, 0.7f}, 2);
}

TEST_CASE("an object with a coordinate that is not finite has no neighbours and is no neighbour") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const bool periodic : {false, true}) {
    World32::Options options = kSquare;
    options.periodic = {periodic, periodic};
    check_neighbours<Plane32>({{1, 1}, {kNan, 1}, {1, kNan}, {kInfinity, 1}, {1, -kInfinity}, {kNan, kNan}, {1, 1.5f}},
                              options, {0, 1, 100, 1e30f}, 1);
  }
}

TEST_CASE("a radius of 0, a negative one and NaN find no objects") {
  check_neighbours<Plane32>({{1.5f, 1.5f}, {1.5f, 1.5f}}, kSquare,
                            {-1, -0.01f, -0.0f, std::numeric_limits<float>::quiet_NaN()}, 1);
}

TEST_CASE("a grid without objects, or never rebuilt, finds no objects") {
  Dots dots({});
  CHECK(dots.count() == 0);
  dots.rebuild();
  dots.visit();
  CHECK(dots.count() == 0);
}

TEST_CASE("all objects may be in one cell") {
  const auto crowd = [](std::size_t count) {
    std::vector<Plane32> positions(count);
    for (std::size_t i = 0; i < count; ++i)
      positions[i] = {4.5f, 4 + static_cast<float>(i) / static_cast<float>(count)};
    return positions;
  };
  check_neighbours<Plane32>(crowd(kDots), kSquare, {0, 0.3f, 2}, 5);
}

TEST_CASE("positions that have left a periodic space are brought back") {
  World32::Options options = kSquare;
  options.lower = {-2, -2};
  options.periodic = {true, false};
  const dynasoar::GridSpace<Plane32> space = options.space();
  const auto check = [&](Plane32 position, Plane32 expected) {
    const Plane32 wrapped = space.wrapped(position);
    CHECK(wrapped.x == expected.x);
    CHECK(wrapped.y == expected.y);
  };
  check({3, 20}, {3, 20});
  check({8, 1}, {-2, 1});
  check({-2, 1}, {-2, 1});
  check({-3, 1}, {7, 1});
  check({31, 1}, {1, 1});
  check({-2.0000002f, 1}, {-2, 1});  // 8 - 0.0000002 is 8 in float, which is the other end
  options.periodic = {false, true};
  const Plane32 last_axis = options.space().wrapped({20, 9});
  CHECK(last_axis.x == 20);
  CHECK(last_axis.y == -1);
}

TEST_CASE("grids that make no sense are refused, and told why") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  World32::Handle handle({.heap_bytes = 1 << 20});
  const auto check_refused = [&](const World32::Options& options, const char* why) {
    CHECK_THROWS_WITH_AS(World32::Grid(handle, options), doctest::Contains(why), dynasoar::Error);
  };
  check_refused({.lower = {0, 0}, .upper = {1, 0}, .cell = 1}, "along axis 1");
  check_refused({.lower = {kNan, 0}, .upper = {1, 1}, .cell = 1}, "along axis 0");
  check_refused({.lower = {0, 0}, .upper = {1e38f, 1}, .cell = 1}, "2^20 cells along an axis");
  check_refused({.lower = {-3e38f, 0}, .upper = {3e38f, 1}, .cell = 1}, "along axis 0");
  check_refused({.lower = {0, 0}, .upper = {1, 1}, .cell = 0}, "wider than 0");
  check_refused({.lower = {0, 0}, .upper = {1, 1}, .cell = 1, .periodic = {false, true}, .unbounded = {true, true}},
                "axis 1 of a UniformGrid cannot be periodic and unbounded");
  check_refused({.lower = {0, 0}, .upper = {1, 1}, .cell = kNan}, "wider than 0");
  check_refused({.lower = {0, 0}, .upper = {1e5f, 1e5f}, .cell = 1}, "2^30 in all");
  check_refused({.lower = {0, 0}, .upper = {1, 1}, .cell = 1, .capacity = std::size_t{1} << 32},
                "2^31 objects at most");
  CHECK_NOTHROW(World32::Grid(handle, {.lower = {0, 0}, .upper = {1, 1}, .cell = 5}));
}

TEST_CASE("a grid may have exactly as many cells as the limits say") {
  const auto cells = [](float columns, float rows) {
    return World32::Options{.lower = {0, 0}, .upper = {columns, rows}, .cell = 1}.space().cells();
  };
  CHECK(cells(1 << 20, 1) == 1 << 20);
  CHECK_THROWS_WITH_AS(cells((1 << 20) + 1, 1), doctest::Contains("2^20 cells along an axis"), dynasoar::Error);
  CHECK(cells(1 << 20, 1 << 10) == 1 << 30);
  CHECK_THROWS_WITH_AS(cells(1 << 20, (1 << 10) + 1), doctest::Contains("2^30 in all"), dynasoar::Error);
  World32::Handle handle({.heap_bytes = 1 << 20});
  CHECK_THROWS_WITH_AS(World32::Grid(handle, with(kSquare, (std::size_t{1} << 31) + 1)),
                       doctest::Contains("2^31 objects at most, and not for 2147483649"), dynasoar::Error);
}

TEST_CASE("positions at the ends of an axis are in its first and last cell") {
  World32::Options options = kSquare;
  options.periodic = {true, false};
  const dynasoar::GridSpace<Plane32> space = options.space();
  CHECK(space.cell_of({0, 0}) == 0);
  CHECK(space.cell_of({1, 0}) == 1);
  CHECK(space.cell_of({7.99f, 0}) == 7);
  CHECK(space.cell_of({8, 0}) == 0);
  CHECK(space.cell_of({-1, 0}) == 7);
  CHECK(space.cell_of({0, 1}) == 8);
  CHECK(space.cell_of({0, 8}) == 56);
  CHECK(space.cell_of({0, 100}) == 56);
  CHECK(space.cell_of({0, -100}) == 0);
  CHECK(space.cell_of({std::numeric_limits<float>::quiet_NaN(), 0}) == space.cells());
  CHECK(space.offset({1, 1}, {7, 7}).x == -2);
  CHECK(space.offset({1, 1}, {7, 7}).y == 6);
  CHECK(space.offset({1, 1}, {5, 1}).x == 4);
  CHECK(space.offset({1, 1}, {8 * 3 + 7, 1}).x == -2);  // several periods away
  CHECK(space.offset({1, 1}, {-8 * 5 + 3, 41}).x == 2);
  CHECK(space.offset({1, 1}, {-8 * 5 + 3, 41}).y == 40);
}

}  // namespace uniform_grid_test
