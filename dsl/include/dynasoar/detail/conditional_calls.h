/// @file
/// The function objects that parallel_do_if, Lattice::parallel_for_if and parallel_for_free_if pass to loops.
///
/// A conditional call has two parts: `answer(x)` evaluates the condition, and `act(x, answer)` runs the action if the
/// answer converts to true. On a GPU, a loop over slots evaluates the conditions of a warp's slots before it acts (see
/// loops/place_loops.h); all other loops call `act` directly after `answer`.
#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <dynasoar/classes/placed.h>
#include <dynasoar/detail/loop_calls.h>
#include <dynasoar/detail/loop_rules.h>
#include <dynasoar/detail/neighbour_reduction.h>
#include <dynasoar/detail/pair_reduction.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// Whether a result is a reduction that a loop would have to carry out.
template <class R>
inline constexpr bool is_any_reduction_v = is_reduction_v<R> || is_unfinished_reduction_v<R> ||
                                           is_neighbour_reduction_v<R> || is_unfinished_neighbour_reduction_v<R>;

/// Two callables and their trailing arguments. The second one gets the answer of the first, unless that is a bool.
template <class Condition, class F, class... Args>
struct ConditionalCall {
  static constexpr bool kIsConditional = true;

  Condition condition;
  F function;
  std::tuple<Args...> arguments;

  template <class X>
  __device__ auto answer(X x) const {
    if constexpr (!is_method_v<Condition>) static_assert(check_call<const Condition&, X, Args...>());
    return with_arguments([&](Args&... args) {
      using Answer = std::remove_cvref_t<decltype(condition(x, args...))>;
      static_assert(!std::is_void_v<Answer> && std::is_constructible_v<bool, Answer>,
                    "dynasoar: the condition of this loop does not return a bool, or something that converts to bool, "
                    "such as a pointer");
      static_assert(
          std::is_trivially_copyable_v<Answer> && std::is_default_constructible_v<Answer> && sizeof(Answer) <= 8,
          "dynasoar: the result of the condition of this loop is not trivially copyable, has no default "
          "constructor or takes more than 8 bytes: threads pass it to each other. Return a bool or a pointer, and let "
          "the action find out the rest");
      return condition(x, args...);
    });
  }

  template <class X, class Answer>
  __device__ void act(X x, [[maybe_unused]] Answer answer) const {
    with_arguments([&](Args&... args) {
      if constexpr (std::is_same_v<Answer, bool>) {
        if constexpr (!is_method_v<F>) static_assert(check_call<const F&, X, Args...>());
        using Result = std::remove_cvref_t<decltype(function(x, args...))>;
        check_result<Result>();
        function(x, args...);
      } else {
        if constexpr (!is_method_v<F>) static_assert(check_call<const F&, X, Answer, Args...>());
        using Result = std::remove_cvref_t<decltype(function(x, answer, args...))>;
        check_result<Result>();
        function(x, answer, args...);
      }
    });
  }

  /// Calls both, for loops that do not call them separately.
  template <class X>
  __device__ void operator()(X x) const {
    if (const auto result = answer(x)) act(x, result);
  }

 private:
  template <class Result>
  __device__ static constexpr void check_result() {
    static_assert(!is_any_reduction_v<Result>,
                  "dynasoar: the action of this loop returns a device_reduce or the reduce of a grid, which only "
                  "parallel_do carries out. Use parallel_do, or device_do in the action");
  }

  template <class G>
  __device__ auto with_arguments(const G& g) const {
    std::tuple<Args...> copy = arguments;
    return with(copy, g, std::index_sequence_for<Args...>{});
  }

  template <class G, std::size_t... I>
  __device__ static auto with([[maybe_unused]] std::tuple<Args...>& copy, const G& g, std::index_sequence<I...>) {
    return g(std::get<I>(copy)...);
  }
};

template <class>
inline constexpr bool is_conditional_v = false;
template <class Condition, class F, class... Args>
inline constexpr bool is_conditional_v<ConditionalCall<Condition, F, Args...>> = true;

/// A conditional call for the T at a slot.
template <class T, class Call>
struct ConditionalPlacedCall {
  static constexpr bool kIsConditional = true;
  Call call;

  __device__ auto answer(std::uint64_t slot) const {
    const std::uint64_t handle = placed_handle<T>(slot).bits();
    [[maybe_unused]] const ScopeFor<typename T::Allocator> scope(handle);
    return call.answer(reinterpret_cast<T*>(handle));
  }

  template <class Answer>
  __device__ void act(std::uint64_t slot, Answer answer) const {
    const std::uint64_t handle = placed_handle<T>(slot).bits();
    [[maybe_unused]] const ScopeFor<typename T::Allocator> scope(handle);
    call.act(reinterpret_cast<T*>(handle), answer);
  }
};

/// A conditional call for the place of a slot, in a loop of allocator type A.
template <class A, class Call>
struct ConditionalPlaceCall {
  static constexpr bool kIsConditional = true;
  /// Whether the condition answers for 64 places at once. Builds that check or count accesses ask for each place.
  static constexpr bool kAnswersWords = requires(const Call& c) { c.condition.answers(0, 0); }
  &&!kChecked && !kCountsAccesses;
  Call call;

  __device__ auto answers(std::uint64_t word, std::uint64_t places) const {
    return call.condition.answers(word, places);
  }

  __device__ auto answer(std::uint64_t slot) const {
    [[maybe_unused]] const ScopeFor<A> scope(0);
    return call.answer(Place(slot));
  }

  template <class Answer>
  __device__ void act(std::uint64_t slot, Answer answer) const {
    [[maybe_unused]] const ScopeFor<A> scope(0);
    call.act(Place(slot), answer);
  }
};

}  // namespace dynasoar::detail
