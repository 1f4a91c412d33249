/// @file
/// Columns: the result of AllocatorHandle::columns. It has the fields of all objects of a class, by name, as arrays in
/// host memory. write_csv and write_vtp write it to files. This header uses standard C++ only, so code that is compiled
/// without CUDA can include it, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace dynasoar {

/// The type of the numbers in a column.
enum class ColumnType : std::uint8_t { i8, i16, i32, i64, u8, u16, u32, u64, f32, f64 };

/// The ColumnType of an arithmetic type of at most 8 bytes.
template <class T>
constexpr ColumnType column_type() {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8, "dynasoar: columns hold numbers of at most 8 bytes");
  constexpr int kLog = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? ColumnType::f32 : ColumnType::f64;
  return static_cast<ColumnType>((std::is_signed_v<T> ? 0 : 4) + kLog);
}

/// Bytes of a number of this type.
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
  std::vector<std::string> labels;  ///< the texts for which the numbers 0, 1, ... stand; empty: plain numbers

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

  /// The numbers, converted to T.
  ///
  /// @tparam T   arithmetic, of at most 8 bytes, and not bool
  template <class T>
  std::vector<T> as() const {
    static_assert(!std::is_same_v<T, bool>, "dynasoar: as<std::uint8_t>() gives truth values as 0 and 1");
    std::vector<T> result(size());
    convert(column_type<T>(), result.data());
    return result;
  }

  /// The number of values: one for each component of each row.
  std::size_t size() const { return data.size() / size_of(type); }

  /// The heading of a component: "position_", or "position_.1" if the column has several components.
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

  /// The column of this name.
  /// @throws std::out_of_range if there is none; the message lists the names of all columns
  const Column& operator[](const std::string& column) const;

  /// All names, separated by commas.
  std::string names() const;
};

/// Adds the fields of subclasses to the table of a base class. Rows of classes without such a field get 0. Fields of
/// several subclasses share a column if they have the same name and type. If only their names are the same, the columns
/// after the first one are called `Shark.age_` and so on.
///
/// @param table        the table of the base class, with the column `class`
/// @param subclasses   tables of some of these classes; no loop may run between the calls that read all the tables
/// @throws std::invalid_argument if a subclass has another number of objects in its own table than in the base's table
Columns with_fields_of(Columns table, const std::vector<Columns>& subclasses);

/// Writes a line with the names, and a line for each row. A column with several numbers in a row becomes several
/// columns `name.0`, `name.1` and so on. Numbers with labels are written as the labels.
///
/// The file is written as a whole or not at all, see write_file.h. @throws Error if it cannot be written
void write_csv(const std::string& path, const Columns& table);

/// The columns that hold the coordinates of the points. If a name is empty, this coordinate is 0 for all points.
struct VtpOptions {
  std::string x = "x";
  std::string y = "y";
  std::string z;
  double time = 0;  ///< of the frame, in units of the model; ParaView shows it
};

/// Writes a point for each row, with all columns as its data. Coordinates are doubles in the file. The labels of a
/// column are an array of texts in the field data, such as `class names`.
///
/// The file is written as a whole or not at all, see write_file.h.
/// @throws Error if it cannot be written, or there are no columns of these names
void write_vtp(const std::string& path, const Columns& table, const VtpOptions& options = {});

/// Writes the index of several files that write_vtp has written, each with a part of the rows. Each rank of a
/// distributed run writes one of them, for example. ParaView opens the index (`.pvtp`) as if it were one file.
///
/// @param parts   paths of the files: absolute, or relative to the folder of the index
/// @param table   with the columns of all parts; its rows do not matter
/// @throws Error if the index cannot be written. The parts are not read
void write_pvtp(const std::string& path, const std::vector<std::string>& parts, const Columns& table);

}  // namespace dynasoar
