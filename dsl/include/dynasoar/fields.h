/// @file
/// DYNASOAR_FIELDS: declares the fields of a class by name. And names of fields, for classes in the paper's form.
#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <dynasoar/classes/class_table.h>
#include <dynasoar/detail/field_functions.h>
#include <dynasoar/detail/field_macros.h>
#include <dynasoar/detail/field_names.h>

/// `DYNASOAR_FIELDS(Fish, (position_, Cell*), (egg_timer_, std::uint32_t))` declares FieldTypes, one SoaField per pair,
/// and `field_names`. The name comes first because a type may contain commas. Up to 340 fields; none is allowed.
#define DYNASOAR_FIELDS(Class, ...)                                                                                 \
  static_assert(::dynasoar::detail::is_class_text(#Class),                                                          \
                "dynasoar: DYNASOAR_FIELDS begins with the class: DYNASOAR_FIELDS(ThisClass, " #Class ", ...)");    \
  DYNASOAR_FOR_EACH_(DYNASOAR_CHECK_, Class, __VA_ARGS__)                                                           \
  using FieldOwner = Class;                                                                                         \
  using FieldTypes = ::dynasoar::detail::FieldTypesOf<void DYNASOAR_FOR_EACH_(DYNASOAR_TYPE_, Class, __VA_ARGS__)>; \
  static constexpr ::dynasoar::detail::FieldNames<std::tuple_size_v<FieldTypes>> field_names{                       \
      {DYNASOAR_FOR_EACH_(DYNASOAR_NAME_, Class, __VA_ARGS__)}};                                                    \
  DYNASOAR_FOR_EACH_(DYNASOAR_FIELD_, Class, __VA_ARGS__)                                                           \
  __device__ void dynasoar_fields_of_this_class() const {                                                           \
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(*this)>, Class>,                                      \
                  "dynasoar: DYNASOAR_FIELDS(" #Class ", ...) names another class than the one it stands in");      \
  }

namespace dynasoar {

/// Names for the fields of a class in the paper's form, one per type in FieldTypes; inherited fields have names
/// already:
///
///     using FieldTypes = std::tuple<float, float>;
///     static constexpr auto field_names = dynasoar::field_names("x_", "y_");
///     dynasoar::SoaField<Body, 0> x_;
///     dynasoar::SoaField<Body, 1> y_;
///
/// A class without them has "field0", "field1" and so on. DYNASOAR_FIELDS declares fields and names at once.
template <class... Names>
requires(std::is_convertible_v<const Names&, const char*>&&...) constexpr detail::FieldNames<
    sizeof...(Names)> field_names(const Names&... names) {
  if constexpr (sizeof...(Names) > 0) {
    return {{names...}};
  } else {
    return {{nullptr}};
  }
}

/// Names of all fields of C, inherited ones first, as they lie in a block; each of them once: where two are alike, as
/// C++ allows for a class and its base, the class that declares each is in front, as in "Agent::age_".
template <class C>
std::vector<std::string> all_field_names() {
  return detail::field_names_of(detail::field_infos_v<typename C::Allocator, C>);
}

}  // namespace dynasoar
