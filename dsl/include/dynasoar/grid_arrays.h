/// @file
/// The memory of a UniformGrid, and the loops that fill it: a counting sort by cell.
///
/// 1. StageObject, over objects: notes what the object shows, its cell, and how many came to that cell before it.
/// 2. Prefix sums over the counts of the cells: where each cell begins.
/// 3. PlaceObject: moves what was noted to its cell; if an order is wanted, only its key and where it was noted.
/// 4. OrderInCell, if so: moves it, to as many places behind the cell's first as the cell has lesser keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <dynasoar/grid_space.h>
#include <dynasoar/grid_view.h>
#include <dynasoar/loop_calls.h>
#include <dynasoar/objects.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/warp.h>

namespace dynasoar::detail {

/// The arrays of a grid, in device memory.
template <class Seen>
struct GridArrays {
  using Counter = AtomicWord<std::uint32_t>;

  /// There is a cell for objects that are in none, and one behind it, whose start is the number of all objects.
  static constexpr std::uint32_t kMoreCells = 2;

  std::uint32_t cells;
  std::uint32_t capacity;
  Counter* wanted;        ///< objects that came, those without room included; zero between rebuilds
  std::uint32_t* most;    ///< the greatest number that has come
  Counter* counts;        ///< [cells + kMoreCells] objects of each cell; zero between rebuilds
  std::uint32_t* starts;  ///< [cells + kMoreCells] place of the first object of each cell

  // [capacity], in the order in which objects came.
  Seen* came_seen;
  std::uint64_t* came_objects;  ///< bits of their pointers
  std::uint64_t* came_keys;     ///< decide their order within a cell
  std::uint32_t* came_cells;
  std::uint32_t* came_before;  ///< how many had come to the same cell

  // [capacity], cell by cell.
  Seen* seen;
  std::uint64_t* objects;
  std::uint64_t* keys;     ///< of those that came to the cell, one after the other
  std::uint32_t* numbers;  ///< likewise, which object came

  /// Objects that there was room for. @pre the starts are known
  __device__ std::uint32_t size() const { return starts[cells + 1]; }

  /// Gives what came with a number its place.
  __device__ void move(std::uint32_t number, std::uint32_t place) const {
    seen[place] = came_seen[number];
    objects[place] = came_objects[number];
  }
};

/// Notes an object.
///
/// @tparam kSeen, kOrder   as in UniformGrid::rebuild
template <class T, class Seen, auto kSeen, auto kOrder>
struct StageObject {
  static constexpr bool kOrdered = !std::is_null_pointer_v<decltype(kOrder)>;

  GridSpace<typename GridView<T, Seen>::Position> space;
  GridArrays<Seen> grid;

  template <class S>
  __device__ void operator()(S* object) const {
    const std::uint32_t number = next_number();
    if (number >= grid.capacity) return;
    const Seen seen = Method<kSeen>{}(object);
    const std::uint32_t cell = space.cell_of(seen.position);
    grid.came_seen[number] = seen;
    grid.came_objects[number] = reinterpret_cast<std::uint64_t>(static_cast<T*>(object));
    if constexpr (kOrdered) grid.came_keys[number] = key_of(object);
    grid.came_cells[number] = cell;
    // relaxed: only uniqueness matters; the end of the loop publishes the counts.
    grid.came_before[number] = grid.counts[cell].fetch_add(1, Order::relaxed);
  }

 private:
  /// The lanes of a warp take theirs with one atomic.
  __device__ std::uint32_t next_number() const {
    const auto group = PlatformWarp{}.coalesce();
    std::uint32_t first = 0;
    // relaxed: as above
    if (group.rank() == 0) first = grid.wanted->fetch_add(static_cast<std::uint32_t>(group.size()), Order::relaxed);
    return group.broadcast(first) + static_cast<std::uint32_t>(group.rank());
  }

  __device__ static std::uint64_t key_of(T* object) {
    const auto key = (object->*kOrder).get();
    static_assert(std::is_integral_v<decltype(key)>,
                  "dynasoar: the field that orders the objects of a UniformGrid must be an integer: a number that "
                  "differs between them");
    return static_cast<std::uint64_t>(key);
  }
};

/// Moves object number i to its cell, and clears what the next rebuild counts in.
template <class Seen, bool kOrdered>
struct PlaceObject {
  GridArrays<Seen> grid;

  __device__ void operator()(std::size_t index) const {
    const auto i = static_cast<std::uint32_t>(index);
    if (i == 0) clear_wanted();
    if (i < grid.cells + GridArrays<Seen>::kMoreCells) grid.counts[i].store(0, Order::relaxed);
    if (i >= grid.size()) return;
    const std::uint32_t place = grid.starts[grid.came_cells[i]] + grid.came_before[i];
    if constexpr (kOrdered) {
      grid.keys[place] = grid.came_keys[i];
      grid.numbers[place] = i;
    } else {
      grid.move(i, place);
    }
  }

 private:
  __device__ void clear_wanted() const {
    const std::uint32_t wanted = grid.wanted->load(Order::relaxed);
    if (wanted > *grid.most) *grid.most = wanted;
    grid.wanted->store(0, Order::relaxed);
  }
};

/// Moves the object whose key is at a place to the place that the key has among those of its cell. Objects of equal
/// keys are put in the order in which they came, which is anybody's; so are those in no cell.
template <class Seen>
struct OrderInCell {
  GridArrays<Seen> grid;

  __device__ void operator()(std::size_t index) const {
    const auto at = static_cast<std::uint32_t>(index);
    if (at >= grid.size()) return;
    const std::uint32_t number = grid.numbers[at];
    const std::uint32_t cell = grid.came_cells[number];
    const std::uint32_t begin = grid.starts[cell];
    grid.move(number, cell < grid.cells ? begin + lesser_keys(at, begin, grid.starts[cell + 1]) : at);
  }

 private:
  __device__ std::uint32_t lesser_keys(std::uint32_t at, std::uint32_t begin, std::uint32_t end) const {
    const std::uint64_t key = grid.keys[at];
    std::uint32_t lesser = 0;
    for (std::uint32_t i = begin; i < end; ++i) {
      const std::uint64_t other = grid.keys[i];
      lesser += other < key || (other == key && i < at) ? 1 : 0;
    }
    return lesser;
  }
};

/// Calls a callable for the object at a place, if it is a U.
template <class T, class U, class Seen, class Call>
struct CallByPlace {
  GridView<T, Seen> view;
  Call call;

  __device__ void operator()(std::size_t index) const {
    if (index >= view.size()) return;
    T* const object = view.object(static_cast<std::uint32_t>(index));
    if constexpr (!std::is_same_v<T, U>) {
      if (!is_a<U>(object)) return;
    }
    const auto bits = reinterpret_cast<std::uint64_t>(object);
    [[maybe_unused]] const ScopeFor<typename T::Allocator> scope(bits);
    call(static_cast<U*>(reinterpret_cast<T*>(opaque(bits))));  // opaque as in SlotCall
  }
};

/// Copies what is in a grid to larger arrays.
template <class Seen>
struct CopyPlace {
  const Seen* from_seen;
  Seen* to_seen;
  const std::uint64_t* from_objects;
  std::uint64_t* to_objects;

  __device__ void operator()(std::size_t i) const {
    to_seen[i] = from_seen[i];
    to_objects[i] = from_objects[i];
  }
};

/// Owns the arrays of a grid.
template <class Seen>
class GridStorage {
 public:
  /// @throws Error if there is not enough memory, or more than 2^31 objects are asked for
  GridStorage(Executor& executor, std::uint32_t cells, std::size_t capacity) : cells_(cells), objects_(capacity) {
    const std::size_t all_cells = cells_ + std::size_t{GridArrays<Seen>::kMoreCells};
    counts_ = DeviceArray<std::uint32_t>(all_cells + 2);
    starts_ = DeviceArray<std::uint32_t>(all_cells);
    executor.fill_bytes(counts_.data(), 0, counts_.bytes());
    executor.fill_bytes(starts_.data(), 0, starts_.bytes());
  }

  GridArrays<Seen> arrays() const {
    const std::size_t all_cells = starts_.size();
    using Counter = typename GridArrays<Seen>::Counter;
    auto* const counters = reinterpret_cast<Counter*>(counts_.data());
    return {cells_,
            static_cast<std::uint32_t>(objects_.capacity()),
            counters + all_cells,
            counts_.data() + all_cells + 1,
            counters,
            starts_.data(),
            objects_.came_seen.data(),
            objects_.came_objects.data(),
            objects_.came_keys.data(),
            objects_.came_cells.data(),
            objects_.came_before.data(),
            objects_.seen.data(),
            objects_.objects.data(),
            objects_.keys.data(),
            objects_.numbers.data()};
  }

  std::size_t capacity() const { return objects_.capacity(); }
  std::size_t bytes() const { return counts_.bytes() + starts_.bytes() + objects_.bytes(); }
  std::uint64_t growths() const { return growths_; }

  /// The most objects that have come to a rebuild. @pre the device is idle
  std::uint32_t most_wanted() const { return value_of(arrays().most); }

  /// Makes room for so many objects; what is in the grid stays. @pre the device is idle
  void grow(Executor& executor, std::size_t capacity) {
    Objects larger(capacity);
    executor.for_each_index(
        value_of(starts_.data() + starts_.size() - 1),
        CopyPlace<Seen>{objects_.seen.data(), larger.seen.data(), objects_.objects.data(), larger.objects.data()});
    executor.synchronize();
    objects_ = std::move(larger);
    ++growths_;
  }

 private:
  static constexpr std::size_t kMostObjects = std::size_t{1} << 31;

  struct Objects {
    explicit Objects(std::size_t capacity)
        : came_seen(checked(capacity)),
          seen(capacity),
          came_objects(capacity),
          came_keys(capacity),
          objects(capacity),
          keys(capacity),
          came_cells(capacity),
          came_before(capacity),
          numbers(capacity) {}

    static std::size_t checked(std::size_t capacity) {
      if (capacity <= kMostObjects) return capacity;
      throw Error("dynasoar: a UniformGrid has room for 2^31 objects at most, and not for " + std::to_string(capacity));
    }

    std::size_t capacity() const { return seen.size(); }
    std::size_t bytes() const {
      return came_seen.bytes() + seen.bytes() + came_objects.bytes() + came_keys.bytes() + objects.bytes() +
             keys.bytes() + came_cells.bytes() + came_before.bytes() + numbers.bytes();
    }

    DeviceArray<Seen> came_seen, seen;
    DeviceArray<std::uint64_t> came_objects, came_keys, objects, keys;
    DeviceArray<std::uint32_t> came_cells, came_before, numbers;
  };

  static std::uint32_t value_of(const std::uint32_t* on_device) {
    std::uint32_t value = 0;
    copy_from_device(&value, on_device, sizeof value);
    return value;
  }

  std::uint32_t cells_;
  Objects objects_;
  DeviceArray<std::uint32_t> counts_, starts_;
  std::uint64_t growths_ = 0;
};

}  // namespace dynasoar::detail
