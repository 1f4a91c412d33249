/// @file
/// LoopRunner: owns the heap of an allocator and runs loops on it. Used by AllocatorHandle, Step and UniformGrid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/base/view.h>
#include <dynasoar/checkpoint/compression.h>
#include <dynasoar/checkpoint/items.h>
#include <dynasoar/checkpoint/save_and_load.h>
#include <dynasoar/checks/tag.h>
#include <dynasoar/classes/class_rules.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/classes/type_name.h>
#include <dynasoar/detail/announce_loop.h>
#include <dynasoar/detail/bound_heap.h>
#include <dynasoar/detail/creation.h>
#include <dynasoar/detail/handle_errors.h>
#include <dynasoar/detail/kept_lists.h>
#include <dynasoar/detail/loop_calls.h>
#include <dynasoar/detail/loop_names.h>
#include <dynasoar/detail/loop_reports.h>
#include <dynasoar/detail/loop_rules.h>
#include <dynasoar/detail/object_lists.h>
#include <dynasoar/detail/placed_runner.h>
#include <dynasoar/handle_options.h>
#include <dynasoar/heap/heap_growth.h>
#include <dynasoar/heap/object_places.h>
#include <dynasoar/heap/sort.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/loops/index_loops.h>
#include <dynasoar/loops/object_loops.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/statistics.h>

namespace dynasoar::detail {

/// Runs loops. Before each loop, it lets the heap grow if necessary, tells device code about the heap (in checked
/// builds, also about the loop), and lists the objects that the loop visits.
///
/// The comments of AllocatorHandle's functions say which of them wait and what they throw.
///
/// @tparam A   the allocator; one LoopRunner of each can be alive at a time
template <class A>
class LoopRunner {
 public:
  using Storage = typename A::Storage;
  static constexpr bool kFindsMisuse = A::kFindsMisuse;

  explicit LoopRunner(const HandleOptions& options);
  LoopRunner(const LoopRunner&) = delete;
  LoopRunner& operator=(const LoopRunner&) = delete;
  ~LoopRunner() { reports_.finish(); }

  Executor& executor() { return executor_; }
  const Storage& storage() const { return heap_.storage(); }
  Attachments& attachments() { return reports_.attachments(); }
  PlacedRunner<A>& placed() { return placed_; }
  const Creation<A>& creation() const { return creation_; }
  SortMemory& sort_memory() { return sort_memory_; }

  /// Runs a loop over indices. A thread takes at least `per_thread` of them.
  template <class F>
  void run_over_indices(std::size_t count, const F& function, std::size_t per_thread) {
    run_unlisted<F>([&] { loop_over_indices<A>(executor_, count, IndexCall<A, F>{function}, per_thread); });
  }

  /// Runs a loop without lists of objects. The caller submits it in `submit()`, and it calls an F.
  template <class F, class Submit>
  void run_unlisted(const Submit& submit);

  /// Runs a loop of the library over the objects of a placed class. It needs no lists, and neither creates nor deletes
  /// objects, so lists stay valid.
  template <class T, class Call>
  void run_over_places(const Call& call) {
    run_unlisted<Call>([&] { placed_.template loop_over_objects<T>(call); });
  }

  /// Runs a loop over T and its subclasses: one kernel, or one per class if a method returns a device_reduce.
  template <class T, class Call>
  void run_over_objects(const Call& call);

  /// Runs a loop over T and its subclasses. The caller submits it in `submit()`, and it calls an F.
  template <class T, class F, class Submit>
  void run(const Submit& submit);

  /// Calls `function(std::type_identity<S>, list, capacity)` for T and its subclasses. Call it in `submit()`.
  template <class T, class Function>
  void for_each_list(const Function& function);

  /// Runs a loop that creates objects `T(i, args...)`.
  template <class T, class... Args>
  void create(std::size_t count, Args... args);

  /// Lets the heap grow, if necessary, before loops create this number of objects of T.
  template <class T>
  void make_room_for(std::size_t objects) {
    make_room(pages_for<T>(objects));
  }

  /// Combines `f(object)` over T and its subclasses.
  template <class T, class R, class Op, class F>
  R reduce(R init, Op op, const F& f);

  /// Called before kernels that the user has written. The caller then tells their translation unit about the heap.
  [[gnu::noinline]] void announce_kernels();

  /// Keeps the lists of objects of these classes during the lifetime of the result.
  [[nodiscard]] KeptLists keep_lists(const ClassSet& classes) {
    executor_.check_may_submit();
    return lists_.kept_while(classes);
  }

  /// @throws Error if lists are kept
  void check_keeps_no_lists() const { lists_.check_none(); }

  /// Lists the objects of these classes. @return the places of the objects of all classes
  View<ObjectPlaces> list(const ClassSet& classes);

  /// Calls a function whose loops are recorded, or run instead of recorded ones.
  template <class F>
  void run_recorded(F& function) {
    placed_.expect_changes();  // by loops that run between two calls of the step
    struct Again {
      PlacedRunner<A>& placed;
      ~Again() { placed.expect_changes(); }
    } const again{placed_};  // recorded loops have not run
    const ClassSet kept = lists_.kept();
    reports_.attachments().step_begins();
    function();
    lists_.check_no_more_than(kept);
  }

  /// Called before a step is recorded, when the device is idle.
  void before_recording() { sort_memory_.before_recording(storage().growths()); }

  /// Called before and after a recorded step. @param pages   pages of the heap that its loops ask for
  void before_replay(std::uint64_t pages);
  void after_step() { growth_.after_loop(); }
  /// The number of pages that the loops recorded since the last call ask for.
  std::uint64_t take_recorded_pages() { return growth_.take_recorded_pages(); }
  /// The state on which a recorded step's kernels depend. If it changes, the step has to be recorded again.
  struct StepBasis {
    std::uint64_t moves;  ///< of the heap, of attachments and of lattices
    ClassSet kept;        ///< classes whose lists are kept
    bool operator==(const StepBasis&) const = default;
  };
  StepBasis step_basis() const {
    return {storage().growths() + reports_.attachments().moves() + placed_.changes(), lists_.kept()};
  }

  void synchronize();
  bool retry_with_growth();
  std::uint64_t count(const ClassSet& classes);
  Statistics statistics() { return placed_.completed(reports_.statistics()); }
  FieldAccesses field_accesses();
  template <class T>
  void reserve(std::size_t objects);

  [[gnu::noinline]] void save(const std::string& path, const SaveOptions& options, View<const SavedItem*> items);
  [[gnu::noinline]] void load(const std::string& path, const LoadOptions& options, View<const CheckpointItem*> items);

 private:
  using Growth = GrowthOf<A>;
  using Rebinding = typename BoundHeap<A>::Rebinding;

  template <class T>
  static constexpr std::size_t index_of() {
    return static_cast<std::size_t>(A::template index_of<T>);
  }

  /// Calls a callable for the listed objects of these classes.
  template <class Call, class... Ss>
  void loop_over_listed(const Call& call, TypeList<Ss...>) {
    loop_over_objects<A>(executor_,
                         ObjectLoop{heap_.storage().list(index_of<Ss>()), heap_.storage().list_capacity(index_of<Ss>()),
                                    SlotCall<Ss, Call>{call}}...);
  }

  /// Called before a loop is submitted.
  [[gnu::noinline]] void before_loop();
  /// Called before a loop that asks for this number of pages.
  void make_room(std::uint64_t pages);

  template <class T>
  static std::uint64_t pages_for(std::size_t objects) {
    return class_table_v<A>.pages_for(static_cast<std::size_t>(A::template index_of<T>), objects);
  }

  /// Tells device code that a loop over objects of these classes runs next.
  void announce(const ClassSet& visited);

  Executor executor_;
  BoundHeap<A> heap_;
  [[no_unique_address]] Growth growth_;
  LoopReports<typename Storage::Common, Growth> reports_;
  ObjectLists<A> lists_;
  PlacedRunner<A> placed_;
  [[no_unique_address]] Creation<A> creation_;
  DeviceArray<char> scratch_;  // for reductions
  SortMemory sort_memory_;
  std::uint64_t loops_ = 0;  // number of loops that have run; in checked builds
};

template <class A>
LoopRunner<A>::LoopRunner(const HandleOptions& options)
    : executor_(options.threads),
      heap_(executor_, options),
      growth_(executor_, heap_.storage()),
      reports_(executor_, class_table_v<A>, heap_.storage(), growth_, options.on_refusal),
      lists_(executor_, heap_.storage()),
      placed_(executor_),
      creation_(executor_) {}

template <class A>
void LoopRunner<A>::before_loop() {
  executor_.check_may_submit();
  growth_.before_loop();
  heap_.bind_if_grown();
}

template <class A>
void LoopRunner<A>::make_room(std::uint64_t pages) {
  growth_.make_room(pages);
  heap_.bind_if_grown();
}

template <class A>
void LoopRunner<A>::before_replay(std::uint64_t pages) {
  before_loop();
  if (pages > 0) make_room(pages);
  reports_.attachments().before_replay();
  placed_.expect_changes();
}

template <class A>
void LoopRunner<A>::announce([[maybe_unused]] const ClassSet& visited) {
  if constexpr (A::kFindsMisuse) {
    announce_loop(executor_, heap_.storage().checks().loop,
                  static_cast<std::uint32_t>(1 + loops_++ % (Tag::kNoLoop - 1)), visited);
  }
}

template <class A>
void LoopRunner<A>::announce_kernels() {
  before_loop();
  if constexpr (kCountsAccesses) heap_.accesses().begin_loop(executor_, "kernels of the program's own");
  if constexpr (A::kFindsMisuse) announce_loop(executor_, heap_.storage().checks().loop, 0, {});
  placed_.before_loop();
  lists_.make(class_set_v<A, void>);  // for device_do
  growth_.after_loop();
}

template <class A>
View<ObjectPlaces> LoopRunner<A>::list(const ClassSet& classes) {
  executor_.check_may_wait();
  lists_.make(classes);
  return placed_.list_all(storage().places(), classes);
}

template <class A>
template <class F, class Submit>
void LoopRunner<A>::run_unlisted(const Submit& submit) {
  before_loop();
  if constexpr (kCountsAccesses) heap_.accesses().begin_loop(executor_, CallName<F>::text());
  announce({});
  placed_.before_loop();
  // Also while lists are kept: otherwise deleted objects would stay in them, and leave no room.
  if constexpr (A::kListsBeforeEveryLoop) lists_.make_all();
  submit();
  growth_.after_loop();
}

template <class A>
template <class T, class F, class Submit>
void LoopRunner<A>::run(const Submit& submit) {
  check_listed_or_base<A, T>();
  before_loop();
  if constexpr (kCountsAccesses) heap_.accesses().begin_loop(executor_, loop_name<T, F>());
  announce(class_set_v<A, T>);
  placed_.before_loop();
  lists_.make(class_set_v<A, T>);
  submit();
  growth_.after_loop();
}

template <class A>
template <class T, class Call>
void LoopRunner<A>::run_over_objects(const Call& call) {
  placed_.template check_have_lattices<T>();
  run<T, Call>([&] {
    if constexpr (is_placed<T>()) {
      placed_.template loop_over_objects<T>(call);
    } else {
      loop_over_listed(call, typename A::template Subtypes<T>{});
    }
  });
}

template <class A>
template <class T, class... Args>
void LoopRunner<A>::create(std::size_t count, Args... args) {
  executor_.check_may_submit();
  check_arguments<A>(args...);
  make_room_for<T>(count);
  const auto run = [this](std::size_t indices, const auto& function, std::size_t per_thread) {
    this->run_over_indices(indices, function, per_thread);
  };
  creation_.template create<T>(count, storage(), run, std::tuple<Args...>(std::move(args)...));
}

template <class A>
template <class T, class R, class Op, class F>
R LoopRunner<A>::reduce(R init, Op op, const F& f) {
  executor_.check_may_wait();
  if constexpr (kCountsAccesses) heap_.accesses().begin_loop(executor_, loop_name<T, F>());
  announce(class_set_v<A, T>);
  placed_.before_loop();
  lists_.make(class_set_v<A, T>);
  R result = init;
  for_each_list<T>([&]<class S>(std::type_identity<S>, BlockList list, std::size_t capacity) {
    result = op(result, reduce_objects<A>(executor_, list, capacity, scratch_, init, op, SlotValue<S, F>{f}));
  });
  synchronize();
  return result;
}

template <class A>
template <class T, class Function>
void LoopRunner<A>::for_each_list(const Function& function) {
  A::template Subtypes<T>::for_each([&]<class S>(std::type_identity<S> type_of) {
    constexpr std::size_t type = index_of<S>();
    const BlockList list = is_placed<S>() ? placed_.list(type) : heap_.storage().list(type);
    const std::size_t capacity = is_placed<S>() ? placed_.words(type) : heap_.storage().list_capacity(type);
    function(type_of, list, capacity);
  });
}

template <class A>
void LoopRunner<A>::synchronize() {
  executor_.check_may_wait();  // refuses threads of a loop before they change anything
  const Rebinding rebinding{heap_};
  reports_.synchronize();
}

template <class A>
bool LoopRunner<A>::retry_with_growth() {
  executor_.check_may_wait();
  const Rebinding rebinding{heap_};
  return reports_.retry_with_growth();
}

template <class A>
std::uint64_t LoopRunner<A>::count(const ClassSet& classes) {
  executor_.check_may_wait();
  const std::vector<std::uint64_t> totals = heap_.storage().count_objects(executor_);
  synchronize();
  std::uint64_t objects = placed_.count(classes);
  for (std::size_t type = 0; type < A::Types::size; ++type) objects += classes.has(type) ? totals[2 * type] : 0;
  return objects;
}

template <class A>
FieldAccesses LoopRunner<A>::field_accesses() {
  executor_.check_may_wait();
  if constexpr (kCountsAccesses) {
    return field_accesses_of(class_table_v<A>, heap_.accesses().names(), heap_.accesses().take(executor_));
  } else {
    throw_does_not_count_accesses();
  }
}

template <class A>
template <class T>
void LoopRunner<A>::reserve(std::size_t objects) {
  executor_.check_may_wait();
  if (!growth_.reserve(pages_for<T>(objects))) throw_no_room(objects, type_name<T>(), heap_.storage().limit_bytes());
  heap_.bind_if_grown();
}

template <class A>
void LoopRunner<A>::save(const std::string& path, const SaveOptions& options, View<const SavedItem*> items) {
  static_assert(check_saves<A>());
  executor_.check_may_wait();
  synchronize();
  save_checkpoint(executor_, heap_.storage(), growth_, loops_, path, options, placed_.with_items(items), kCompression);
}

template <class A>
void LoopRunner<A>::load(const std::string& path, const LoadOptions& options, View<const CheckpointItem*> items) {
  static_assert(check_saves<A>());
  executor_.check_may_wait();
  lists_.check_none();
  const Rebinding rebinding{heap_};
  const LoadedCheckpoint loaded = placed_.load([&] {
    return load_checkpoint(executor_, heap_.storage(), growth_, path, options, placed_.with_items(items), kCompression);
  });
  if (!loaded.has_lists) lists_.make_all();
  loops_ = loaded.loops;
  reports_.restart();  // earlier problems were reported before the checkpoint was saved
}

}  // namespace dynasoar::detail
