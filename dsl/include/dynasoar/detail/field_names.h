/// @file
/// Names of fields, for everything that shows objects to people: DYNASOAR_FIELDS gives them by itself, and a class in
/// the paper's form may, with field_names.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include <dynasoar/base/view.h>
#include <dynasoar/classes/class_table.h>

namespace dynasoar {

namespace detail {

/// Names of a class's own fields, in order; of size 1 and holding null for a class without fields.
template <std::size_t count>
struct FieldNames {
  const char* names[count > 0 ? count : 1];
  static constexpr std::size_t size() { return count; }
  constexpr const char* operator[](std::size_t index) const { return names[index]; }
  constexpr const char* const* begin() const { return names; }
  constexpr const char* const* end() const { return names + count; }
};

/// Names of fields, each of them once, see all_field_names.
std::vector<std::string> field_names_of(View<FieldInfo> fields);

/// "Agent::age_".
std::string field_text(const FieldInfo& field);

}  // namespace detail

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
