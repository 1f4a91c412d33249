/// @file
/// The memory of a UniformGrid, and the loops that fill it: a counting sort by cell.
///
/// 1. CountObject, over objects: how many lie in each cell.
/// 2. Prefix sums over the counts: where each cell begins.
/// 3. PlaceObject, over objects: what an object shows goes to its cell, behind those that came before it.
/// 4. OrderInCell, if an order is wanted: it goes on, to as many places behind the cell's first as the cell has lesser
///    keys.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <dynasoar/detail/grid_space.h>
#include <dynasoar/detail/loop_calls.h>
#include <dynasoar/grid_view.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

/// The arrays of a grid, in device memory.
template <class Seen>
struct GridArrays {
  using Counter = AtomicWord<std::uint32_t>;

  /// What objects show, cell by cell, and bits of their pointers.
  struct Places {
    Seen* seen;              ///< [capacity]
    std::uint64_t* objects;  ///< [capacity]
  };

  /// There is a cell for objects that are in none, and one behind it, whose start is the number of all objects.
  static constexpr std::uint32_t kMoreCells = 2;

  std::uint32_t cells;
  std::uint32_t capacity;
  Counter* counts;        ///< [cells + kMoreCells] objects of a cell that have no place yet; zero between rebuilds
  std::uint32_t* starts;  ///< [cells + kMoreCells] place of the first object of each cell
  std::uint32_t* most;    ///< the greatest number of objects that there has been

  Places places;        ///< what searches find
  Places unordered;     ///< the same objects, in each cell as they came
  std::uint64_t* keys;  ///< [capacity] of those

  /// Objects that have a place. @pre the starts are known
  __device__ std::uint32_t size() const {
    const std::uint32_t all = starts[cells + 1];
    return all < capacity ? all : capacity;
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

/// Gives an object a place of its own in its cell.
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
    // relaxed: only uniqueness matters; the end of the loop publishes what is in the places.
    const std::uint32_t left = grid.counts[cell].fetch_add(~std::uint32_t{0}, Order::relaxed);
    const std::uint32_t place = grid.starts[cell] + left - 1;
    if (place == 0) note_number();
    if (place >= grid.capacity) return;
    const auto& places = kOrdered ? grid.unordered : grid.places;
    places.seen[place] = seen;
    places.objects[place] = reinterpret_cast<std::uint64_t>(static_cast<T*>(object));
    if constexpr (kOrdered) grid.keys[place] = key_of(object);
  }

 private:
  /// For one object of all.
  __device__ void note_number() const {
    const std::uint32_t number = grid.starts[grid.cells + 1];
    if (number > *grid.most) *grid.most = number;
  }

  __device__ static std::uint64_t key_of(T* object) {
    const auto key = (object->*kOrder).get();
    static_assert(std::is_integral_v<decltype(key)>,
                  "dynasoar: the field that orders the objects of a UniformGrid must be an integer: a number that "
                  "differs between them");
    return static_cast<std::uint64_t>(key);
  }
};

/// Moves the object that came to a place to the one that its key has among those of its cell. Objects of equal keys
/// stay in the order in which they came, which is unspecified; so do those in no cell.
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
    // With more objects than the capacity, the last cells are cut off.
    if (cell == grid.cells || grid.starts[cell + 1] > grid.capacity) return came_to;
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

/// Copies what is in a grid to larger arrays.
template <class Seen>
struct CopyPlace {
  typename GridArrays<Seen>::Places from, to;

  __device__ void operator()(std::size_t i) const {
    to.seen[i] = from.seen[i];
    to.objects[i] = from.objects[i];
  }
};

/// Owns the arrays of a grid.
template <class Seen>
class GridStorage {
 public:
  /// @throws Error if there is not enough memory, or room for more than 2^31 objects is asked for
  GridStorage(Executor& executor, std::uint32_t cells, std::size_t capacity)
      : cells_(cells),
        objects_(capacity),
        counts_(cells + std::size_t{GridArrays<Seen>::kMoreCells}),
        starts_(counts_.size()),
        most_(1) {
    for (const auto* words : {&counts_, &starts_, &most_}) executor.fill_bytes(words->data(), 0, words->bytes());
  }

  GridArrays<Seen> arrays() const {
    return {cells_,
            static_cast<std::uint32_t>(capacity()),
            reinterpret_cast<typename GridArrays<Seen>::Counter*>(counts_.data()),
            starts_.data(),
            most_.data(),
            {objects_.seen.data(), objects_.objects.data()},
            {objects_.unordered_seen.data(), objects_.unordered_objects.data()},
            objects_.keys.data()};
  }

  std::size_t capacity() const { return objects_.seen.size(); }
  std::size_t bytes() const { return counts_.bytes() + starts_.bytes() + most_.bytes() + objects_.bytes(); }
  std::uint64_t growths() const { return growths_; }

  /// The most objects that there have been. @pre the device is idle
  std::uint32_t most() const { return value_of(most_.data()); }

  /// Makes room for so many objects. What is in the grid stays, if it had room. @pre the device is idle
  void grow(Executor& executor, std::size_t capacity) {
    const std::uint32_t all = value_of(starts_.data() + cells_ + 1);
    const std::size_t used = std::min<std::size_t>(all, this->capacity());
    Objects larger(capacity);
    executor.for_each_index(used, CopyPlace<Seen>{{objects_.seen.data(), objects_.objects.data()},
                                                  {larger.seen.data(), larger.objects.data()}});
    // Those without a place have none now either: a grid that was too small is empty until its next rebuild.
    if (all > used) executor.fill_bytes(starts_.data(), 0, starts_.bytes());
    executor.synchronize();
    objects_ = std::move(larger);
    ++growths_;
  }

 private:
  static constexpr std::size_t kMostObjects = std::size_t{1} << 31;

  struct Objects {
    explicit Objects(std::size_t capacity)
        : seen(checked(capacity)),
          unordered_seen(capacity),
          objects(capacity),
          unordered_objects(capacity),
          keys(capacity) {}

    static std::size_t checked(std::size_t capacity) {
      if (capacity <= kMostObjects) return capacity;
      throw Error("dynasoar: a UniformGrid has room for 2^31 objects at most, and not for " + std::to_string(capacity));
    }

    std::size_t bytes() const {
      return seen.bytes() + unordered_seen.bytes() + objects.bytes() + unordered_objects.bytes() + keys.bytes();
    }

    DeviceArray<Seen> seen, unordered_seen;
    DeviceArray<std::uint64_t> objects, unordered_objects, keys;
  };

  static std::uint32_t value_of(const std::uint32_t* on_device) {
    std::uint32_t value = 0;
    copy_from_device(&value, on_device, sizeof value);
    return value;
  }

  std::uint32_t cells_;
  Objects objects_;
  DeviceArray<std::uint32_t> counts_, starts_, most_;
  std::uint64_t growths_ = 0;
};

}  // namespace dynasoar::detail
