/// @file
/// load_values: reads values of a checkpoint without its objects.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/allocator/checkpoint_error.h>
#include <dynasoar/allocator/checkpoint_format.h>
#include <dynasoar/allocator/checkpoint_reader.h>
#include <dynasoar/checkpoint_items.h>
#include <dynasoar/platform/error.h>

namespace dynasoar {

namespace detail {

/// Reads values of the host's, and nothing else, from any checkpoint.
class ValueLoader {
 public:
  ValueLoader(const std::string& path, std::vector<CheckpointItem> items) : reader_(path), items_(std::move(items)) {}

  void load() {
    CheckpointReader::Contents contents{};
    for (reader_.rewind(); reader_.next(contents);) {
      if (contents.section == Section::items) text_.append(contents.data, contents.bytes);
      if (contents.section != Section::values) continue;
      if (parts_.empty()) find_parts();
      take(contents);
    }
    if (parts_.empty()) find_parts();
    for (CheckpointItem& item : items_) {
      if (item.take_over) item.take_over();
    }
  }

 private:
  /// A value of the file, and where to: null if nobody asks for it.
  struct Part {
    char* to;
    std::uint64_t bytes;
  };

  void find_parts() {
    std::vector<std::string> found;
    for (std::size_t begin = 0; begin < text_.size();) {
      const std::string line = text_.substr(begin, text_.find('\n', begin) - begin);
      begin += line.size() + 1;
      const std::size_t colon = line.find(':'), kind = line.rfind(' ') + 1;
      if (colon == std::string::npos || kind < colon + 3) reader_.fail_damaged("a value has no description");
      const std::uint64_t size = std::strtoull(line.c_str() + colon + 2, nullptr, 10);
      Part part{nullptr, size * std::strtoull(line.c_str() + kind + 1, nullptr, 10)};
      const auto item = std::find_if(items_.begin(), items_.end(),
                                     [&](const CheckpointItem& i) { return i.name == line.substr(0, colon); });
      if (item != items_.end()) {
        if (item->make_room) item->size = size;
        if (item->text() != line) {
          reader_.fail(CheckpointFault::other_values,
                       "has a value '" + line + "', and the program asks for '" + item->text() + "'");
        }
        part.to = static_cast<char*>(item->make_room ? item->make_room(size) : const_cast<void*>(item->data));
        found.push_back(item->name);
      }
      parts_.push_back(part);
    }
    for (const CheckpointItem& item : items_) {
      if (std::find(found.begin(), found.end(), item.name) != found.end()) continue;
      reader_.fail(CheckpointFault::other_values, "has no value '" + item.name + "'");
    }
  }

  void take(CheckpointReader::Contents contents) {
    for (; contents.bytes > 0 && part_ < parts_.size();) {
      Part& part = parts_[part_];
      const std::size_t bytes = std::min<std::size_t>(contents.bytes, part.bytes - done_);
      if (part.to != nullptr && bytes > 0) std::memcpy(part.to + done_, contents.data, bytes);
      contents.data += bytes;
      contents.bytes -= bytes;
      done_ += bytes;
      if (done_ == part.bytes) ++part_, done_ = 0;
    }
  }

  CheckpointReader reader_;
  std::vector<CheckpointItem> items_;
  std::string text_;
  std::vector<Part> parts_;
  std::size_t part_ = 0;
  std::uint64_t done_ = 0;  // of the part
};

}  // namespace detail

/// Reads some of the values and vectors of a checkpoint, and no objects, for programs that must know what is in it
/// before they make a handle: `load_values("run.checkpoint", dynasoar::value("width", width))`. It may be a checkpoint
/// of other classes.
///
/// @throws CheckpointError if the file is damaged or has no such values, or of other types; Error if it cannot be read
/// @par Cost   reads the whole file, because its checksums are checked
template <class... Items>
void load_values(const std::string& path, const Items&... items) {
  static_assert(
      (true && ... && std::is_same_v<Items, CheckpointItem>),
      "dynasoar: load_values takes what value(name, variable) and array(name, vector) make of things that can "
      "be changed: one of these is constant, or something else");
  if ((false || ... || items.is_in_device_memory)) {
    throw Error(
        "dynasoar: load_values reads values and vectors of the host's; load arrays in device memory with a handle");
  }
  detail::ValueLoader(path, {items...}).load();
}

}  // namespace dynasoar
