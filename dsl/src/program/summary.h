/// @file
/// Summary: the table that a program prints at its end, with a name and one or more values in each row. Used by Run.
#pragma once

#include <string>
#include <vector>

namespace dynasoar::program {

class Summary {
 public:
  /// Starts a group of rows. The first cell is its title, the others are headings of columns.
  void section(std::vector<std::string> cells);

  /// Adds a row: a name and its values, which are aligned to the right.
  void row(std::vector<std::string> cells);

  /// The whole table, with a line break after each line.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace dynasoar::program
