/// @file
/// The function objects that loops over objects or indices call. Used by AllocatorHandle, Lattice and UniformGrid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <dynasoar/checks/checks.h>
#include <dynasoar/classes/class_rules.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/detail/loop_rules.h>
#include <dynasoar/detail/neighbour_reduction.h>
#include <dynasoar/detail/pair_reduction.h>
#include <dynasoar/heap/placed_objects.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

/// The class that declares a method.
template <class>
struct MethodClass;
template <class C, class Member>
struct MethodClass<Member C::*> {
  using type = C;
};

// In requires-clauses, and not as `MemberFunctionPointer auto kMethod`, with which clang 16 crashes.
template <class... M>
concept MemberFunctionPointer = (std::is_member_function_pointer_v<M> && ...);
template <class M>
concept MemberObjectPointer = std::is_member_object_pointer_v<M>;

/// The class whose objects a loop with a method visits, if the caller names no class.
template <class A, auto kMethod>
struct VisitedClass {
  using type = typename MethodClass<decltype(kMethod)>::type;
  static_assert(
      A::template Subtypes<type>::size <= 1,
      "dynasoar: several listed classes inherit this method, and C++ takes the address of an inherited method "
      "for that of its base class. Say whose objects you mean: parallel_do<Class, &Base::method>()");
};
template <class A, auto kMethod>
using ClassOfMethod = typename VisitedClass<A, kMethod>::type;

/// Whether a method is const.
template <class>
inline constexpr bool is_const_method_v = false;
template <class R, class C, class... Args>
inline constexpr bool is_const_method_v<R (C::*)(Args...) const> = true;
template <class R, class C, class... Args>
inline constexpr bool is_const_method_v<R (C::*)(Args...) const noexcept> = true;

/// Names the running call in reports of misuse. Does nothing if the allocator does not find misuse.
template <class A>
using ScopeFor = std::conditional_t<A::kFindsMisuse, ContextScope<A>, NoScope>;

template <auto kMethod>
struct Method;
template <class>
inline constexpr bool is_method_v = false;
template <auto kMethod>
inline constexpr bool is_method_v<Method<kMethod>> = true;

/// Checks, in checked builds for a GPU, that pointers among the arguments of a loop point to memory that the GPU can
/// reach. Does not see pointers in class values or in the captures of lambdas.
/// @throws Error if a pointer does not
template <class A, class... Args>
void check_arguments([[maybe_unused]] const Args&... args) {
  if constexpr (kCudaBackend && A::kFindsMisuse) {
    int number = 0;
    const auto check = [&number]<class T>(const T& argument) {
      ++number;
      if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) {
        check_reachable(reinterpret_cast<std::uint64_t>(argument), number);
      }
    };
    (check(args), ...);
  }
}

/// A callable and its trailing arguments, callable with an object.
template <class F, class... Args>
struct ObjectCall {
  F function;
  std::tuple<Args...> arguments;

  template <class T>
  __device__ decltype(auto) operator()(T* object) const {
    std::tuple<Args...> copy = arguments;
    return call(object, copy, std::index_sequence_for<Args...>{});
  }

 private:
  template <class T, std::size_t... I>
  __device__ decltype(auto) call(T* object, [[maybe_unused]] std::tuple<Args...>& copy,
                                 std::index_sequence<I...>) const {
    if constexpr (std::is_member_function_pointer_v<F>) {
      static_assert(check_call<F, typename MethodClass<F>::type*, Args...>());
      typename MethodClass<F>::type* const receiver = object;
      return (receiver->*function)(std::get<I>(copy)...);
    } else {
      if constexpr (!is_method_v<F>) static_assert(check_call<const F&, T*, Args...>());
      return function(object, std::get<I>(copy)...);
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
  __device__ decltype(auto) operator()(T* object, Args&... args) const {
    using Receiver = typename MethodClass<decltype(kMethod)>::type;  // the base that declares the method
    static_assert(check_call<decltype(kMethod), Receiver*, Args...>());
    Receiver* const receiver = object;
    return (receiver->*kMethod)(args...);
  }
};

/// A call that returns a Reduction, in the form that a loop over pairs of objects needs.
///
/// @tparam Slot   the SlotCall
template <class Slot, class Reduction>
struct PairCall {
  using Object = typename Slot::Object;
  using Request = Reduction;
  using Source = typename Reduction::Source;
  using Result = typename Reduction::Result;
  using Allocator = typename Object::Allocator;
  using Others = typename Allocator::template Subtypes<typename Reduction::Other>;
  using Scope = ScopeFor<Allocator>;

  static constexpr int kOthers = Others::size;

  Slot slot_call;

  template <int kList>
  using List = std::conditional_t<is_placed<typename Others::template at<kList>>(), AllBlocks, BlockList>;

  template <int kList>
  __device__ static List<kList> list() {
    using Other = typename Others::template at<kList>;
    if constexpr (!is_placed<Other>()) {
      return bound_state<Allocator>().lists[Allocator::template index_of<Other>];
    } else if constexpr (Allocator::template Subtypes<Other>::size > 1) {
      return {};  // objects at places are of classes without subclasses
    } else {
      return PlacedObjects<Allocator>::template state<Other>().blocks();
    }
  }

  __device__ Request request(std::uint32_t block, std::uint32_t slot) const {
    check_listed_or_base<Allocator, typename Reduction::Other>();
    Object* const object = Allocator::template object<Object>(block, slot);
    [[maybe_unused]] const Scope scope(reinterpret_cast<std::uint64_t>(object));
    return slot_call.call(object);
  }

  template <int kList>
  __device__ Source load(std::uint32_t block, std::uint32_t slot) const {
    using Other = typename Others::template at<kList>;
    [[maybe_unused]] const Scope scope(std::uint64_t{0});
    return Reduction::load(static_cast<typename Reduction::Other*>(Allocator::template object<Other>(block, slot)));
  }

  __device__ Result init(const Request& request) const { return request.init; }
  __device__ Result combined(const Request& request, const Result& result, const Source& source) const {
    return request.op(result, static_cast<Result>(request.map(source)));
  }
  __device__ Result merged(const Request& request, const Result& a, const Result& b) const { return request.op(a, b); }

  __device__ void finish(std::uint32_t block, std::uint32_t slot, const Request& request, const Result& result) const {
    [[maybe_unused]] const Scope scope(
        reinterpret_cast<std::uint64_t>(Allocator::template object<Object>(block, slot)));
    request.finish(result);
  }
};

/// PairCall for calls that return a Reduction, void for others.
template <class Slot, class Result>
struct PairsOf {
  static_assert(!is_unfinished_reduction_v<Result>,
                "dynasoar: the method returns a device_reduce without a function for the result: "
                "return device_reduce<T>(...).then([this](auto result) { ... })");
  using type = void;
};
template <class Slot, class... Parts>
struct PairsOf<Slot, Reduction<Parts...>> {
  using type = PairCall<Slot, Reduction<Parts...>>;
};

/// Calls a callable for the object in a slot of a block of T.
template <class T, class CallT>
struct SlotCall {
  using Object = T;
  using Call = CallT;
  /// The PairCall of the call, or void. It determines how the loop treats the result.
  template <class C = Call>
  using Pairs = typename PairsOf<SlotCall, decltype(std::declval<const C&>()(std::declval<T*>()))>::type;

  static constexpr bool kHasConsecutiveHandles = T::Allocator::kHasConsecutiveHandles;
  static constexpr bool kPrefetches = T::Allocator::template kPrefetches<T>;

  Call call;
  __device__ void operator()(std::uint32_t block, std::uint32_t slot) const {
    visit(reinterpret_cast<std::uint64_t>(T::Allocator::template object<T>(block, slot)));
  }

  /// @param handle   the handle of an object of T
  __device__ void visit(std::uint64_t handle) const {
    [[maybe_unused]] const ScopeFor<typename T::Allocator> scope(handle);
    // Opaque, so that the compiler computes the addresses of all fields from one register. Only then does it see that
    // the addresses differ, and moves loads above stores.
    call_alone(call, reinterpret_cast<T*>(opaque(handle)));
  }

  /// See SoaAllocator::prefetch.
  __device__ static void prefetch(std::uint32_t block, std::uint32_t thread) {
    T::Allocator::template prefetch<T>(block, thread);
  }

  /// The handle of slot 0 of a block; those of the other slots follow it, if kHasConsecutiveHandles.
  __device__ std::uint64_t handle_of_first(std::uint32_t block) const {
    return reinterpret_cast<std::uint64_t>(T::Allocator::template object<T>(block, 0));
  }
};

/// Combines the results of a callable over objects.
template <class T, class Call>
struct SlotValue {
  Call call;
  __device__ auto operator()(std::uint32_t block, std::uint32_t slot) const {
    static_assert(check_call<const Call&, T*>());
    T* const object = T::Allocator::template object<T>(block, slot);
    [[maybe_unused]] const ScopeFor<typename T::Allocator> scope(reinterpret_cast<std::uint64_t>(object));
    return call(object);
  }
};

/// A callable and its trailing arguments, callable with an index.
template <class F, class... Args>
struct IndexedCall {
  F function;
  std::tuple<Args...> arguments;

  __device__ void operator()(std::size_t index) const {
    static_assert(check_call<const F&, std::size_t, Args...>());
    std::tuple<Args...> copy = arguments;
    std::apply([&](Args&... args) { function(index, args...); }, copy);
  }
};

/// The callable itself if there are no arguments.
template <class F, class... Args>
auto indexed_call(const F& function, Args... args) {
  if constexpr (sizeof...(Args) == 0) {
    return function;
  } else {
    return IndexedCall<F, Args...>{function, {std::move(args)...}};
  }
}

/// Calls a callable for an index, in a loop of allocator type A.
template <class A, class F>
struct IndexCall {
  F function;
  __device__ void operator()(std::size_t index) const {
    static_assert(check_call<const F&, std::size_t>());
    [[maybe_unused]] const ScopeFor<A> scope(0);
    function(index);
  }
};

}  // namespace dynasoar::detail
