/// @file
/// Columns: the fields of all objects of a class as arrays in the host's memory, by name. What AllocatorHandle::columns
/// returns. write_csv and write_vtp make files of them. Standard C++ only, so that it passes between parts of a program
/// that know the device and parts that do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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
  ///
  /// @tparam T   arithmetic, of at most 8 bytes, and not bool
  template <class T>
  std::vector<T> as() const {
    static_assert(!std::is_same_v<T, bool>, "dynasoar: as<std::uint8_t>() gives truth values as 0 and 1");
    std::vector<T> result(size());
    convert(column_type<T>(), result.data());
    return result;
  }

  /// How many numbers there are: one for each component of each row.
  std::size_t size() const { return data.size() / size_of(type); }

  /// "position_", or, of several components, "position_.1".
  std::string component_name(std::size_t component) const;

 private:
  template <class T>
  std::span<const T> span() const {
    return {reinterpret_cast<const T*>(data.data()), data.size() / sizeof(T)};
  }

  void convert(ColumnType to, void* values) const;
};

namespace detail {

Column column_of(std::string name, ColumnType type, const void* values, std::size_t count);

}  // namespace detail

/// A column of these numbers, one for each row.
template <class T>
Column make_column(std::string name, const std::vector<T>& values) {
  return detail::column_of(std::move(name), column_type<T>(), values.data(), values.size());
}

/// A table.
struct Columns {
  std::string name;  ///< of the class
  std::size_t rows = 0;
  std::vector<Column> columns;

  /// The column of this name, or null.
  const Column* find(const std::string& column) const;

  /// @throws std::out_of_range, with the names that there are
  const Column& operator[](const std::string& column) const;

  /// All names, separated by commas.
  std::string names() const;
};

/// A base class's table with the fields of its subclasses, too: rows of classes that have no such field get 0. Fields
/// of several subclasses with the same name and type share a column; else those after the first are called
/// `Shark.age_`.
///
/// @param table        has the column `class`
/// @param subclasses   tables of some of these classes, read without a loop in between
/// @throws std::invalid_argument if they have other objects
Columns with_fields_of(Columns table, const std::vector<Columns>& subclasses);

/// Writes a line with the names, and one for each row; columns of several numbers are several, `name.0`, `name.1` and
/// so on, and numbers with labels are written as these.
///
/// The file is there as a whole or not at all, as write_file.h says. @throws Error if it cannot be written
void write_csv(const std::string& path, const Columns& table);

/// Which columns say where the points are. An empty name: 0 for all.
struct VtpOptions {
  std::string x = "x";
  std::string y = "y";
  std::string z;
  double time = 0;  ///< of the frame, which ParaView shows
};

/// Writes a point for each row, with all columns as its data. Coordinates are doubles in the file. What labels mean is
/// an array of texts in the field data, `class names`.
///
/// The file is there as a whole or not at all, as write_file.h says.
/// @throws Error if it cannot be written, or there are no columns of these names
void write_vtp(const std::string& path, const Columns& table, const VtpOptions& options = {});

/// Writes the index of files that write_vtp has written, each with some of the rows, such as one of each rank. ParaView
/// opens the index (`.pvtp`) as if it were one file.
///
/// @param parts   paths from the folder of the index, or from the root
/// @param table   with the columns of all parts; its rows do not matter
/// @throws Error if it cannot be written. Parts are not read
void write_pvtp(const std::string& path, const std::vector<std::string>& parts, const Columns& table);

}  // namespace dynasoar
