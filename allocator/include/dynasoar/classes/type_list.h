/// @file
/// Type lists at compile time, with Boost.Hana: the classes of an allocator, and their subclasses. Used by
/// SoaAllocator. Hana appears only inside decltype, because its global objects do not exist in device code.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/hana/basic_tuple.hpp>
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

/// True if T is Base or derives from it. @pre both are complete, or the same
template <class Base, class T>
constexpr bool is_subtype() {
  constexpr bool kIsKnown = std::is_same_v<Base, T> || requires {
    sizeof(T);
  };
  static_assert(kIsKnown,
                "dynasoar: a class of the allocator's list is only declared up to here, so its base classes are "
                "unknown. Declare the function that needs this in its class, and define it after all classes");
  if constexpr (kIsKnown) {
    return std::is_base_of_v<Base, T>;
  } else {
    return false;
  }
}

/// Concatenates lists. Only its result type is used, so there is no definition.
template <class... Ts, class... Us>
TypeList<Ts..., Us...> operator+(TypeList<Ts...>, TypeList<Us...>);

/// For hana::unpack: a list of the types that are `Base` or derive from it.
template <class Base>
struct Subtypes {
  template <class... Types>
  constexpr auto operator()(Types...) const {
    return decltype((
        TypeList<>{} + ... +
        std::conditional_t<is_subtype<Base, typename Types::type>(), TypeList<typename Types::type>, TypeList<>>{})){};
  }
};

/// The types of the list that are `Base` or derive from it, in the list's order, as a TypeList.
template <class Base, class... Ts>
using subtypes_t =
    decltype(boost::hana::unpack(boost::hana::basic_tuple<std::type_identity<Ts>...>{}, Subtypes<Base>{}));

/// Position of T among Ts, or -1.
template <class T, class... Ts>
inline constexpr int index_of_v = [] {
  int index = 0;
  int found = -1;
  ((std::is_same_v<T, Ts> ? void(found = index) : void(), ++index), ...);
  return found;
}();

/// Whether no type is named twice.
template <class... Ts>
inline constexpr bool are_distinct_v = [] {
  int index = 0;
  return (true && ... && (index_of_v<Ts, Ts...> == index++));
}();

}  // namespace dynasoar::detail
