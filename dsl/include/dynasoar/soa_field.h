/// @file
/// SoaField: a data member that stands for an entry of a structure-of-arrays block and behaves like the value in it.
///
/// Source: DynaSOAr, section 3 (address computation) and appendix A (declaration of fields). A field object is empty;
/// its own "address" is the object's handle plus its position among the members, which gives the handle back.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <dynasoar/checks/access_counts.h>
#include <dynasoar/checks/checks.h>
#include <dynasoar/classes/class_rules.h>
#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/layout.h>
#include <dynasoar/platform/bits.h>

namespace dynasoar {

namespace detail {

/// Whether field I of class C is a std::array; false if there is no such field, of which FieldStorage has to say more.
template <class C, int I>
constexpr bool is_array_field() {
  if constexpr (HasFieldTypes<C>) {
    if constexpr (I >= 0 && I < static_cast<int>(std::tuple_size_v<typename C::FieldTypes>)) {
      return ArrayFieldTraits<std::tuple_element_t<I, typename C::FieldTypes>>::is_array;
    }
  }
  return false;
}

/// Finds the storage of field I of class C; the base of every SoaField.
template <class C, int I>
class FieldStorage {
  static_assert(HasAllocator<C>,
                "dynasoar: this class does not derive publicly from SoaBase<...>. Write 'class "
                "ThisClass : public SoaBase<...>', or the base class instead of SoaBase");
  static_assert(
      HasFieldTypes<C>,
      "dynasoar: the fields of this class are private, or 'using FieldTypes = ...;' does not stand in front of "
      "them. Write DYNASOAR_FIELDS, or FieldTypes and the SoaFields, behind 'public:'");
  static_assert(I >= 0 && I < static_cast<int>(std::tuple_size_v<typename C::FieldTypes>),
                "dynasoar: field index out of range: SoaField<C, I> needs 0 <= I < number of types in C::FieldTypes");

 public:
  using Value = std::tuple_element_t<I, typename C::FieldTypes>;
  using Element = typename ArrayFieldTraits<Value>::Element;
  static_assert(!std::is_array_v<Value> && !std::is_array_v<Element>,
                "dynasoar: a field's type is a C array. Use std::array: (name, std::array<Type, size>) instead of "
                "(name, Type[size])");
  static_assert(!std::is_reference_v<Value>,
                "dynasoar: a field's type is a reference. Use a pointer: references cannot be stored in arrays");
  static_assert(!std::is_const_v<Value> && !std::is_volatile_v<Value>,
                "dynasoar: a field's type is const or volatile. Leave that out: the constructor assigns to fields");
  static_assert(std::is_object_v<Value>, "dynasoar: a field's type is void or a function. Use a pointer");
  static_assert(std::is_copy_constructible_v<Value> && std::is_copy_assignable_v<Value>,
                "dynasoar: a field's type cannot be copied or assigned. Fields are copied as bytes between host and "
                "device; instead of std::atomic use dynasoar::AtomicWord, and no references or constants as members");
  static_assert(std::is_trivially_copyable_v<Value>,
                "dynasoar: a field's type is not trivially copyable. Fields are copied as bytes between host and "
                "device; use plain values, pointers to SOA objects, or std::array of these");
  static_assert(alignof(Element) <= kArrayAlignment, "dynasoar: a field's type has an alignment above 128 bytes");

  /// This field was declared for C; see ClassRules.
  friend constexpr auto is_field_declared(FieldTag<C, I>) { return true; }

 protected:
  __device__ FieldStorage() {}
  ~FieldStorage() = default;

  /// Address of element 0. @tparam kAccess   what for; how often one is asked for is counted in builds that do so
  template <Access kAccess>
  __device__ Element* address() const {
    const Handle handle = object();
    if constexpr (C::Allocator::kFindsMisuse) {
      if (!CheckedBy::template may_access<C>(handle, kNumber)) return scratch();
    }
    if constexpr (kCountsAccesses) count_access<typename C::Allocator, kAccess>(handle, kNumber);
    return C::Allocator::template field<C, I, Element>(handle);
  }

  /// Where the field of an object is constructed. In checked builds, false if that is not in the heap.
  __device__ bool may_construct() const {
    if constexpr (C::Allocator::kFindsMisuse) return CheckedBy::template may_construct<C>(object(), kNumber);
    return true;
  }

  /// In checked builds, before a value of the field is read: notes if nothing has set it.
  __device__ void check_set([[maybe_unused]] const Element* value) const {
    if constexpr (C::Allocator::kFindsMisuse)
      CheckedBy::template check_set<C>(object(), kNumber, value, sizeof(Element));
  }

  /// For checked builds: where an access to element `index`, which is beyond the end, goes instead.
  __device__ Element* out_of_range(std::size_t index) const {
    CheckedBy::template note_index<C>(object(), kNumber, index);
    return scratch();
  }

 private:
  using CheckedBy = Checks<typename C::Allocator>;

  static constexpr std::uint32_t kNumber = static_cast<std::uint32_t>(inherited_fields_v<C>) + I;
  static constexpr std::uint32_t kOffset = 1 + kNumber;  // from the object, behind the byte of SoaBase

  __device__ Handle object() const {
    if constexpr (C::Allocator::kFindsMisuse || kCudaBackend) {
      std::uint64_t bits = reinterpret_cast<std::uint64_t>(this);
      if constexpr (C::Allocator::kFindsMisuse) bits = opaque(bits);  // `this` may be null
      return Handle(bits - kOffset);
    } else {
      // Taken off the pointer: host compilers see that it undoes what the access to the member has added.
      return Handle(reinterpret_cast<std::uint64_t>(reinterpret_cast<const char*>(this) - kOffset));
    }
  }

  /// Memory for an access that must not happen. All zeros, so that nothing is found there, pointers least of all.
  __device__ Element* scratch() const {
    char* const memory = CheckedBy::scratch() + field_offset_v<C, I> + object().slot() * sizeof(Element);
    for (std::size_t i = 0; i < sizeof(Element); ++i) memory[i] = 0;
    return reinterpret_cast<Element*>(memory);
  }
};

/// Whether writes to a T may change anything, as compilers see it: then they read again what they had read before.
template <class T>
inline constexpr bool is_byte_v =
    std::is_same_v<T, char> || std::is_same_v<T, signed char> || std::is_same_v<T, unsigned char>;

/// `here = value` for a byte, as a write that compilers know to change bytes only.
template <class T>
__device__ T& assign_byte(T& here, T value) {
  enum class Byte : T {};
  reinterpret_cast<Byte&>(here) = Byte{value};
  return here;
}

template <class Field>
__device__ constexpr void refuse_copy_of_field() {
  static_assert(!std::is_same_v<Field, Field>,
                "dynasoar: this would copy a field of an object, which is nothing outside of the object. Say the "
                "value's type instead of 'auto', give a lambda its return type with '->', or call get() on the field");
}

}  // namespace detail

/// Field I of class C; T is the I-th of C::FieldTypes.
///
/// Converts to `T&`, can be assigned, compared and used in expressions like a T. `field.get()` gives the `T&` where a
/// conversion does not happen by itself (`auto x = field.get();`, template arguments; field_functions.h has std::max
/// and its like). `&field` is the address of the value, `field->member` a member of a class value. Fields of const
/// objects are const.
///
/// @par Concurrency   like a plain variable: simultaneous access with a write is a race
/// @par Cost          one load or store; threads of a warp on objects of one block access one line
template <class C, int I>
class SoaField : public detail::FieldStorage<C, I> {
  using Storage = detail::FieldStorage<C, I>;
  using Access = detail::Access;

 public:
  using T = typename Storage::Value;

  __device__ SoaField() { Storage::may_construct(); }
  __device__ explicit SoaField(T value) {
    if (Storage::may_construct()) here<Access::write>() = value;
  }
  /// Takes over another object's value: `age_(mother->age_)` in a constructor.
  __device__ explicit SoaField(const SoaField& other) : Storage() {
    if (Storage::may_construct()) here<Access::write>() = other.get();
  }
  /// Where a field would be copied without being asked for; does not compile.
  template <std::same_as<SoaField> Field>
  __device__ SoaField(const Field&) {
    detail::refuse_copy_of_field<Field>();
  }

  __device__ T& get() { return here<Access::reference>(); }
  __device__ const T& get() const { return here<Access::read>(); }
  __device__ operator T&() { return here<Access::read>(); }
  __device__ operator const T&() const { return here<Access::read>(); }
  __device__ T* operator&() { return &here<Access::reference>(); }
  __device__ const T* operator&() const { return &here<Access::read>(); }

  __device__ T& operator=(T value) {
    if constexpr (detail::is_byte_v<T>) {
      return detail::assign_byte(here<Access::write>(), value);
    } else {
      return here<Access::write>() = value;
    }
  }
  __device__ T& operator=(const SoaField& other) { return *this = other.get(); }

  // Pointers: what they point to. Classes: `field->member` is a member of the value.
  __device__ T operator->() const requires std::is_pointer_v<T> { return get(); }
  __device__ T* operator->() requires std::is_class_v<T> { return &here<Access::reference>(); }
  __device__ const T* operator->() const requires std::is_class_v<T> { return &here<Access::read>(); }
  __device__ decltype(auto) operator*() const requires std::is_pointer_v<T> { return *get(); }
  template <class Index>
  __device__ decltype(auto) operator[](const Index& index) requires requires(T& value) {
    value[index];
  }
  { return here < std::is_pointer_v<T> ? Access::read : Access::reference > ()[index]; }

// Scalars are taken by value, so that constants of the program can be used in device code; all else by reference.
#define DYNASOAR_COMPOUND_ASSIGNMENT_(op)                                       \
  template <class U>                                                            \
  requires std::is_scalar_v<U> __device__ T& operator op##=(U value) {          \
    T& old = here<Access::read_and_write>();                                    \
    if constexpr (detail::is_byte_v<T>) {                                       \
      return detail::assign_byte(old, static_cast<T>(old op value));            \
    } else {                                                                    \
      return old op## = value;                                                  \
    }                                                                           \
  }                                                                             \
  template <class U>                                                            \
  requires(!std::is_scalar_v<U>) __device__ T& operator op##=(const U& value) { \
    return here<Access::read_and_write>() op## = value;                         \
  }
  DYNASOAR_COMPOUND_ASSIGNMENT_(+)
  DYNASOAR_COMPOUND_ASSIGNMENT_(-)
  DYNASOAR_COMPOUND_ASSIGNMENT_(*)
  DYNASOAR_COMPOUND_ASSIGNMENT_(/)
  DYNASOAR_COMPOUND_ASSIGNMENT_(%)
  DYNASOAR_COMPOUND_ASSIGNMENT_(&)
  DYNASOAR_COMPOUND_ASSIGNMENT_(|)
  DYNASOAR_COMPOUND_ASSIGNMENT_(^)
  DYNASOAR_COMPOUND_ASSIGNMENT_(<<)
  DYNASOAR_COMPOUND_ASSIGNMENT_(>>)
#undef DYNASOAR_COMPOUND_ASSIGNMENT_

  __device__ T& operator++() {
    return ++here<Access::read_and_write>();
  }
  __device__ T operator++(int) {
    return here<Access::read_and_write>()++;
  }
  __device__ T& operator--() {
    return --here<Access::read_and_write>();
  }
  __device__ T operator--(int) {
    return here<Access::read_and_write>()--;
  }

 private:
  template <Access kAccess>
  __device__ T& here() const {
    T* const value = Storage::template address<kAccess>();
    if constexpr (kAccess == Access::read || kAccess == Access::read_and_write) Storage::check_set(value);
    return *value;
  }
};

/// An array field: `n` arrays in structure-of-arrays layout, one per element.
///
/// `field[i]` is a reference to element i, also for an i known only at run time. The whole array is copied by
/// conversion, `get()` and assignment.
template <class C, int I>
requires(detail::is_array_field<C, I>()) class SoaField<C, I> : public detail::FieldStorage<C, I> {
  using Storage = detail::FieldStorage<C, I>;
  using Access = detail::Access;

 public:
  using T = typename Storage::Value;
  using Element = typename Storage::Element;

  __device__ SoaField() { Storage::may_construct(); }
  __device__ explicit SoaField(const T& value) {
    if (Storage::may_construct()) *this = value;
  }
  __device__ explicit SoaField(const SoaField& other) : Storage() {
    if (Storage::may_construct()) *this = other;
  }
  template <std::same_as<SoaField> Field>
  __device__ SoaField(const Field&) {
    detail::refuse_copy_of_field<Field>();
  }

  static constexpr std::size_t size() { return std::tuple_size_v<T>; }

  /// @pre index < size(); checked builds report it if not
  __device__ Element& operator[](std::size_t index) { return *element<Access::reference>(index); }
  __device__ const Element& operator[](std::size_t index) const {
    const Element* const value = element<Access::read>(index);
    Storage::check_set(value);
    return *value;
  }

  __device__ T get() const {
    T copy;
    for (std::size_t i = 0; i < size(); ++i) copy[i] = *element<Access::read>(i);
    return copy;
  }
  __device__ operator T() const { return get(); }

  __device__ SoaField& operator=(const T& value) {
    for (std::size_t i = 0; i < size(); ++i) *element<Access::write>(i) = value[i];
    return *this;
  }
  __device__ SoaField& operator=(const SoaField& other) {
    for (std::size_t i = 0; i < size(); ++i) *element<Access::write>(i) = *other.template element<Access::read>(i);
    return *this;
  }

  /// Sets every element.
  __device__ void fill(const Element& value) {
    for (std::size_t i = 0; i < size(); ++i) *element<Access::write>(i) = value;
  }

  __device__ friend bool operator==(const SoaField& a, const T& b) {
    for (std::size_t i = 0; i < size(); ++i) {
      if (!(a[i] == b[i])) return false;
    }
    return true;
  }

 private:
  template <Access kAccess>
  __device__ Element* element(std::size_t index) const {
    if constexpr (C::Allocator::kFindsMisuse) {
      if (index >= size()) return Storage::out_of_range(index);
    }
    char* const first = reinterpret_cast<char*>(Storage::template address<kAccess>());
    return reinterpret_cast<Element*>(first + index * C::Allocator::template kArrayStride<Element>);
  }
};

}  // namespace dynasoar
