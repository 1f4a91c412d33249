/// @file
/// json_text: a string as JSON writes it. Used by to_json of statistics.h.
#pragma once

#include <string>

namespace dynasoar::detail {

inline std::string json_text(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      constexpr const char* kDigits = "0123456789abcdef";
      result += std::string("\\u00") + kDigits[c / 16] + kDigits[c % 16];
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace dynasoar::detail
