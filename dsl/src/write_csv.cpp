#include <dynasoar/columns.h>

#include <cstddef>

#include <dynasoar/base/number_text.h>
#include <dynasoar/detail/escaped_text.h>
#include <dynasoar/platform/durable_file.h>

namespace dynasoar {
void write_csv(const std::string& path, const Columns& table) {
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
