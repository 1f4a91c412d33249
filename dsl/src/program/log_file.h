/// @file
/// LogFile: the counts after each step, a line for each step, as CSV or as JSON lines. The file is complete up to the
/// last flush, even if the program crashes. Used by Run.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <dynasoar/program/program.h>

namespace dynasoar::detail {
class OutputFile;
}

namespace dynasoar::program {

class LogFile {
 public:
  /// Creates the file, so that a wrong path is found before the run. A CSV file gets a header line.
  ///
  /// @throws UsageError as `check`
  LogFile(std::string path, const std::vector<Column>& columns);
  ~LogFile();

  /// @param values   one for each column
  void add(std::size_t step, const Row& values);

  /// Writes the added lines. After an error, the next call continues where this one stopped, so that no line is cut.
  /// @throws std::runtime_error if lines could not be written, such as on a full disk
  void flush();

  /// Discards lines that are not written. The file then ends with the last complete line.
  void give_up();

  /// Writes the rest. If this fails, the file ends with the last complete line.
  /// @throws std::runtime_error if lines could not be written, or the file no longer has its name
  void finish();

  const std::string& path() const { return path_; }

  /// @throws UsageError if `path` ends in neither .csv nor .jsonl, or cannot be written
  static void check(const std::string& path);

 private:
  void forget_written(std::uint64_t before);

  std::string path_;
  std::vector<Column> columns_;
  bool is_json_;
  std::unique_ptr<dynasoar::detail::OutputFile> file_;
  std::string unwritten_;
  std::uint64_t complete_ = 0;  // bytes of the file that are complete lines
};

}  // namespace dynasoar::program
