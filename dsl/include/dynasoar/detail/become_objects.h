/// @file
/// become_objects: implements AllocatorHandle::become, and checks its classes, condition and arrays at compile time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>

#include <dynasoar/classes/class_rules.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/classes/type_list.h>
#include <dynasoar/detail/become.h>
#include <dynasoar/detail/compact.h>
#include <dynasoar/detail/loop_calls.h>
#include <dynasoar/detail/loop_rules.h>
#include <dynasoar/detail/loop_runner.h>
#include <dynasoar/handle_options.h>
#include <dynasoar/heap/class_change.h>
#include <dynasoar/loops/object_loops.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

/// The base of the steps of AllocatorHandle::become. Loops call a step for the slots of the blocks of From.
template <class From>
struct ChangeStep {
  template <class = void>
  using Pairs = void;
  static constexpr bool kHasConsecutiveHandles = false;
  static constexpr bool kPrefetches = false;

  ChangingObjects objects;

  /// Calls `function(object)` for the object in a slot.
  template <class G>
  __device__ static void with_object(std::uint32_t block, std::uint32_t slot, const G& function) {
    From* const object = From::Allocator::template object<From>(block, slot);
    [[maybe_unused]] const ScopeFor<typename From::Allocator> scope(reinterpret_cast<std::uint64_t>(object));
    function(object);
  }
};

/// Marks the objects for which a condition holds.
template <class From, class F>
struct ChooseObjects : ChangeStep<From> {
  F condition;

  __device__ void operator()(std::uint32_t block, std::uint32_t slot) const {
    if constexpr (!is_method_v<F>) static_assert(check_call<const F&, From*>());
    this->with_object(block, slot, [&](From* object) {
      using Answer = std::remove_cvref_t<decltype(condition(object))>;
      static_assert(std::is_constructible_v<bool, Answer>,
                    "dynasoar: become<From, To>: the condition does not return a bool, or something that converts to "
                    "bool");
      if (condition(object)) this->objects.choose(block, slot);
    });
  }
};

/// Creates the successors of these objects.
template <class From, class To, class... Args>
struct MakeSuccessors : ChangeStep<From> {
  std::tuple<Args...> arguments;

  __device__ void operator()(std::uint32_t block, std::uint32_t slot) const {
    const std::uint32_t number = this->objects.number_of(block, slot);
    if (number == ChangingObjects::kNone) return;
    this->with_object(block, slot, [&](From* object) {
      To* const successor =
          std::apply([&](const Args&... args) { return make_successor<To>(object, args...); }, arguments);
      this->objects.successors[number] = reinterpret_cast<std::uint64_t>(successor);
    });
  }
};

/// Destroys the objects that have successors.
template <class From>
struct DestroyPredecessors : ChangeStep<From> {
  __device__ void operator()(std::uint32_t block, std::uint32_t slot) const {
    const std::uint32_t number = this->objects.number_of(block, slot);
    if (number == ChangingObjects::kNone || this->objects.successors[number] == 0) return;
    this->with_object(block, slot, [](From* object) { From::Allocator::free(object); });
  }
};

/// Checks that objects of From can become objects of To.
template <class A, class From, class To, class... Args>
constexpr void check_objects_become() {
  static_assert(A::kCompacts,
                "dynasoar: handle.become updates pointers, which an AosAllocator cannot. Call "
                "dynasoar::become<To>(object) in a loop, and update the pointers to the object yourself");
  static_assert(A::template index_of<From> >= 0,
                "dynasoar: handle.become<From, To> goes through the objects of one class, and From is not in its "
                "allocator's list. If it is a base of classes that are, call it for each of them");
  static_assert(!std::is_same_v<From, To>, "dynasoar: handle.become<From, To>: From and To are the same class");
  check_may_become<From, To>();
  check_constructible<To, const Args&...>();
}

/// Implements AllocatorHandle::become.
template <class A, class From, class To, class F, class... Args, class... U>
void become_objects(LoopRunner<A>& loops, const F& condition, const std::tuple<Args...>& arguments,
                    const PointerArray<U>&... arrays) {
  check_objects_become<A, From, To, Args...>();
  static_assert(check_given<F, Args...>());
  static_assert((true && ... && (may_point_to_v<U, TypeList<From>> && may_point_to_v<U, TypeList<To>>)),
                "dynasoar: become<From, To> got an array of pointers that cannot point to both: their class is no "
                "common base of From and To");
  Executor& executor = loops.executor();
  executor.check_may_wait();
  loops.check_keeps_no_lists();
  if constexpr (A::kCompacts) {
    constexpr auto kFrom = static_cast<std::size_t>(A::template index_of<From>);
    constexpr auto kTo = static_cast<std::size_t>(A::template index_of<To>);
    std::apply([](const Args&... args) { check_arguments<A>(args...); }, arguments);
    const auto& storage = loops.storage();
    const auto run = [&](const auto& step) {
      loop_over_objects<A>(executor, ObjectLoop{storage.list(kFrom), storage.list_capacity(kFrom), step});
    };
    std::optional<ClassChange> change;
    std::uint32_t count = 0;
    loops.template run<From, F>([&] {
      change.emplace(executor, storage, kFrom);
      run(ChooseObjects<From, F>{{change->objects()}, condition});
      count = change->number(kTo);
    });
    if (count == 0) return;
    loops.template make_room_for<To>(count);
    loops.template run<From, F>([&] {
      // Load the kernel before there are successors, because this may fail, and must not fail later.
      if constexpr (kCudaBackend) run(DestroyPredecessors<From>{{change->objects()}});
      run(MakeSuccessors<From, To, Args...>{{change->objects()}, arguments});
    });
    loops.template run<From, F>([&] {
      ClassSet targets;
      targets.add(kTo);
      change->update_pointers(kTo, {handles_in(arrays...), loops.placed().blocks_pointing_to(targets)});
      run(DestroyPredecessors<From>{{change->objects()}});
    });
  }
}

}  // namespace dynasoar::detail
