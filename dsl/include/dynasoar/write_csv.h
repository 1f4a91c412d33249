/// @file
/// write_csv: columns as a CSV file. Not part of dynasoar.h, because few files need it.
#pragma once

#include <cstddef>
#include <string>

#include <dynasoar/base/number_text.h>
#include <dynasoar/columns.h>
#include <dynasoar/platform/durable_file.h>

namespace dynasoar {

namespace detail {

/// Text for a cell: in quotes if it must be (RFC 4180).
inline std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace detail

/// Writes a line with the names, and one for each row; columns of several numbers are several, `name.0`, `name.1` and
/// so on, and numbers with labels are written as these.
///
/// The file is there as a whole or not at all, as write_file.h says. @throws Error if it cannot be written
inline void write_csv(const std::string& path, const Columns& table) {
  constexpr std::size_t kPart = std::size_t{1} << 20;
  detail::DurableFile file(path);
  std::string text;
  for (const Column& column : table.columns) {
    for (std::size_t c = 0; c < column.components; ++c) {
      if (!text.empty()) text += ',';
      text += detail::csv_text(column.component_name(c));
    }
  }
  text += '\n';
  for (std::size_t row = 0; row < table.rows; ++row) {
    for (const Column& column : table.columns) {
      column.visit([&](auto values) {
        for (std::size_t c = 0; c < column.components; ++c) {
          const auto value = values[row * column.components + c];
          const std::size_t label = column.labels.empty() ? 0 : static_cast<std::size_t>(value);
          if (label < column.labels.size()) {
            text += detail::csv_text(column.labels[label]);
          } else {
            detail::append_number(text, value);
          }
          text += ',';
        }
      });
    }
    if (!table.columns.empty()) text.back() = '\n';
    if (text.size() < kPart) continue;
    file.write(text.data(), text.size());
    text.clear();
  }
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace dynasoar
