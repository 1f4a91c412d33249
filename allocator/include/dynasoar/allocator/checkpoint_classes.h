/// @file
/// classes_text: the classes of an allocator and where their fields lie, as text that a checkpoint carries: files fit
/// programs with the same text. Used by checkpoint.cpp of the DSL.
#pragma once

#include <locale>
#include <sstream>
#include <string>

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
  return "the file has '" + line + "', the program '" + other + "'";
}

}  // namespace dynasoar::detail
