/// @file
/// xml_text: text as XML has it. Used by what writes pictures and files in XML.
#pragma once

#include <string>

namespace dynasoar::detail {

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
