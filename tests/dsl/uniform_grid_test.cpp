/// @file
/// UniformGrid: who is found as a neighbour is who a search through all objects finds, each once, in an order that does
/// not depend on threads or on where objects lie.

#include <dynasoar/uniform_grid.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "../platform/test_support.h"

namespace uniform_grid_test {

DYNASOAR_METHOD(Greet, greet);

template <class Real>
struct Plane {
  Real x, y;
};
template <class Real>
struct Solid {
  Real x, y, z;
};

/// What a reduction over neighbours adds up: how many, and shares, whose sums depend on which are added to which.
struct Totals {
  std::uint32_t count = 0;
  float shares = 0;

  __host__ __device__ friend Totals operator+(const Totals& a, const Totals& b) {
    return {a.count + b.count, a.shares + b.shares};
  }
  bool operator==(const Totals&) const = default;
};

__host__ __device__ inline Totals share_of(std::uint32_t id) {
  return {1, 1.0f / static_cast<float>(id + 3)};
}

/// A class of objects at positions, for an allocator of its own.
template <class P>
struct World {
  class Dot;
  class Disc;
  using AllocatorT = dynasoar::SoaAllocator<Dot, Disc>;
  using Handle = dynasoar::AllocatorHandle<AllocatorT>;

  struct Seen {
    P position;
    std::conditional_t<alignof(P) == 8, std::uint64_t, std::uint32_t> id;  // no padding: initcheck reports its copies
  };
  using View = dynasoar::GridView<Dot, Seen>;
  using Grid = dynasoar::UniformGrid<Dot, Seen>;
  using Options = dynasoar::GridOptions<P>;

  class Dot : public dynasoar::SoaBase<AllocatorT> {
   public:
    DYNASOAR_FIELDS(Dot, (id_, std::uint32_t), (position_, P), (visits_, std::uint32_t));

    __device__ Dot(std::size_t i, const P* positions, const std::uint32_t* ids)
        : id_(ids[i]), position_(positions[ids[i]]), visits_(0) {}

    __device__ Seen seen() { return {position_, id_}; }
    __device__ void visit(View) { ++visits_; }
    __device__ void greet(View others, std::uint32_t by) { visits_ += by + (others.size() > 0 ? 1 : 0); }

    __device__ auto add_up(View others, typename View::Real radius, Totals* totals) {
      return others
          .reduce(position_, radius, Totals{}, dynasoar::Plus{},
                  [](const auto& other) { return share_of(other.seen.id); })
          .then([this, totals](const Totals& all) {
            totals[id_] = all;
            ++visits_;
          });
    }

    // Steps aside while others look on.
    __device__ void flee(View others, std::uint64_t* sums) {
      std::uint64_t sum = 0;
      others.for_each_neighbour(position_, 1, [&](const auto& other) { sum += other.seen.id + 1; });
      sums[id_] = sum;
      position_->x += 1000;
    }
  };

  class Disc : public Dot {
   public:
    using BaseClass = Dot;
    DYNASOAR_FIELDS(Disc, (radius_, float));
    __device__ Disc(std::size_t i, const P* positions, const std::uint32_t* ids) : Dot(i, positions, ids), radius_(0) {}
    __device__ void greet(View, std::uint32_t by) { radius_ += static_cast<float>(by); }
  };
};

/// What a search found.
struct Found {
  std::uint32_t count = 0;
  std::uint32_t wrong = 0;     // neighbours whose object, distance or offset is not theirs
  std::uint64_t ids = 0;       // a sum of hashes: the same for every order
  std::uint64_t in_order = 0;  // a hash that depends on the order

  __host__ __device__ void add(std::uint32_t id) {
    ++count;
    ids += dynasoar::test::Random{id}.next();
    in_order = dynasoar::test::Random{in_order ^ id}.next();
  }
};

template <class P>
struct Search {
  typename World<P>::View view;
  const P* centers;
  typename World<P>::View::Real radius;
  Found* found;

  __device__ void operator()(std::size_t i) const {
    using Dot = typename World<P>::Dot;
    Found result;
    view.for_each_neighbour(centers[i], radius, [&](const auto& other) {
      result.add(other.seen.id);
      Dot* const dot = other.object;
      const bool is_right = dot->id_ == other.seen.id && other.seen.position.x == dot->position_->x &&
                            other.squared_distance == view.space().squared_length(other.offset);
      if (!is_right) ++result.wrong;
    });
    found[i] = result;
  }
};

template <class P>
using RealOf = dynasoar::detail::Coordinate<P>;

/// The shortest way between two coordinates, by trial.
template <class Real>
Real way(Real from, Real to, Real period) {
  const Real direct = to - from;
  if (period == 0) return direct;
  Real best = direct;
  for (int k = -3; k <= 3; ++k) {
    const Real other = direct - static_cast<Real>(k) * period;
    if (std::abs(other) < std::abs(best)) best = other;
  }
  return best;
}

template <class P>
Found search_all(const std::vector<P>& positions, const typename World<P>::Options& options, P center,
                 RealOf<P> radius) {
  using Real = RealOf<P>;
  Found result;
  if (!(radius >= 0)) return result;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    Real sum = 0;
    bool is_finite = true;
    for (int a = 0; a < dynasoar::detail::kDimensions<P>; ++a) {
      using dynasoar::detail::coordinate;
      const Real period = options.periodic[static_cast<std::size_t>(a)]
                              ? coordinate(options.upper, a) - coordinate(options.lower, a)
                              : Real{0};
      P position = positions[i];
      const Real offset = way(coordinate(center, a), coordinate(position, a), period);
      is_finite = is_finite && std::isfinite(coordinate(position, a)) && std::isfinite(coordinate(center, a));
      const Real square = offset * offset;
      sum += square;
    }
    if (is_finite && sum <= radius * radius) result.add(static_cast<std::uint32_t>(i));
  }
  return result;
}

/// Objects at positions, numbered like them, created in a random order.
template <class P>
void create(typename World<P>::Handle& handle, const std::vector<P>& positions, std::uint64_t seed) {
  std::vector<std::uint32_t> ids(positions.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::shuffle(ids.begin(), ids.end(), std::mt19937_64(seed));
  dynasoar::DeviceArray<P> uploaded(positions.size());
  dynasoar::DeviceArray<std::uint32_t> numbers(positions.size());
  uploaded.upload(positions);
  numbers.upload(ids);
  using Dot = typename World<P>::Dot;
  handle.template parallel_new<Dot>(positions.size(), static_cast<const P*>(uploaded.data()),
                                    static_cast<const std::uint32_t*>(numbers.data()));
  handle.synchronize();
}

template <class P>
std::vector<Found> search(typename World<P>::Handle& handle, const typename World<P>::View& view,
                          const std::vector<P>& centers, RealOf<P> radius) {
  dynasoar::DeviceArray<P> uploaded(centers.size());
  dynasoar::DeviceArray<Found> found(centers.size());
  uploaded.upload(centers);
  handle.parallel_for(centers.size(), Search<P>{view, uploaded.data(), radius, found.data()});
  handle.synchronize();
  return found.download();
}

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

/// `count` positions, coordinate by coordinate.
template <class P, class F>
std::vector<P> positions_by(std::size_t count, F coordinate_of) {
  std::vector<P> all(count);
  for (P& position : all) {
    for (int a = 0; a < dynasoar::detail::kDimensions<P>; ++a) {
      dynasoar::detail::coordinate(position, a) = coordinate_of();
    }
  }
  return all;
}

constexpr std::size_t kDots = dynasoar::test::kSlowdown > 1 ? 60 : 260;

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

template <class P, int kMost>
struct FindNearest {
  typename World<P>::View view;
  const P* centers;
  RealOf<P> radius;
  bool without_itself;    // the object at place i, if there is one
  std::uint32_t* places;  // [centers][kMost]
  std::uint32_t* counts;  // [centers]
  std::uint32_t* wrong;   // [centers]

  __device__ void operator()(std::size_t i) const {
    typename World<P>::Dot* const itself =
        without_itself && i < view.size() ? view.object(static_cast<std::uint32_t>(i)) : nullptr;
    const auto nearest = view.template nearest<kMost>(centers[i], radius, itself);
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
  for (const bool without_itself : {false, true}) {
    for (const Real radius : radii) {
      CAPTURE(kMost);
      CAPTURE(radius);
      auto places = dynasoar::test::zeroed<std::uint32_t>(centers.size() * kMost);
      auto counts = dynasoar::test::zeroed<std::uint32_t>(centers.size());
      auto wrong = dynasoar::test::zeroed<std::uint32_t>(centers.size());
      handle.parallel_for(centers.size(), FindNearest<P, kMost>{view, in_order.data(), radius, without_itself,
                                                                places.data(), counts.data(), wrong.data()});
      handle.synchronize();
      std::vector<std::uint32_t> expected(centers.size() * kMost), expected_counts;
      for (std::size_t i = 0; i < centers.size(); ++i) {
        std::vector<std::pair<Real, std::uint32_t>> all;
        for (std::uint32_t place = 0; place < positions.size(); ++place) {
          const Real squared = view.space().squared_length(view.space().offset(centers[i], centers[place]));
          if (radius >= 0 && squared <= radius * radius && !(without_itself && place == i))
            all.emplace_back(squared, place);
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

using Plane32 = Plane<float>;
using World32 = World<Plane32>;

constexpr World32::Options kSquare{.lower = {0, 0}, .upper = {8, 8}, .cell = 1};

World32::Options with(World32::Options options, std::size_t capacity) {
  options.capacity = capacity;
  return options;
}

std::vector<Plane32> random_positions(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> anywhere(0, 8);
  return positions_by<Plane32>(count, [&] { return anywhere(random); });
}

/// Dots in a grid.
struct Dots {
  explicit Dots(const std::vector<Plane32>& positions, std::size_t capacity = 0)
      : Dots(positions, with(kSquare, capacity), 3, 1) {}
  Dots(const std::vector<Plane32>& positions, const World32::Options& options, int threads, std::uint64_t seed)
      : handle({.heap_bytes = 16 << 20, .threads = threads}) {
    create<Plane32>(handle, positions, seed);
    grid.emplace(handle, options);
  }

  void add(const std::vector<Plane32>& positions) { create<Plane32>(handle, positions, 2); }
  void rebuild() { grid->rebuild<&World32::Dot::seen, &World32::Dot::id_>(); }
  void visit() { grid->parallel_do<&World32::Dot::visit>(); }
  std::vector<Found> search(const std::vector<Plane32>& centers, float radius) {
    return uniform_grid_test::search<Plane32>(handle, grid->view(), centers, radius);
  }
  /// How many there are in the grid.
  std::uint32_t count() { return search({{4, 4}}, 100)[0].count; }

  World32::Handle handle;
  std::optional<World32::Grid> grid;
};

/// Hashes of the neighbours of all dots, in the order in which they are visited.
std::vector<std::uint64_t> visits_in_order(const std::vector<Plane32>& positions, int threads, std::uint64_t seed) {
  Dots dots(positions, kSquare, threads, seed);
  dots.rebuild();
  std::vector<std::uint64_t> hashes;
  for (const Found& found : dots.search(positions, 1.5f)) hashes.push_back(found.in_order);
  return hashes;
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

TEST_CASE("who has a coordinate that is not finite is nobody's neighbour and has none") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const bool periodic : {false, true}) {
    World32::Options options = kSquare;
    options.periodic = {periodic, periodic};
    check_neighbours<Plane32>({{1, 1}, {kNan, 1}, {1, kNan}, {kInfinity, 1}, {1, -kInfinity}, {kNan, kNan}, {1, 1.5f}},
                              options, {0, 1, 100, 1e30f}, 1);
  }
}

TEST_CASE("within no radius, a negative one or NaN there is nobody") {
  check_neighbours<Plane32>({{1.5f, 1.5f}, {1.5f, 1.5f}}, kSquare,
                            {-1, -0.01f, -0.0f, std::numeric_limits<float>::quiet_NaN()}, 1);
}

TEST_CASE("a grid without objects, or never rebuilt, has nobody") {
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

/// Neighbours in a row of cells, dealt out to sixteen sums by their places, which are then added in pairs.
Totals expected_totals(const std::vector<Plane32>& row, Plane32 center, float radius) {
  std::array<Totals, 16> sums;
  std::vector<std::uint32_t> in_order(row.size());
  std::iota(in_order.begin(), in_order.end(), 0);
  std::stable_sort(in_order.begin(), in_order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return std::floor(row[a].x) < std::floor(row[b].x); });
  for (std::size_t place = 0; place < in_order.size(); ++place) {
    const std::uint32_t id = in_order[place];
    Totals& sum = sums[place % sums.size()];
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
  std::vector<Plane32> row = random_positions(kDots, seed);
  for (Plane32& position : row) position.y = 4.5f;
  const std::vector<Totals> totals = totals_of(row, 0.8f, Loop::of_grid, 1);
  for (std::uint32_t i = 0; i < row.size(); ++i) CHECK(totals[i] == expected_totals(row, row[i], 0.8f));

  const std::vector<Plane32> positions = random_positions(4 * kDots, seed);
  const std::vector<Totals> expected = totals_of(positions, 1.5f, Loop::of_grid, 1);
  CHECK(totals_of(positions, 1.5f, Loop::of_grid, 4) == expected);
  CHECK(totals_of(positions, 1.5f, Loop::of_handle, 3) == expected);

  // Of so many there is one sum.
  std::vector<Plane32> many = random_positions(70000, seed);
  for (std::size_t i = 0; i < kDots; ++i) many[i] = {4.55f, 4.55f};  // all in one cell, in the order of their numbers
  const std::vector<Totals> one_sum = totals_of(many, 0, Loop::of_grid, 3, 0.1f);
  Totals sum;
  for (std::uint32_t id = 0; id < kDots; ++id) sum = sum + share_of(id);
  CHECK(one_sum[kDots / 2] == sum);
  CHECK(totals_of(many, 0.08f, Loop::of_grid, 3, 0.1f) == totals_of(many, 0.08f, Loop::of_handle, 2, 0.1f));
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
