/// @file
/// AllocatorHandle: the host's side of an allocator. Owns the heap, runs parallel loops over objects, reports errors.
///
/// Source: DynaSOAr, sections 2.1, 2.3 and 3 ("Parallel Object Enumeration").
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/allocator/class_rules.h>
#include <dynasoar/allocator/heap_storage.h>
#include <dynasoar/allocator/soa_allocator.h>
#include <dynasoar/objects.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/loops.h>
#include <dynasoar/statistics.h>
#include <dynasoar/type_name.h>

namespace dynasoar {

/// `512_MiB` and friends, for heap sizes.
inline namespace literals {
constexpr std::size_t operator""_KiB(unsigned long long n) {
  return static_cast<std::size_t>(n) << 10;
}
constexpr std::size_t operator""_MiB(unsigned long long n) {
  return static_cast<std::size_t>(n) << 20;
}
constexpr std::size_t operator""_GiB(unsigned long long n) {
  return static_cast<std::size_t>(n) << 30;
}
}  // namespace literals

/// What `synchronize()` does when objects could not be created since the last one.
enum class OnRefusal {
  throw_error,  ///< throws AllocationError
  record        ///< nothing; `statistics()` has the numbers
};

/// How to make an AllocatorHandle: `AllocatorHandle<AllocatorT> handle({.heap_bytes = 1_GiB});`
struct HandleOptions {
  std::size_t heap_bytes = 256_MiB;  ///< for objects; the state beside it takes some percent more
  OnRefusal on_refusal = OnRefusal::throw_error;
  int threads = 0;  ///< CPU threads; 0 means all. Ignored on the GPU
};

namespace detail {

/// The class that declares a method.
template <class>
struct MethodClass;
template <class C, class Member>
struct MethodClass<Member C::*> {
  using type = C;
};

/// Whether a method is const.
template <class>
inline constexpr bool is_const_method_v = false;
template <class R, class C, class... Args>
inline constexpr bool is_const_method_v<R (C::*)(Args...) const> = true;
template <class R, class C, class... Args>
inline constexpr bool is_const_method_v<R (C::*)(Args...) const noexcept> = true;

/// A callable and its trailing arguments, callable with an object.
template <class F, class... Args>
struct ObjectCall {
  F function;
  std::tuple<Args...> arguments;

  template <class T>
  __device__ void operator()(T* object) const {
    std::tuple<Args...> copy = arguments;
    call(object, copy, std::index_sequence_for<Args...>{});
  }

 private:
  template <class T, std::size_t... I>
  __device__ void call(T* object, [[maybe_unused]] std::tuple<Args...>& copy, std::index_sequence<I...>) const {
    if constexpr (std::is_member_function_pointer_v<F>) {
      typename MethodClass<F>::type* const receiver = object;
      (receiver->*function)(std::get<I>(copy)...);
    } else {
      function(object, std::get<I>(copy)...);
    }
  }
};

/// A method known at compile time, as an empty callable.
template <auto kMethod>
struct Method {
  static_assert(!kCudaBackend || !is_const_method_v<decltype(kMethod)>,
                "dynasoar: nvcc cannot pass a const method to a kernel at compile time (it writes &C::f const into its "
                "host code). Write parallel_do<C>([] __device__(C* object) { object->f(); }), or make f non-const");
  template <class T, class... Args>
  __device__ void operator()(T* object, Args&... args) const {
    typename MethodClass<decltype(kMethod)>::type* const receiver = object;  // the base that declares the method
    (receiver->*kMethod)(args...);
  }
};

/// Calls a callable for the object in a slot of a block of T.
template <class T, class Call>
struct SlotCall {
  Call call;
  __device__ void operator()(std::uint32_t block, std::uint32_t slot) const {
    T* const object = T::Allocator::template object<T>(block, slot);
    // Opaque, so that the compiler forms the addresses of all fields in one way, from one register: only then does it
    // see that they differ, and moves loads above stores.
    call(reinterpret_cast<T*>(opaque(reinterpret_cast<std::uint64_t>(object))));
  }
};

/// Creates the object of an index.
template <class T, class... Args>
struct IndexedNew {
  std::tuple<Args...> arguments;
  __device__ void operator()(std::size_t index) const { create(index, std::index_sequence_for<Args...>{}); }

 private:
  template <std::size_t... I>
  __device__ void create(std::size_t index, std::index_sequence<I...>) const {
    make_new<T>(index, std::get<I>(arguments)...);
  }
};

/// Counts the objects and blocks of one container of an allocated bitmap.
template <class Heap>
struct CountObjects {
  Heap heap;
  std::uint32_t containers;
  AtomicWord<std::uint64_t>* totals;  // [2 * types] objects, blocks

  __device__ void operator()(std::size_t index) const {
    const auto type = static_cast<int>(index / containers);
    const auto container = static_cast<std::uint32_t>(index % containers);
    std::uint64_t bits = heap.types[type].allocated.container(0, container);
    if (bits == 0) return;
    const int blocks = popcount(bits);
    int objects = 0;
    for (; bits != 0; bits &= bits - 1) {
      const std::uint32_t block = container * 64 + static_cast<std::uint32_t>(lowest_bit(bits));
      objects += popcount(heap.slots[block].load(Order::relaxed));
    }
    totals[2 * type].fetch_add(static_cast<std::uint64_t>(objects), Order::relaxed);
    totals[2 * type + 1].fetch_add(static_cast<std::uint64_t>(blocks), Order::relaxed);
  }
};

}  // namespace detail

/// Owns the heap of an allocator type and runs loops over its objects.
///
/// Loops are ordered as they are submitted; on the GPU they run asynchronously and the host does not wait for any of
/// them until it asks for a result. One handle per allocator type can be alive at a time, and all handles of a process
/// must be on one device.
///
/// A loop visits the objects that exist when it begins, each once. It does not visit objects that are created in it.
/// Its method may delete the object it runs on, and objects of classes that the loop does not visit.
///
/// @tparam AllocatorT   a SoaAllocator of complete classes
template <class AllocatorT>
class AllocatorHandle {
 public:
  /// @throws Error if a handle of this type is alive, the heap is too small or too large, or there is no device for it
  explicit AllocatorHandle(HandleOptions options = {})
      : options_(options), executor_(options.threads), storage_(claim(executor_), options.heap_bytes) {
    AllocatorT::Types::for_each([]<class T>(std::type_identity<T>) { detail::check_listed<AllocatorT, T>(); });
    reported_refusals_.resize(AllocatorT::kTypes * kRefusals);
    device_object_ = DeviceArray<char>(1);
    bind(storage_.state());
    alive_ = this;
  }

  AllocatorHandle(const AllocatorHandle&) = delete;
  AllocatorHandle& operator=(const AllocatorHandle&) = delete;

  /// Waits for the device and frees the heap; errors that nobody asked for are dropped.
  ~AllocatorHandle() {
    try {
      executor_.synchronize();
    } catch (const Error&) {
    }
    bind({});
    alive_ = nullptr;
  }

  /// Runs `object->method(args...)` for all objects of the class that declares `method`:
  /// `parallel_do<&Fish::update>(3)`.
  ///
  /// For a method that several listed classes inherit, C++ cannot tell `&Fish::f` from `&Agent::f`, so that does not
  /// compile: name the class as well.
  template <auto kMethod, class... Args>
  requires std::is_member_function_pointer_v<decltype(kMethod)>
  void parallel_do(Args... args) {
    using T = typename detail::MethodClass<decltype(kMethod)>::type;
    static_assert(
        AllocatorT::template Subtypes<T>::size <= 1,
        "dynasoar: several classes have this method: &Fish::f of an inherited f is &Agent::f. Say which objects "
        "you mean: parallel_do<Fish, &Agent::f>() or parallel_do<Agent, &Agent::f>()");
    parallel_do<T, kMethod>(std::move(args)...);
  }

  /// Runs a method, possibly inherited, for all objects of T and its subclasses.
  template <class T, auto kMethod, class... Args>
  requires std::is_member_function_pointer_v<decltype(kMethod)>
  void parallel_do(Args... args) {
    run_loop<T>(detail::ObjectCall<detail::Method<kMethod>, Args...>{{}, {std::move(args)...}});
  }

  /// Runs `function(object, args...)` for all objects of T and its subclasses: a lambda `[=] __device__ (Fish* fish)`.
  template <class T, class F, class... Args>
  void parallel_do(F function, Args... args) {
    run_loop<T>(detail::ObjectCall<F, Args...>{function, {std::move(args)...}});
  }

  /// Creates `count` objects: `make_new<T>(i, args...)` for 0 <= i < count, where i is a std::size_t.
  template <class T, class... Args>
  void parallel_new(std::size_t count, Args... args) {
    detail::loop_over_indices<AllocatorT>(executor_, count, detail::IndexedNew<T, Args...>{{std::move(args)...}});
  }

  /// Calls `function(i)` for 0 <= i < count in parallel; it may create, use and delete objects.
  template <class F>
  void parallel_for(std::size_t count, F function) {
    detail::loop_over_indices<AllocatorT>(executor_, count, function);
  }

  /// Waits for all loops.
  ///
  /// @throws AllocationError if objects could not be created since the last call, unless the handle only records that;
  ///         Error if the device failed
  void synchronize() {
    executor_.synchronize();
    const std::vector<std::uint64_t> refusals = storage_.refusals();
    const std::vector<std::uint64_t> before = std::exchange(reported_refusals_, refusals);
    if (options_.on_refusal == OnRefusal::record) return;
    std::string message;
    std::uint64_t failures = 0;
    AllocatorT::Types::for_each([&]<class T>(std::type_identity<T>) {
      constexpr auto type = static_cast<std::size_t>(AllocatorT::template index_of<T>);
      for (std::size_t why = 0; why < kRefusals; ++why) {
        const std::uint64_t count = refusals[type * kRefusals + why] - before[type * kRefusals + why];
        if (count == 0) continue;
        failures += count;
        message += (message.empty() ? "" : "; ") + std::string(type_name<T>()) + ": make_new failed " +
                   std::to_string(count) + " times, " +
                   (static_cast<Refusal>(why) == Refusal::heap_full ? "heap full" : "blocks kept changing hands");
      }
    });
    if (failures > 0) throw AllocationError(message + usage_note(), failures);
  }

  /// Number of live objects of T and its subclasses. Waits for all loops.
  template <class T>
  std::uint64_t count() {
    detail::check_listed_or_base<AllocatorT, T>();
    const std::vector<std::uint64_t> totals = count_objects();
    std::uint64_t objects = 0;
    AllocatorT::template Subtypes<T>::for_each([&]<class S>(std::type_identity<S>) {
      objects += totals[2 * static_cast<std::size_t>(AllocatorT::template index_of<S>)];
    });
    return objects;
  }

  /// Objects, blocks, fragmentation and refusals per class. Waits for all loops.
  Statistics statistics() {
    const std::vector<std::uint64_t> totals = count_objects();
    const std::vector<std::uint64_t> refusals = storage_.refusals();
    const std::vector<std::uint64_t> created = storage_.created();
    const typename AllocatorT::Heap& heap = storage_.state().heap;
    Statistics result;
    result.heap_bytes = storage_.heap_bytes();
    result.state_bytes = storage_.state_bytes();
    result.page_bytes = AllocatorT::pages().bytes;
    result.pages = heap.pages;
    result.free_pages = storage_.count_free_pages();
    AllocatorT::Types::for_each([&]<class T>(std::type_identity<T>) {
      constexpr auto type = static_cast<std::size_t>(AllocatorT::template index_of<T>);
      TypeStatistics statistics;
      statistics.name = type_name<T>();
      statistics.objects = totals[2 * type];
      statistics.created = created[type];
      statistics.blocks = totals[2 * type + 1];
      statistics.slots = statistics.blocks * detail::kSlotsPerBlock;
      statistics.block_bytes = detail::block_bytes_v<T>;
      statistics.refused_full = refusals[type * kRefusals + static_cast<std::size_t>(Refusal::heap_full)];
      statistics.refused_contended = refusals[type * kRefusals + static_cast<std::size_t>(Refusal::contended)];
      result.types.push_back(statistics);
    });
    return result;
  }

  /// For kernels of the user's own, in the paper's style: `device_pointer()->make_new<T>(...)` in device code.
  ///
  /// Call it in the translation unit that launches the kernel, before each launch: it makes the heap known to that
  /// unit. Kernels must run on `executor().stream()` or the default stream.
  [[gnu::always_inline]] AllocatorT* device_pointer() {
    detail::bring_up_to_date<AllocatorT>(executor_);
    return reinterpret_cast<AllocatorT*>(device_object_.data());
  }

  /// Where loops run.
  Executor& executor() { return executor_; }

  /// The heap's state, for checks and tools. On the GPU it points to device memory.
  const typename AllocatorT::State& state() const { return storage_.state(); }

 private:
  inline static AllocatorHandle* alive_ = nullptr;

  static const Executor& claim(const Executor& executor) {
    if (alive_ != nullptr) {
      throw Error(
          "dynasoar: an AllocatorHandle of this allocator type is alive already; destroy it first, or give the "
          "second one an allocator type of its own");
    }
    return executor;
  }

  static void bind(const typename AllocatorT::State& state) {
    detail::Binding<AllocatorT>::state = state;
    ++detail::Binding<AllocatorT>::generation;
  }

  /// A loop over T and its subclasses, one kernel per class; the lists are made before the first of them.
  template <class T, class Call>
  void run_loop(const Call& call) {
    detail::check_listed_or_base<AllocatorT, T>();
    detail::make_lists(executor_, storage_.list_sources());
    AllocatorT::template Subtypes<T>::for_each([&]<class S>(std::type_identity<S>) {
      constexpr int type = AllocatorT::template index_of<S>;
      detail::loop_over_objects<AllocatorT>(executor_, storage_.state().lists[type], storage_.list_capacity(type),
                                            detail::SlotCall<S, Call>{call});
    });
  }

  /// Objects and blocks, two numbers per type.
  std::vector<std::uint64_t> count_objects() {
    const typename AllocatorT::Heap& heap = storage_.state().heap;
    const std::uint32_t containers = heap.types[0].allocated.level_size(0);
    DeviceArray<std::uint64_t> totals(2 * AllocatorT::kTypes);
    totals.fill_bytes(0);
    executor_.for_each_index(std::size_t{containers} * AllocatorT::kTypes,
                             detail::CountObjects<typename AllocatorT::Heap>{
                                 heap, containers, reinterpret_cast<AtomicWord<std::uint64_t>*>(totals.data())});
    executor_.synchronize();
    return totals.download();
  }

  std::string usage_note() {
    const Statistics now = statistics();
    char percent[16];
    std::snprintf(percent, sizeof percent, "%.1f", 100 * now.used());
    return " (" + std::to_string(now.heap_bytes) + " bytes, " + percent +
           "% used); make the handle with more heap_bytes";
  }

  HandleOptions options_;
  Executor executor_;
  detail::HeapStorage<AllocatorT> storage_;
  DeviceArray<char> device_object_;
  std::vector<std::uint64_t> reported_refusals_;
};

}  // namespace dynasoar
