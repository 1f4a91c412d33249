/// @file
/// Reads text from input files: the common part of all readers. Plain C++. Nothing here depends on the locale.
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

#include <dynasoar/program/format.h>
#include <dynasoar/program/options.h>

namespace app {

using namespace dynasoar::program;

/// The contents of a text file, as plain_text() leaves them.
///
/// @throws UsageError if the file cannot be read or is not text
std::string read_text(const std::string& path);

/// `text` without a byte order mark, with a single line feed at the end of each line.
///
/// @param name   of the file, for messages
/// @throws UsageError if it is compressed, UTF-16 or binary
std::string plain_text(std::string text, const std::string& name);

/// Removes the first line from `rest`. @return false if there is none
bool take_line(std::string_view& rest, std::string_view& line);

/// "file:line:column: message"; lines and columns count from 1.
std::string at_place(const std::string& file, std::size_t line, std::size_t column, const std::string& message);

/// Whether a decimal number that from_chars found out of range is nearer to 0 than to infinity.
bool is_tiny(std::string_view number);

/// The whole of `text` as a number. A plus may precede it. A number that is too small for a floating-point type becomes
/// 0.
///
/// @return   nothing if `text` is not a number, or infinite, not a number (NaN), or too large
template <class T>
std::optional<T> number(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  T value{};
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end) return std::nullopt;
  if constexpr (std::is_floating_point_v<T>) {
    if (error == std::errc::result_out_of_range && is_tiny(text)) return text[0] == '-' ? -T{0} : T{0};
    if (!std::isfinite(value)) return std::nullopt;
  }
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

}  // namespace app
