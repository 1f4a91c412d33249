#include <app/step_log.h>

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

std::string text_of(const Column& column, double value) {
  return column.is_count ? fmt::format("{:.0f}", value) : fmt::format("{}", value);
}

}  // namespace

void StepLog::check(const std::string& path) {
  const std::filesystem::path ending = std::filesystem::path(path).extension();
  if (ending != ".csv" && ending != ".jsonl") {
    throw UsageError(fmt::format("--log: '{}' must end in .csv, or in .jsonl for JSON lines", path));
  }
  require_writable_file(path);
}

StepLog::StepLog(std::string path, const std::vector<Column>& columns)
    : path_(std::move(path)), columns_(columns), is_json_(std::filesystem::path(path_).extension() == ".jsonl") {
  check(path_);
  file_.open(path_, std::ios::trunc);
  if (is_json_) return;
  file_ << "step";
  for (const Column& column : columns_) file_ << ',' << column.name;
  file_ << '\n';
  file_.flush();
}

void StepLog::add(std::size_t step, const Row& values) {
  std::string line = fmt::format(fmt::runtime(is_json_ ? "{{\"step\": {}" : "{}"), step);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string value = text_of(columns_[i], values[i]);
    if (!is_json_) {
      line += ',' + value;
    } else {  // whose numbers are finite
      line += fmt::format(", \"{}\": {}", columns_[i].name, std::isfinite(values[i]) ? value : "null");
    }
  }
  file_ << line << (is_json_ ? "}\n" : "\n");
}

void StepLog::flush() {
  errno = 0;
  file_.flush();
  if (!file_) throw std::runtime_error(fmt::format("cannot write {}: {}", path_, std::strerror(errno)));
}

}  // namespace app
