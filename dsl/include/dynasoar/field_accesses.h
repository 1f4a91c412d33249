/// @file
/// FieldAccesses: how often loops read and wrote each field, as numbers, as a table and as JSON; from builds that count
/// this (DYNASOAR_COUNT_ACCESSES).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace dynasoar {

/// Accesses to a field of the objects of one class.
struct FieldAccess {
  std::string loop;                ///< empty: all loops together, and what was outside of them
  std::string type;                ///< run-time class of the objects
  std::string field;               ///< its name in all_field_names<type>()
  std::uint64_t reads = 0;         ///< of the value, or of an element of an array
  std::uint64_t writes = 0;        ///< assignments; `+=` and the like are a read and a write
  std::uint64_t by_reference = 0;  ///< `get()`, `&field` and elements of arrays, where the object is not const

  std::uint64_t all() const { return reads + writes + by_reference; }
};

/// What was counted since the handle was made.
struct FieldAccesses {
  std::vector<FieldAccess> loops;   ///< those that are not 0, in the order in which loops ran first
  std::vector<FieldAccess> fields;  ///< all fields of all listed classes, over all loops; those never accessed, too
};

/// A table: a line for each loop and field that it accesses, then one for each field.
std::ostream& operator<<(std::ostream& out, const FieldAccesses& accesses);

/// The same as a JSON object, on one line, with the arrays `loops` and `fields`. Names are those of the members.
std::string to_json(const FieldAccesses& accesses);

}  // namespace dynasoar
