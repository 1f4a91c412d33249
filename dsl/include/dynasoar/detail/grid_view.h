/// @file
/// GridView: the interface of a UniformGrid in device code. Used by methods that search for neighbours.
#pragma once

#include <bit>
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

namespace detail {
/// Elements of the arrays of a grid, behind the last object, that a search may read.
inline constexpr std::size_t kReadBehind = 3;
}  // namespace detail

/// The objects of a UniformGrid, as they were when it was last rebuilt. A small value to pass to loops:
///
///     __device__ void turn(dynasoar::GridView<Boid, Bird> flock) {
///       flock.for_each_neighbour(position_, kRadius, [&](const auto& other) {
///         if (other.object != this) sum = sum + other.seen.velocity;
///       });
///     }
///
/// A search reads the copies that the last rebuild has made of each object's Seen, so an object may change its own
/// fields in the same loop. If you use pointers to other objects, do not delete these objects before the grid is
/// rebuilt. T may be incomplete here.
///
/// @tparam T      the class of the objects, or a common base of their classes
/// @tparam Seen   the data of an object that others see, with a member `position`
/// @par Concurrency   any number of threads may use a view
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
    const Seen& seen;       ///< the data of the object, as of the last rebuild
    Position offset;        ///< the vector from the position to the object; on periodic axes, the shortest one
    Real squared_distance;  ///< the squared length of `offset`
  };

  GridView(const GridSpace<Position>& space, const std::uint32_t* starts, const Seen* seen,
           const std::uint64_t* objects, std::uint32_t capacity)
      : space_(space),
        surely_nearest_(space.surely_nearest()),
        starts_(starts),
        seen_(seen),
        objects_(objects),
        capacity_(capacity) {}

  /// Calls `f(neighbour)`, with a `const Neighbour&`, for all objects whose squared distance from `center` is at most
  /// radius * radius. This includes an object at `center`, if it is in the grid.
  ///
  /// Each object is visited once, whatever the radius. In a periodic space, only its nearest image counts. The order is
  /// cell by cell, and depends on `center` and `radius`; within a cell, it is as UniformGrid::rebuild specifies. A
  /// position with a coordinate that is not finite has no neighbours, and an object with such a coordinate is not a
  /// neighbour. A negative or NaN radius finds no objects.
  ///
  /// @par Cost   examines the objects of all cells that the radius touches: of at least 9 cells (27 in space), if the
  ///             radius is equal to the width of a cell
  template <class F>
  __device__ void for_each_neighbour(const Position& center, Real radius, F&& f) const {
    for_each_dealt<1>(center, radius, 0, [&](const Neighbour& neighbour, std::uint32_t) { f(neighbour); });
  }

  /// Combines `map(neighbour)` over the objects that for_each_neighbour visits. Return the reduction from a method that
  /// UniformGrid::parallel_do runs. Several threads of a GPU then share the work for one object: sixteen in grids of up
  /// to 32,768 objects, and four in grids of up to 262,144 objects.
  ///
  ///     __device__ auto turn(dynasoar::GridView<Boid, Bird> flock) {
  ///       return flock
  ///           .reduce(position_, kRadius, Vector{}, dynasoar::Plus{},
  ///                   [this](const auto& other) { return other.object == this ? Vector{} : other.seen.velocity; })
  ///           .then([this](Vector sum) { velocity_ = sum; });
  ///     }
  ///
  /// In loops of a handle, one thread does all the work. The order in which values are combined depends only on the
  /// grid's objects and their order (neighbour_reduction.h), so the result has the same bits everywhere.
  ///
  /// @param init   the neutral element of `op`, which must be associative and commutative, except for rounding
  /// @param map    runs for every neighbour; should capture everything that it needs of this object by value
  /// @return       an unfinished reduction: the method must return the result of its `.then(finish)`
  /// @pre          the method itself and `map` change nothing, because several threads run them for one object
  template <class R, class Op, class Map>
  __device__ detail::UnfinishedNeighbourReduction<GridView, R, Op, Map> reduce(const Position& center, Real radius,
                                                                               R init, Op op, Map map) const {
    return {*this, center, radius, init, op, map};
  }

  /// The kMost objects nearest to `center`, of those that for_each_neighbour would visit with this radius:
  ///
  ///     const auto flock_mates = flock.nearest<7>(position_, kSight, this);
  ///     for (int i = 0; i < flock_mates.size(); ++i) sum = sum + flock_mates[i].seen.velocity;
  ///
  /// The nearest object comes first. Objects at equal squared distances are in the grid's order: cell by cell, and
  /// within a cell as UniformGrid::rebuild specifies. If the grid was rebuilt with an order, the result does not depend
  /// on scheduling.
  ///
  /// @tparam kMost   1 to 64. The results are kept in registers if their number is small
  /// @param radius   the maximum distance; may be infinite
  /// @param except   an object to leave out, such as the one that searches; null: none
  /// @return         the objects: `size()` is their number, at most kMost, and `[i]` returns one as a Neighbour. Valid
  ///                 as long as the view
  /// @par Cost       searches within the width of a cell, then doubles this distance, up to `radius`, until there are
  ///                 enough objects. All searches together take little more time than the last one
  template <int kMost>
  __device__ detail::NearestNeighbours<GridView, kMost> nearest(const Position& center, Real radius,
                                                                const T* except = nullptr) const {
    return nearest<kMost>(center, radius,
                          [except](const Neighbour& other) { return except == nullptr || other.object != except; });
  }

  /// As the function above, for those objects for which `accept(neighbour)`, with a `const Neighbour&`, is true:
  ///
  ///     const auto prey = animals.nearest<1>(position_, kSight, [](const auto& other) {
  ///       return dynasoar::is_a<Sheep>(other.object);
  ///     });
  ///
  /// @param accept   can be called as const, and returns the same value each time for an object during a search
  /// @par Cost       as above: a search goes on until there are enough objects that meet the condition. If there are
  ///                 fewer, it examines all objects within `radius`
  template <int kMost, class Accept>
  requires std::is_invocable_r_v<bool, const Accept&, const Neighbour&>
      __device__ detail::NearestNeighbours<GridView, kMost> nearest(const Position& center, Real radius,
                                                                    const Accept& accept)
  const {
    static_assert(kMost >= 1 && kMost <= 64, "dynasoar: GridView::nearest finds 1 to 64 objects");
    detail::NearestNeighbours<GridView, kMost> result(*this, center);
    if (!(radius >= 0)) return result;
    const Real whole = space_.reach();
    Real reach = space_.cell_width();
    for (bool is_last = false; !is_last && result.size() < kMost; reach *= 2) {
      is_last = !(reach < radius && reach < whole);
      result.clear();
      for_each_dealt<1>(center, is_last ? radius : reach, 0, [&](const Neighbour& other, std::uint32_t place) {
        if (accept(other)) result.add(other.squared_distance, place);
      });
    }
    return result;
  }

  /// The geometry: computes offsets, and brings positions back into a periodic space.
  __host__ __device__ const GridSpace<Position>& space() const { return space_; }

  /// The number of objects in the grid.
  __device__ std::uint32_t size() const {
    const std::uint32_t all = starts_[space_.cells() + 1];
    return all <= capacity_ ? all : 0;  // a grid without room for all objects is empty
  }

  /// The number of objects in the grid whose position is not finite. They are in no cell, so no search finds them.
  __device__ std::uint32_t size_in_no_cell() const {
    const std::uint32_t all = size();
    return all == 0 ? 0 : all - starts_[space_.cells()];
  }

  /// The object at a place, 0 <= place < size(). Objects are in the order of their cells; those with a coordinate that
  /// is not finite come last.
  __device__ T* object(std::uint32_t place) const { return reinterpret_cast<T*>(objects_[place]); }

  /// The data of the object at a place, as of the last rebuild.
  __device__ const Seen& seen(std::uint32_t place) const { return seen_[place]; }

 private:
  // The number of copies that a thread of a GPU reads together. If there are few objects, the thread spends most of the
  // time waiting for memory. The copies must not take more than 16 registers. If several threads share an object, two
  // copies for each thread are enough for most rows of cells.
  template <std::uint32_t kStep>
  static constexpr std::uint32_t kAtOnce = !kCudaBackend                    ? 1
                                           : sizeof(Seen) > 32              ? 1
                                           : kStep > 1 || sizeof(Seen) > 16 ? 2
                                                                            : 4;

  // The alignment of each copy in memory, where arrays begin at multiples of 256 bytes.
  static constexpr std::size_t kSeenAlignment = std::size_t{1} << std::countr_zero(sizeof(Seen));

  template <class, class, class, class, class>
  friend struct detail::NeighbourReduction;

  /// for_each_neighbour for the objects whose place is `number` modulo kStep. Calls `f(neighbour, place)`.
  template <std::uint32_t kStep, class F>
  __device__ void for_each_dealt(const Position& center, Real radius, std::uint32_t number, const F& f) const {
    if (size() == 0 || !(radius >= 0)) return;
    const Real most = detail::rounded_product(radius, radius);
    // A center that is not finite has no neighbours. If `most` is finite, the distances below take care of this.
    if (!detail::is_finite(most) && !space_.is_finite(center)) return;
    for_each_row(center, radius, [&](std::uint32_t begin, std::uint32_t end, const Position& shift, bool is_sure) {
      const bool shift_decides = is_sure && detail::is_finite(most);
      const Look look{center, shift, most, shift_decides ? most : -1, shift_decides ? surely_nearest_ : -1};
      for (std::uint32_t i = begin + (number - begin) % kStep; i < end; i += kAtOnce<kStep> * kStep) {
        look_at<kStep>(look, i, end, f, std::make_integer_sequence<std::uint32_t, kAtOnce<kStep>>{});
      }
    });
  }

  /// Parameters for the examination of the objects of some cells.
  struct Look {
    const Position& center;
    const Position& shift;  ///< to the nearest image of an object, most often
    Real most;              ///< the greatest squared distance of a neighbour
    Real sure;              ///< an object that is so near after the shift is a neighbour; negative: none
    Real nearest;           ///< no image of an object that is so near after the shift is nearer; negative: unknown
  };

  /// Examines the objects at a few places, one after the other: every kStep-th place from `first` on, up to `end`.
  template <std::uint32_t kStep, class F, std::uint32_t... kNumbers>
  __device__ void look_at(const Look& look, std::uint32_t first, std::uint32_t end, const F& f,
                          std::integer_sequence<std::uint32_t, kNumbers...>) const {
    // If there are fewer objects, reads elements behind the last one: arrays have elements to spare for that. Threads
    // that share a row read the last object again instead, because their next elements would be far away.
    static_assert(kAtOnce<1> <= 1 + detail::kReadBehind);
    const auto distance = [&](std::uint32_t number) -> std::size_t {
      if constexpr (kStep == 1) return number;
      return first + number * kStep < end ? number * kStep : end - 1 - first;
    };
    const Seen* const seen_here = seen_ + first;
    const std::uint64_t* const objects_here = objects_ + first;
    const Seen all[] = {detail::load_at_once<kSeenAlignment>(seen_here[distance(kNumbers)])...};
    // Reads the pointers of all objects, neighbours or not, because waiting for the pointer of each neighbour takes
    // longer. If `f` does not use pointers, none is read.
    T* const objects[] = {reinterpret_cast<T*>(objects_here[distance(kNumbers)])...};
    ((first + kNumbers * kStep < end ? examine(look, first + kNumbers * kStep, all[kNumbers], objects[kNumbers], f)
                                     : void()),
     ...);
  }

  /// Calls `f` if an object is a neighbour.
  template <class F>
  __device__ void examine(const Look& look, std::uint32_t place, const Seen& seen, T* object, const F& f) const {
    Position offset = space_.shifted_offset(look.center, seen.position, look.shift);
    Real squared_distance = space_.squared_length(offset);
    if (!(squared_distance <= look.sure)) {
      if (squared_distance <= look.nearest) return;
      if (!space_.is_nearest(offset)) {
        offset = space_.offset(look.center, seen.position);
        squared_distance = space_.squared_length(offset);
      }
      if (!(squared_distance <= look.most)) return;
    }
    f(Neighbour{object, seen, offset, squared_distance}, place);
  }

  /// Calls `visit(begin, end, shift, is_sure)` for ranges of places that together cover all cells near `center`. A row
  /// of cells is one range, or two if it crosses the end of an axis along which cells repeat. `shift` is for
  /// GridSpace::shifted_offset; if `is_sure`, it is right for all objects within the radius.
  /// @pre the grid is not empty
  template <class Visit>
  __device__ void for_each_row(const Position& center, Real radius, const Visit& visit) const {
    const auto& axes = space_.axes;
    const detail::CellRange x = axes[0].near(center.x, radius);
    const detail::CellRange y = axes[1].near(center.y, radius);
    detail::CellRange z{0, 1};
    if constexpr (GridSpace<Position>::kAxes == 3) z = axes[2].near(center.z, radius);
    const bool is_sure = !(x.is_all || y.is_all || z.is_all);
    // A row of cells from `first.cell` to `end`, and the rest of them at the beginning of the axis.
    const detail::CellOfRange<Real> first = axes[0].first_of(x);
    const auto cells = static_cast<std::uint32_t>(axes[0].cells);
    const std::uint32_t behind = static_cast<std::uint32_t>(first.cell) + static_cast<std::uint32_t>(x.count);
    const std::uint32_t end = behind < cells ? behind : cells;
    Position shift = center;
    detail::CellOfRange<Real> layer{0, 0};
    if constexpr (GridSpace<Position>::kAxes == 3) layer = axes[2].first_of(z);
    for (std::int32_t layers = z.count; layers > 0; --layers) {
      if constexpr (GridSpace<Position>::kAxes == 3) shift.z = layer.shift;
      detail::CellOfRange<Real> row = axes[1].first_of(y);
      for (std::int32_t rows = y.count; rows > 0; --rows) {
        const std::uint32_t begin = static_cast<std::uint32_t>(layer.cell * axes[1].cells + row.cell) * cells;
        shift.x = first.shift;
        shift.y = row.shift;
        auto from = static_cast<std::uint32_t>(first.cell);
        for (std::uint32_t to = end, rest = behind - end;; to = rest, rest = 0) {
          visit(starts_[begin + from], starts_[begin + to], shift, is_sure);
          if (rest == 0) break;
          from = 0;
          shift.x -= axes[0].image;
        }
        axes[1].advance(row);
      }
      if constexpr (GridSpace<Position>::kAxes == 3) axes[2].advance(layer);
    }
  }

  GridSpace<Position> space_;
  Real surely_nearest_;           // see GridSpace
  const std::uint32_t* starts_;   // [cells + 2] first place of each cell, of the objects in no cell, and the end
  const Seen* seen_;              // [size]
  const std::uint64_t* objects_;  // [size] bits of pointers
  std::uint32_t capacity_;
};

}  // namespace dynasoar
