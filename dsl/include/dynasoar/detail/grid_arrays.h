/// @file
/// The arrays of a UniformGrid, and the loops that fill them: a counting sort by cell.
///
/// 1. CountObject, over objects: counts the objects in each cell.
/// 2. Prefix sums over the counts: find the beginning of each cell.
/// 3. PlaceObject, over objects: copies an object's Seen to its cell, in order of arrival.
/// 4. OrderInCell, over places, if there is an order: moves each copy to its final place in the cell. The number of
///    smaller keys in the cell is its distance from the first place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <dynasoar/detail/grid_space.h>
#include <dynasoar/detail/grid_view.h>
#include <dynasoar/detail/loop_calls.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// The arrays of a grid, in device memory.
template <class Seen>
struct GridArrays {
  using Counter = AtomicWord<std::uint32_t>;

  /// The copies of the Seen of all objects, cell by cell, and the bits of their pointers.
  struct Places {
    Seen* seen;              ///< [capacity]
    std::uint64_t* objects;  ///< [capacity]
  };

  /// Two additional cells: one for objects that are in no cell, and one behind it, which starts at the number of all
  /// objects.
  static constexpr std::uint32_t kMoreCells = 2;

  std::uint32_t cells;
  std::uint32_t capacity;
  Counter* counts;        ///< [cells + kMoreCells] objects of a cell that have no place yet; zero between rebuilds
  std::uint32_t* starts;  ///< [cells + kMoreCells] place of the first object of each cell
  /// [2], in the host's memory: the number of objects in the last rebuild that had any, and the greatest number of
  /// objects for which a rebuild had no room. The host sets both to 0 when the device is idle.
  volatile std::uint64_t* report;

  Places places;        ///< the copies that searches read
  Places unordered;     ///< the same objects, in order of arrival in each cell
  std::uint64_t* keys;  ///< [capacity] of the unordered objects

  /// The number of objects in the grid: all of them or, if there is no room for all, 0. @pre the starts are known
  __device__ std::uint32_t size() const {
    const std::uint32_t all = starts[cells + 1];
    return all <= capacity ? all : 0;
  }
};

/// Counts an object.
///
/// @tparam kSeen   as in UniformGrid::rebuild
template <class T, class Seen, auto kSeen>
struct CountObject {
  GridSpace<typename GridView<T, Seen>::Position> space;
  GridArrays<Seen> grid;

  template <class S>
  __device__ void operator()(S* object) const {
    const Seen seen = Method<kSeen>{}(object);
    // relaxed: a count; the end of the loop publishes it.
    grid.counts[space.cell_of(seen.position)].add(1, Order::relaxed);
  }
};

/// A sort key: the number of the cell in which an object lies.
///
/// @tparam kSeen   as in UniformGrid::rebuild
template <class T, class Seen, auto kSeen>
struct CellOfObject {
  GridSpace<typename GridView<T, Seen>::Position> space;

  __device__ std::uint32_t operator()(T* object) const {
    const Seen seen = Method<kSeen>{}(object);
    return space.cell_of(seen.position);
  }
};

/// Assigns a place in its cell to an object.
///
/// @tparam kSeen, kOrder   as in UniformGrid::rebuild
template <class T, class Seen, auto kSeen, auto kOrder>
struct PlaceObject {
  static constexpr bool kOrdered = !std::is_null_pointer_v<decltype(kOrder)>;

  GridSpace<typename GridView<T, Seen>::Position> space;
  GridArrays<Seen> grid;

  template <class S>
  __device__ void operator()(S* object) const {
    const Seen seen = Method<kSeen>{}(object);
    const std::uint32_t cell = space.cell_of(seen.position);
    // relaxed: only uniqueness matters; the end of the loop publishes the contents of the places.
    const std::uint32_t left = grid.counts[cell].fetch_add(~std::uint32_t{0}, Order::relaxed);
    const std::uint32_t place = grid.starts[cell] + left - 1;
    if (place == 0) report_number();
    if (place >= grid.capacity) return;
    const auto& places = kOrdered ? grid.unordered : grid.places;
    places.seen[place] = seen;
    places.objects[place] = reinterpret_cast<std::uint64_t>(static_cast<T*>(object));
    if constexpr (kOrdered) grid.keys[place] = key_of(object);
  }

 private:
  /// Called for one object of each rebuild.
  __device__ void report_number() const {
    const std::uint32_t number = grid.starts[grid.cells + 1];
    grid.report[0] = number;
    if (number > grid.capacity && number > grid.report[1]) grid.report[1] = number;
  }

  __device__ static std::uint64_t key_of(T* object) {
    const auto key = (object->*kOrder).get();
    static_assert(std::is_integral_v<decltype(key)> || std::is_enum_v<decltype(key)>,
                  "dynasoar: the field that orders the objects of a UniformGrid must be an integer or an Identity: a "
                  "number that differs between them");
    return static_cast<std::uint64_t>(key);
  }
};

/// Moves an object from its place of arrival to the place that its key determines within its cell. Objects with equal
/// keys, and objects in no cell, stay in order of arrival, which is unspecified.
template <class P, class Seen>
struct OrderInCell {
  GridSpace<P> space;
  GridArrays<Seen> grid;

  __device__ void operator()(std::size_t index) const {
    const auto came_to = static_cast<std::uint32_t>(index);
    if (came_to >= grid.size()) return;
    const Seen seen = grid.unordered.seen[came_to];
    const std::uint32_t place = place_in_cell(came_to, space.cell_of(seen.position));
    grid.places.seen[place] = seen;
    grid.places.objects[place] = grid.unordered.objects[came_to];
  }

 private:
  __device__ std::uint32_t place_in_cell(std::uint32_t came_to, std::uint32_t cell) const {
    if (cell == grid.cells) return came_to;
    const std::uint64_t key = grid.keys[came_to];
    const std::uint32_t begin = grid.starts[cell];
    const std::uint32_t end = grid.starts[cell + 1];
    std::uint32_t place = begin;
    for (std::uint32_t i = begin; i < end; ++i) {
      const std::uint64_t other = grid.keys[i];
      place += other < key || (other == key && i < came_to) ? 1 : 0;
    }
    return place;
  }
};

}  // namespace dynasoar::detail
