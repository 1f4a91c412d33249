/// @file
/// Columns: the fields of all objects of a class as arrays in the host's memory, by name. What AllocatorHandle::columns
/// returns, and writers of files take. Standard C++ only, so that it passes between parts of a program that know the
/// device and parts that do not.
#pragma once

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

}  // namespace dynasoar
