/// @file
/// The layout of objects in one piece (array of structures): the positions of a class's fields. Used by AosAllocator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include <dynasoar/classes/layout.h>
#include <dynasoar/classes/placed.h>

namespace dynasoar::detail {

/// Stands in front of an object's fields, unless it is placed on a lattice: its place in the table of objects.
struct AosHeader {
  std::uint32_t index;
};

/// The fields of one class in an object, behind those of its bases.
template <class Tuple>
struct AosFields;

template <class... Fields>
struct AosFields<std::tuple<Fields...>> {
  /// Offset of field `index` if the fields begin at `begin`, each aligned as its type.
  static constexpr std::size_t offset(std::size_t begin, std::size_t index) { return place_all(begin, index).found; }

  /// The end of fields that begin at `begin`.
  static constexpr std::size_t end(std::size_t begin) { return place_all(begin, 0).end; }

 private:
  struct Placed {
    std::size_t end;
    std::size_t found;
    std::size_t count;
  };

  static constexpr Placed place_all(std::size_t begin, [[maybe_unused]] std::size_t index) {
    Placed placed{begin, begin, 0};
    (place<Fields>(placed, index), ...);
    return placed;
  }

  template <class Field>
  static constexpr void place(Placed& placed, std::size_t index) {
    const std::size_t start = (placed.end + alignof(Field) - 1) / alignof(Field) * alignof(Field);
    if (placed.count++ == index) placed.found = start;
    placed.end = start + sizeof(Field);
  }
};

/// Bytes in front of the fields of a C.
template <class C>
inline constexpr std::size_t aos_header_bytes_v = is_placed<C>() ? sizeof(PlacedHeader) : sizeof(AosHeader);

/// The beginning and the end of the fields of C, without those of its bases.
template <class C>
struct AosClass {
  static_assert(check_declarations<C>());
  static constexpr std::size_t begin = [] {
    if constexpr (std::is_void_v<typename C::BaseClass>) {
      return aos_header_bytes_v<C>;
    } else {
      return AosClass<typename C::BaseClass>::end;
    }
  }();
  static constexpr std::size_t end = AosFields<typename C::FieldTypes>::end(begin);
};

/// Bytes from an object's start to C's own field `index`. Inherited fields come first.
template <class C, std::size_t index>
inline constexpr std::size_t aos_offset_v = AosFields<typename C::FieldTypes>::offset(AosClass<C>::begin, index);

/// Bytes of an object of T, with its header.
template <class T>
inline constexpr std::size_t aos_bytes_v = AosClass<T>::end;

}  // namespace dynasoar::detail
