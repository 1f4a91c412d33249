#include <dynasoar/checkpoint/items.h>

namespace dynasoar {

std::string detail::ItemDescription::text() const {
  return name + ": " + std::to_string(size) + " * " + kind + std::to_string(element_bytes);
}

SavedItem::SavedItem(std::string_view name, char kind, std::size_t element_bytes, const void* data, std::size_t size,
                     bool is_in_device_memory)
    : detail::ItemDescription{std::string(name), kind, element_bytes, size},
      data(data),
      is_in_device_memory(is_in_device_memory) {}
SavedItem::SavedItem(const SavedItem& other) = default;
SavedItem& SavedItem::operator=(const SavedItem& other) = default;
SavedItem::~SavedItem() = default;

CheckpointItems::CheckpointItems() = default;
CheckpointItems::CheckpointItems(CheckpointItems&& other) noexcept = default;
CheckpointItems& CheckpointItems::operator=(CheckpointItems&& other) noexcept = default;
CheckpointItems::~CheckpointItems() = default;

CheckpointItems& CheckpointItems::add(const CheckpointItem& item) {
  items_.push_back(item);
  return *this;
}

std::vector<const SavedItem*> CheckpointItems::saved() const {
  std::vector<const SavedItem*> items;
  for (CheckpointItem& item : items_) {
    if (item.look != nullptr) {
      const std::span<const std::byte> now = item.look(item.vector);
      item.size = now.size() / item.element_bytes;
      item.data = now.data();
    }
    items.push_back(&item);
  }
  return items;
}

std::vector<const CheckpointItem*> CheckpointItems::loaded() const {
  std::vector<const CheckpointItem*> items;
  for (const CheckpointItem& item : items_) items.push_back(&item);
  return items;
}

}  // namespace dynasoar
