/// @file
/// type_name: a class's name as the user wrote it. Used for error messages and tables.
#pragma once

#include <string_view>

namespace dynasoar {

/// The name of T, with its namespaces.
template <class T>
constexpr std::string_view type_name() {
  // "... [with T = Fish; std::string_view = ...]" (g++), "... [T = Fish]" (clang), "... [with T=Fish]" (nvcc)
  std::string_view text = __PRETTY_FUNCTION__;
  std::size_t begin = text.find("T = ");
  begin = begin == std::string_view::npos ? text.find("T=") + 2 : begin + 4;
  std::size_t end = begin;
  for (int depth = 0; end < text.size(); ++end) {
    const char c = text[end];
    if (depth == 0 && (c == ';' || c == ']' || c == ',')) break;
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
  }
  return text.substr(begin, end - begin);
}

}  // namespace dynasoar
