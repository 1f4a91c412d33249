/// @file
/// CsvFile: a table of numbers on disk that is complete up to the last flush, whatever happens to the program.
#pragma once

#include <fstream>
#include <string>
#include <vector>

namespace app {

class CsvFile {
 public:
  /// Creates the file with a header line, so that a wrong path shows before the run.
  ///
  /// @throws UsageError if it cannot be written
  CsvFile(std::string path, const std::vector<std::string>& columns);

  void row(const std::vector<std::string>& cells);

  /// @throws std::runtime_error if rows could not be written, such as on a full disk
  void flush();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::ofstream file_;
};

}  // namespace app
