/// @file
/// DeviceClasses: a ClassTable for device code that is compiled once for all programs. Owned by HeapMemory; used by
/// checkpoints and compaction.
#pragma once

#include <cstdint>
#include <vector>

#include <dynasoar/classes/class_table.h>
#include <dynasoar/classes/pointer_format.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

/// A field. The members are those of FieldInfo.
struct CopiedField {
  std::uint32_t offset, bytes, alignment, count, stride;

  static CopiedField of(const FieldInfo& field) {
    const auto number = [](std::size_t value) { return static_cast<std::uint32_t>(value); };
    return {number(field.offset), number(field.bytes), number(field.alignment), number(field.count),
            number(field.stride)};
  }
};

/// A field of pointers to objects, which are handles.
struct PointerField {
  static constexpr bool kIsCompressed = false;
  using Bits = std::uint64_t;

  CopiedField field;
  std::uint32_t pointers;  ///< number of pointers in a value
  ClassSet targets;        ///< the classes to which they may point
};

/// A field of compressed pointers.
struct CompressedField : PointerField {
  static constexpr bool kIsCompressed = true;
  using Bits = std::uint32_t;

  PointerFormat format;
};

/// A listed class.
struct CopiedClass {
  std::uint32_t first_field, end_field;
  std::uint32_t first_pointer_field, end_pointer_field;  ///< without compressed pointers
  std::uint32_t first_compressed_field, end_compressed_field;
  std::uint32_t block_bytes;
  std::uint32_t blocks_per_page;
  bool has_gaps;  ///< whether a block has bytes that belong to no field
};

/// A view of the tables.
struct ClassView {
  const CopiedClass* classes;  ///< by index
  const CopiedField* fields;
  const PointerField* pointer_fields;
  const CompressedField* compressed_fields;
};

class DeviceClasses {
 public:
  DeviceClasses() = default;
  explicit DeviceClasses(const ClassTable& table);

  ClassView view() const {
    return {classes_.data(), fields_.data(), pointer_fields_.data(), compressed_fields_.data()};
  }

 private:
  DeviceArray<CopiedClass> classes_;
  DeviceArray<CopiedField> fields_;
  DeviceArray<PointerField> pointer_fields_;
  DeviceArray<CompressedField> compressed_fields_;
};

}  // namespace dynasoar::detail
