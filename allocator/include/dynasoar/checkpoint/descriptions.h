/// @file
/// Descriptions: writes, parses and compares the texts in a checkpoint that describe its classes and the program's own
/// values. Used by save.cpp, load.cpp and loaded_values.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <dynasoar/checkpoint/items.h>
#include <dynasoar/classes/class_table.h>

namespace dynasoar::detail {

/// Describes the classes of an allocator and the positions of their fields. A file fits a program that has the same
/// text. The text has a line for the heap, and a line for each class, such as "Fish: 1536 bytes, 5 per page: p8 at 0,
/// u4 at 512, 3 * f4 at 768".
std::string describe_classes(const ClassTable& classes);

/// The classes in such a text, with the details that are needed to check the file of another program.
class DescribedClasses {
 public:
  /// @param text   must outlive this object. @return whether it describes classes that an allocator can have
  bool parse(std::string_view text);

  const ClassTable& table() const { return table_; }

 private:
  bool parse_class(std::string_view line);

  std::vector<ClassInfo> infos_;
  ClassTable table_{};
};

/// Describes, for a message, the difference between the classes of a file and those of a program.
std::string difference_in_classes(std::string_view file, std::string_view program);

/// Parses the output of ItemDescription::text. @return whether the line is such a text
bool parse_item(std::string_view line, ItemDescription& item);

/// Converts text of a file for a message: control characters become \xNN, and long text is cut.
std::string printable(std::string_view text);

/// Removes the first line from a text, and stores it without its end. @return false if the text is empty
bool take_line(std::string_view& text, std::string_view& line);

}  // namespace dynasoar::detail
