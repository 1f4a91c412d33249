/// @file
/// number_text: converts numbers to text independently of the locales of C and C++. Used for all numbers in files and
/// messages. Streams, printf and (for floating-point numbers) std::to_string depend on the program's locale.
#pragma once

#include <charconv>
#include <cstddef>
#include <string>
#include <system_error>
#include <type_traits>

namespace dynasoar::detail {

/// Appends the shortest text that stands for this number and no other of its type; "nan", "inf" or "-inf".
template <class T>
void append_number(std::string& text, T value) {
  static_assert(std::is_arithmetic_v<T>);
  char digits[32];
  if constexpr (std::is_floating_point_v<T>) {
    text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  } else {
    text.append(digits, std::to_chars(digits, digits + sizeof digits, +value).ptr);
  }
}

template <class T>
std::string number_text(T value) {
  std::string text;
  append_number(text, value);
  return text;
}

/// The text that printf writes for %.{digits}f (fixed) or %.{digits}g (general) in the C locale.
inline std::string number_text(double value, std::chars_format format, int digits) {
  std::string text(512, '\0');  // more than the digits of the greatest double
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value, format, digits);
  text.resize(error == std::errc() ? static_cast<std::size_t>(end - text.data()) : 0);
  return text;
}

/// "12.3 %" for 0.123.
inline std::string percent_text(double share) {
  return number_text(100 * share, std::chars_format::fixed, 1) + " %";
}

}  // namespace dynasoar::detail
