#include "step_log.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <app/error.h>
#include <app/output.h>

namespace app {
namespace {

bool ends_in(const std::string& path, const char* ending) {
  return std::filesystem::path(path).extension() == ending;
}

}  // namespace

void StepLog::check(const std::string& path) {
  if (!ends_in(path, ".csv") && !ends_in(path, ".jsonl")) {
    throw UsageError(fmt::format("--log: '{}' must end in .csv or .jsonl (see --help)", path));
  }
  require_writable_file(path);
}

StepLog::StepLog(std::string path, const std::vector<Column>& columns)
    : path_(std::move(path)), columns_(columns), is_json_(ends_in(path_, ".jsonl")) {
  check(path_);
  file_.open(path_, std::ios::trunc);
  if (is_json_) return;
  std::string line = "step";
  for (const Column& column : columns_) line += ',' + column.name;
  fmt::print(file_, "{},seconds\n", line);
}

void StepLog::add(std::size_t step, const Row& row) {
  if (!file_) return;
  std::string line = is_json_ ? fmt::format("{{\"step\": {}", step) : fmt::format("{}", step);
  for (std::size_t i = 0; i < row.size(); ++i) {
    std::string value = columns_[i].is_count ? fmt::format("{:.0f}", row[i]) : fmt::format("{}", row[i]);
    if (is_json_ && !std::isfinite(row[i])) value = "null";  // of which JSON has no other
    line += is_json_ ? fmt::format(", \"{}\": {}", columns_[i].name, value) : ',' + value;
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  fmt::print(file_, is_json_ ? "{}, \"seconds\": {:.6f}}}\n" : "{},{:.6f}\n", line, seconds);
}

void StepLog::flush() {
  errno = 0;
  file_.flush();
  if (!file_) throw std::runtime_error(fmt::format("cannot write {}: {}", path_, std::strerror(errno)));
}

}  // namespace app
