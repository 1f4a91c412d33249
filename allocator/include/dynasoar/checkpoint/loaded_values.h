/// @file
/// LoadedValues: finds the program's own values in a checkpoint, and reads them. Used by load.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <dynasoar/base/view.h>
#include <dynasoar/checkpoint/descriptions.h>
#include <dynasoar/checkpoint/error.h>
#include <dynasoar/checkpoint/format.h>
#include <dynasoar/checkpoint/items.h>
#include <dynasoar/checkpoint/reader.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

/// An item that is being loaded.
struct LoadedItem : CheckpointItem {
  std::vector<std::byte> elements;  // kept here, for items in host memory, until everything has been read
  bool is_found = false;

  bool may_have_any_size() const { return assign != nullptr; }

  /// Stores the loaded elements in the program's item.
  void take_over() const {
    if (may_have_any_size()) {
      assign(vector, elements.data(), size);
    } else if (!elements.empty()) {
      std::memcpy(const_cast<void*>(data), elements.data(), elements.size());
    }
  }
};

/// The program's own values in a file.
class LoadedValues {
 public:
  LoadedValues(CheckpointReader& reader, View<const CheckpointItem*> items) : reader_(reader) {
    for (const CheckpointItem* const item : items) items_.push_back({*item, {}, false});
  }

  /// Finds the program's item for each value of the file, and allocates memory for it. @throws CheckpointError if they
  /// do not fit each other
  void match(Others others) {
    reader_.read(Section::items, text_);
    if (!text_.empty() && text_.back() != '\n') reader_.fail_damaged("a value has no description");
    std::set<std::string> names;
    std::uint64_t left = reader_.bytes(Section::values);
    std::string_view text = text_;
    ItemDescription value;
    for (std::string_view line; take_line(text, line);) {
      if (!parse_item(line, value)) reader_.fail_damaged("a value has no description");
      if (!names.insert(value.name).second) reader_.fail_damaged("a value is there twice");
      if (value.size > left / value.element_bytes) reader_.fail_damaged("values are missing");
      left -= value.size * value.element_bytes;
      targets_.push_back({item_for(value, others), value.size * value.element_bytes});
    }
    if (left != 0) reader_.fail_damaged("there are more values than it says");
    for (const LoadedItem& item : items_) {
      if (!item.is_found) fail("has no value '" + item.name + "'" + has());
    }
    make_room();
  }

  /// Reads the values. Stores those of arrays in device memory immediately.
  void read() {
    auto target = targets_.begin();
    std::size_t done = 0;  // bytes of the target
    reader_.for_each(Section::values, [&](CheckpointReader::Contents contents) {
      while (contents.bytes > 0) {
        for (; target != targets_.end() && done == target->bytes; ++target) done = 0;
        if (target == targets_.end()) reader_.fail_damaged("there are more values than it says");
        const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(contents.bytes, target->bytes - done));
        if (target->item != nullptr) put(*target->item, done, contents.data, bytes);
        done += bytes;
        contents.data += bytes;
        contents.bytes -= bytes;
      }
    });
  }

  /// Stores all other values in the program's items. @pre all values have been read
  void take_over() const { take_over(0, items_.size()); }
  void take_over(std::size_t first, std::size_t end) const {
    for (std::size_t i = first; i < end; ++i) items_[i].take_over();
  }

 private:
  /// A value of the file, and the program's item for it; null if the program does not ask for it.
  struct Target {
    LoadedItem* item;
    std::uint64_t bytes;
  };

  [[noreturn]] void fail(const std::string& text) const { reader_.fail(CheckpointFault::other_values, text); }

  std::string has() const {
    std::string lines = text_.substr(0, text_.empty() ? 0 : text_.size() - 1);
    for (std::size_t at = 0; (at = lines.find('\n', at)) != std::string::npos; at += 2) lines.replace(at, 1, ", ");
    return lines.empty() ? "; it has none" : "; it has " + printable(lines);
  }

  /// What the program asks for and the file lacks. Without generations, which only files of checked builds have.
  std::string lacks() const {
    std::string names;
    for (const LoadedItem& item : items_) {
      const bool is_there = ('\n' + text_).find('\n' + item.name + ": ") != std::string::npos;
      if (is_there || item.name.ends_with(kGenerationsText)) continue;
      names += (names.empty() ? "; the program asks for '" : ", '") + item.name + "'";
    }
    if (names.empty()) return "; name its values, and create its lattices, before you load it";
    return names + ", which the file lacks";
  }

  LoadedItem* item_for(const ItemDescription& value, Others others) {
    const auto match =
        std::find_if(items_.begin(), items_.end(), [&](const LoadedItem& item) { return item.name == value.name; });
    if (match == items_.end()) {
      if (others == Others::skipped) return nullptr;
      fail("has a value '" + printable(value.text()) + "' that the program does not ask for" + lacks());
    }
    if (match->may_have_any_size()) match->size = value.size;
    if (match->text() != value.text()) {
      fail("has a value '" + printable(value.text()) + "', and the program asks for '" + match->text() + "'");
    }
    match->is_found = true;
    return &*match;
  }

  void make_room() {
    for (LoadedItem& item : items_) {
      if (item.may_have_any_size()) reader_.take_memory(item.bytes());
      if (!item.is_in_device_memory) item.elements.resize(item.bytes());
    }
  }

  static void put(LoadedItem& item, std::size_t offset, const char* from, std::size_t bytes) {
    if (item.is_in_device_memory) {
      copy_to_device(static_cast<char*>(const_cast<void*>(item.data)) + offset, from, bytes);
    } else {
      std::memcpy(item.elements.data() + offset, from, bytes);
    }
  }

  CheckpointReader& reader_;
  std::vector<LoadedItem> items_;
  std::string text_;             // the section `items`
  std::vector<Target> targets_;  // in the order of the file
};

}  // namespace dynasoar::detail
