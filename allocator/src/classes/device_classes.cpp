#include <dynasoar/classes/device_classes.h>

#include <cstddef>

namespace dynasoar::detail {

namespace {

template <class T>
DeviceArray<T> uploaded(const std::vector<T>& values) {
  DeviceArray<T> array(values.size());
  array.upload(values);
  return array;
}

}  // namespace

DeviceClasses::DeviceClasses(const ClassTable& table) {
  std::vector<CopiedClass> classes;
  std::vector<CopiedField> fields;
  std::vector<PointerField> pointer_fields;
  std::vector<CompressedField> compressed_fields;
  const auto number = [](std::size_t value) { return static_cast<std::uint32_t>(value); };
  for (const ClassInfo& info : table.classes) {
    CopiedClass& copy = classes.emplace_back();
    copy.first_field = number(fields.size());
    copy.first_pointer_field = number(pointer_fields.size());
    copy.first_compressed_field = number(compressed_fields.size());
    std::size_t bytes = 0;
    for (const FieldInfo& field : info.fields) {
      fields.push_back(CopiedField::of(field));
      bytes += field.count * field.stride;
      if (field.targets.empty()) continue;
      const PointerField pointers{fields.back(), number(field.pointers), field.targets};
      if (field.format == nullptr) {
        pointer_fields.push_back(pointers);
      } else {
        compressed_fields.push_back({pointers, *field.format});
      }
    }
    copy.end_field = number(fields.size());
    copy.end_pointer_field = number(pointer_fields.size());
    copy.end_compressed_field = number(compressed_fields.size());
    copy.block_bytes = number(info.block_bytes);
    copy.blocks_per_page = info.blocks_per_page;
    copy.has_gaps = bytes != info.block_bytes;
  }
  classes_ = uploaded(classes);
  fields_ = uploaded(fields);
  pointer_fields_ = uploaded(pointer_fields);
  compressed_fields_ = uploaded(compressed_fields);
}

}  // namespace dynasoar::detail
