/// @file
/// classes_text: the classes of an allocator and where their fields lie, as text that a checkpoint carries: files fit
/// programs with the same text. Used by checkpoint.cpp of the DSL.
#pragma once

#include <cstddef>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>

#include <dynasoar/allocator/any_heap.h>
#include <dynasoar/allocator/class_table.h>

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
