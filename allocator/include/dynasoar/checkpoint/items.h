/// @file
/// The program's own values and arrays in a checkpoint: `value` and `array`, for AllocatorHandle::save and load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/classes/class_table.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar {

namespace detail {

/// The description of a program's value or array in a checkpoint.
struct ItemDescription {
  std::string name;
  char kind = 0;                    ///< the kind of an element, see value_kind
  std::uint64_t element_bytes = 0;  ///< bytes of an element
  std::uint64_t size = 0;           ///< number of elements

  /// The description as text: "cells: 4096 * u4". See parse_item.
  std::string text() const;
};

/// The end of the names of arrays with the generations of placed objects, which files of checked builds have.
inline constexpr std::string_view kGenerationsText = ", generations";

/// The treatment of values in a file that the program does not ask for.
enum class Others { refused, skipped };

}  // namespace detail

/// A value or array of the program that can be saved. Made by `value` and `array`.
struct SavedItem : detail::ItemDescription {
  const void* data;  ///< null if there are none
  bool is_in_device_memory;

  SavedItem(std::string_view name, char kind, std::size_t element_bytes, const void* data, std::size_t size,
            bool is_in_device_memory);
  SavedItem(const SavedItem& other);
  SavedItem& operator=(const SavedItem& other);
  ~SavedItem();

  /// Bytes of all elements.
  std::size_t bytes() const { return static_cast<std::size_t>(size * element_bytes); }
};

/// A value or array of the program that can be saved and loaded.
struct CheckpointItem : SavedItem {
  using SavedItem::SavedItem;

  /// For a vector, which gets its size from the file: the vector, its current elements, and the function that stores
  /// the loaded elements. Otherwise null.
  void* vector = nullptr;
  std::span<const std::byte> (*look)(const void* vector) = nullptr;
  void (*assign)(void* vector, const void* elements, std::size_t size) = nullptr;
};

/// Items that several parts of a program contribute to one argument of save and load:
///
///     dynasoar::CheckpointItems items;
///     items.add(dynasoar::value("step", step)).add(dynasoar::array("cells", cells));
class CheckpointItems {
 public:
  CheckpointItems();
  CheckpointItems(CheckpointItems&& other) noexcept;
  CheckpointItems& operator=(CheckpointItems&& other) noexcept;
  ~CheckpointItems();

  CheckpointItems& add(const CheckpointItem& item);

  /// The current contents of the items.
  std::vector<const SavedItem*> saved() const;
  std::vector<const CheckpointItem*> loaded() const;

 private:
  mutable std::vector<CheckpointItem> items_;  // saving looks up the address of a vector's elements
};

namespace detail {

template <class T>
CheckpointItem item_of(std::string_view name, const T* data, std::size_t size, bool is_in_device_memory) {
  static_assert(std::is_trivially_copyable_v<T>,
                "dynasoar: a checkpoint holds values as bytes: save trivially copyable ones, or arrays of them");
  return {name, value_kind<T>(), sizeof(T), data, size, is_in_device_memory};
}

}  // namespace detail

/// A value with a name: `value("step", step)`. It may be a struct. Pointers to objects in it stay valid. If it has
/// pointers to the host's memory, the data to which they point is not saved.
/// @tparam T   trivially copyable
template <class T>
SavedItem value(std::string_view name, const T& value) {
  return detail::item_of(name, &value, 1, false);
}
template <class T>
requires(!std::is_const_v<T>) CheckpointItem value(std::string_view name, T& value) {
  return detail::item_of(name, &value, 1, false);
}

/// `size` elements in device memory, which may be pointers to objects. The array must have the same size when it is
/// loaded.
template <class T>
std::conditional_t<std::is_const_v<T>, SavedItem, CheckpointItem> array(std::string_view name, T* data,
                                                                        std::size_t size) {
  return detail::item_of<std::remove_const_t<T>>(name, data, size, true);
}
template <class T>
CheckpointItem array(std::string_view name, const DeviceArray<T>& elements) {
  return array(name, elements.data(), elements.size());
}

/// A vector. Loading sets it to its saved size.
template <class T>
SavedItem array(std::string_view name, const std::vector<T>& elements) {
  return detail::item_of(name, elements.data(), elements.size(), false);
}
template <class T>
CheckpointItem array(std::string_view name, std::vector<T>& elements) {
  CheckpointItem item = detail::item_of(name, elements.data(), elements.size(), false);
  item.vector = &elements;
  item.look = [](const void* vector) {
    return std::as_bytes(std::span<const T>(*static_cast<const std::vector<T>*>(vector)));
  };
  item.assign = [](void* vector, const void* loaded, std::size_t size) {
    std::vector<T>& to = *static_cast<std::vector<T>*>(vector);
    to.resize(size);
    if (size > 0) std::memcpy(to.data(), loaded, size * sizeof(T));
  };
  return item;
}

}  // namespace dynasoar
