/// @file
/// Column parts: which numbers a field's value is made of. Used by read_columns.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <vector>

#include <dynasoar/classes/class_table.h>
#include <dynasoar/columns.h>
#include <dynasoar/loops/places.h>
#include <dynasoar/platform/atomic.h>

namespace dynasoar::detail {

template <class T>
struct AtomicWordValue {};
template <class T>
struct AtomicWordValue<AtomicWord<T>> {
  using type = T;
};
template <class T>
concept IsAtomicWord = requires {
  typename AtomicWordValue<T>::type;
};

template <class T>
inline constexpr bool is_std_array_v = false;
template <class T, std::size_t n>
inline constexpr bool is_std_array_v<std::array<T, n>> = true;

/// Class values that say what their members are called: `static constexpr const char* field_names[] = {"x", "y"};`.
template <class T>
concept NamesMembers = std::is_class_v<T> && requires {
  std::size(T::field_names);
};

/// Calls f(member) for each of the members of a class value.
template <class T, class F>
void for_each_member(const T& value, const F& f) {
  constexpr std::size_t kMembers = std::size(T::field_names);
  static_assert(kMembers >= 1 && kMembers <= 8,
                "dynasoar: a class value has 1 to 8 names of members; put some of them into a struct of their own");
  const auto all = [&f](const auto&... members) { (f(members), ...); };
  if constexpr (kMembers == 1) {
    const auto& [a] = value;
    all(a);
  } else if constexpr (kMembers == 2) {
    const auto& [a, b] = value;
    all(a, b);
  } else if constexpr (kMembers == 3) {
    const auto& [a, b, c] = value;
    all(a, b, c);
  } else if constexpr (kMembers == 4) {
    const auto& [a, b, c, d] = value;
    all(a, b, c, d);
  } else if constexpr (kMembers == 5) {
    const auto& [a, b, c, d, e] = value;
    all(a, b, c, d, e);
  } else if constexpr (kMembers == 6) {
    const auto& [a, b, c, d, e, g] = value;
    all(a, b, c, d, e, g);
  } else if constexpr (kMembers == 7) {
    const auto& [a, b, c, d, e, g, h] = value;
    all(a, b, c, d, e, g, h);
  } else {
    const auto& [a, b, c, d, e, g, h, i] = value;
    all(a, b, c, d, e, g, h, i);
  }
}

struct ValueMember;

/// What a value is made of.
struct ValueInfo {
  enum class Nature : std::uint8_t {
    number,   ///< of `type`
    pointer,  ///< to an object of an allocator with `classes`; if that is null, to anything
    array,    ///< of `parts` values like `part`
    members,  ///< that `list_members` appends
    bytes     ///< without a meaning that is known
  };
  Nature nature;
  std::size_t bytes;
  ColumnType type = {};
  const ClassTable* classes = nullptr;
  const PointerFormat* format = nullptr;  ///< of a compressed pointer
  const ValueInfo* part = nullptr;
  std::size_t parts = 0;
  void (*list_members)(std::vector<ValueMember>& members) = nullptr;
};

/// A member of a class value.
struct ValueMember {
  const char* name;
  std::size_t offset;
  const ValueInfo* info;
};

template <class T>
constexpr ValueInfo make_value_info();
template <class T>
inline constexpr ValueInfo value_info_v = make_value_info<T>();

template <class T>
void list_members(std::vector<ValueMember>& members) {
  alignas(T) static constexpr std::byte kNone[sizeof(T)]{};  // only addresses are taken of it
  for_each_member(*reinterpret_cast<const T*>(kNone), [&](const auto& member) {
    const auto at = static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&member) - kNone);
    members.push_back({T::field_names[members.size()], at, &value_info_v<std::remove_cvref_t<decltype(member)>>});
  });
}

template <class T>
constexpr ValueInfo make_value_info() {
  using Nature = ValueInfo::Nature;
  if constexpr (std::is_same_v<T, bool>) {
    return {Nature::number, 1, ColumnType::u8};
  } else if constexpr (std::is_enum_v<T>) {
    return make_value_info<std::underlying_type_t<T>>();
  } else if constexpr (std::is_arithmetic_v<T> && sizeof(T) <= 8) {
    return {Nature::number, sizeof(T), column_type<T>()};
  } else if constexpr (std::is_same_v<T, Place>) {
    return {Nature::number, sizeof(T), ColumnType::i64};  // the `id` of an object there; -1 if there is no place
  } else if constexpr (std::is_pointer_v<T>) {
    ValueInfo info{Nature::pointer, sizeof(T)};
    if constexpr (requires { typename std::remove_pointer_t<T>::Allocator::Types; }) {
      info.classes = &class_table_v<typename std::remove_pointer_t<T>::Allocator>;
    }
    return info;
  } else if constexpr (is_compressed_v<T>) {
    ValueInfo info = make_value_info<typename CompressedPointee<T>::type*>();
    info.bytes = sizeof(T);
    info.format = format_of_v<T>;
    return info;
  } else if constexpr (IsAtomicWord<T>) {
    static_assert(sizeof(T) == sizeof(typename AtomicWordValue<T>::type));
    return make_value_info<typename AtomicWordValue<T>::type>();
  } else if constexpr (std::is_array_v<T>) {
    ValueInfo info{Nature::array, sizeof(T)};
    info.part = &value_info_v<std::remove_extent_t<T>>;
    info.parts = std::extent_v<T>;
    return info;
  } else if constexpr (is_std_array_v<T>) {
    return make_value_info<typename T::value_type[std::tuple_size_v<T>]>();
  } else if constexpr (NamesMembers<T>) {
    ValueInfo info{Nature::members, sizeof(T)};
    info.list_members = list_members<T>;
    return info;
  } else {
    return {Nature::bytes, sizeof(T)};
  }
}

}  // namespace dynasoar::detail
