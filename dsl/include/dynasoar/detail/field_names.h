/// @file
/// Names of fields, for output that people read. DYNASOAR_FIELDS defines them. A class that declares its fields as in
/// the paper can define them with field_names.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <dynasoar/base/view.h>
#include <dynasoar/classes/class_table.h>

namespace dynasoar::detail {

/// Names of a class's own fields, in order. A class without fields has one entry, which is null.
template <std::size_t count>
struct FieldNames {
  const char* names[count > 0 ? count : 1];
  static constexpr std::size_t size() { return count; }
  constexpr const char* operator[](std::size_t index) const { return names[index]; }
  constexpr const char* const* begin() const { return names; }
  constexpr const char* const* end() const { return names + count; }
};

/// Unambiguous names of fields, see all_field_names.
std::vector<std::string> field_names_of(View<FieldInfo> fields);

/// The name of a field with its class: "Agent::age_".
std::string field_text(const FieldInfo& field);

}  // namespace dynasoar::detail
