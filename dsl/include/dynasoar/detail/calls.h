/// @file
/// Calls: finds the method that dynasoar::call calls, by the run-time class of the object. Used by objects.h.
#pragma once

#include <type_traits>
#include <utility>

#include <dynasoar/classes/type_list.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// The result type of a Method for an object of class T; T is const for const objects.
template <class Method, class T, class... Args>
struct MethodResult {
  static_assert(std::is_invocable_v<const Method&, T*, Args...>,
                "dynasoar: call: a listed class that the object may be of has no such method for these arguments, or "
                "several that fit equally, or one that is not public. Define it in that class, or in a base class for "
                "all that have none of their own");
  using type = std::invoke_result_t<const Method&, T*, Args...>;
};

/// The result type of a Method for objects of several classes: the type that all results have, or to which all convert.
template <class... Results>
struct SharedResult : std::common_type<Results...> {
  static_assert(
      requires { typename std::common_type<Results...>::type; },
      "dynasoar: call: the methods of the listed classes return types that have none in common. Let all of "
      "them return the same");
};
template <class Result>
struct SharedResult<Result> : std::type_identity<Result> {};
template <class Result, class... Same>
requires(sizeof...(Same) > 0 && (std::is_same_v<Result, Same> && ...)) struct SharedResult<Result, Same...>
    : std::type_identity<Result> {
};

/// Calls of a Method of objects of static class T, whose run-time class is one of a TypeList.
template <class Method, class T, class Classes>
struct Calls;
template <class Method, class T, class... Ss>
struct Calls<Method, T, TypeList<Ss...>> {
  template <class S>
  using AsConst = std::conditional_t<std::is_const_v<T>, const S, S>;
  template <class... Args>
  using Result = typename SharedResult<typename MethodResult<Method, AsConst<Ss>, Args...>::type...>::type;

  template <class... Args>
  __device__ static Result<Args...> run(int type, T* object, Args&&... args) {
    return run_one_of<Result<Args...>, Ss...>(type, object, std::forward<Args>(args)...);
  }

 private:
  template <class R, class S, class... Others, class... Args>
  __device__ static R run_one_of(int type, T* object, Args&&... args) {
    // Do not compare with the last class. A pointer to no object also gets there, and the first field access detects
    // it.
    if constexpr (sizeof...(Others) > 0) {
      if (type != std::remove_const_t<T>::Allocator::template index_of<S>) {
        return run_one_of<R, Others...>(type, object, std::forward<Args>(args)...);
      }
    }
    return static_cast<R>(Method{}(static_cast<AsConst<S>*>(object), std::forward<Args>(args)...));
  }
};

}  // namespace dynasoar::detail
