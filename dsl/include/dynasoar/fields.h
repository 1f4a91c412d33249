/// @file
/// DYNASOAR_FIELDS: declares the fields of a class by name.
#pragma once

#include <tuple>
#include <type_traits>

#include <dynasoar/field_names.h>
#include <dynasoar/soa_field.h>

/// `DYNASOAR_FIELDS(Fish, (position_, Cell*), (egg_timer_, std::uint32_t))` declares FieldTypes, one SoaField per pair,
/// and `field_names`. The name comes first because a type may contain commas. Up to 340 fields; none is allowed.
#define DYNASOAR_FIELDS(Class, ...)                                                                                 \
  using FieldOwner = Class;                                                                                         \
  using FieldTypes = ::dynasoar::detail::FieldTypesOf<void DYNASOAR_FOR_EACH_(DYNASOAR_TYPE_, Class, __VA_ARGS__)>; \
  static constexpr ::dynasoar::detail::FieldNames<std::tuple_size_v<FieldTypes>> field_names{                       \
      {DYNASOAR_FOR_EACH_(DYNASOAR_NAME_, Class, __VA_ARGS__)}};                                                    \
  DYNASOAR_FOR_EACH_(DYNASOAR_FIELD_, Class, __VA_ARGS__)                                                           \
  __device__ void dynasoar_fields_of_this_class() const {                                                           \
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(*this)>, Class>,                                      \
                  "dynasoar: DYNASOAR_FIELDS names another class than the one it stands in");                       \
  }

namespace dynasoar::detail {

// The macro can only produce a list with a leading comma; the void in front of it is dropped here.
template <class, class... Types>
using FieldTypesOf = std::tuple<Types...>;

}  // namespace dynasoar::detail

#define DYNASOAR_TYPE_(Class, index, field) , DYNASOAR_SECOND_ field
#define DYNASOAR_NAME_(Class, index, field) DYNASOAR_STRING_(DYNASOAR_FIRST_ field),
#define DYNASOAR_FIELD_(Class, index, field) ::dynasoar::SoaField<Class, index> DYNASOAR_FIRST_ field;
#define DYNASOAR_FIRST_(name, ...) name
#define DYNASOAR_SECOND_(name, ...) __VA_ARGS__
#define DYNASOAR_STRING_(...) DYNASOAR_STRING_2_(__VA_ARGS__)
#define DYNASOAR_STRING_2_(...) #__VA_ARGS__

// Applies macro(Class, index, item) to every item: a rescanned "recursion", each level of which quadruples the depth.
#define DYNASOAR_FOR_EACH_(macro, Class, ...) __VA_OPT__(DYNASOAR_RESCAN_(DYNASOAR_STEP_(macro, Class, 0, __VA_ARGS__)))
#define DYNASOAR_STEP_(macro, Class, index, item, ...) \
  macro(Class, index, item) __VA_OPT__(DYNASOAR_STEP_AGAIN_ DYNASOAR_PARENS_(macro, Class, (index) + 1, __VA_ARGS__))
#define DYNASOAR_STEP_AGAIN_() DYNASOAR_STEP_
#define DYNASOAR_PARENS_ ()
#define DYNASOAR_RESCAN_(...) \
  DYNASOAR_RESCAN_1_(DYNASOAR_RESCAN_1_(DYNASOAR_RESCAN_1_(DYNASOAR_RESCAN_1_(__VA_ARGS__))))
#define DYNASOAR_RESCAN_1_(...) \
  DYNASOAR_RESCAN_2_(DYNASOAR_RESCAN_2_(DYNASOAR_RESCAN_2_(DYNASOAR_RESCAN_2_(__VA_ARGS__))))
#define DYNASOAR_RESCAN_2_(...) \
  DYNASOAR_RESCAN_3_(DYNASOAR_RESCAN_3_(DYNASOAR_RESCAN_3_(DYNASOAR_RESCAN_3_(__VA_ARGS__))))
#define DYNASOAR_RESCAN_3_(...) \
  DYNASOAR_RESCAN_4_(DYNASOAR_RESCAN_4_(DYNASOAR_RESCAN_4_(DYNASOAR_RESCAN_4_(__VA_ARGS__))))
#define DYNASOAR_RESCAN_4_(...) __VA_ARGS__
