/// @file
/// GridView: what device code sees of a UniformGrid. For methods that look for neighbours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <dynasoar/detail/grid_space.h>
#include <dynasoar/detail/nearest.h>
#include <dynasoar/detail/neighbour_reduction.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/copy.h>

namespace dynasoar {

/// The objects of a UniformGrid, as they were when it was rebuilt. A small value, to be passed to loops:
///
///     __device__ void turn(dynasoar::GridView<Boid, Bird> flock) {
///       flock.for_each_neighbour(position_, kRadius, [&](const auto& other) {
///         if (other.object != this) sum = sum + other.seen.velocity;
///       });
///     }
///
/// What is seen of others are copies, so an object may change its own fields in the same loop. Others must not be
/// deleted before the grid is rebuilt, if their pointers are used. T may be incomplete here.
///
/// @tparam T      the class of the objects, or a base of their classes
/// @tparam Seen   what objects show of themselves; with a member `position`
/// @par Concurrency   from any number of threads
template <class T, class Seen>
class GridView {
  static_assert(
      requires(Seen seen) {
        seen.position.x;
        seen.position.y;
      },
      "dynasoar: what objects show of themselves in a grid needs a member called position, with members x and y, or x, "
      "y "
      "and z");

 public:
  using Position = std::remove_cvref_t<decltype(std::declval<Seen>().position)>;
  using Real = detail::Coordinate<Position>;

  /// An object near a position.
  struct Neighbour {
    T* object;
    const Seen& seen;       ///< what it showed
    Position offset;        ///< the way to it: the shortest one, on periodic axes
    Real squared_distance;  ///< the square of the way's length
  };

  GridView(const GridSpace<Position>& space, const std::uint32_t* starts, const Seen* seen,
           const std::uint64_t* objects, std::uint32_t capacity)
      : space_(space), starts_(starts), seen_(seen), objects_(objects), capacity_(capacity) {}

  /// Calls `f(neighbour)`, with a `const Neighbour&`, for all objects of which the squared distance from `center` is at
  /// most radius * radius; for the object at `center`, too, if it is in the grid.
  ///
  /// Each is visited once, whatever the radius; of its images in a periodic space the nearest counts. The order depends
  /// on `center` and `radius`: cell by cell, within a cell as UniformGrid::rebuild says. Nobody is near a position with
  /// a coordinate that is not finite, and nobody with such a coordinate is near; neither is anybody within a negative
  /// radius, or NaN.
  ///
  /// @par Cost   looks at the objects of all cells that the radius touches: of at least 9 cells (27 in space), if it is
  ///             as wide as a cell
  template <class F>
  __device__ void for_each_neighbour(const Position& center, Real radius, F&& f) const {
    for_each_dealt<1>(center, radius, 0, [&](const Neighbour& neighbour, std::uint32_t) { f(neighbour); });
  }

  /// Combines `map(neighbour)` over the same objects. A method that parallel_do of a UniformGrid runs returns it, and
  /// on a GPU sixteen threads share the work for one object, which pays where objects are fewer than a GPU has threads,
  /// or neighbours many:
  ///
  ///     __device__ auto turn(dynasoar::GridView<Boid, Bird> flock) {
  ///       return flock
  ///           .reduce(position_, kRadius, Vector{}, dynasoar::Plus{},
  ///                   [this](const auto& other) { return other.object == this ? Vector{} : other.seen.velocity; })
  ///           .then([this](Vector sum) { velocity_ = sum; });
  ///     }
  ///
  /// In loops of a handle, a thread does it all. What is combined with what depends on the grid's objects and their
  /// order alone (neighbour_reduction.h): the result has the same bits everywhere.
  ///
  /// @param init   neutral to `op`, which must be associative and commutative, but for rounding
  /// @param map    everything of this object that it needs should be captured by value: it runs for every neighbour
  /// @return       say `.then(finish)` to get what the method has to return
  /// @pre          the method itself and `map` change nothing: several threads run them for one object
  template <class R, class Op, class Map>
  __device__ detail::UnfinishedNeighbourReduction<GridView, R, Op, Map> reduce(const Position& center, Real radius,
                                                                               R init, Op op, Map map) const {
    return {*this, center, radius, init, op, map};
  }

  /// The kMost objects that are nearest to `center`, of those that for_each_neighbour would visit with this radius:
  ///
  ///     const auto flock_mates = flock.nearest<7>(position_, kSight, this);
  ///     for (int i = 0; i < flock_mates.size(); ++i) sum = sum + flock_mates[i].seen.velocity;
  ///
  /// The nearest comes first; of objects at equal squared distances, the one that comes first in the grid: cell by
  /// cell, within a cell as UniformGrid::rebuild says. With an order there, nothing depends on scheduling.
  ///
  /// @tparam kMost   1 to 64. Small numbers are kept in registers
  /// @param radius   the greatest distance; may be infinite
  /// @param except   an object that does not count, such as the one that searches; null: all do
  /// @return         `size()` of them, fewer than kMost if there are not so many, and `[i]`: each a Neighbour. Valid as
  ///                 long as the view
  /// @par Cost       searches within the width of a cell, and within twice the radius again until there are enough, at
  ///                 most within `radius`: together little more than the last of these searches
  template <int kMost>
  __device__ detail::NearestNeighbours<GridView, kMost> nearest(const Position& center, Real radius,
                                                                const T* except = nullptr) const {
    static_assert(kMost >= 1 && kMost <= 64, "dynasoar: GridView::nearest finds 1 to 64 objects");
    detail::NearestNeighbours<GridView, kMost> result(*this, center);
    if (!(radius >= 0)) return result;
    const Real whole = space_.reach();
    Real reach = space_.cell_width();
    for (bool is_last = false; !is_last && result.size() < kMost; reach *= 2) {
      is_last = !(reach < radius && reach < whole);
      result.clear();
      for_each_dealt<1>(center, is_last ? radius : reach, 0, [&](const Neighbour& other, std::uint32_t place) {
        if (except == nullptr || other.object != except) result.add(other.squared_distance, place);
      });
    }
    return result;
  }

  /// The geometry: offsets, and positions that have left a periodic space.
  __host__ __device__ const GridSpace<Position>& space() const { return space_; }

  /// Objects in the grid.
  __device__ std::uint32_t size() const {
    const std::uint32_t all = starts_[space_.cells() + 1];
    return all <= capacity_ ? all : 0;  // without room for all it is empty
  }

  /// Those of them whose position is not finite: they are in no cell, so nobody finds them.
  __device__ std::uint32_t size_in_no_cell() const {
    const std::uint32_t all = size();
    return all - start_of(space_.cells(), all);
  }

  /// The object at a place, 0 <= place < size(): cell by cell, and last those with a coordinate that is not finite.
  __device__ T* object(std::uint32_t place) const { return reinterpret_cast<T*>(objects_[place]); }

  /// What it showed.
  __device__ const Seen& seen(std::uint32_t place) const { return seen_[place]; }

 private:
  // How many copies a thread of a GPU reads together: where objects are few, it waits for most of the time. Not so many
  // that they take more than 16 registers; twice as many where several threads share an object, so that a row of cells
  // takes one turn.
  template <std::uint32_t kStep>
  static constexpr std::uint32_t kAtOnce = !kCudaBackend       ? 1
                                           : sizeof(Seen) > 32 ? 1
                                                               : (sizeof(Seen) > 16 ? 2 : 4) * (kStep > 1 ? 2 : 1);

  template <class, class, class, class, class>
  friend struct detail::NeighbourReduction;

  /// for_each_neighbour for the objects at places that are `number` modulo kStep; `f(neighbour, place)` is told where.
  template <std::uint32_t kStep, class F>
  __device__ void for_each_dealt(const Position& center, Real radius, std::uint32_t number, const F& f) const {
    if (!(radius >= 0) || !space_.is_finite(center)) return;
    const Real most = detail::rounded_product(radius, radius);
    for_each_row(center, radius, [&](std::uint32_t begin, std::uint32_t end) {
      for (std::uint32_t i = begin + (number - begin) % kStep; i < end; i += kAtOnce<kStep> * kStep) {
        look_at<kStep>(center, most, i, end, f, std::make_integer_sequence<std::uint32_t, kAtOnce<kStep>>{});
      }
    });
  }

  /// Looks at the objects at some places, every kStep-th from `first` on, one after the other; those from `end` on are
  /// left out.
  template <std::uint32_t kStep, class F, std::uint32_t... kNumbers>
  __device__ void look_at(const Position& center, Real most, std::uint32_t first, std::uint32_t end, const F& f,
                          std::integer_sequence<std::uint32_t, kNumbers...>) const {
    const auto place = [&](std::uint32_t number) {
      return first + number * kStep < end ? first + number * kStep : end - 1;
    };
    const Seen all[] = {detail::load_at_once(seen_[place(kNumbers)])...};
    // Of all, neighbours or not: to wait for each neighbour's takes longer. Where `f` has no use for them, none is
    // read.
    T* const objects[] = {object(place(kNumbers))...};
    const auto look = [&](std::uint32_t i, const Seen& seen, T* other) {
      const Position offset = space_.offset(center, seen.position);
      const Real squared_distance = space_.squared_length(offset);
      if (!(squared_distance <= most)) return;
      f(Neighbour{other, seen, offset, squared_distance}, i);
    };
    ((first + kNumbers * kStep < end ? look(first + kNumbers * kStep, all[kNumbers], objects[kNumbers]) : void()), ...);
  }

  /// Calls `visit(begin, end)` for places that together are those of all cells near `center`. The cells of a row lie
  /// side by side in memory, in one piece, or in two where the row goes over the end of a periodic axis.
  template <class Visit>
  __device__ void for_each_row(const Position& center, Real radius, const Visit& visit) const {
    using detail::coordinate;
    const auto& axes = space_.axes;
    const std::uint32_t size = this->size();
    const detail::CellRange x = axes[0].near(center.x, radius);
    const detail::CellRange y = axes[1].near(center.y, radius);
    detail::CellRange z{0, 1};
    if constexpr (GridSpace<Position>::kAxes == 3) z = axes[2].near(center.z, radius);
    const std::int32_t beyond = x.first + x.count - axes[0].cells;
    for (std::int32_t k = 0; k < z.count; ++k) {
      std::int32_t layer = 0;
      if constexpr (GridSpace<Position>::kAxes == 3) layer = axes[2].around(z.first + k);
      for (std::int32_t j = 0; j < y.count; ++j) {
        const std::int32_t line = layer * axes[1].cells + axes[1].around(y.first + j);
        const std::uint32_t row = static_cast<std::uint32_t>(line) * static_cast<std::uint32_t>(axes[0].cells);
        for (int piece = 0; piece < (beyond > 0 ? 2 : 1); ++piece) {
          const std::int32_t first = piece == 0 ? x.first : 0;
          const std::int32_t end = piece == 1 ? beyond : beyond > 0 ? axes[0].cells : x.first + x.count;
          const std::uint32_t behind = start_of(row + static_cast<std::uint32_t>(end), size);
          visit(start_of(row + static_cast<std::uint32_t>(first), size), behind);
        }
      }
    }
  }

  /// The place of a cell's first object. @param size   of the grid: if it is 0, none has any
  __device__ std::uint32_t start_of(std::uint32_t cell, std::uint32_t size) const {
    const std::uint32_t start = starts_[cell];
    return start < size ? start : size;
  }

  GridSpace<Position> space_;
  const std::uint32_t* starts_;  // [cells + 2] place of the first object of a cell; then of those in none; then the end
  const Seen* seen_;             // [size]
  const std::uint64_t* objects_;  // [size] bits of pointers
  std::uint32_t capacity_;
};

}  // namespace dynasoar
