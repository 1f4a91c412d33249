/// @file
/// Members of class values: their number, names and values, for output that people read. Used by column_parts.h and
/// print_object.h.
///
/// A class may name its members itself: `static constexpr const char* field_names[] = {"x", "y"};`. Otherwise, the
/// members of an aggregate are counted: their number is the number of values with which it can be initialized. Their
/// names are extracted from the compiler's texts for pointers to them, because C++20 has no better means. (Boost.PFR
/// does the same, but the versions in Linux distributions have no names.)
#pragma once

#include <cstddef>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

#include <dynasoar/platform/backend.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

inline constexpr std::size_t kMostMembers = 16;

/// Classes that name their members.
template <class T>
concept NamesMembers = std::is_class_v<T> && requires {
  std::size(T::field_names);
};

/// Classes for which structured bindings use functions `get` instead of the members.
template <class T>
concept HasTupleSize = requires {
  std::tuple_size<T>::value;
};

// ---- The number of members of an aggregate -------------------------------------------------------------------------

/// Initializes any member, but not a base class of T, whose members would take values of their own.
template <class T>
struct AnyMember {
  template <class U>
  requires(!std::is_base_of_v<U, T>) operator U() const;
};
/// Initializes parts that structured bindings cannot decompose: base classes, and unions, which may have no name.
template <class T>
struct AnyBaseOrUnion {
  template <class U>
  requires(std::is_union_v<U> || (std::is_base_of_v<U, T> && !std::is_same_v<U, T>)) operator U() const;
};

/// Initializes references, which AnyMember does not.
template <class T>
struct AnyReference {
  template <class U>
  requires(!std::is_base_of_v<U, T>) operator U&() const;
};

template <class T, std::size_t>
using AnyMemberOf = AnyMember<T>;

/// Whether `T{a, b, c}` compiles with this number of values.
template <class T, std::size_t values>
inline constexpr bool takes_values_v = []<std::size_t... i>(std::index_sequence<i...>) {
  return requires {
    T{AnyMemberOf<T, i>{}...};
  };
}
(std::make_index_sequence<values>{});

/// Whether `T{a, b, {c, d}, e}` compiles with these numbers of values before, in and behind the inner braces.
template <class T, std::size_t before, std::size_t inner, std::size_t behind>
inline constexpr bool takes_braces_v = []<std::size_t... b, std::size_t... i, std::size_t... c>(
    std::index_sequence<b...>, std::index_sequence<i...>, std::index_sequence<c...>) {
  return requires {
    T{AnyMemberOf<T, b>{}..., {AnyMemberOf<T, i>{}...}, AnyMemberOf<T, c>{}...};
  };
}
(std::make_index_sequence<before>{}, std::make_index_sequence<inner>{}, std::make_index_sequence<behind>{});

template <class T, std::size_t before>
inline constexpr bool has_base_or_union_v = []<std::size_t... i>(std::index_sequence<i...>) {
  return requires {
    T{AnyMemberOf<T, i>{}..., AnyBaseOrUnion<T>{}};
  };
}
(std::make_index_sequence<before>{});

/// Whether there is a member, behind these values, that AnyMember does not initialize. It is usually an object of a
/// class that converts from everything, such as std::any, for which the conversions of AnyMember and of the class are
/// ambiguous. It can also be an array of at most `elements` such objects.
template <class T, std::size_t values, std::size_t elements>
constexpr bool has_more_members() {
  return []<std::size_t... i, std::size_t... e>(std::index_sequence<i...>, std::index_sequence<e...>) {
    // Try one after the other, because constructors of T's members may not compile for each of them.
    if constexpr (requires { T{AnyMemberOf<T, i>{}..., {}}; }) {
      return true;
    } else if constexpr (requires { T{AnyMemberOf<T, i>{}..., AnyReference<T>{}}; }) {
      return true;
    } else if constexpr (requires { T{AnyMemberOf<T, i>{}..., {AnyMember<T>{}}}; }) {
      return true;
    } else if constexpr (requires { T{AnyMemberOf<T, i>{}..., {{AnyMemberOf<T, e>{}}...}}; }) {
      return true;
    } else if constexpr (elements > 1) {
      return has_more_members<T, values, elements - 1>();
    } else {
      return false;
    }
  }
  (std::make_index_sequence<values>{}, std::make_index_sequence<elements>{});
}

/// The greatest number of values that T may take, including elements of arrays.
inline constexpr std::size_t kMostValues = 64;
template <class T, std::size_t values>
constexpr std::size_t count_values() {
  if constexpr (values == 0 || takes_values_v<T, values>) {
    return values;
  } else {
    return count_values<T, values - 1>();
  }
}

/// The number of values of the member that begins with value `at`. An array takes one value per element, because its
/// braces may be left out. With braces around more values than that, no value behind them would fit.
template <class T, std::size_t at, std::size_t values, std::size_t inner>
constexpr std::size_t values_of_member() {
  if constexpr (inner <= 1) {
    return 1;
  } else if constexpr (takes_braces_v<T, at, inner, values - at - inner> &&
                       !takes_braces_v<T, at, inner, values - at - inner + 1>) {
    return inner;
  } else {
    return values_of_member<T, at, values, inner - 1>();
  }
}

template <class T, std::size_t at, std::size_t values>
constexpr std::size_t count_members_from() {
  if constexpr (at >= values) {
    return 0;
  } else if constexpr (has_base_or_union_v<T, at>) {
    return kMostMembers + 1;
  } else {
    return 1 + count_members_from<T, at + values_of_member<T, at, values, values - at>(), values>();
  }
}

/// The number of members; 0 if T cannot be decomposed, has too many members, or has none.
template <class T>
constexpr std::size_t count_members() {
  if constexpr (NamesMembers<T>) {
    static_assert(std::size(T::field_names) >= 1 && std::size(T::field_names) <= kMostMembers,
                  "dynasoar: a class value has 1 to 16 names of members; put some of them into a struct of their own");
    return std::size(T::field_names);
  } else if constexpr (std::is_class_v<T> && std::is_aggregate_v<T> && !HasTupleSize<T>) {
    constexpr std::size_t kLimit = sizeof(T) < kMostValues ? sizeof(T) : kMostValues;
    if constexpr (takes_values_v<T, kLimit + 1>) return 0;
    constexpr std::size_t kValues = count_values<T, kLimit>();
    // Its first attempt finds all members except those with initializers of their own.
    constexpr std::size_t kElements = std::is_trivially_default_constructible_v<T> ? 0 : kLimit - kValues;
    if constexpr (has_more_members<T, kValues, kElements>()) return 0;
    constexpr std::size_t kMembers = count_members_from<T, 0, kValues>();
    return kMembers <= kMostMembers ? kMembers : 0;
  } else {
    return 0;
  }
}
template <class T>
inline constexpr std::size_t member_count_v = count_members<T>();

// ---- The members ---------------------------------------------------------------------------------------------------

/// Calls f(member, member, ...) with all members of a value. @pre it has members
DYNASOAR_FOR_WHOEVER_CALLS
template <class T, class F>
__host__ __device__ constexpr decltype(auto) with_members(const T& value, const F& f) {
  constexpr std::size_t kCount = member_count_v<T>;
#define DYNASOAR_WITH_MEMBERS_(count, ...) \
  if constexpr (kCount == count) {         \
    const auto& [__VA_ARGS__] = value;     \
    return f(__VA_ARGS__);                 \
  }
  DYNASOAR_WITH_MEMBERS_(1, a)
  DYNASOAR_WITH_MEMBERS_(2, a, b)
  DYNASOAR_WITH_MEMBERS_(3, a, b, c)
  DYNASOAR_WITH_MEMBERS_(4, a, b, c, d)
  DYNASOAR_WITH_MEMBERS_(5, a, b, c, d, e)
  DYNASOAR_WITH_MEMBERS_(6, a, b, c, d, e, g)
  DYNASOAR_WITH_MEMBERS_(7, a, b, c, d, e, g, h)
  DYNASOAR_WITH_MEMBERS_(8, a, b, c, d, e, g, h, i)
  DYNASOAR_WITH_MEMBERS_(9, a, b, c, d, e, g, h, i, j)
  DYNASOAR_WITH_MEMBERS_(10, a, b, c, d, e, g, h, i, j, k)
  DYNASOAR_WITH_MEMBERS_(11, a, b, c, d, e, g, h, i, j, k, l)
  DYNASOAR_WITH_MEMBERS_(12, a, b, c, d, e, g, h, i, j, k, l, m)
  DYNASOAR_WITH_MEMBERS_(13, a, b, c, d, e, g, h, i, j, k, l, m, n)
  DYNASOAR_WITH_MEMBERS_(14, a, b, c, d, e, g, h, i, j, k, l, m, n, o)
  DYNASOAR_WITH_MEMBERS_(15, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p)
  DYNASOAR_WITH_MEMBERS_(16, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q)
#undef DYNASOAR_WITH_MEMBERS_
}

// ---- Their names ---------------------------------------------------------------------------------------------------

/// A type with a pointer as its template argument, which compilers have to spell out.
template <class T>
struct PointerTo {
  const T* pointer;
};

template <std::size_t index>
struct PickMember {
  template <class First, class... Others>
  __host__ __device__ constexpr auto operator()(const First& first, const Others&... others) const {
    if constexpr (index == 0) {
      return PointerTo<First>{&first};
    } else {
      return PickMember<index - 1>{}(others...);
    }
  }
};

// An object that does not exist: only pointers to its members are formed, at compile time.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-internal"
#pragma clang diagnostic ignored "-Wundefined-var-template"
#endif
template <class T>
struct NoObject {
  T value;
};
template <class T>
extern const NoObject<T> no_object_v;

template <class T, std::size_t index>
constexpr auto pointer_to_member() {
  return with_members(no_object_v<T>.value, PickMember<index>{});
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/// A text that contains the pointer, such as "... [kPointer = {&no_object_v.value.x}]".
template <PointerTo kPointer>
constexpr std::string_view text_of_pointer() {
  return __PRETTY_FUNCTION__;
}

constexpr bool is_identifier_text(std::string_view text) {
  for (const char c : text) {
    const bool is_of_name = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!is_of_name && static_cast<unsigned char>(c) < 0x80) return false;  // letters of other languages are above
  }
  return !text.empty();
}

/// The name of the member at the end of the pointer in such a text; empty if there is none.
constexpr std::string_view cut_out_name(std::string_view text, std::size_t index) {
  text = text.substr(0, text.rfind('}'));
  const auto drop_last = [&text](std::string_view characters) {
    const std::size_t last = text.find_last_not_of(characters);
    text = text.substr(0, last == std::string_view::npos ? 0 : last + 1);
  };
  drop_last(")");
  const std::string_view whole = text;
  drop_last("0123456789");
  if (text.ends_with(" -")) {  // nvcc, when it reads host code: "(&no_object_v<T>.value.x.y.z) -2" is the pointer to x
    drop_last(" -)");
    constexpr std::string_view kObject = ">.value.";
    const std::size_t object = text.rfind(kObject);
    if (object == std::string_view::npos) return {};
    text = text.substr(object + kObject.size());
    for (; index > 0 && text.find('.') != std::string_view::npos; --index) text = text.substr(text.find('.') + 1);
    text = text.substr(0, text.find_first_of(".["));
  } else {
    text = whole.substr(whole.find_last_of(".:& ") + 1);
  }
  return is_identifier_text(text) ? text : std::string_view{};
}

template <class T, std::size_t index>
concept NamableMember = requires {
  text_of_pointer<pointer_to_member<T, index>()>();
};

/// Whether pointers to all members can be formed; false for bit fields.
template <class T, std::size_t... i>
constexpr bool has_pointers(std::index_sequence<i...>) {
  return (NamableMember<T, i> && ...);
}

/// Class values with members that can be shown one by one.
template <class T>
concept HasMembers = NamesMembers<T> ||
    (std::is_class_v<T>&& member_count_v<T> > 0 && has_pointers<T>(std::make_index_sequence<member_count_v<T>>{}));

/// The name of a member of T; its number if the compiler's text has no name at the expected position.
template <HasMembers T, std::size_t index>
constexpr std::string_view member_name() {
  if constexpr (NamesMembers<T>) {
    return T::field_names[index];
  } else {
    constexpr std::string_view kName = cut_out_name(text_of_pointer<pointer_to_member<T, index>()>(), index);
    return kName.empty() ? std::string_view("0 1 2 3 4 5 6 7 8 9 101112131415").substr(2 * index, index < 10 ? 1 : 2)
                         : kName;
  }
}

}  // namespace dynasoar::detail
