#include <dynasoar/columns.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace dynasoar {

std::string Column::component_name(std::size_t component) const {
  return components == 1 ? name : name + '.' + std::to_string(component);
}

// Converts the numbers to another type.
void Column::convert(ColumnType to, void* values) const {
  visit([&](auto from) {
    const auto write = [&]<class T>(T* into) {
      for (const auto value : from) *into++ = static_cast<T>(value);
    };
    switch (to) {
      case ColumnType::i8: return write(static_cast<std::int8_t*>(values));
      case ColumnType::i16: return write(static_cast<std::int16_t*>(values));
      case ColumnType::i32: return write(static_cast<std::int32_t*>(values));
      case ColumnType::i64: return write(static_cast<std::int64_t*>(values));
      case ColumnType::u8: return write(static_cast<std::uint8_t*>(values));
      case ColumnType::u16: return write(static_cast<std::uint16_t*>(values));
      case ColumnType::u32: return write(static_cast<std::uint32_t*>(values));
      case ColumnType::u64: return write(static_cast<std::uint64_t*>(values));
      case ColumnType::f32: return write(static_cast<float*>(values));
      default: return write(static_cast<double*>(values));
    }
  });
}

Column detail::column_of(std::string name, ColumnType type, const void* values, std::size_t count) {
  Column column{std::move(name), type, 1, std::vector<std::byte>(count * size_of(type)), {}};
  if (count > 0) std::memcpy(column.data.data(), values, column.data.size());
  return column;
}

const Column* Columns::find(const std::string& column) const {
  for (const Column& candidate : columns) {
    if (candidate.name == column) return &candidate;
  }
  return nullptr;
}

const Column& Columns::operator[](const std::string& column) const {
  if (const Column* const found = find(column)) return *found;
  throw std::out_of_range("dynasoar: there is no column '" + column + "'; there are: " + names());
}

std::string Columns::names() const {
  std::string result;
  for (const Column& column : columns) result += (result.empty() ? "" : ", ") + column.name;
  return result;
}

Columns with_fields_of(Columns table, const std::vector<Columns>& subclasses) {
  const std::vector<std::size_t> classes = table["class"].as<std::size_t>();
  const std::vector<std::string> labels = table["class"].labels;
  const std::size_t inherited = table.columns.size();
  for (const Columns& subclass : subclasses) {
    const Column* const its_classes = subclass.find("class");
    const std::vector<std::string> its_labels =
        its_classes != nullptr ? its_classes->labels : std::vector<std::string>{subclass.name};
    std::vector<std::size_t> places;  // rows of this class and its subclasses
    for (std::size_t row = 0; row < table.rows; ++row) {
      if (std::count(its_labels.begin(), its_labels.end(), labels[classes[row]]) > 0) places.push_back(row);
    }
    if (places.size() != subclass.rows) {
      throw std::invalid_argument("dynasoar: " + std::to_string(subclass.rows) + " objects of " + subclass.name +
                                  " are not among the rows of " + table.name);
    }
    for (std::size_t i = inherited - (its_classes == nullptr ? 1 : 0); i < subclass.columns.size(); ++i) {
      const Column& field = subclass.columns[i];
      const auto is_same = [&](const Column& other) {
        return other.name == field.name && other.type == field.type && other.components == field.components;
      };
      auto to =
          std::find_if(table.columns.begin() + static_cast<std::ptrdiff_t>(inherited), table.columns.end(), is_same);
      const std::size_t row_bytes = subclass.rows == 0 ? 0 : field.data.size() / subclass.rows;
      if (to == table.columns.end()) {
        const std::string name = table.find(field.name) == nullptr ? field.name : subclass.name + '.' + field.name;
        table.columns.push_back({name, field.type, field.components,
                                 std::vector<std::byte>(table.rows * field.components * size_of(field.type)),
                                 field.labels});
        to = table.columns.end() - 1;
      }
      for (std::size_t row = 0; row < subclass.rows; ++row) {
        std::memcpy(&to->data[places[row] * row_bytes], &field.data[row * row_bytes], row_bytes);
      }
    }
  }
  return table;
}

}  // namespace dynasoar
