/// @file
/// sort: implements AllocatorHandle::sort, and checks its class, key and arrays at compile time.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <dynasoar/base/view.h>
#include <dynasoar/classes/class_rules.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/classes/type_list.h>
#include <dynasoar/detail/compact.h>
#include <dynasoar/detail/field_values.h>
#include <dynasoar/detail/loop_calls.h>
#include <dynasoar/detail/loop_rules.h>
#include <dynasoar/detail/loop_runner.h>
#include <dynasoar/handle_options.h>
#include <dynasoar/heap/sort.h>
#include <dynasoar/loops/object_loops.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

template <class M>
concept MemberPointer = std::is_member_pointer_v<M>;

/// Checks that the objects of T can be sorted. Objects of subclasses are not sorted, because they lie in other blocks.
template <class A, class T>
constexpr void check_sortable() {
  static_assert(
      A::template index_of<T> >= 0,
      "dynasoar: sort orders the objects of one class, and this one is not in its allocator's list. If it is a "
      "base of classes that are, sort each of them: sort<Class, &Base::key>()");
  static_assert(!is_placed<T>(), "dynasoar: objects of a placed class are at their places and cannot be sorted");
  check_listed<A, T>();
}

/// The class whose objects are sorted by a field or method if the caller names no class.
template <class A, auto kKey>
struct SortedBy {
  using type = typename MethodClass<decltype(kKey)>::type;
  static_assert(
      A::template Subtypes<type>::size <= 1,
      "dynasoar: several listed classes inherit this key, and C++ takes the address of an inherited member for "
      "that of its base class. Say which objects you mean: sort<Class, &Base::key>()");
};

/// A callable that returns the value of a field, or the result of a method.
template <auto kKey>
constexpr auto key_function() {
  if constexpr (std::is_member_object_pointer_v<decltype(kKey)>) {
    return FieldValue<kKey>{};
  } else {
    return Method<kKey>{};
  }
}

template <class Value>
__host__ __device__ constexpr bool check_key() {
  static_assert(std::is_integral_v<Value> && !std::is_same_v<Value, bool> && sizeof(Value) <= sizeof(std::uint64_t),
                "dynasoar: sort orders objects by an integer of up to 64 bits, and this key is something else. Make an "
                "integer of it, such as the number of a cell: static_cast<std::uint32_t>(x_ / width)");
  return true;
}

/// The type that a key function returns, or void if it is unknown until device code is compiled. In host code, nvcc
/// knows the types of fields and methods, but not the result types of lambdas and of functions declared `auto`.
template <class T, class F>
struct KeyValue {
  using type = void;
};
template <class T, auto kField>
struct KeyValue<T, FieldValue<kField>> {
  using type = typename FieldValue<kField>::Type;
};
template <class T, auto kMethod>
struct KeyValue<T, Method<kMethod>> {
  using type = std::remove_cvref_t<std::invoke_result_t<decltype(kMethod), T*>>;
};
template <class T, std::invocable<T*> F>
requires(!kCudaBackend && !is_method_v<F>) struct KeyValue<T, F> {
  using type = std::remove_cvref_t<std::invoke_result_t<const F&, T*>>;
};

/// Maps an integer to an unsigned number, so that the order stays the same: negative integers come first.
template <class Key, class Value>
__host__ __device__ constexpr Key ordered(Value value) {
  using Bits = std::make_unsigned_t<Value>;
  constexpr Bits kSign = std::is_signed_v<Value> ? Bits{1} << (8 * sizeof(Bits) - 1) : 0;
  return static_cast<Key>(static_cast<Bits>(value) ^ kSign);
}

/// Stores the key of an object. A loop calls it for all objects.
template <class T, class F, class Key>
struct NoteKey {
  template <class = void>
  using Pairs = void;
  static constexpr bool kHasConsecutiveHandles = false;
  static constexpr bool kPrefetches = false;

  F function;
  KeysOfObjects<Key> keys;

  __device__ void operator()(std::uint32_t block, std::uint32_t slot) const {
    T* const object = T::Allocator::template object<T>(block, slot);
    [[maybe_unused]] const ScopeFor<typename T::Allocator> scope(reinterpret_cast<std::uint64_t>(object));
    using Value = std::remove_cvref_t<decltype(function(object))>;
    static_assert(check_key<Value>());
    keys.set(block, slot, ordered<Key, Value>(function(object)));
  }
};

/// Sorts the objects of T by the lowest `bits` bits of their keys. @throws Error as AllocatorHandle::sort does
template <class Key, class A, class T, class F>
void sort_by_bits(LoopRunner<A>& loops, const F& function, int bits, View<HandleArray> arrays, SortSize size) {
  constexpr auto kType = static_cast<std::size_t>(A::template index_of<T>);
  loops.template run<T, F>([&] {
    Executor& executor = loops.executor();
    const auto& storage = loops.storage();
    storage.make_lists(executor, class_set_v<A, void>);
    ObjectSort<Key> sort(executor, storage, kType, loops.sort_memory(), size);
    if (!sort.is_needed()) return;
    loop_over_objects<A>(executor, ObjectLoop{storage.list(kType), storage.list_capacity(kType),
                                              NoteKey<T, F, Key>{function, sort.keys()}});
    ClassSet moved;
    moved.add(kType);
    sort.run(bits, {arrays, loops.placed().blocks_pointing_to(moved)});
  });
}

/// Implements AllocatorHandle::sort.
template <class A, class T, class F, class... U>
void sort(LoopRunner<A>& loops, const F& function, const SortOptions& options, const PointerArray<U>&... arrays) {
  check_sortable<A, T>();
  static_assert(check_callable<F>());
  static_assert(
      (true && ... && may_point_to_v<U, TypeList<T>>),
      "dynasoar: sort<T> got an array of pointers that cannot point to a T: their class is neither T nor a base "
      "of T");
  using Value = typename KeyValue<T, F>::type;
  using Widest = std::conditional_t<std::is_void_v<Value>, std::uint64_t, Value>;
  static_assert(check_key<Widest>());
  constexpr int kNarrow = 32;
  constexpr int kBits = static_cast<int>(8 * sizeof(Widest));
  loops.executor().check_may_submit();
  options.check();
  const int bits = options.key_bits > 0 && options.key_bits < kBits ? options.key_bits : kBits;
  if constexpr (A::kCompacts) {
    const std::array<HandleArray, sizeof...(U)> handles = handles_in(arrays...);
    check_disjoint(handles);
    // A sort in the caller's own CUDA graph would refer to memory that later sorts replace. There, counting fails.
    const bool is_in_step = loops.executor().is_recording() && !loops.executor().may_wait();
    const SortSize size = is_in_step ? SortSize::bounded : SortSize::counted;
    if constexpr (kBits > kNarrow) {
      if (bits > kNarrow) return sort_by_bits<std::uint64_t, A, T>(loops, function, bits, handles, size);
    }
    sort_by_bits<std::uint32_t, A, T>(loops, function, bits, handles, size);
  }
}

}  // namespace dynasoar::detail
