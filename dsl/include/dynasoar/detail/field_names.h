/// @file
/// Names of fields, for everything that shows objects to people: DYNASOAR_FIELDS gives them by itself, and a class in
/// the paper's form may, with field_names.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <dynasoar/base/view.h>
#include <dynasoar/classes/class_table.h>

namespace dynasoar::detail {

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

}  // namespace dynasoar::detail
