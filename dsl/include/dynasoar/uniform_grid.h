/// @file
/// UniformGrid: finds the neighbours of objects that have positions. See docs/neighbours.md.
///
/// A counting sort orders the objects by the cell in which they lie and copies what others see of them in that order,
/// so that a search reads a few short pieces of memory. Not in dynasoar.h, because many programs have no use for it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/allocator_handle.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/detail/attachment.h>
#include <dynasoar/detail/grid_arrays.h>
#include <dynasoar/detail/grid_loops.h>
#include <dynasoar/detail/grid_space.h>
#include <dynasoar/detail/grid_storage.h>
#include <dynasoar/detail/loop_calls.h>
#include <dynasoar/detail/loop_rules.h>
#include <dynasoar/grid_view.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/scan.h>

namespace dynasoar {

/// The space that a UniformGrid divides, and how.
///
/// @tparam P   positions
template <detail::Position P>
struct GridOptions {
  static constexpr std::size_t kAxes = detail::kDimensions<P>;
  using Real = detail::Coordinate<P>;

  P lower;                                ///< one corner of the space
  P upper;                                ///< the opposite one
  Real cell;                              ///< the least width of a cell; best the radius of most searches
  std::array<bool, kAxes> periodic = {};  ///< axes whose ends meet
  /// Axes along which objects are wherever they like: beyond the ends, the cells begin anew. Along axes that are
  /// neither periodic nor unbounded, objects may leave the space, too, but all of them lie in the cells at the border.
  std::array<bool, kAxes> unbounded = {};
  std::size_t capacity = 0;  ///< objects to begin with; 0: twice as many as there are now, at least 1024

  /// The geometry. @throws Error if the space is empty or not finite, or there would be too many cells
  GridSpace<P> space() const;

 private:
  // So that float can tell the cells of an axis apart, and 32 bits those of the grid.
  static constexpr double kMostCellsOfAxis = 1 << 20;
  static constexpr double kMostCells = 1 << 30;

  detail::Beyond beyond(std::size_t axis) const {
    if (periodic[axis] && unbounded[axis]) {
      throw Error("dynasoar: axis " + std::to_string(axis) +
                  " of a UniformGrid cannot be periodic and unbounded: choose one");
    }
    return periodic[axis]    ? detail::Beyond::other_end
           : unbounded[axis] ? detail::Beyond::the_same_cells
                             : detail::Beyond::nothing;
  }
};

/// The objects of a class and its subclasses, sorted by where they are.
///
///     struct Bird {                       // what others see of a boid
///       Vector position;                  // x and y, or x, y and z: float or double
///       Vector velocity;
///     };
///     class Boid : public dynasoar::SoaBase<AllocatorT> {
///       ...
///       __device__ Bird seen() { return {position_, velocity_}; }
///       __device__ void fly(dynasoar::GridView<Boid, Bird> flock) {
///         flock.for_each_neighbour(position_, 1.0f, [&](const auto& other) { ... });
///       }
///     };
///
///     dynasoar::UniformGrid<Boid, Bird> grid(handle, {.lower = {0, 0}, .upper = {100, 100}, .cell = 1});
///     ...
///     grid.rebuild<&Boid::seen, &Boid::number_>();
///     grid.parallel_do<&Boid::fly>();     // or handle.parallel_do<&Boid::fly>(grid.view())
///
/// A grid is as of its last rebuild: objects that were created since are not in it, those deleted since must not be
/// used. Objects of several classes share a grid if they have a base in common, T.
///
/// @tparam T      the class, or a base of the classes
/// @tparam Seen   what objects show of themselves, with a member `position`; trivially copyable
/// @par Concurrency   everything is ordered like a loop, and all may be recorded. The host does not wait, but for a
/// grid
///                    that may have to grow
template <class T, class Seen>
class UniformGrid final : detail::Attachment {
 public:
  using Allocator = typename T::Allocator;
  using View = GridView<T, Seen>;
  using Position = typename View::Position;
  static_assert(std::is_trivially_copyable_v<Seen>,
                "dynasoar: a UniformGrid copies what objects show of themselves: use a trivially copyable type");

  /// @pre the handle outlives the grid
  /// @throws Error if the options make no sense, or there is not enough memory
  UniformGrid(AllocatorHandle<Allocator>& handle, const GridOptions<Position>& options)
      : UniformGrid(handle, options.space(), options.capacity, handle.template count<T>()) {}
  UniformGrid(const UniformGrid&) = delete;
  UniformGrid& operator=(const UniformGrid&) = delete;
  ~UniformGrid() { handle_.loops().attachments().remove(*this); }

  /// Sorts all objects of T and its subclasses anew.
  ///
  /// On a CPU, makes room for all of them. On a GPU, a rebuild that meets more objects than there is room for leaves
  /// the grid empty: loops over it run for no object, and searches find none. The next `retry_with_growth` of the
  /// handle makes room and returns true, or `synchronize` makes room and throws; once, even if later rebuilds had room.
  ///
  /// Before a rebuild, or a recorded step, there is room made for as many objects as were there in the last rebuild
  /// whose number has reached the host, and for those that the host has asked for since with `parallel_new`. So if
  /// nothing else creates objects, all fit. Those that are created otherwise, by loops or by `parallel_new` in a
  /// recorded step, may have no room, until their number has reached the host.
  ///
  /// @tparam kSeen    a method of T that returns what others see of an object, a Seen. It changes nothing
  /// @tparam kOrder   a field of T, an integer that differs between the objects. Neighbours in one cell are visited in
  ///                  its order, so everything is visited in an order that nothing else has a part in: sums of floating
  ///                  point numbers are the same bits in every run. Without it, the order within a cell is
  ///                  unspecified
  /// @par Cost        without an order 3 kernels, with it 4; one more if there are many cells, two more for each
  ///                  subclass, and the list of objects, if lists are not kept. A cell with n objects costs n * n
  ///                  comparisons to put in order
  /// @throws Error if there is no memory for them, on a CPU; and what `kSeen` throws. The grid is empty then, and the
  ///               objects are as they were
  template <auto kSeen, auto kOrder = nullptr>
  void rebuild();

  /// Sorts the objects of T and of its subclasses, class by class, by the cell in which they lie now, as
  /// AllocatorHandle::sort does: objects that are close in space are then close in memory. If few objects have changed
  /// cells since the last call, this takes little time. Rebuild the grid before you use it again.
  ///
  /// @tparam kSeen   as for `rebuild`
  /// @param arrays   pointers to T or to its bases, to update, as for AllocatorHandle::sort
  /// @throws Error as AllocatorHandle::sort does, also in a recorded step; classes before may have been sorted then
  template <auto kSeen, class... U>
  void sort_objects(const PointerArray<U>&... arrays) {
    const SortOptions options{
        static_cast<int>(std::bit_width(space_.cells()))};  // objects in no cell have the key cells()
    Allocator::template Subtypes<T>::for_each([&]<class S>(std::type_identity<S>) {
      handle_.template sort<S>(detail::CellOfObject<T, Seen, kSeen>{space_}, options, arrays...);
    });
  }

  /// What loops are given to look for neighbours. Good until the next rebuild, and until the handle waits next: in
  /// `synchronize`, `retry_with_growth`, `count` or a reduction. In a recorded step, take the view in the step itself.
  View view() const {
    const detail::GridArrays<Seen> arrays = storage_.arrays();
    return {space_, arrays.starts, arrays.places.seen, arrays.places.objects, arrays.capacity};
  }

  /// Runs `object->method(view(), args...)` for the objects in the grid, cell by cell: the threads of a warp look for
  /// neighbours in the same places. Where many objects do, that is much faster than `handle.parallel_do`; still faster
  /// on a GPU if the method returns the `reduce` of its view.
  /// @pre no object was deleted, or moved by a compaction or a sort, since the last rebuild
  template <auto kMethod, class... Args>
  void parallel_do(Args... args) {
    parallel_do<T, kMethod>(std::move(args)...);
  }

  /// The same for those of them that are a U.
  template <class U, auto kMethod, class... Args>
  void parallel_do(Args... args) {
    static_assert(detail::check_given<detail::Method<kMethod>, Args...>());
    detail::check_arguments<Allocator>(args...);
    using Call = detail::ObjectCall<detail::Method<kMethod>, View, Args...>;
    const detail::CallByPlace<T, U, Seen, Call> call{view(), {{}, {view(), std::move(args)...}}};
    handle_.loops().template run<U, decltype(call)>([&] { loop_over_places(call); });
  }

  /// Runs `function(object, view(), args...)` for those of them that are a U, each as an object of its own class: a
  /// method that subclasses override (see DYNASOAR_METHOD) or a lambda. As with `handle.parallel_do`, a kernel per
  /// class.
  ///
  ///     DYNASOAR_METHOD(Fly, fly);
  ///     grid.parallel_do<Bird>(Fly{}, dt);  // bird->fly(view, dt), or eagle->fly(view, dt)
  template <class U, class F, class... Args>
  void parallel_do(F function, Args... args) {
    static_assert(detail::check_given<F, Args...>());
    detail::check_arguments<Allocator>(args...);
    using Call = detail::ObjectCall<F, View, Args...>;
    const Call call{function, {view(), std::move(args)...}};
    handle_.loops().template run<U, Call>([&] {
      Allocator::template Subtypes<U>::for_each([&]<class S>(std::type_identity<S>) {
        loop_over_places(detail::CallByPlace<T, S, Seen, Call, detail::Visited::class_alone>{view(), call});
      });
    });
  }

  /// Objects that there is room for now. If the last rebuild needed more than three quarters of it, the next
  /// `synchronize` makes it larger; on a GPU the next rebuild or recorded step, too, once the host knows.
  std::size_t capacity() const { return storage_.capacity(); }

  /// Bytes of device memory: 8 per cell, and 2 * sizeof(Seen) + 24 per object of the capacity, rounded up. If a
  /// rebuild or a recorded step makes room, the memory from before is kept until the next `synchronize`.
  std::size_t bytes() const { return storage_.bytes() + starts_of_cells_.bytes(); }

 private:
  static constexpr std::size_t kLeast = 1024;  // objects to have room for
  static constexpr std::size_t kMoreCells = detail::GridArrays<Seen>::kMoreCells;

  template <class Call>
  void loop_over_places(const Call& call) {
    detail::bring_up_to_date<Allocator>(handle_.executor());
    detail::loop_over_places(handle_.executor(), storage_.capacity(), call);
  }

  UniformGrid(AllocatorHandle<Allocator>& handle, const GridSpace<Position>& space, std::size_t capacity,
              std::uint64_t objects)
      : handle_(handle),
        space_(space),
        storage_(handle.executor(), space.cells(), capacity > 0 ? capacity : std::max<std::size_t>(kLeast, 2 * objects),
                 objects, asked_for()),
        starts_of_cells_(space.cells() + kMoreCells) {
    handle_.loops().attachments().add(*this);
  }

  static const detail::ClassSet& classes() { return detail::class_set_v<Allocator, T>; }

  std::uint64_t asked_for() const { return handle_.loops().creation().asked_for(classes()); }

  std::uint64_t count_objects() const;

  void make_room_in_time() {
    storage_.make_room_in_time(asked_for(), [this] { return count_objects(); });
  }
  void before_replay() override { make_room_in_time(); }
  detail::Shortage loops_done() override { return storage_.loops_done(); }
  void objects_replaced() override { storage_.restart(count_objects(), asked_for()); }
  std::uint64_t moves() const override { return storage_.growths(); }

  AllocatorHandle<Allocator>& handle_;
  GridSpace<Position> space_;
  detail::GridStorage<Seen> storage_;
  detail::PrefixSums starts_of_cells_;
};

template <detail::Position P>
GridSpace<P> GridOptions<P>::space() const {
  GridSpace<P> result;
  double product = 1;
  for (int a = 0; a < result.kAxes; ++a) {
    const Real from = detail::coordinate(lower, a);
    const Real to = detail::coordinate(upper, a);
    if (!(from < to) || !detail::is_finite(to - from)) {
      throw Error("dynasoar: a UniformGrid needs a space: lower must be less than upper, and both finite, along axis " +
                  std::to_string(a));
    }
    if (!(cell > 0)) throw Error("dynasoar: the cells of a UniformGrid must be wider than 0");
    const double cells = std::max(1.0, std::floor(double{to - from} / double{cell}));
    product *= cells;
    if (cells > kMostCellsOfAxis || product > kMostCells) {
      throw Error("dynasoar: a UniformGrid may have 2^20 cells along an axis and 2^30 in all: make them wider than " +
                  std::to_string(cell));
    }
    result.axes[a] = {from, to, static_cast<std::int32_t>(cells), beyond(static_cast<std::size_t>(a))};
  }
  return result;
}

template <class T, class Seen>
template <auto kSeen, auto kOrder>
void UniformGrid<T, Seen>::rebuild() {
  Executor::check_may_submit();
  make_room_in_time();
  struct Filling {
    detail::GridStorage<Seen>& storage;
    bool is_done = false;
    ~Filling() {
      if (!is_done) storage.abandon();
    }
  } filling{storage_};
  const detail::GridArrays<Seen> counted = storage_.arrays();
  Executor& executor = handle_.executor();
  const auto kept = handle_.keep_lists();  // both loops must meet the same objects
  handle_.template parallel_do<T>(detail::CountObject<T, Seen, kSeen>{space_, counted});
  starts_of_cells_.run(executor, reinterpret_cast<const std::uint32_t*>(counted.counts), counted.starts);
  storage_.fit_all();
  const detail::GridArrays<Seen> arrays = storage_.arrays();
  handle_.template parallel_do<T>(detail::PlaceObject<T, Seen, kSeen, kOrder>{space_, arrays});
  if constexpr (!std::is_null_pointer_v<decltype(kOrder)>) {
    executor.for_each_index(arrays.capacity, detail::OrderInCell<Position, Seen>{space_, arrays});
  }
  filling.is_done = true;
}

/// Those of T and its subclasses. Waits.
template <class T, class Seen>
std::uint64_t UniformGrid<T, Seen>::count_objects() const {
  auto& loops = handle_.loops();
  const std::vector<std::uint64_t> in_heap = loops.storage().count_objects(loops.executor());
  std::uint64_t objects = loops.placed().count(classes());
  for (std::size_t type = 0; 2 * type < in_heap.size(); ++type) objects += classes().has(type) ? in_heap[2 * type] : 0;
  return objects;
}

}  // namespace dynasoar
