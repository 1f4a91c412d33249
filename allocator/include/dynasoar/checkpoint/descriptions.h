/// @file
/// Descriptions: the text that a checkpoint carries about its classes and about the program's own values. Here it is
/// written, parsed and compared. Used by save.cpp, load.cpp and loaded_values.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <dynasoar/checkpoint/items.h>
#include <dynasoar/classes/class_table.h>

namespace dynasoar::detail {

/// The classes of an allocator and where their fields lie. A file fits a program that has the same text: a line for the
/// heap, and one per class, such as "Fish: 1536 bytes, 5 per page: p8 at 0, u4 at 512, 3 * f4 at 768".
std::string describe_classes(const ClassTable& classes);

/// The classes that such a text describes, as far as is needed to check the file of another program.
class DescribedClasses {
 public:
  /// @param text   must outlive this. @return whether it describes classes that an allocator can have
  bool parse(std::string_view text);

  const ClassTable& table() const { return table_; }

 private:
  bool parse_class(std::string_view line);

  std::vector<ClassInfo> infos_;
  ClassTable table_{};
};

/// How the classes of a file differ from those of a program, for a message.
std::string difference_in_classes(std::string_view file, std::string_view program);

/// Parses what ItemDescription::text writes. @return whether the line is such a text
bool parse_item(std::string_view line, ItemDescription& item);

/// Text of a file for a message: control characters as \xNN, and cut if it is long.
std::string printable(std::string_view text);

/// Takes the next line off a text, without its end. @return false if the text is empty
bool take_line(std::string_view& text, std::string_view& line);

}  // namespace dynasoar::detail
