/// @file
/// Column parts: which numbers a field's value is made of, and how they become columns. Used by read_columns.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/allocator/aos_layout.h>
#include <dynasoar/allocator/handle.h>
#include <dynasoar/columns.h>
#include <dynasoar/platform/atomic.h>

namespace dynasoar::detail {

/// A number that tells an object of A from all others that live at the same time: its block's number times 64 and its
/// slot, or, of an AosAllocator, its address; -1 for null.
template <class A>
std::int64_t object_id(std::uint64_t bits) {
  if (bits == 0) return -1;
  const Handle handle(bits);
  if constexpr (A::kCompacts) {
    if (handle.type_index() >= A::kTypes) return -2;  // not a pointer of this allocator
    return std::int64_t{A::block_of(handle)} * 64 + handle.slot();
  } else {
    return static_cast<std::int64_t>(bits & kAosAddressMask);
  }
}

template <class T>
inline constexpr bool is_atomic_word_v = false;
template <class T>
inline constexpr bool is_atomic_word_v<AtomicWord<T>> = true;
template <class T>
struct AtomicWordValue;
template <class T>
struct AtomicWordValue<AtomicWord<T>> {
  using type = T;
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

/// Makes columns of a field's bytes.
///
/// @tparam A   the allocator
template <class A>
class ColumnMaker {
 public:
  /// @param bytes   of all rows, `elements` of `element_bytes` in each
  ColumnMaker(std::vector<std::byte> bytes, std::size_t element_bytes, std::size_t elements, std::vector<Column>& to)
      : bytes_(std::move(bytes)), element_bytes_(element_bytes), elements_(elements), to_(to) {}

  /// Adds the columns of a part of the elements. @param offset   of the part in an element
  template <class T>
  void add(const std::string& name, std::size_t offset) {
    if constexpr (std::is_same_v<T, bool>) {
      add_numbers<std::uint8_t>(name, offset);
    } else if constexpr (std::is_enum_v<T>) {
      add<std::underlying_type_t<T>>(name, offset);
    } else if constexpr (std::is_arithmetic_v<T> && sizeof(T) <= 8) {
      add_numbers<T>(name, offset);
    } else if constexpr (std::is_pointer_v<T>) {
      add_pointers<std::remove_pointer_t<T>>(name, offset);
    } else if constexpr (is_atomic_word_v<T>) {
      static_assert(sizeof(T) == sizeof(typename AtomicWordValue<T>::type));
      add<typename AtomicWordValue<T>::type>(name, offset);
    } else if constexpr (std::is_array_v<T>) {
      using Element = std::remove_extent_t<T>;
      for (std::size_t i = 0; i < std::extent_v<T>; ++i) {
        add<Element>(name + '.' + std::to_string(i), offset + i * sizeof(Element));
      }
    } else if constexpr (is_std_array_v<T>) {
      add<typename T::value_type[std::tuple_size_v<T>]>(name, offset);
    } else if constexpr (NamesMembers<T>) {
      add_members<T>(name, offset);
    } else {
      add_raw(name, offset, sizeof(T));
    }
  }

 private:
  template <class T>
  void add_members(const std::string& name, std::size_t offset) {
    alignas(T) static constexpr std::byte kNone[sizeof(T)]{};  // only addresses are taken of it
    std::size_t i = 0;
    for_each_member(*reinterpret_cast<const T*>(kNone), [&](const auto& member) {
      const auto at = static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&member) - kNone);
      add<std::remove_cvref_t<decltype(member)>>(name + '.' + T::field_names[i++], offset + at);
    });
  }

  std::size_t count() const { return bytes_.size() / element_bytes_; }

  template <class T>
  void add_numbers(const std::string& name, std::size_t offset) {
    Column& column = to_.emplace_back(Column{name, column_type<T>(), elements_, {}, {}});
    if (element_bytes_ == sizeof(T)) {
      column.data = std::move(bytes_);
      return;
    }
    column.data.resize(count() * sizeof(T));
    for (std::size_t i = 0; i < count(); ++i) {
      std::memcpy(&column.data[i * sizeof(T)], &bytes_[i * element_bytes_ + offset], sizeof(T));
    }
  }

  template <class T>
  void add_pointers(const std::string& name, std::size_t offset) {
    Column& column = to_.emplace_back(
        Column{name, ColumnType::i64, elements_, std::vector<std::byte>(count() * sizeof(std::int64_t)), {}});
    for (std::size_t i = 0; i < count(); ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &bytes_[i * element_bytes_ + offset], sizeof bits);
      auto id = static_cast<std::int64_t>(bits);
      if constexpr (requires { typename T::Allocator::Types; }) id = object_id<typename T::Allocator>(bits);
      std::memcpy(&column.data[i * sizeof id], &id, sizeof id);
    }
  }

  void add_raw(const std::string& name, std::size_t offset, std::size_t bytes) {
    Column& column = to_.emplace_back(Column{name, ColumnType::u8, elements_ * bytes, {}, {}});
    column.data.resize(count() * bytes);
    for (std::size_t i = 0; i < count(); ++i) {
      std::memcpy(&column.data[i * bytes], &bytes_[i * element_bytes_ + offset], bytes);
    }
  }

  std::vector<std::byte> bytes_;
  std::size_t element_bytes_;
  std::size_t elements_;
  std::vector<Column>& to_;
};

}  // namespace dynasoar::detail
