/// @file
/// Type lists at compile time, with Boost.Hana: which classes an allocator holds and which derive from which.
/// Used by SoaAllocator. Hana appears inside decltype only: its global objects do not exist in device code.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/hana/ext/std/integral_constant.hpp>
#include <boost/hana/filter.hpp>
#include <boost/hana/integral_constant.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>
#include <boost/hana/unpack.hpp>

#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// A list of types: `size`, `at<i>`, and `for_each` which calls `f(std::type_identity<T>{})` for each in order.
template <class... Ts>
struct TypeList {
  static constexpr int size = static_cast<int>(sizeof...(Ts));

  template <int kIndex>
  using at = std::tuple_element_t<kIndex, std::tuple<Ts...>>;

  template <class F>
  __host__ __device__ static constexpr void for_each(F&& f) {
    (f(std::type_identity<Ts>{}), ...);
  }
};

template <class Base>
struct IsBaseOf {
  template <class Type>
  constexpr auto operator()(Type) const {
    using T = typename Type::type;
    constexpr bool kIsKnown = std::is_same_v<Base, T> || requires {
      sizeof(T);
    };
    static_assert(
        kIsKnown,
        "dynasoar: a class of the allocator's list is only declared up to here, so nobody can tell from which "
        "it derives. Declare the function that needs this in its class, and define it after all classes");
    if constexpr (kIsKnown) {
      return boost::hana::bool_c<std::is_base_of_v<Base, T>>;
    } else {
      return boost::hana::bool_c<false>;
    }
  }
};

/// The types of the list that are `Base` or derive from it, in the list's order, as a TypeList.
template <class Base, class... Ts>
using subtypes_t = typename decltype(boost::hana::unpack(
    boost::hana::filter(boost::hana::tuple_t<Ts...>, IsBaseOf<Base>{}), boost::hana::template_<TypeList>))::type;

/// Position of T among Ts, or -1.
template <class T, class... Ts>
inline constexpr int index_of_v = [] {
  int index = 0;
  int found = -1;
  ((std::is_same_v<T, Ts> ? void(found = index) : void(), ++index), ...);
  return found;
}();

}  // namespace dynasoar::detail
