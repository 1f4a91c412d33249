#include <dynasoar/detail/log_rows.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include <dynasoar/base/number_text.h>
#include <dynasoar/detail/escaped_text.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/write_file.h>

namespace dynasoar::detail {
namespace {

constexpr std::size_t kAlignment = 16;

[[noreturn]] void throw_no_name() {
  throw Error("dynasoar: a total of a step log has no name: give it the heading of its column");
}

void check_name(const std::string& name) {
  if (name.empty()) throw_no_name();
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(name.begin(), name.end(), is_control)) {
    throw Error("dynasoar: the name of a total has a line break or another control character: " + json_text(name) +
                ". Columns of a step log have headings of one line");
  }
}

bool is_json(const std::string& path) {
  const std::string_view view = path;
  if (view.ends_with(".jsonl")) return true;
  if (view.ends_with(".csv")) return false;
  throw Error("dynasoar: a step log is written as CSV or as JSON lines: '" + path + "' must end in .csv or .jsonl");
}

void append_value(std::string& text, const LogValue& value, bool as_json) {
  std::visit(
      [&]<class T>(const T& number) {
        if constexpr (std::is_same_v<T, std::monostate>) {
          if (as_json) text += "null";
        } else if constexpr (std::is_same_v<T, double>) {
          if (as_json && !std::isfinite(number)) {
            text += "null";
          } else {
            append_number(text, number);
          }
        } else {
          append_number(text, number);
        }
      },
      value);
}

std::string csv_of(const std::vector<std::string>& names, const std::vector<LogRow>& rows) {
  std::string text = "step";
  for (const std::string& name : names) (text += ',') += csv_text(name);
  text += '\n';
  for (const LogRow& row : rows) {
    append_number(text, row.step);
    for (const LogValue& value : row.values) {
      text += ',';
      append_value(text, value, false);
    }
    text += '\n';
  }
  return text;
}

std::string json_lines_of(const std::vector<std::string>& names, const std::vector<LogRow>& rows) {
  std::vector<std::string> keys;
  for (const std::string& name : names) keys.push_back(", " + json_text(name) + ": ");
  std::string text;
  for (const LogRow& row : rows) {
    text += "{\"step\": ";
    append_number(text, row.step);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      text += keys[i];
      append_value(text, row.values[i], true);
    }
    text += "}\n";
  }
  return text;
}

constexpr std::size_t kMostBins = 1024;

/// The shortest text for an edge, without an exponent if the edge is a whole number of at most 15 digits.
std::string text_of_edge(double edge) {
  if (edge != std::trunc(edge) || std::abs(edge) >= 1e15) return number_text(edge);
  return number_text(static_cast<std::int64_t>(edge));
}

}  // namespace

std::vector<double> edges_of_bins(const std::string& name, double low, double high, std::size_t bins) {
  if (!std::isfinite(high - low) || !(low < high) || bins == 0 || bins > kMostBins) {
    throw Error("dynasoar: the histogram " + json_text(name) +
                " needs a range from a number to a greater one and 1 to " + number_text(kMostBins) + " bins, not " +
                number_text(bins) + " bins from " + number_text(low) + " to " + number_text(high));
  }
  std::vector<double> edges(bins + 1, high);
  for (std::size_t i = 0; i < bins; ++i) {
    edges[i] = low + (high - low) * static_cast<double>(i) / static_cast<double>(bins);
  }
  return edges;
}

std::vector<std::string> names_of_bins(const std::string& name, const std::vector<double>& edges) {
  if (name.empty()) throw_no_name();
  if (edges.size() < 2 || edges.size() > kMostBins + 1) {
    throw Error("dynasoar: the histogram " + json_text(name) + " has 2 to " + number_text(kMostBins + 1) +
                " edges, not " + number_text(edges.size()));
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    if (!std::isfinite(edges[i]) || !std::isfinite(edges[i + 1]) || !(edges[i] < edges[i + 1])) {
      throw Error("dynasoar: the edges of the histogram " + json_text(name) +
                  " must be finite, and each greater than the one before, not " + number_text(edges[i]) + ", " +
                  number_text(edges[i + 1]));
    }
    names.push_back(name + '_' + text_of_edge(edges[i]) + '_' + text_of_edge(edges[i + 1]));
  }
  return names;
}

double checked_unit(const std::string& name, double unit) {
  if (std::isfinite(unit) && unit > 0) return unit;
  throw Error("dynasoar: the unit of the sum " + json_text(name) + " must be above 0 and finite, not " +
              number_text(unit));
}

LogRows::LogRows(Executor& executor, Attachments& attachments)
    : executor_(executor), attachments_(attachments), cursor_((executor.check_may_wait(), 1)) {
  cursor_.fill_bytes(0);
  attachments_.add(*this);
}

LogRows::~LogRows() {
  attachments_.remove(*this);
}

void LogRows::check_may_add(const std::vector<std::string>& names) const {
  executor_.check_may_wait();  // memory may not be allocated in a step
  if (has_begun_) throw Error("dynasoar: a step log gets its totals before its first row is recorded");
  std::vector<std::string> all = names_;
  all.emplace_back("step");
  for (const std::string& name : names) {
    check_name(name);
    if (std::find(all.begin(), all.end(), name) != all.end()) {
      throw Error("dynasoar: a step log cannot have two columns called " + json_text(name) +
                  (name == "step" ? ": the first column has this name" : ": give each total a name of its own"));
    }
    all.push_back(name);
  }
}

void LogRows::add(const std::vector<std::string>& names, const std::vector<bool>& are_counts,
                  std::unique_ptr<LoggedTotals> totals, std::size_t bytes) {
  const std::size_t row_bytes = (row_bytes_ + bytes + kAlignment - 1) / kAlignment * kAlignment;
  DeviceArray<char> memory(LogTarget::kRows * row_bytes);
  memory.fill_bytes(0);  // rows may have padding
  memory_ = std::move(memory);
  row_bytes_ = row_bytes;
  parts_.push_back(std::move(totals));
  names_.insert(names_.end(), names.begin(), names.end());
  are_counts_.insert(are_counts_.end(), are_counts.begin(), are_counts.end());
}

void LogRows::begin_row() {
  Executor::check_may_submit();
  if (parts_.empty()) throw Error("dynasoar: a step log without totals cannot record: add some with add<Class>(...)");
  has_begun_ = true;
  if (!executor_.is_recording()) {
    rows_of_step_ = 0;  // those of a recording that has ended
    make_room(1);
    ++possible_;
    return;
  }
  if (rows_of_step_ == LogTarget::kRows) {
    throw Error("dynasoar: a recorded step can add at most " + number_text(LogTarget::kRows) + " rows to a step log");
  }
  rows_of_replay_ = std::max(rows_of_replay_, ++rows_of_step_);
}

void LogRows::before_replay() {
  make_room(rows_of_replay_);
  possible_ += rows_of_replay_;
}

void LogRows::make_room(std::uint64_t rows) {
  if (possible_ + rows > LogTarget::kRows) drain();
}

void LogRows::drain() {
  executor_.wait();
  LogTarget::Cursor cursor{};
  copy_from_device(&cursor, cursor_.data(), sizeof cursor);
  const auto count = static_cast<std::size_t>(std::min(cursor.rows, LogTarget::kRows));
  std::vector<char> bytes(count * row_bytes_);
  if (count > 0) copy_from_device(bytes.data(), memory_.data(), bytes.size());
  std::vector<LogRow> taken;
  taken.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const char* const at = bytes.data() + i * row_bytes_;
    LogRow row{*reinterpret_cast<const std::uint64_t*>(at), {}};
    row.values.reserve(names_.size());
    for (const auto& part : parts_) part->read(at, row.values);
    taken.push_back(std::move(row));
  }
  const std::size_t all = rows_.size() + count;
  if (all > rows_.capacity()) rows_.reserve(std::max(all, 2 * rows_.capacity()));
  // Until here, an exception leaves the rows on the device. From here on, only a failed device throws.
  const LogTarget::Cursor empty{0, cursor.next};
  copy_to_device(cursor_.data(), &empty, sizeof empty);
  possible_ = rows_of_step_ = 0;
  std::move(taken.begin(), taken.end(), std::back_inserter(rows_));
  if (cursor.rows > count) {
    throw Error("dynasoar: a step log lost " + number_text(cursor.rows - count) +
                " rows, for which there was no room in device memory: a CUDA graph of your own has added more than " +
                number_text(LogTarget::kRows) + ". Call rows() before, or record the step with handle.record");
  }
}

const std::vector<LogRow>& LogRows::rows() {
  executor_.check_may_wait();
  drain();
  return rows_;
}

std::vector<LogRow> LogRows::take_rows() {
  rows();
  return std::exchange(rows_, {});
}

void LogRows::write(const std::string& path) {
  const bool as_json = is_json(path);
  rows();
  write_file(path, as_json ? json_lines_of(names_, rows_) : csv_of(names_, rows_));
}

}  // namespace dynasoar::detail
