/// @file
/// Raster: numbers in rows and columns in the host's memory, such as heights of a terrain. A Lattice uses one to set
/// the values of a field, or to decide where to create objects. Rasters are read from and written to CSV files and, in
/// programs that are linked to dynasoar::png, PNG files. See docs/how-to/rasters.md. Not included by dynasoar.h,
/// because few programs need it.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/base/number_text.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/random.h>
#include <dynasoar/write_file.h>

#if defined(DYNASOAR_PNG)
#include <dynasoar/detail/png_image.h>
#endif

namespace dynasoar {

/// Numbers, row by row from the top. @tparam T   arithmetic, and not bool
template <class T>
struct Raster {
  static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>,
                "dynasoar: a Raster holds numbers; use std::uint8_t for truth values");

  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<T> values;  ///< the value of column x in row y is `values[y * width + x]`
};

/// A raster in shades of grey, for write_png. Values up to `black` become 0, values from `white` on become 255.
template <class T>
Raster<std::uint8_t> grey(const Raster<T>& raster, double black, double white) {
  Raster<std::uint8_t> result{raster.width, raster.height, {}};
  result.values.reserve(raster.values.size());
  for (const T value : raster.values) {
    const double shade = (static_cast<double>(value) - black) / (white - black);
    result.values.push_back(static_cast<std::uint8_t>(shade > 0 ? std::min(shade, 1.0) * 255 + 0.5 : 0));  // 0 for NaN
  }
  return result;
}

/// Chooses places with the probabilities of a raster: the result is 1 where a Density of this probability, seed and
/// purpose chooses the place, else 0. For Lattice::parallel_new.
///
/// @param probabilities   from 0 to 1. If they are bytes, 255 stands for 1
/// @throws Error if one of them is not a probability
template <class V, class Purpose>
Raster<std::uint8_t> choose(const Raster<V>& probabilities, random::Seed seed, Purpose purpose) {
  static_assert(std::is_floating_point_v<V> || std::is_same_v<V, std::uint8_t>,
                "dynasoar: probabilities are floating-point numbers, or bytes of which 255 stands for 1");
  Raster<std::uint8_t> chosen{probabilities.width, probabilities.height, {}};
  chosen.values.reserve(probabilities.values.size());
  for (const V value : probabilities.values) {
    const Density density(static_cast<double>(value) / (std::is_same_v<V, std::uint8_t> ? 255 : 1), seed, purpose);
    chosen.values.push_back(density.chooses(chosen.values.size()) ? 1 : 0);
  }
  return chosen;
}

namespace detail {

/// @throws Error if a raster does not have as many values as its width and height say
void check_values(std::size_t width, std::size_t height, std::size_t values);

/// All bytes of a file. @throws Error if it cannot be read
std::string read_file(const std::string& path);

/// The number of cells in a file.
struct CellCounts {
  std::size_t of_line = 0;
  std::size_t lines = 0;
};

/// Reads a CSV file without a line of names. @param take   called with each cell; false if it is not a number
/// @param kind   the kind of number, for messages
/// @throws Error if the file cannot be read, or lines have different numbers of cells
CellCounts read_cells(const std::string& path, const std::string& kind,
                      const std::function<bool(std::string_view)>& take);

/// Text for messages, such as "a whole number from 0 to 255".
template <class T>
std::string kind_of_number() {
  if constexpr (std::is_floating_point_v<T>) {
    return "a number";
  } else {
    return "a whole number from " + number_text(std::numeric_limits<T>::min()) + " to " +
           number_text(std::numeric_limits<T>::max());
  }
}

}  // namespace detail

/// Reads a CSV file. Each line is a row of numbers, separated by commas.
///
/// @throws Error if the file cannot be read, or contains anything but numbers of type T
template <class T>
Raster<T> read_csv(const std::string& path) {
  std::vector<T> values;
  const auto take = [&values](std::string_view cell) {
    T value{};
    const char* const end = cell.data() + cell.size();
    const auto [stop, error] = std::from_chars(cell.data(), end, value);
    values.push_back(value);
    return stop == end && error == std::errc();
  };
  const detail::CellCounts cells = detail::read_cells(path, detail::kind_of_number<T>(), take);
  return {cells.of_line, cells.lines, std::move(values)};
}

/// Writes a CSV file with a line for each row. Each number has the shortest text from which read_csv restores it.
///
/// The file is written as a whole or not at all, see write_file.h. @throws Error if it cannot be written
template <class T>
void write_csv(const std::string& path, const Raster<T>& raster) {
  detail::check_values(raster.width, raster.height, raster.values.size());
  std::string text;
  for (std::size_t i = 0; i < raster.values.size(); ++i) {
    detail::append_number(text, raster.values[i]);
    text += (i + 1) % raster.width == 0 ? '\n' : ',';
  }
  write_file(path, text);
}

namespace detail {

[[noreturn]] inline void throw_without_png() {
  throw Error("dynasoar: this program was built without libpng: link it to dynasoar::png, or use CSV files");
}

}  // namespace detail

// Functions in programs that are linked to dynasoar::png have other names for the linker than in programs that are not.
#if defined(DYNASOAR_PNG)
inline namespace with_png {
#else
inline namespace without_png {
#endif

/// Reads a picture in shades of grey: 0 is black, 255 white. Pictures with 1, 2 or 4 bits per pixel are scaled to 8
/// bits.
///
/// @throws Error if the file cannot be read, is no PNG, or has colours, transparency or 16 bits per pixel; or if the
///         program is not linked to dynasoar::png
inline Raster<std::uint8_t> read_png([[maybe_unused]] const std::string& path) {
#if defined(DYNASOAR_PNG)
  detail::GreyImage image = detail::read_grey_image(path, detail::read_file(path));
  return {image.width, image.height, std::move(image.values)};
#else
  detail::throw_without_png();
#endif
}

/// Writes a picture in shades of grey. See grey() for rasters of other numbers.
///
/// The file is written as a whole or not at all, see write_file.h.
/// @throws Error if it cannot be written, or the program is not linked to dynasoar::png
inline void write_png([[maybe_unused]] const std::string& path, [[maybe_unused]] const Raster<std::uint8_t>& raster) {
#if defined(DYNASOAR_PNG)
  detail::check_values(raster.width, raster.height, raster.values.size());
  write_file(path, detail::bytes_of_grey_image(raster.width, raster.height, raster.values.data()));
#else
  detail::throw_without_png();
#endif
}

}  // namespace with_png or without_png

}  // namespace dynasoar
