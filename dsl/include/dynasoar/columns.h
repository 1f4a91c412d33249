/// @file
/// Columns: the fields of all objects of a class as arrays in the host's memory, by name. What AllocatorHandle::columns
/// returns, and writers of files take. Standard C++ only, so that it passes between parts of a program that know the
/// device and parts that do not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace dynasoar {

/// What a column's numbers are.
enum class ColumnType : std::uint8_t { i8, i16, i32, i64, u8, u16, u32, u64, f32, f64 };

/// The ColumnType of an arithmetic type of at most 8 bytes.
template <class T>
constexpr ColumnType column_type() {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8, "dynasoar: columns hold numbers of at most 8 bytes");
  constexpr int kLog = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? ColumnType::f32 : ColumnType::f64;
  return static_cast<ColumnType>((std::is_signed_v<T> ? 0 : 4) + kLog);
}

/// Bytes of such a number.
constexpr std::size_t size_of(ColumnType type) {
  constexpr std::size_t kSizes[] = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
  return kSizes[static_cast<std::size_t>(type)];
}

/// One number, or several, for each row.
struct Column {
  std::string name;
  ColumnType type;
  std::size_t components;           ///< numbers in a row
  std::vector<std::byte> data;      ///< row by row
  std::vector<std::string> labels;  ///< what the numbers 0, 1, ... mean, if they stand for something

  /// Calls `f(values)` with a std::span of const numbers of the column's type.
  template <class F>
  decltype(auto) visit(const F& f) const {
    switch (type) {
      case ColumnType::i8: return f(span<std::int8_t>());
      case ColumnType::i16: return f(span<std::int16_t>());
      case ColumnType::i32: return f(span<std::int32_t>());
      case ColumnType::i64: return f(span<std::int64_t>());
      case ColumnType::u8: return f(span<std::uint8_t>());
      case ColumnType::u16: return f(span<std::uint16_t>());
      case ColumnType::u32: return f(span<std::uint32_t>());
      case ColumnType::u64: return f(span<std::uint64_t>());
      case ColumnType::f32: return f(span<float>());
      default: return f(span<double>());
    }
  }

  /// The numbers as T, whatever they are here.
  template <class T>
  std::vector<T> as() const {
    return visit([](auto values) {
      std::vector<T> result;
      result.reserve(values.size());
      for (const auto value : values) result.push_back(static_cast<T>(value));
      return result;
    });
  }

  /// "position_", or, of several components, "position_.1".
  std::string component_name(std::size_t component) const {
    return components == 1 ? name : name + '.' + std::to_string(component);
  }

 private:
  template <class T>
  std::span<const T> span() const {
    return {reinterpret_cast<const T*>(data.data()), data.size() / sizeof(T)};
  }
};

/// A column of these numbers, one for each row.
template <class T>
Column make_column(std::string name, const std::vector<T>& values) {
  Column column{std::move(name), column_type<T>(), 1, std::vector<std::byte>(values.size() * sizeof(T)), {}};
  if (!values.empty()) std::memcpy(column.data.data(), values.data(), column.data.size());
  return column;
}

/// A table.
struct Columns {
  std::string name;  ///< of the class
  std::size_t rows = 0;
  std::vector<Column> columns;

  /// The column of this name, or null.
  const Column* find(const std::string& column) const {
    for (const Column& candidate : columns) {
      if (candidate.name == column) return &candidate;
    }
    return nullptr;
  }

  /// @throws std::out_of_range, with the names that there are
  const Column& operator[](const std::string& column) const {
    if (const Column* const found = find(column)) return *found;
    throw std::out_of_range("dynasoar: there is no column '" + column + "', but: " + names());
  }

  /// All names, separated by commas.
  std::string names() const {
    std::string result;
    for (const Column& column : columns) result += (result.empty() ? "" : ", ") + column.name;
    return result;
  }
};

/// A base class's table with the fields of its subclasses, too: rows of classes that have no such field get 0. Fields
/// of several subclasses with the same name and type share a column; else those after the first are called
/// `Shark.age_`.
///
/// @param table        has the column `class`
/// @param subclasses   tables of some of these classes, read without a loop in between
/// @throws std::invalid_argument if they have other objects
inline Columns with_fields_of(Columns table, const std::vector<Columns>& subclasses) {
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
