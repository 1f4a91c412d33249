/// @file
/// Names of fields, for everything that shows objects to people: DYNASOAR_FIELDS gives them by itself, and a class in
/// the paper's form may, with field_names.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include <dynasoar/allocator/class_rules.h>
#include <dynasoar/allocator/layout.h>
#include <dynasoar/type_name.h>

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

/// Name of C's own field `index`: the one that the class gives, else "field" and the index, as in SoaField<C, index>.
/// @pre index is less than the number of these fields
template <class C>
std::string own_field_name(std::size_t index) {
  if constexpr (has_own_field_names<C>()) {
    return C::field_names[index];
  } else {
    return "field" + std::to_string(index);
  }
}

/// Appends the names of all fields of C, and the same with the class that declares each: "age_", "Agent::age_".
template <class C>
void append_field_names(std::vector<std::string>& names, std::vector<std::string>& with_classes) {
  if constexpr (!std::is_void_v<C>) {
    append_field_names<typename C::BaseClass>(names, with_classes);
    for (std::size_t i = 0; i != ClassLayout<C>::Own::count; ++i) {
      names.push_back(own_field_name<C>(i));
      with_classes.push_back(std::string(type_name<C>()) + "::" + names.back());
    }
  }
}

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
  std::vector<std::string> names, with_classes;
  detail::append_field_names<C>(names, with_classes);
  std::vector<std::string> result = names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::count(names.begin(), names.end(), names[i]) > 1) result[i] = with_classes[i];
  }
  return result;
}

}  // namespace dynasoar
