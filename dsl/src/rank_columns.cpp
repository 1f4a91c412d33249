#include <dynasoar/detail/rank_columns.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <dynasoar/detail/field_names.h>
#include <dynasoar/detail/placed_image.h>
#include <dynasoar/loops/lattice_shape.h>
#include <dynasoar/platform/error.h>

namespace dynasoar::detail {

namespace {

std::size_t row_bytes(const Column& column) {
  return column.components * size_of(column.type);
}

/// The numbers of the classes of all rows; all 0 if there is one class.
std::vector<std::size_t> classes_of(const Columns& table) {
  const Column* const column = table.find("class");
  if (column == nullptr || column->labels.empty()) return std::vector<std::size_t>(table.rows);
  return column->as<std::size_t>();
}

/// Whether a column has the values of a field, or of a part of it.
bool is_of_field(std::string_view column, const std::string& owner, const std::string& field) {
  if (column.starts_with(owner + "." + field)) column.remove_prefix(owner.size() + 1);
  return column == field || column.starts_with(field + ".");
}

/// Replaces the numbers of some rows.
template <class F>
void replace(Column& column, const std::vector<std::size_t>& rows, const F& f) {
  for (const std::size_t row : rows) {
    for (std::size_t i = row * column.components; i < (row + 1) * column.components; ++i) {
      std::int64_t value = 0;
      std::memcpy(&value, &column.data[i * sizeof value], sizeof value);
      value = f(row, value);
      std::memcpy(&column.data[i * sizeof value], &value, sizeof value);
    }
  }
}

}  // namespace

void number_as_whole(Columns& table, View<std::size_t> types, const ClassTable& classes, const PlacedClasses& placed) {
  const std::vector<std::size_t> classes_of_rows = classes_of(table);
  for (std::size_t i = 0; i < types.size(); ++i) {
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < table.rows; ++row) {
      if (classes_of_rows[row] == i) rows.push_back(row);
    }
    const ClassInfo& info = classes[types[i]];
    if (rows.empty() || !placed.state(types[i]).shape.is_divided()) continue;
    const LatticeShape& part = placed.state(types[i]).shape;
    const LatticeShape whole(sizes_of(part), periodic_axes(part));
    const std::vector<std::int64_t> numbers = table["place"].as<std::int64_t>();
    const std::vector<std::string> names = field_names_of(info.fields);
    for (Column& column : table.columns) {
      if (column.name == "id") {
        replace(column, rows, [&](std::size_t row, std::int64_t) {
          return static_cast<std::int64_t>(whole.place_of_number(static_cast<std::uint64_t>(numbers[row])).slot());
        });
      }
      for (std::size_t f = 0; f < names.size(); ++f) {
        if (info.fields[f].places == 0 || !is_of_field(column.name, std::string(plain_name(info.name)), names[f]))
          continue;
        replace(column, rows, [&](std::size_t, std::int64_t value) {
          const Place place(static_cast<std::uint64_t>(value));
          const bool is_known = place.exists() || (place.slot() & Place::kElsewhere) != 0;
          return is_known ? static_cast<std::int64_t>(whole.converted(place, part, 0).slot()) : value;
        });
      }
    }
  }
}

std::string text_of_columns(const Columns& table) {
  std::string text = table.name;
  for (const Column& column : table.columns) {
    text += ", ";
    text += column.name;
    text += " (";
    text += std::to_string(column.components);
    text += " of type ";
    text += std::to_string(static_cast<int>(column.type));
    for (const std::string& label : column.labels) {
      text += ", ";
      text += label;
    }
    text += ")";
  }
  return text;
}

std::vector<char> bytes_of_rows(const Columns& table) {
  std::vector<char> bytes;
  for (const Column& column : table.columns) {
    if (column.data.size() != table.rows * row_bytes(column)) {
      throw Error("dynasoar: the column '" + column.name + "' of " + table.name + " has " +
                  std::to_string(column.size()) + " numbers, but the table has " + std::to_string(table.rows) +
                  " rows");
    }
    const char* const data = reinterpret_cast<const char*>(column.data.data());
    bytes.insert(bytes.end(), data, data + column.data.size());
  }
  return bytes;
}

Columns joined(const Columns& like, const std::vector<std::vector<char>>& rows_of_ranks) {
  std::size_t bytes = 0;
  for (const Column& column : like.columns) bytes += row_bytes(column);
  Columns all{like.name, 0, like.columns};
  for (Column& column : all.columns) column.data.clear();
  for (const std::vector<char>& part : rows_of_ranks) {
    const std::size_t rows = bytes > 0 ? part.size() / bytes : 0;
    const auto* at = reinterpret_cast<const std::byte*>(part.data());
    for (Column& column : all.columns) {
      column.data.insert(column.data.end(), at, at + rows * row_bytes(column));
      at += rows * row_bytes(column);
    }
    all.rows += rows;
  }
  const std::vector<std::size_t> classes = classes_of(all);
  if (std::is_sorted(classes.begin(), classes.end())) return all;
  std::vector<std::size_t> order(all.rows);
  for (std::size_t row = 0; row < all.rows; ++row) order[row] = row;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return classes[a] < classes[b]; });
  for (Column& column : all.columns) {
    const std::vector<std::byte> from = std::exchange(column.data, std::vector<std::byte>(column.data.size()));
    const std::size_t size = row_bytes(column);
    for (std::size_t row = 0; row < all.rows; ++row)
      std::memcpy(&column.data[row * size], &from[order[row] * size], size);
  }
  return all;
}

}  // namespace dynasoar::detail
