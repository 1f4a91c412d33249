#include "report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <dynasoar/write_file.h>

namespace benchmarks {
namespace {

std::string first_line_of_command(const char* command) {
  const auto close = [](std::FILE* file) { static_cast<void>(pclose(file)); };
  const std::unique_ptr<std::FILE, decltype(close)> pipe(popen(command, "r"), close);
  std::array<char, 256> line{};
  if (!pipe || std::fgets(line.data(), line.size(), pipe.get()) == nullptr) return "unknown";
  std::string text = line.data();
  text.erase(text.find_last_not_of("\r\n") + 1);
  return text;
}

std::string parameters_text(const Record& record) {
  std::string text;
  for (const auto& [name, value] : record.parameters)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

double four_digits(double value) {
  return std::stod(fmt::format("{:.4g}", value));
}

}  // namespace

double Record::median() const {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double Record::minimum() const {
  return *std::min_element(values.begin(), values.end());
}

double Record::maximum() const {
  return *std::max_element(values.begin(), values.end());
}

void Report::add(Record record) {
  if (record.values.empty()) throw std::runtime_error("a record needs at least one value");
  if (checked_build()) record.benchmark = "checked " + record.benchmark;
  if (records_.empty())
    fmt::print("{:<26}{:<46}{:<38}{:<26}{:>12}  {:<10}(min to max)\n", "benchmark", "variant", "parameters", "metric",
               "median", "unit");
  fmt::print("{:<26}{:<46}{:<38}{:<26}{:>12.5g}  {:<10}({:.5g} to {:.5g})\n", record.benchmark, record.variant,
             parameters_text(record), record.metric, record.median(), record.unit, record.minimum(), record.maximum());
  std::fflush(stdout);
  records_.push_back(std::move(record));
}

// The format is described in scripts/benchmark_results.py, which reads it.
void Report::write_json(const std::string& path) const {
  const nlohmann::ordered_json run = {
      {"device", device_name()},
      {"driver",
       cuda_backend() ? first_line_of_command("nvidia-smi --query-gpu=driver_version --format=csv,noheader") : "none"},
      {"cuda", DYNASOAR_BENCHMARK_CUDA},
      {"compiler", DYNASOAR_BENCHMARK_COMPILER},
      {"date", fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)))},
      {"commit", commit_}};
  std::string text = fmt::format("{{\n\"run\": {},\n", run.dump());
  text +=
      R"("columns": ["benchmark","variant","parameters","metric","unit","median","minimum","maximum","repetitions"],)"
      "\n\"records\": [";
  const char* separator = "\n";
  for (const Record& record : records_) {
    const auto row = nlohmann::json::array({record.benchmark, record.variant, record.parameters, record.metric,
                                            record.unit, four_digits(record.median()), four_digits(record.minimum()),
                                            four_digits(record.maximum()), record.values.size()});
    text += separator + row.dump();
    separator = ",\n";
  }
  dynasoar::write_file(path, text + "\n]\n}\n");
}

}  // namespace benchmarks
