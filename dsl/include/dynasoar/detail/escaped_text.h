/// @file
/// json_text, csv_text, xml_text: escape text for JSON, CSV and XML. Used by to_json of statistics.h, and by code that
/// writes pictures and files in these formats.
#pragma once

#include <string>

namespace dynasoar::detail {

/// A string with its quotes.
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

/// Text for a cell: in quotes if necessary (RFC 4180).
inline std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += c;
    quoted += c;
  }
  return quoted + '"';
}

inline std::string xml_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '&': result += "&amp;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  }
  return result;
}

}  // namespace dynasoar::detail
