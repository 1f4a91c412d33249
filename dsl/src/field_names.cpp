#include <dynasoar/detail/field_names.h>

#include <algorithm>
#include <cstddef>

namespace dynasoar::detail {

std::string field_text(const FieldInfo& field) {
  return std::string(field.owner) + "::" + field.text();
}

std::vector<std::string> field_names_of(View<FieldInfo> fields) {
  std::vector<std::string> names;
  for (const FieldInfo& field : fields) names.push_back(field.text());
  std::vector<std::string> result = names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::count(names.begin(), names.end(), names[i]) > 1) result[i] = field_text(fields[i]);
  }
  return result;
}

}  // namespace dynasoar::detail
