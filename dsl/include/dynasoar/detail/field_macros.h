/// @file
/// The parts of DYNASOAR_FIELDS: checks of its arguments, and macros that apply another macro to each field. Used by
/// soa_base.h.
#pragma once

#include <string_view>
#include <tuple>

#include <dynasoar/soa_field.h>

namespace dynasoar::detail {

// The macro can only produce a list with a leading comma; the void in front of it is dropped here.
template <class, class... Types>
using FieldTypesOf = std::tuple<Types...>;

/// Whether the text of DYNASOAR_FIELDS' first argument can be a class, and is not a field.
constexpr bool is_class_text(std::string_view text) {
  return !text.empty() && text.front() != '(';
}

constexpr bool is_identifier(std::string_view text) {
  if (text.empty() || (text.front() >= '0' && text.front() <= '9')) return false;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!plain && static_cast<unsigned char>(c) < 0x80) return false;  // letters of other languages are above
  }
  return true;
}

constexpr bool is_builtin_type(std::string_view text) {
  for (const std::string_view type :
       {"bool",     "char",     "short",  "int",     "long",    "float",   "double",  "unsigned",
        "signed",   "size_t",   "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t",
        "uint32_t", "uint64_t", "float2", "float3",  "float4",  "double2"}) {
    if (text == type) return true;
  }
  return false;
}

/// Whether a text is "(name, type)". A name consists of other characters than most types. If both are plain words, the
/// name is the one with the underscore at its end, which names of members often have.
constexpr bool is_field_text(std::string_view text) {
  const std::size_t comma = text.find(',');
  if (text.size() < 2 || text.front() != '(' || text.back() != ')' || comma == std::string_view::npos) return false;
  const std::string_view name = text.substr(1, text.find_last_not_of(' ', comma - 1));
  const std::size_t type_begin = text.find_first_not_of(' ', comma + 1);
  const std::string_view type = text.substr(type_begin, text.size() - 1 - type_begin);
  return is_identifier(name) && !is_builtin_type(name) && !type.empty() &&
         !(is_identifier(type) && type.back() == '_' && name.back() != '_');
}

}  // namespace dynasoar::detail

#define DYNASOAR_CHECK_(Class, index, field)                                                                           \
  static_assert(::dynasoar::detail::is_field_text(#field), "dynasoar: DYNASOAR_FIELDS(" #Class                         \
                                                           ", ...) takes each field as (name, type), in parentheses, " \
                                                           "and the name first. This is not one: " #field);

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
