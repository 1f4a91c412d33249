/// @file
/// classes_text: the classes of an allocator and where their fields lie, as text that a checkpoint carries: files fit
/// programs with the same text. Used by checkpoint.cpp and load_checkpoint.cpp of the DSL.
#pragma once

#include <bit>
#include <charconv>
#include <cstddef>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <dynasoar/classes/class_table.h>
#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/layout.h>
#include <dynasoar/heap/any_heap.h>

namespace dynasoar::detail {

/// One line for the heap and one per class: "Fish: 1536 bytes, 5 per page: p8 at 0, u4 at 512, 3 * f4 at 768".
inline std::string classes_text(const ClassTable& classes) {
  std::ostringstream text;
  text.imbue(std::locale::classic());  // files are compared with it, whatever the program's locale is
  text << "pages of " << classes.page_bytes << " bytes, " << classes.block_stride << " block numbers; "
       << AnyHeap::Counter::kShards << " shards\n";
  for (const ClassInfo& info : classes.classes) {
    text << plain_name(info.name) << ": " << info.block_bytes << " bytes, " << info.blocks_per_page << " per page:";
    for (const FieldInfo& field : info.fields) {
      text << ' ';
      if (field.count > 1) text << field.count << " * ";
      text << field.kind << field.bytes << " at " << field.offset;
    }
    text << '\n';
  }
  return text.str();
}

/// The classes that a text of classes_text describes, as far as is needed to check a file of another program.
class DescribedClasses {
 public:
  /// @param text   must outlive this. @return whether it is such a text, of classes that an allocator can have
  bool parse(std::string_view text) {
    std::size_t shards = 0;
    if (!skip(text, "pages of ") || !number(text, table_.page_bytes) || !skip(text, " bytes, ") ||
        !number(text, table_.block_stride) || !skip(text, " block numbers; ") || !number(text, shards) ||
        !skip(text, " shards\n")) {
      return false;
    }
    while (!text.empty()) {
      if (!parse_class(text)) return false;
    }
    table_.classes = infos_;
    table_.slots_per_block = kSlotsPerBlock;
    return shards == AnyHeap::Counter::kShards && std::has_single_bit(table_.block_stride) &&
           table_.block_stride < AnyHeap::kHalfFree && table_.page_bytes <= Handle::kMaxHeapBytes && !infos_.empty() &&
           infos_.size() <= Handle::kMaxTypes;
  }

  const ClassTable& table() const { return table_; }

 private:
  static bool skip(std::string_view& text, std::string_view literal) {
    if (!text.starts_with(literal)) return false;
    text.remove_prefix(literal.size());
    return true;
  }
  template <class Number>
  static bool number(std::string_view& text, Number& value) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    return true;
  }

  bool parse_class(std::string_view& text) {
    std::string_view line = text.substr(0, text.find('\n'));
    if (line.size() == text.size()) return false;  // it has no end
    text.remove_prefix(line.size() + 1);
    ClassInfo info{line.substr(0, line.find(':')), 0, 0, {}};
    line.remove_prefix(info.name.size());
    if (!skip(line, ": ") || !number(line, info.block_bytes) || !skip(line, " bytes, ") ||
        !number(line, info.blocks_per_page) || !skip(line, " per page:")) {
      return false;
    }
    infos_.push_back(info);
    return info.block_bytes > 0 && info.blocks_per_page > 0 && info.blocks_per_page <= table_.block_stride &&
           info.block_bytes <= table_.page_bytes / info.blocks_per_page;
  }

  std::vector<ClassInfo> infos_;
  ClassTable table_{};
};

/// Text of a file for a message: control characters as \xNN, and cut if it is long.
inline std::string printable(std::string_view text) {
  constexpr std::size_t kMost = 200;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string shown;
  for (const char character : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte >= 0x20 && byte != 0x7f) {
      shown += character;
    } else {
      shown += {'\\', 'x', kDigits[byte / 16], kDigits[byte % 16]};
    }
  }
  return text.size() <= kMost ? shown : shown + "...";
}

/// The names of the classes in a text of classes_text, separated by commas.
inline std::string class_names(const std::string& text) {
  std::istringstream lines(text);
  std::string names, line;
  std::getline(lines, line);  // about pages
  while (std::getline(lines, line)) names += (names.empty() ? "" : ", ") + line.substr(0, line.find(':'));
  return names;
}

/// The first line in which two texts differ, each in quotes.
inline std::string first_difference(const std::string& file, const std::string& program) {
  std::istringstream lines(file);
  std::istringstream other_lines(program);
  std::string line;
  std::string other;
  do {
    if (!std::getline(lines, line)) line.clear();
    if (!std::getline(other_lines, other)) other.clear();
  } while (line == other && (lines || other_lines));
  return "the file has '" + printable(line) + "', the program '" + printable(other) + "'";
}

/// How the classes of a file differ from those of a program, for a message.
inline std::string difference_in_classes(const std::string& file, const std::string& program) {
  const std::string names = class_names(file);
  if (names == class_names(program)) return "is of other classes: " + first_difference(file, program);
  return "is of another program: it holds objects of the classes " + printable(names) + ", and this program has " +
         printable(class_names(program));
}

}  // namespace dynasoar::detail
