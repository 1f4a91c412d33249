/// @file
/// The rules for classes of a SoaAllocator, as compile-time checks. Each message says which rule was broken and how to
/// fix it. Used wherever the library first needs a complete class: make_new, loops, AllocatorHandle.
///
/// A handle is not an address, so the members of an object have no memory. Therefore a class may contain SoaFields
/// only, which find their storage by their position in the class.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

#include <dynasoar/classes/layout.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/platform/config.h>

namespace dynasoar {

template <class Allocator>
class SoaBase;  // of the DSL, above this layer; named here only to check that a class derives from it once

}  // namespace dynasoar

namespace dynasoar::detail {

/// The first SoaField<C, I> that the program mentions defines `is_field_declared(FieldTag<C, I>)`. Without this
/// definition, the class has a field that was declared for another class.
template <class C, int I>
struct FieldTag {
  DYNASOAR_FRIEND_OF_EACH_SPECIALIZATION(friend constexpr auto is_field_declared(FieldTag<C, I>);)
};

template <class C, int I>
concept FieldDeclared = requires {
  is_field_declared(FieldTag<C, I>{});
};

template <class C>
concept HasFieldOwner = requires {
  typename C::FieldOwner;
};

/// Whether C::FieldTypes was written in C and not inherited, as far as this can be detected.
template <class C>
constexpr bool names_own_fields() {
  if constexpr (HasFieldOwner<C>) {
    return std::is_same_v<typename C::FieldOwner, C>;
  } else {
    return true;
  }
}

/// A type for each address. (With -fsanitize=undefined, g++ cannot compare addresses at compile time.)
template <auto* kMember>
struct MemberAddress;

/// Whether C names its fields: it has its own `field_names`, and does not inherit those of its base.
template <class C>
constexpr bool has_own_field_names() {
  if constexpr (requires { C::BaseClass::field_names; }) {
    return !std::is_same_v<MemberAddress<&C::field_names>, MemberAddress<&C::BaseClass::field_names>>;
  } else {
    return requires {
      C::field_names;
    };
  }
}

/// Whether C names all of its fields, or none.
template <class C>
constexpr bool names_all_fields() {
  if constexpr (has_own_field_names<C>()) {
    return std::size(C::field_names) == ClassLayout<C>::Own::count;
  } else {
    return true;
  }
}

template <class C, int... I>
constexpr bool all_fields_declared(std::integer_sequence<int, I...>) {
  return (true && ... && FieldDeclared<C, I>);
}

/// Checks C and its bases. Instantiate it where C is complete.
template <class Allocator, class C>
struct ClassRules {
  static constexpr bool check() {
    static_assert(!std::is_polymorphic_v<C>,
                  "dynasoar: this class has a virtual function. Objects in SOA layout have no virtual table; leave out "
                  "'virtual', say DYNASOAR_METHOD(Name, method) for the method, and call it with call<Name>(object)");
    static_assert(std::is_convertible_v<C*, SoaBase<Allocator>*>,
                  "dynasoar: this class derives from SoaBase<...> of this allocator more than once, not publicly, or "
                  "not at all. Multiple inheritance of SOA classes is not supported: derive from one class");
    static_assert(
        is_placed<C>() || !is_at_every_place<C>(),
        "dynasoar: this class says kAtEveryPlace, but is not placed on a lattice. Write 'static constexpr bool "
        "kPlaced = true;' beside it");
    static_assert(!is_at_every_place<C>() || !is_one_per_place<C>(),
                  "dynasoar: objects of this class are at every place (kAtEveryPlace) and leave no room for those of "
                  "other classes of the hierarchy (kOnePerPlace). Leave out one of both");
    static_assert(names_own_fields<C>(),
                  "dynasoar: this class inherits FieldTypes from its base. Declare its own: DYNASOAR_FIELDS(ThisClass, "
                  "...) or 'using FieldTypes = std::tuple<...>;' (an empty tuple if it has no fields)");
    if constexpr (!std::is_void_v<typename C::BaseClass>) {
      static_assert(std::is_base_of_v<typename C::BaseClass, C> && !std::is_same_v<typename C::BaseClass, C>,
                    "dynasoar: BaseClass of this class is not its base. Write 'using BaseClass = <its base>;'");
      static_assert(is_placed<C>() == is_placed<typename C::BaseClass>(),
                    "dynasoar: this class is placed on a lattice, and its base is not, or the other way round. Write "
                    "'static constexpr bool kPlaced = true;' in the first class of the hierarchy, and in no other");
      static_assert(is_one_per_place<C>() == is_one_per_place<typename C::BaseClass>(),
                    "dynasoar: kOnePerPlace of this class is not that of its base. Write 'static constexpr bool "
                    "kOnePerPlace = true;' in the first class of the hierarchy, beside kPlaced, and in no other");
      static_assert(ClassRules<Allocator, typename C::BaseClass>::check());
    }
    using Own = typename ClassLayout<C>::Own;
    static_assert(Own::trivially_copyable,
                  "dynasoar: a field's type is not trivially copyable. Fields are copied as bytes between host and "
                  "device; use plain values, pointers to SOA objects, or std::array of these");
    static_assert(
        names_all_fields<C>(),
        "dynasoar: field_names of this class has more or fewer names than its FieldTypes has types. Name each "
        "of the class's own fields once, in order; inherited fields have the names that the base gives them");
    constexpr std::size_t kFields = ClassLayout<C>::field_count;
    constexpr std::size_t kExpected = 1 + kFields;  // SoaBase has a byte
    static_assert(sizeof(C) <= kExpected,
                  "dynasoar: this class has a data member that is not a SoaField, or a field more than FieldTypes "
                  "lists, or a base class that 'using BaseClass = ...;' does not name. Make every data member a field, "
                  "and name the direct base in each subclass");
    static_assert(sizeof(C) >= kExpected,
                  "dynasoar: this class has fewer fields than FieldTypes lists. Either a SoaField is missing, or the "
                  "class has no FieldTypes of its own and inherits those of its base: declare them");
    if constexpr (sizeof(C) == kExpected) {
      static_assert(all_fields_declared<C>(std::make_integer_sequence<int, static_cast<int>(Own::count)>{}),
                    "dynasoar: a field of this class is declared for another class. Write SoaField<ThisClass, index>");
    }
    return true;
  }
};

/// Checks that T can be created: it is in the allocator's list, and follows the rules.
template <class Allocator, class T>
__host__ __device__ constexpr void check_listed() {
  static_assert(Allocator::template index_of<T> >= 0,
                "dynasoar: this class is not in its allocator's list. Add it to SoaAllocator<...>");
  static_assert(ClassRules<Allocator, T>::check());
}

/// Checks that objects of T are in the heap, and not at places.
template <class T>
__host__ __device__ constexpr void check_not_placed() {
  static_assert(!is_placed<T>(),
                "dynasoar: this class is placed on a lattice, so its objects need a place: call "
                "dynasoar::make_new_at<Class>(place, ...) in a loop, or lattice.parallel_new<Class>(...)");
}

/// Checks that T can be freed with `free`.
template <class T>
__host__ __device__ constexpr void check_may_free() {
  static_assert(!is_placed<T>(), "dynasoar: free is not for objects of placed classes. Call dynasoar::destroy(object)");
}

/// Checks that T can be created with these arguments.
template <class T, class... Args>
__host__ __device__ constexpr void check_constructible() {
  static_assert(
      std::is_constructible_v<T, Args...>,
      "dynasoar: this class has no public constructor for these arguments. parallel_new and make_new_n pass the "
      "number of the object in front of them, a std::size_t, and copies of the arguments, to which a reference must be "
      "one to const");
}

/// Checks that T or a subclass of it is in the allocator's list, and follows the rules.
template <class Allocator, class T>
__host__ __device__ constexpr void check_listed_or_base() {
  static_assert(Allocator::template Subtypes<T>::size > 0,
                "dynasoar: neither this class nor a class derived from it is in its allocator's list. Add it to "
                "SoaAllocator<...>");
  static_assert(ClassRules<Allocator, T>::check());
}

}  // namespace dynasoar::detail
