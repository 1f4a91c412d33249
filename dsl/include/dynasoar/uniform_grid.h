/// @file
/// UniformGrid: finds the neighbours of objects that have positions. See docs/neighbours.md.
///
/// A counting sort orders the objects by the cell in which they lie, and copies the data that neighbours see into that
/// order. A search then reads a few contiguous pieces of memory. Not included by dynasoar.h, because many programs do
/// not need it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/allocator_handle.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/detail/attachment.h>
#include <dynasoar/detail/grid_arrays.h>
#include <dynasoar/detail/grid_loops.h>
#include <dynasoar/detail/grid_options.h>
#include <dynasoar/detail/grid_space.h>
#include <dynasoar/detail/grid_storage.h>
#include <dynasoar/detail/grid_view.h>
#include <dynasoar/detail/loop_calls.h>
#include <dynasoar/detail/loop_rules.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/scan.h>

namespace dynasoar {

/// The objects of a class and its subclasses, sorted by the cells in which they lie.
///
///     struct Bird {                       // the data that other boids see
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
/// A grid shows the objects as they were at its last rebuild. It does not contain objects that were created since, and
/// you must not use objects that were deleted since. Objects of several classes can share a grid if the classes have a
/// common base, T.
///
/// @tparam T      the class, or a common base of the classes
/// @tparam Seen   the data of an object that others see, with a member `position`; trivially copyable
/// @par Concurrency   all operations are ordered like loops, and can be recorded. The host waits only for a grid that
///                    may have to grow
template <class T, class Seen>
class UniformGrid final : detail::Attachment {
 public:
  using Allocator = typename T::Allocator;
  using View = GridView<T, Seen>;
  using Position = typename View::Position;
  static_assert(std::is_trivially_copyable_v<Seen>,
                "dynasoar: a UniformGrid copies what objects show of themselves: use a trivially copyable type");

  /// @pre the handle outlives the grid
  /// @throws Error if the options are invalid, or there is not enough memory
  UniformGrid(AllocatorHandle<Allocator>& handle, const GridOptions<Position>& options)
      : UniformGrid(handle, options.space(), options.capacity, handle.template count<T>()) {}
  UniformGrid(const UniformGrid&) = delete;
  UniformGrid& operator=(const UniformGrid&) = delete;
  ~UniformGrid() { handle_.loops().attachments().remove(*this); }

  /// Sorts all objects of T and its subclasses by the cell in which they lie now.
  ///
  /// On a CPU, the rebuild makes room for all of them. On a GPU, if a rebuild finds more objects than there is room
  /// for, the grid is empty: loops over it run for no object, and searches find none. The next `retry_with_growth` of
  /// the handle then makes room and returns true, or the next `synchronize` makes room and throws. This happens once,
  /// even if later rebuilds had enough room.
  ///
  /// Before a rebuild or a recorded step, the host makes room for the number of objects that the device has reported
  /// last, and for the objects that the host has asked for since with `parallel_new`. So all objects fit if nothing
  /// else creates any. Objects that are created by loops, or by `parallel_new` in a recorded step, may not fit until
  /// the device has reported their number.
  ///
  /// @tparam kSeen    a method of T that returns a Seen, the data that others see. It must not change anything
  /// @tparam kOrder   a field of T: an integer or Identity that differs between the objects. Neighbours in one cell are
  ///                  visited in the order of this field. The order of all visits is then fully determined, and sums of
  ///                  floating-point numbers have the same bits in every run. Without the field, the order within a
  ///                  cell is unspecified
  /// @par Cost        3 kernels without an order, 4 with one. One more if there are many cells, and one that lists the
  ///                  objects, if lists are not kept. Ordering a cell with n objects takes n * n comparisons
  /// @throws Error on a CPU, if there is no memory for the objects; and anything that `kSeen` throws. The grid is then
  ///               empty, and the objects are unchanged
  template <auto kSeen, auto kOrder = nullptr>
  void rebuild();

  /// Sorts the objects of T and of its subclasses in memory, by the cell in which they lie now. Objects that are close
  /// in space are then close in memory. Calls AllocatorHandle::sort for each class. Takes little time if few objects
  /// have changed cells since the last call. Rebuild the grid before you use it again.
  ///
  /// @tparam kSeen   as for `rebuild`
  /// @param arrays   pointers to T or to its bases, which are updated, as for AllocatorHandle::sort
  /// @throws Error as AllocatorHandle::sort does; some classes may then be sorted already
  template <auto kSeen, class... U>
  void sort_objects(const PointerArray<U>&... arrays) {
    const SortOptions options{
        static_cast<int>(std::bit_width(space_.cells()))};  // objects in no cell have the key cells()
    Allocator::template Subtypes<T>::for_each([&]<class S>(std::type_identity<S>) {
      handle_.template sort<S>(detail::CellOfObject<T, Seen, kSeen>{space_}, options, arrays...);
    });
  }

  /// The value to pass to loops that search for neighbours. It is valid until the next rebuild or until the handle
  /// waits, in `synchronize`, `retry_with_growth`, `count` or a reduction. In a recorded step, call this inside the
  /// step.
  View view() const {
    const detail::GridArrays<Seen> arrays = storage_.arrays();
    return {space_, arrays.starts, arrays.places.seen, arrays.places.objects, arrays.capacity};
  }

  /// Runs `object->method(view(), args...)` for the objects in the grid, cell by cell. Threads of a warp therefore
  /// search in the same cells. If many objects search, this is much faster than `handle.parallel_do`. On a GPU, it is
  /// faster still if the method returns the `reduce` of its view.
  /// A method that a subclass of T declares runs for the objects of this subclass.
  /// @pre no object was deleted, or moved by a compaction or a sort, since the last rebuild
  template <auto kMethod, class... Args>
  void parallel_do(Args... args) {
    using Receiver = typename detail::MethodClass<decltype(kMethod)>::type;
    parallel_do<std::conditional_t<std::is_base_of_v<T, Receiver>, Receiver, T>, kMethod>(std::move(args)...);
  }

  /// The same for the objects in the grid that are a U.
  template <class U, auto kMethod, class... Args>
  void parallel_do(Args... args) {
    static_assert(detail::check_given<detail::Method<kMethod>, Args...>());
    detail::check_arguments<Allocator>(args...);
    using Call = detail::ObjectCall<detail::Method<kMethod>, View, Args...>;
    const detail::CallByPlace<T, U, Seen, Call> call{view(), {{}, {view(), std::move(args)...}}};
    handle_.loops().template run<U, decltype(call)>([&] { loop_over_places(call); });
  }

  /// Runs `function(object, view(), args...)` for the objects in the grid that are a U. The function is a lambda, or a
  /// method that subclasses override (see DYNASOAR_METHOD), and gets each object as one of its own class. Submits a
  /// kernel per class, or two if the function returns a `reduce` and there is room for many objects.
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
      // In one kernel, warps with objects of several classes would execute the code of all these classes, which is more
      // than the instruction caches hold.
      Allocator::template Subtypes<U>::for_each([&]<class S>(std::type_identity<S>) {
        loop_over_places(detail::CallByPlace<T, S, Seen, Call, detail::Visited::class_alone>{view(), call});
      });
    });
  }

  /// The number of objects that there is room for now. If the last rebuild needed more than three quarters of the room,
  /// the next `synchronize` enlarges it. On a GPU, so does the next rebuild or recorded step, once the device has
  /// reported the number.
  std::size_t capacity() const { return storage_.capacity(); }

  /// Bytes of device memory: 8 per cell, and 2 * sizeof(Seen) + 24 per object of the capacity, rounded up. If a
  /// rebuild or a recorded step makes room, the grid also keeps the old memory until the next `synchronize`.
  std::size_t bytes() const { return storage_.bytes() + starts_of_cells_.bytes(); }

 private:
  static constexpr std::size_t kLeast = 1024;  // minimum of the initial room, in objects
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
  const auto kept = handle_.keep_lists();  // both loops must visit the same objects
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

/// The number of objects of T and its subclasses. Waits for the device.
template <class T, class Seen>
std::uint64_t UniformGrid<T, Seen>::count_objects() const {
  auto& loops = handle_.loops();
  const std::vector<std::uint64_t> in_heap = loops.storage().count_objects(loops.executor());
  std::uint64_t objects = loops.placed().count(classes());
  for (std::size_t type = 0; 2 * type < in_heap.size(); ++type) objects += classes().has(type) ? in_heap[2 * type] : 0;
  return objects;
}

}  // namespace dynasoar
