/// @file
/// AllocatorHandle: the host side of an allocator. Owns the heap, runs parallel loops over objects, reports errors.
///
/// Source: DynaSOAr, sections 2.1, 2.3 and 3 ("Parallel Object Enumeration").
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include <dynasoar/checkpoint/save_and_load.h>
#include <dynasoar/classes/class_rules.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/columns.h>
#include <dynasoar/detail/become_objects.h>
#include <dynasoar/detail/compact.h>
#include <dynasoar/detail/conditional_calls.h>
#include <dynasoar/detail/field_values.h>
#include <dynasoar/detail/kept_lists.h>
#include <dynasoar/detail/loop_calls.h>
#include <dynasoar/detail/loop_rules.h>
#include <dynasoar/detail/loop_runner.h>
#include <dynasoar/detail/read_columns.h>
#include <dynasoar/detail/sort.h>
#include <dynasoar/detail/step.h>
#include <dynasoar/handle_options.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/reduce.h>
#include <dynasoar/statistics.h>

namespace dynasoar {

/// Owns the heap of an allocator type and runs loops over its objects.
///
/// Loops are ordered as they are submitted; on the GPU they run asynchronously and the host does not wait for any of
/// them until it asks for a result. One handle per allocator type can be alive at a time, and all handles of a process
/// must be on one device.
///
/// A loop visits the objects that exist when it begins, each once. It does not visit objects that are created in it.
/// Its method may delete the object it runs on, and objects of classes that the loop does not visit.
///
/// @tparam AllocatorT   a SoaAllocator of complete classes, or an AosAllocator
template <class AllocatorT>
class AllocatorHandle {
 public:
  /// @throws Error if a handle of this type is alive, if there is no device, if the sizes of the heap or the number of
  ///         threads are not possible, or if the options ask for failing allocations in a build without checks
  explicit AllocatorHandle(const HandleOptions& options = {}) : loops_(options) {}

  AllocatorHandle(const AllocatorHandle&) = delete;
  AllocatorHandle& operator=(const AllocatorHandle&) = delete;

  /// Waits for the device and frees the heap. Discards errors that the program has not asked for, but prints misuse.
  ~AllocatorHandle() = default;

  /// Runs `object->method(args...)` for all objects of the class that declares `method`:
  /// `parallel_do<&Fish::update>(3)`.
  ///
  /// If several listed classes inherit a method, C++ cannot tell `&Fish::f` from `&Agent::f`, and the call does not
  /// compile: name the class as well.
  template <auto kMethod, class... Args>
  requires detail::MemberFunctionPointer<decltype(kMethod)>
  void parallel_do(Args... args) {
    parallel_do<detail::ClassOfMethod<AllocatorT, kMethod>, kMethod>(std::move(args)...);
  }

  /// Runs a method, possibly inherited, for all objects of T and its subclasses, in no particular order.
  template <class T, auto kMethod, class... Args>
  requires detail::MemberFunctionPointer<decltype(kMethod)>
  void parallel_do(Args... args) { parallel_do<T>(detail::Method<kMethod>{}, std::move(args)...); }

  /// Runs `function(object, args...)` for all objects of T and its subclasses. The function can be a lambda such as
  /// `[=] __device__ (Fish* fish)`.
  template <class T, class F, class... Args>
  void parallel_do(F function, Args... args) {
    static_assert(detail::check_given<F, Args...>());
    detail::check_arguments<AllocatorT>(args...);
    loops_.template run_over_objects<T>(detail::ObjectCall<F, Args...>{function, {std::move(args)...}});
  }

  /// Calls `object->condition(args...)` for all objects of the class that declares `condition` and, where the result is
  /// true, `object->action(args...)`: `parallel_do_if<&Agent::is_unhappy, &Agent::look_for_home>(city)`. If the result
  /// is not a bool but converts to bool, such as a pointer, it is passed on: `object->action(result, args...)`.
  ///
  /// For placed objects on a GPU, this is faster than an `if` when few objects act. All conditions and actions run in
  /// one loop, in no particular order. The result must be trivially copyable and take at most 8 bytes.
  template <auto kCondition, auto kAction, class... Args>
  requires detail::MemberFunctionPointer<decltype(kCondition), decltype(kAction)>
  void parallel_do_if(Args... args) {
    parallel_do_if<detail::ClassOfMethod<AllocatorT, kCondition>, kCondition, kAction>(std::move(args)...);
  }

  /// The same with methods, possibly inherited, for all objects of T and its subclasses.
  template <class T, auto kCondition, auto kAction, class... Args>
  requires detail::MemberFunctionPointer<decltype(kCondition), decltype(kAction)>
  void parallel_do_if(Args... args) {
    parallel_do_if<T>(detail::Method<kCondition>{}, detail::Method<kAction>{}, std::move(args)...);
  }

  /// The same with callables, `condition(object, args...)` and so on, for all objects of T and its subclasses.
  template <class T, class Condition, class Action, class... Args>
  void parallel_do_if(Condition condition, Action action, Args... args) {
    static_assert(detail::check_given<Condition, Args...>() && detail::check_callable<Action>());
    detail::check_arguments<AllocatorT>(args...);
    loops_.template run_over_objects<T>(
        detail::ConditionalCall<Condition, Action, Args...>{condition, action, {std::move(args)...}});
  }

  /// Creates `count` objects: `make_new<T>(i, args...)` for 0 <= i < count, where i is a std::size_t. A heap that can
  /// grow first makes room for them. If they need more than twice its limit, it does not grow.
  template <class T, class... Args>
  void parallel_new(std::size_t count, Args... args) {
    static_assert(detail::check_creation<AllocatorT, T, Args...>());
    loops_.template create<T>(count, std::move(args)...);
  }

  /// Calls `function(i, args...)` for 0 <= i < count in parallel; arguments are as in parallel_do. The function may
  /// create, use and delete objects; device_do in it visits the objects that existed when the last parallel_do began.
  template <class F, class... Args>
  void parallel_for(std::size_t count, F function, Args... args) {
    static_assert(detail::check_given<F, Args...>());
    detail::check_arguments<AllocatorT>(args...);
    loops_.run_over_indices(count, detail::indexed_call(function, std::move(args)...), 1);
  }

  /// Lists the objects that exist now. While the result exists, loops visit these objects without listing them again:
  ///
  ///     const auto kept = handle.keep_lists();
  ///     handle.parallel_do<&Body::compute_force>();
  ///     handle.parallel_do<&Body::move>();
  ///
  /// The result can be moved, and a simulation that never creates or deletes objects can keep it as a member. If you
  /// create or delete objects while lists are kept, run no other loop until the result is destroyed: the loop would
  /// visit deleted objects and miss new ones. In checked builds it throws an Error instead, if the allocator finds
  /// misuse. `keep_lists<Light, Road>()` makes and keeps only the lists of these classes: name all classes that the
  /// loops visit, or that a device_reduce or device_do in them visits. See docs/how-to/fast.md.
  /// @pre the handle outlives the result
  template <class... Ts>
  [[nodiscard]] KeptLists keep_lists() {
    (detail::check_listed_or_base<AllocatorT, Ts>(), ...);
    return loops_.keep_lists(detail::kept_classes<AllocatorT, Ts...>());
  }

  /// Records the loops that a function submits, so that you can submit them repeatedly at much less cost:
  ///
  ///     auto step = handle.record([&] {
  ///       handle.parallel_do<&Fish::choose>();
  ///       handle.parallel_do<&Fish::move>();
  ///     });
  ///     for (int i = 0; i < 1000; ++i) step();
  ///
  /// Recording runs nothing. A step visits the objects that exist when it runs, and its loops may create and delete
  /// objects. If keep_lists() is in effect when a step is called, the step uses these lists, like any other loop. Your
  /// own kernels on `executor().stream()` are recorded, too. Loops of other handles are not recorded: they run once,
  /// during this call.
  ///
  /// On a GPU, the function is called here, and again when the heap has grown or different lists are kept. Arguments
  /// keep their values in between, unless they are StepValues. On the host, and in checked builds with a SoaAllocator,
  /// each step calls the function. Variables that the function refers to must not change, and must live as long as the
  /// step. The function must not wait, copy memory or run another step. The handle must outlive the step.
  /// @throws Error if the function does something that cannot be recorded, and anything that the function throws: here,
  ///         or at the first call of the step
  template <class F>
  [[nodiscard]] auto record(F function) {
    auto submit = [this, function = std::move(function)]() mutable { loops_.run_recorded(function); };
    return detail::Step<detail::LoopRunner<AllocatorT>, decltype(submit)>(loops_, std::move(submit));
  }

  /// Makes room for `objects` more objects of T in a heap that can grow. Waits for all loops.
  /// @throws Error if the heap's limit or the memory does not allow it; the heap is then unchanged
  template <class T>
  void reserve(std::size_t objects) {
    static_assert(detail::check_reserved<AllocatorT, T>());
    loops_.template reserve<T>(objects);
  }

  /// Waits for all loops. If objects could not be created since the last call of this or of `synchronize`, or did not
  /// fit into a UniformGrid, makes room for them, and returns true. Use it to repeat a loop whose objects store what
  /// they still have to create:
  ///
  ///     do handle.parallel_do<&Cell::divide_if_due>(); while (handle.retry_with_growth());
  ///
  /// @throws AllocationError if the heap cannot grow far enough, Error if there is no memory for a grid; otherwise like
  ///         `synchronize`
  bool retry_with_growth() { return loops_.retry_with_growth(); }

  /// Moves objects of T and its subclasses into as few blocks as possible, and updates the pointers to them in fields
  /// and `arrays`.
  ///
  ///     handle.compact<Agent>({.above = 0.1});  // only if more than a tenth of the slots is free
  ///     handle.compact<Agent>({}, dynasoar::pointers(agents.data(), agents.size()));
  ///
  /// The call is ordered like a loop, and may be recorded. Kept lists stay valid. Pointers inside class values in
  /// fields, in your own variables and arguments, and in other arrays are stale afterwards: checked builds report their
  /// use. See docs/allocator.md. Objects of an AosAllocator do not move.
  /// @param arrays   pointers in device memory to objects of these classes; may contain null pointers
  /// @throws Error if `above` is not from 0 to 1
  /// @par Cost   reads the objects of T, and the objects of all classes with fields that may point to them
  template <class T, class... U>
  void compact(const CompactionOptions& options = {}, const PointerArray<U>&... arrays) {
    detail::compact<AllocatorT, T>(loops_, options, arrays...);
  }

  /// Sorts the objects of T, but not those of its subclasses, by an integer key: a field, a method without parameters,
  /// or a callable `key(object)`. The key must not create or destroy objects. Updates pointers as `compact` does.
  ///
  ///     handle.sort<&Body::cell_>();                        // or sort<Planet, &Body::cell_>(), if they inherit it
  ///     handle.sort<Body>(CellOf{grid}, {.key_bits = 20});  // the keys are less than 2^20
  ///
  /// The same slots are occupied as before, and objects with equal keys keep their order. Loops and `device_do` then go
  /// through the objects in this order until one is created, deleted or moved by a compaction: see docs/how-to/sort.md.
  /// Waits for all loops, but may be recorded: a recorded sort takes the time and memory of a full heap.
  /// @param arrays   pointers to T or to its bases, in arrays that do not overlap; otherwise as for `compact`
  /// @throws Error if memory is short, arrays overlap, or `key_bits` is not from 0 to 64; no object has moved then
  /// @par Cost   24 bytes of memory per object; the handle keeps this memory
  template <class T, class F, class... U>
  void sort(F key, const SortOptions& options = {}, const PointerArray<U>&... arrays) {
    detail::sort<AllocatorT, T>(loops_, key, options, arrays...);
  }
  template <class T, auto kKey, class... U>
  requires detail::MemberPointer<decltype(kKey)>
  void sort(const SortOptions& options = {}, const PointerArray<U>&... arrays) {
    sort<T>(detail::key_function<kKey>(), options, arrays...);
  }
  template <auto kKey, class... U>
  requires detail::MemberPointer<decltype(kKey)>
  void sort(const SortOptions& options = {}, const PointerArray<U>&... arrays) {
    sort<typename detail::SortedBy<AllocatorT, kKey>::type, kKey>(options, arrays...);
  }

  /// Changes objects of From, but not of its subclasses, into objects of To if `condition(object)` is true: see
  /// dynasoar::become. Updates pointers to them as `compact` does, except those whose type cannot point to a To.
  ///
  ///     handle.become<Cell, Tumour, &Cell::is_mutated>(std::tuple(grade), dynasoar::pointers(cells, size));
  ///
  /// If the heap has no room for an object, even after it has grown, the object does not change and is reported as
  /// refused. Waits for all loops. Only for a SoaAllocator. See docs/how-to/become.md.
  /// @param condition   must not create or destroy objects; To's constructor must not destroy any
  /// @param arrays      pointers to a class that From and To are or derive from; may contain null pointers
  /// @throws Error if memory is short or lists are kept; no object has changed then
  /// @par Cost   20 bytes of memory per block of From, and 8 per object that changes
  template <class From, class To, class F, class... Args, class... U>
  void become(F condition, const std::tuple<Args...>& arguments = {}, const PointerArray<U>&... arrays) {
    detail::become_objects<AllocatorT, From, To>(loops_, condition, arguments, arrays...);
  }
  template <class From, class To, auto kCondition, class... Args, class... U>
  requires detail::MemberFunctionPointer<decltype(kCondition)>
  void become(const std::tuple<Args...>& arguments = {}, const PointerArray<U>&... arrays) {
    become<From, To>(detail::Method<kCondition>{}, arguments, arrays...);
  }

  /// Writes all objects, the heap's state and values of your own to a file, from which `load` restores them:
  ///
  ///     handle.save("run.checkpoint", dynasoar::value("step", step), dynasoar::array("cells", cells));
  ///     handle.save("run.checkpoint", {.compression_level = 3}, ...);   // needs dynasoar::zstd
  ///
  /// Waits for all loops, and throws like `synchronize`; nothing is saved in that case. The file is complete at any
  /// time: it is the old one or, once this returns, the new one. See docs/checkpoints.md.
  /// @throws Error if the file cannot be written, a name is used twice, or objects are compressed without zstd
  /// @par Cost   a second file beside the old one; 96 MiB of host memory, on a GPU 32 MiB of the device's
  template <class... Items>
  void save(const std::string& path, const SaveOptions& options, const Items&... items) {
    loops_.save(path, options, detail::saved_items(items...));
  }
  template <class... Items>
  void save(const std::string& path, const Items&... items) {
    save(path, SaveOptions{}, items...);
  }

  /// Restores the heap and the values from a file that this program, or its build for the other backend, has saved.
  /// Pointers to objects have the same values as then. All previous contents of the heap are lost. A heap that can grow
  /// gets the size of the heap that was saved. Recorded steps stay valid.
  ///
  ///     handle.load("run.checkpoint", dynasoar::value("step", step), dynasoar::array("cells", cells));
  ///
  /// Checks the whole file before it changes anything. Waits for all loops.
  /// @param options   how much memory the file may ask for
  /// @throws CheckpointError if the file is damaged or not for this program and heap; nothing has changed then;
  ///         Error if it cannot be read, or lists are kept
  /// @par Cost   reads the file twice
  template <class... Items>
  void load(const std::string& path, const LoadOptions& options, const Items&... items) {
    loops_.load(path, options, detail::loaded_items(items...));
  }
  template <class... Items>
  void load(const std::string& path, const Items&... items) {
    load(path, LoadOptions{}, items...);
  }

  /// Combines `f(object)` over all objects of T and its subclasses: `reduce<Fish>(0, dynasoar::Plus{}, AgeOf{})`.
  /// Waits for all loops, and throws like `synchronize`.
  /// @param init   neutral to `op`, which must be associative and commutative. The order of the objects is unspecified,
  ///               so floating-point results differ in their last bits from run to run
  /// @param op     `op(R, R)`, for host and device
  /// @param f      a device callable that changes nothing and returns a value that converts to R
  /// @tparam R     trivially copyable
  template <class T, class R, class Op, class F>
  R reduce(R init, Op op, F f) {
    detail::check_listed_or_base<AllocatorT, T>();
    static_assert(detail::check_reduced<R>() && detail::check_given<F, Op>());
    return loops_.template reduce<T>(init, op, f);
  }

  /// The sum of a field over all objects of the class that declares it: `sum<&Body::mass_>()`. Integers, including
  /// those in an AtomicWord, are added as 64-bit integers; other numbers are added as double.
  template <auto kField>
  requires detail::MemberObjectPointer<decltype(kField)>
  auto sum() {
    using Value = detail::FieldValue<kField>;
    using Sum = typename Value::Sum;
    return reduce<typename Value::Class>(Sum{}, Plus{}, Value{});
  }

  /// The least and the greatest value of a field over all objects of its class; empty if there are no objects.
  template <auto kField>
  requires detail::MemberObjectPointer<decltype(kField)>
  auto minimum() { return detail::extreme<kField>(*this, Least{}); }
  template <auto kField>
  requires detail::MemberObjectPointer<decltype(kField)>
  auto maximum() { return detail::extreme<kField>(*this, Greatest{}); }

  /// Number of objects of T and its subclasses for which `predicate(object)` is true. Waits for all loops.
  template <class T, class F>
  std::uint64_t count_if(F predicate) {
    return reduce<T>(std::uint64_t{0}, Plus{}, detail::OneIf<F>{predicate});
  }

  /// Waits for all loops. Lets the heap and grids grow if objects could not be created, or did not fit.
  /// @throws MisuseError if a checked build found misuse since the last call of this or `count`;
  ///         AllocationError if objects could not be created since then, Error if they did not fit into a UniformGrid,
  ///         unless the handle only records that; Error if the device failed
  void synchronize() { loops_.synchronize(); }

  /// Returns the fields that T declares and inherits, for all objects of T and its subclasses, as arrays in host
  /// memory. The first column is called `id`. If there are several classes, the second one is called `class`. See
  /// docs/data-out.md.
  ///
  ///     const std::vector<double> ages = handle.columns<Agent>()["age_"].as<double>();
  ///
  /// Rows are in the order of the classes in the allocator's list, and then of the objects' places in the heap. Objects
  /// keep their order while others are created and deleted, except in an AosAllocator. Waits for all loops, but leaves
  /// it to other calls to report misuse and refusals.
  /// @throws Error if the device failed, or has no memory for the values of the largest field
  template <class T>
  Columns columns() {
    return detail::columns_of<AllocatorT, T>(loops_);
  }

  /// The same, plus the fields that T's subclasses add. They are 0 for objects that do not have them. Fields with equal
  /// names and types share a column.
  template <class T>
  Columns all_columns() {
    return detail::all_columns_of<AllocatorT, T>(loops_);
  }

  /// Number of live objects of T and its subclasses. Waits for all loops, and throws like `synchronize`.
  template <class T>
  std::uint64_t count() {
    detail::check_listed_or_base<AllocatorT, T>();
    return loops_.count(detail::class_set_v<AllocatorT, T>);
  }

  /// Objects, blocks, fragmentation and refusals per class. Waits, but throws for neither misuse nor refusals.
  /// @throws Error if the device failed
  Statistics statistics() { return loops_.statistics(); }

  /// How often each loop has read and written each field since the handle was made, to find hot and unused fields. Only
  /// for builds that count this (`DYNASOAR_COUNT_ACCESSES`). Waits for all loops.
  /// @throws Error if this build does not count, or the device failed
  FieldAccesses field_accesses() { return loops_.field_accesses(); }

  /// For your own kernels, in the paper's style: `device_pointer()->make_new<T>(...)` in device code.
  /// Call it in the translation unit that launches the kernel, before each launch. It makes the heap, and the changes
  /// that the last loop made to placed objects, visible there. Kernels run on `executor().stream()` or the default
  /// stream.
  [[gnu::always_inline]] AllocatorT* device_pointer() {
    loops_.announce_kernels();
    detail::bring_up_to_date<AllocatorT>(executor());
    return reinterpret_cast<AllocatorT*>(device_object_.data());
  }

  /// Where loops run.
  Executor& executor() { return loops_.executor(); }

  /// The heap's state, for checks and tools. On the GPU it points to device memory.
  typename AllocatorT::State state() const { return loops_.storage().state(); }

  /// For the library itself: runs the loops of a UniformGrid, for example.
  detail::LoopRunner<AllocatorT>& loops() { return loops_; }

 private:
  detail::LoopRunner<AllocatorT> loops_;
  DeviceArray<char> device_object_{1};
};

}  // namespace dynasoar
