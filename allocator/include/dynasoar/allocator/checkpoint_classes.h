/// @file
/// classes_text: the classes of an allocator and where their fields lie, as text that a checkpoint carries: files fit
/// programs with the same text. Used by checkpoint.h of the DSL.
#pragma once

#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>

#include <dynasoar/allocator/block_heap.h>
#include <dynasoar/allocator/layout.h>

namespace dynasoar::detail {

/// What a value is, as far as both backends and all compilers agree: "p8" a pointer, "f4", "i4", "u4", "b1" a bool or
/// "x24" anything else, with its size.
template <class T>
std::string kind_of_value() {
  const char kind = std::is_pointer_v<T>                             ? 'p'
                    : std::is_floating_point_v<T>                    ? 'f'
                    : std::is_same_v<std::remove_cv_t<T>, bool>      ? 'b'
                    : std::is_integral_v<T> && std::is_signed_v<T>   ? 'i'
                    : std::is_integral_v<T> && std::is_unsigned_v<T> ? 'u'
                                                                     : 'x';
  return kind + std::to_string(sizeof(T));
}

/// A class's name without its namespaces and template arguments, which compilers spell differently.
constexpr std::string_view plain_name(std::string_view name) {
  name = name.substr(0, name.find('<'));
  const std::size_t colons = name.rfind("::");
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

/// One line for the heap and one per class: "Fish: 1536 bytes, 5 per page: p8 at 0, u4 at 512, 3 * f4 at 768".
///
/// @param name_of   the name of a class of the list, from a std::type_identity of it
template <class A, class F>
std::string classes_text(const F& name_of) {
  constexpr auto kPages = A::pages();
  std::ostringstream text;
  text << "pages of " << kPages.bytes << " bytes, " << kPages.block_stride << " block numbers; "
       << A::Heap::Counter::kShards << " shards\n";
  A::Types::for_each([&]<class T>(std::type_identity<T> type) {
    text << plain_name(name_of(type)) << ": " << block_bytes_v<T> << " bytes, "
         << kPages.blocks_per_page[static_cast<std::size_t>(A::template index_of<T>)] << " per page:";
    for_each_field<T>([&]<class Field>(Field) {
      text << ' ';
      if (Field::kCount > 1) text << Field::kCount << " * ";
      text << kind_of_value<typename Field::Element>() << " at " << Field::kOffset;
    });
    text << '\n';
  });
  return text.str();
}

/// The first line in which two texts differ, each in quotes.
inline std::string first_difference(const std::string& file, const std::string& program) {
  std::istringstream lines(file);
  std::istringstream other_lines(program);
  std::string line;
  std::string other;
  do {
    if (!std::getline(lines, line)) line.clear();
    if (!std::getline(other_lines, other)) other.clear();
  } while (line == other && (lines || other_lines));
  return "the file has '" + line + "', the program '" + other + "'";
}

}  // namespace dynasoar::detail
