/// @file
/// ValueInfo: describes the numbers in the value of a field. Used by read_columns.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/classes/class_table.h>
#include <dynasoar/columns.h>
#include <dynasoar/detail/value_members.h>
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

struct ValueMember;

/// Describes the parts of a value.
struct ValueInfo {
  enum class Nature : std::uint8_t {
    number,   ///< a number of type `type`
    pointer,  ///< to an object of an allocator with `classes`; to anything if `classes` is null
    array,    ///< `parts` values like `part`
    members,  ///< the members that `list_members` appends
    bytes     ///< with an unknown meaning
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
  std::string_view name;
  std::size_t offset;
  const ValueInfo* info;
};

template <class T>
constexpr ValueInfo make_value_info();
template <class T>
inline constexpr ValueInfo value_info_v = make_value_info<T>();

/// Appends the members of T. Takes their offsets from an object that serves no other purpose.
template <class T>
void list_members(std::vector<ValueMember>& members) {
  alignas(T) static constexpr std::byte kNone[sizeof(T)]{};  // only its addresses are used
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    with_members(*reinterpret_cast<const T*>(kNone), [&](const auto&... all) {
      const auto offset = [](const auto& member) {
        return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&member) - kNone);
      };
      (members.push_back({member_name<T, i>(), offset(all), &value_info_v<std::remove_cvref_t<decltype(all)>>}), ...);
    });
  }
  (std::make_index_sequence<member_count_v<T>>{});
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
    return {Nature::number, sizeof(T),
            ColumnType::i64};  // the `id` of an object there; 2^58 or more if there is no place
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
  } else if constexpr (HasMembers<T>) {
    ValueInfo info{Nature::members, sizeof(T)};
    info.list_members = list_members<T>;
    return info;
  } else {
    return {Nature::bytes, sizeof(T)};
  }
}

}  // namespace dynasoar::detail
