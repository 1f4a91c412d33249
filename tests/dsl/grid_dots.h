/// @file
/// What tests of UniformGrid share: objects at positions, and searches on the device and through all positions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

#include <dynasoar/dynasoar.h>
#include <dynasoar/uniform_grid.h>

#include "../platform/test_support.h"

namespace uniform_grid_test {

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

inline constexpr std::size_t kDots = dynasoar::test::kSlowdown > 1 ? 60 : 260;

using Plane32 = Plane<float>;
using World32 = World<Plane32>;

inline constexpr World32::Options kSquare{.lower = {0, 0}, .upper = {8, 8}, .cell = 1};

inline World32::Options with(World32::Options options, std::size_t capacity) {
  options.capacity = capacity;
  return options;
}

inline std::vector<Plane32> random_positions(std::size_t count, std::uint64_t seed) {
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

}  // namespace uniform_grid_test
