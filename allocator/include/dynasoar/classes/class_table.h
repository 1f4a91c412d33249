/// @file
/// ClassTable: the compile-time description of an allocator's classes, as a table for run time. Code that is not
/// critical for performance (checkpoints, columns, statistics, messages) uses the table, so that it is compiled once
/// and not for each program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <dynasoar/base/view.h>
#include <dynasoar/classes/class_rules.h>
#include <dynasoar/classes/layout.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/classes/pointer_format.h>
#include <dynasoar/classes/type_name.h>

namespace dynasoar::detail {

/// The kind of a value, the same for both backends and all compilers: 'p' for a pointer, 'f', 'i', 'u', 'b' for a bool,
/// 'x' for anything else. Checkpoints describe a value by its kind and size, as in "f4".
template <class T>
constexpr char value_kind() {
  return std::is_pointer_v<T> || is_compressed_v<T>       ? 'p'
         : std::is_floating_point_v<T>                    ? 'f'
         : std::is_same_v<std::remove_cv_t<T>, bool>      ? 'b'
         : std::is_integral_v<T> && std::is_signed_v<T>   ? 'i'
         : std::is_integral_v<T> && std::is_unsigned_v<T> ? 'u'
                                                          : 'x';
}

/// A set of listed classes, by index.
struct ClassSet {
  std::uint64_t words[4]{};

  bool operator==(const ClassSet&) const = default;
  constexpr bool empty() const { return (words[0] | words[1] | words[2] | words[3]) == 0; }
  constexpr void add(std::size_t type) { words[type / 64] |= std::uint64_t{1} << type % 64; }
  constexpr void add_all(const ClassSet& others) {
    for (int i = 0; i < 4; ++i) words[i] |= others.words[i];
  }
  __host__ __device__ constexpr bool has(std::size_t type) const { return (words[type / 64] >> type % 64 & 1) != 0; }
  __host__ __device__ constexpr bool overlaps(const ClassSet& other) const {
    bool found = false;
    for (int i = 0; i < 4; ++i) found = found || (words[i] & other.words[i]) != 0;
    return found;
  }
};

/// A field: `count` arrays of values, `stride` bytes apart.
struct FieldInfo {
  std::string_view owner;  ///< the class that declares it
  const char* name;        ///< null if the owner has no names
  std::uint32_t number;    ///< among the owner's fields
  char kind;               ///< of a value, see value_kind
  std::size_t bytes;       ///< of a value
  std::size_t alignment;   ///< of a value
  std::size_t count;       ///< values of an object
  std::size_t stride;
  std::size_t offset;                     ///< of the first array in a block, or in an object in one piece
  std::size_t pointers;                   ///< number of consecutive pointers in a value; 0 if it has other members
  ClassSet targets;                       ///< the classes to which they may point
  const PointerFormat* format = nullptr;  ///< of compressed pointers; null: they are handles
  std::size_t places = 0;                 ///< number of consecutive Places in a value; 0 if it has other members
  bool may_have_padding = false;          ///< whether equal values may have different bytes

  /// The name: "age_", or "field2" if the class has no names.
  std::string text() const;
};

/// A listed class.
struct ClassInfo {
  std::string_view name;
  std::size_t block_bytes;
  std::uint32_t blocks_per_page;
  View<FieldInfo> fields;       ///< inherited ones first
  bool is_placed = false;       ///< blocks are consecutive, in memory of their own
  bool has_subclasses = false;  ///< among the listed classes

  /// Whether its objects have fields that may point to objects of some classes.
  constexpr bool may_point_to(const ClassSet& targets) const {
    bool found = false;
    for (const FieldInfo& field : fields) found = found || field.targets.overlaps(targets);
    return found;
  }
};

/// All classes, by their index, and how their blocks lie in pages.
struct ClassTable {
  View<ClassInfo> classes;
  std::size_t page_bytes;
  std::uint32_t block_stride;   ///< block numbers per page
  std::size_t slots_per_block;  ///< 1: every object is in one piece
  CompressedReach reach{};

  bool has_blocks() const { return slots_per_block > 1; }
  int size() const { return static_cast<int>(classes.size()); }
  const ClassInfo& operator[](std::size_t index) const { return classes[index]; }
  std::size_t largest_block_bytes() const;

  /// Bytes from the start of the heap, or of a placed class's memory, to a block. @pre blocks lie in pages
  std::size_t block_offset(std::uint32_t block, std::size_t type) const {
    if (classes[type].is_placed) return std::size_t{block} * classes[type].block_bytes;
    return block / block_stride * page_bytes + block % block_stride * classes[type].block_bytes;
  }

  /// The number of the block that begins at an offset.
  std::uint32_t block_at(std::uint64_t offset, std::size_t type) const {
    if (classes[type].is_placed) return static_cast<std::uint32_t>(offset / classes[type].block_bytes);
    const std::uint64_t page = offset / page_bytes;
    return static_cast<std::uint32_t>(page * block_stride + (offset - page * page_bytes) / classes[type].block_bytes);
  }

  /// The number of pages for `objects` objects of a class, plus some more, because warps fill blocks of their own.
  std::uint64_t pages_for(std::size_t type, std::uint64_t objects) const;
};

/// Name of C's own field `index`; null if it has none.
template <class C>
constexpr const char* own_field_name_or_null([[maybe_unused]] std::size_t index) {
  if constexpr (has_own_field_names<C>()) {
    return C::field_names[index];
  } else {
    return nullptr;
  }
}

/// The pointers in an element of a field: a `U*` or CompressedPointer, or arrays of them.
template <class Element>
struct PointersIn {
  using Pointee = void;
  using Pointer = void;
  static constexpr std::size_t kCount = 0;
};
template <class U>
struct PointersIn<U*> {
  using Pointee = U;
  using Pointer = U*;
  static constexpr std::size_t kCount = 1;
};
template <class U, class A>
struct PointersIn<CompressedPointer<U, A>> {
  using Pointee = U;
  using Pointer = CompressedPointer<U, A>;
  static constexpr std::size_t kCount = 1;
};
template <class Element, std::size_t n>
struct PointersIn<std::array<Element, n>> : PointersIn<Element> {
  static constexpr std::size_t kCount = n * PointersIn<Element>::kCount;
};

/// The number of Places in an element of a field.
template <class Element>
inline constexpr std::size_t places_in_v = std::is_same_v<std::remove_cv_t<Element>, Place> ? 1 : 0;
template <class Element, std::size_t n>
inline constexpr std::size_t places_in_v<std::array<Element, n>> = n* places_in_v<Element>;

/// Whether equal elements of a field may have different bytes, apart from zeros of both signs.
template <class Element>
inline constexpr bool may_have_padding_v =
    !std::has_unique_object_representations_v<Element> && !std::is_floating_point_v<Element>;
template <class Element, std::size_t n>
inline constexpr bool may_have_padding_v<std::array<Element, n>> = may_have_padding_v<Element>;

/// The format of a CompressedPointer that is not a handle in its allocator; null for other types.
template <class Pointer>
inline constexpr const PointerFormat* format_of_v = nullptr;
template <class T, class A>
requires(A::kCompacts) inline constexpr const PointerFormat* format_of_v<CompressedPointer<T, A>> =
    &pointer_format_v<A, T>;

/// The classes of a list to which a U* may point: U, if it is listed, and its subclasses.
template <class U, template <class...> class List, class... Ts>
constexpr ClassSet targets_of(List<Ts...>) {
  ClassSet found;
  std::size_t type = 0;
  ((std::is_base_of_v<std::remove_cv_t<U>, Ts> ? found.add(type++) : void(++type)), ...);
  return found;
}

/// The listed classes that are T or derive from it; all of them if it is void.
template <class A, class T>
inline constexpr ClassSet class_set_v = targets_of<T>(typename A::Types{});
template <class A>
inline constexpr ClassSet class_set_v<A, void> = [] {
  ClassSet all;
  for (std::size_t type = 0; type < A::Types::size; ++type) all.add(type);
  return all;
}();

/// The description of C's own field I in allocator A.
template <class A, class C, std::size_t I>
constexpr FieldInfo field_info() {
  using Arrays = FieldArrays<C, I>;
  using Element = typename Arrays::Element;
  using Pointers = PointersIn<Element>;
  return {type_name<C>(),
          own_field_name_or_null<C>(I),
          I,
          value_kind<Element>(),
          sizeof(Element),
          alignof(Element),
          Arrays::kCount,
          A::template kArrayStride<Element>,
          A::template kFieldOffset<C, I>,
          Pointers::kCount,
          targets_of<typename Pointers::Pointee>(typename A::Types{}),
          format_of_v<typename Pointers::Pointer>,
          places_in_v<Element>,
          may_have_padding_v<Element>};
}

/// The fields of C and its bases in allocator A, inherited ones first.
template <class A, class C>
constexpr auto make_field_infos() {
  std::array<FieldInfo, ClassLayout<C>::field_count> infos{};
  std::size_t at = 0;
  if constexpr (!std::is_void_v<typename C::BaseClass>) {
    for (const FieldInfo& inherited : make_field_infos<A, typename C::BaseClass>()) infos[at++] = inherited;
  }
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((infos[at++] = field_info<A, C, I>()), ...);
  }
  (std::make_index_sequence<ClassLayout<C>::Own::count>{});
  return infos;
}
template <class A, class C>
inline constexpr auto field_infos_v = make_field_infos<A, C>();

template <class A, class List>
struct ClassInfos;
template <class A, template <class...> class List, class... Ts>
struct ClassInfos<A, List<Ts...>> {
  static constexpr auto kPages = A::pages();
  static constexpr ClassInfo kInfos[] = {{type_name<Ts>(), A::template kBlockBytes<Ts>,
                                          kPages.blocks_per_page[static_cast<std::size_t>(A::template index_of<Ts>)],
                                          field_infos_v<A, Ts>, is_placed<Ts>(),
                                          (A::template Subtypes<Ts>::size > 1)}...};
  static constexpr ClassTable kTable{kInfos, kPages.bytes, kPages.block_stride, A::kSlotsPerBlock,
                                     compressed_reach_v<A, List<Ts...>>};
};

/// The table of allocator A. @pre its classes are complete
template <class A>
inline constexpr const ClassTable& class_table_v = ClassInfos<A, typename A::Types>::kTable;

/// Indices of the listed classes of a TypeList.
template <class A, class List>
struct ClassIndices;
template <class A, template <class...> class List, class... Ts>
struct ClassIndices<A, List<Ts...>> {
  static constexpr std::array<std::size_t, sizeof...(Ts)> value{static_cast<std::size_t>(A::template index_of<Ts>)...};
};

/// Indices of T, if it is listed, and its listed subclasses.
template <class A, class T>
inline constexpr const auto& subtype_indices_v = ClassIndices<A, typename A::template Subtypes<T>>::value;

/// A class's name without its namespaces and template arguments, which compilers spell differently.
constexpr std::string_view plain_name(std::string_view name) {
  name = name.substr(0, name.find('<'));
  const std::size_t colons = name.rfind("::");
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

}  // namespace dynasoar::detail
