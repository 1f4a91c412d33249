#include <dynasoar/classes/class_table.h>

#include <algorithm>

namespace dynasoar::detail {

std::string FieldInfo::text() const {
  return name != nullptr ? name : "field" + std::to_string(number);
}

std::size_t ClassTable::largest_block_bytes() const {
  std::size_t largest = 0;
  for (const ClassInfo& info : classes) largest = std::max(largest, info.block_bytes);
  return largest;
}

std::uint64_t ClassTable::pages_for(std::size_t type, std::uint64_t objects) const {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  const std::uint64_t blocks = (std::min(objects, kMost) + slots_per_block - 1) / slots_per_block;
  const std::uint64_t pages = (blocks + classes[type].blocks_per_page - 1) / classes[type].blocks_per_page;
  return pages + pages / 8 + 1;
}

}  // namespace dynasoar::detail
