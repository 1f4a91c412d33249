#include "log_file.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <dynasoar/detail/escaped_text.h>
#include <dynasoar/platform/durable_file.h>
#include <dynasoar/program/options.h>
#include <dynasoar/write_file.h>

namespace dynasoar::program {
namespace {

std::string text_of(const Column& column, double value) {
  if (std::isnan(value)) return {};  // no value, such as the minimum over no objects
  return column.is_count ? fmt::format("{:.0f}", value) : fmt::format("{}", value);
}

}  // namespace

void LogFile::check(const std::string& path) {
  const std::filesystem::path ending = std::filesystem::path(path).extension();
  if (ending != ".csv" && ending != ".jsonl") {
    throw UsageError(fmt::format("--log: '{}' must end in .csv, or in .jsonl for JSON lines", path));
  }
  try {
    dynasoar::check_output_path(path, dynasoar::OutputUse::in_place);
  } catch (const std::runtime_error& error) {
    throw UsageError(fmt::format("--log: {}", error.what()));
  }
}

LogFile::LogFile(std::string path, const std::vector<Column>& columns)
    : path_(std::move(path)), columns_(columns), is_json_(std::filesystem::path(path_).extension() == ".jsonl") {
  check(path_);
  file_ = std::make_unique<dynasoar::detail::OutputFile>(path_);
  if (is_json_) return;
  unwritten_ = "step";
  for (const Column& column : columns_) unwritten_ += ',' + dynasoar::detail::csv_text(column.name);
  unwritten_ += '\n';
  flush();
}

LogFile::~LogFile() {
  try {
    if (file_) flush();
  } catch (const std::exception&) {
    // A caller that needs the error calls flush().
  }
}

void LogFile::add(std::size_t step, const Row& values) {
  std::string line = fmt::format(fmt::runtime(is_json_ ? "{{\"step\": {}" : "{}"), step);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string value = text_of(columns_[i], values[i]);
    if (!is_json_) {
      line += ',' + value;
    } else {  // numbers in JSON are finite
      line += fmt::format(", {}: {}", dynasoar::detail::json_text(columns_[i].name),
                          std::isfinite(values[i]) ? value : "null");
    }
  }
  unwritten_ += line + (is_json_ ? "}\n" : "\n");
}

void LogFile::flush() {
  const std::uint64_t before = file_->size();
  try {
    file_->write(unwritten_.data(), unwritten_.size());
  } catch (...) {
    forget_written(before);
    throw;
  }
  forget_written(before);
}

void LogFile::forget_written(std::uint64_t before) {
  const auto written = static_cast<std::size_t>(file_->size() - before);
  const std::size_t end = std::string_view(unwritten_).substr(0, written).rfind('\n');
  if (end != std::string_view::npos) complete_ = before + end + 1;
  unwritten_.erase(0, written);
}

void LogFile::give_up() {
  // A file that cannot be truncated keeps its incomplete line.
  [[maybe_unused]] const int result = ::ftruncate(file_->number(), static_cast<off_t>(complete_));
  unwritten_.clear();
}

void LogFile::finish() {
  try {
    flush();
  } catch (...) {
    give_up();
    throw;
  }
  struct stat opened {};
  struct stat named {};
  if (::fstat(file_->number(), &opened) != 0 || !S_ISREG(opened.st_mode)) return;
  if (::stat(path_.c_str(), &named) != 0 || opened.st_ino != named.st_ino || opened.st_dev != named.st_dev) {
    throw std::runtime_error(fmt::format("{} was removed or replaced during the run", path_));
  }
}

}  // namespace dynasoar::program
