/// @file
/// StepLog: what was measured in each step, a line each, as CSV or as JSON.
#pragma once

#include <chrono>
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include <app/program.h>

namespace app {

class StepLog {
 public:
  /// Creates the file, complete up to the last flush, whatever happens to the program.
  ///
  /// @throws UsageError if it ends in neither .csv nor .jsonl, or cannot be written
  StepLog(std::string path, const std::vector<Column>& columns);

  /// Adds a line: step, columns, and the seconds from the log's beginning until now.
  void add(std::size_t step, const Row& row);

  /// @throws std::runtime_error if lines could not be written, such as on a full disk
  void flush();

  const std::string& path() const { return path_; }

  /// @throws UsageError if a log cannot have this path
  static void check(const std::string& path);

 private:
  using Clock = std::chrono::steady_clock;

  std::string path_;
  std::vector<Column> columns_;
  bool is_json_;
  std::ofstream file_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace app
