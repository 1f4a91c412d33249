/// @file
/// SoaField: a data member that stands for an entry of a structure-of-arrays block and behaves like the value in it.
///
/// Source: DynaSOAr, section 3 (address computation) and appendix A (declaration of fields). A field object is empty;
/// its own "address" is the object's handle plus its position among the members, which gives the handle back.
#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>

#include <dynasoar/checks/access_counts.h>
#include <dynasoar/classes/pointer_format.h>
#include <dynasoar/detail/field_storage.h>
#include <dynasoar/platform/config.h>

namespace dynasoar {

/// Field I of class C; T is the I-th of C::FieldTypes.
///
/// Converts to `T&`, and can be assigned, compared and used in expressions like a T. Call `field.get()` for the `T&`
/// where C++ does not convert implicitly, as in `auto x = field.get();` and for template arguments. (field_functions.h
/// has std::max and similar functions for fields.) `&field` is the address of the value, and `field->member` is a
/// member of a class value. Fields of const objects are const.
///
/// @par Concurrency   like a plain variable: simultaneous access with a write is a race
/// @par Cost          one load or store; threads of a warp on objects of one block access one line
template <class C, int I>
class SoaField : public detail::FieldStorage<C, I> {
  using Storage = detail::FieldStorage<C, I>;
  using Access = detail::Access;
  using Pointee = typename detail::CompressedPointee<typename Storage::Value>::type;
  static constexpr bool kIsPointer =
      std::is_pointer_v<typename Storage::Value> || detail::is_compressed_v<typename Storage::Value>;

 public:
  using T = typename Storage::Value;

  __device__ SoaField() { Storage::may_construct(); }
  __device__ explicit SoaField(T value) {
    if (Storage::may_construct()) here<Access::write>() = value;
  }
  /// Copies the value of another object's field: `age_(mother->age_)` in a constructor.
  __device__ explicit SoaField(const SoaField& other) : Storage() {
    if (Storage::may_construct()) here<Access::write>() = other.get();
  }
  /// For implicit copies of a field, which do not compile.
  template <std::same_as<SoaField> Field>
  __device__ SoaField(const Field&) {
    detail::refuse_copy_of_field<Field>();
  }

  __device__ T& get() { return here<Access::reference>(); }
  __device__ const T& get() const { return here<Access::read>(); }
  __device__ operator T&() { return here<Access::read>(); }
  __device__ operator const T&() const { return here<Access::read>(); }
  /// The object to which a CompressedPointer points.
  __device__ operator Pointee*() const requires detail::is_compressed_v<T> { return get(); }
  __device__ explicit operator bool() const requires detail::is_compressed_v<T> { return static_cast<bool>(get()); }
  template <class U>
  requires detail::is_compressed_v<T> __device__ friend bool operator==(const SoaField& a, const U& b) {
    return a.get() == b;
  }
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
  /// Copies a pointer to an object of a subclass.
  template <class D, int J>
  requires detail::is_compressed_v<typename SoaField<D, J>::T> __device__ T& operator=(const SoaField<D, J>& other) {
    return *this = static_cast<T>(other.get());
  }

  // For pointers, the object; for class values, `field->member` is a member of the value.
  __device__ T operator->() const requires kIsPointer { return get(); }
  __device__ T* operator->() requires(std::is_class_v<T> && !kIsPointer) { return &here<Access::reference>(); }
  __device__ const T* operator->() const requires(std::is_class_v<T> && !kIsPointer) { return &here<Access::read>(); }
  __device__ decltype(auto) operator*() const requires kIsPointer { return *get(); }
  template <class Index>
  __device__ decltype(auto) operator[](const Index& index) requires requires(T& value) {
    value[index];
  }
  { return here < std::is_pointer_v<T> ? Access::read : Access::reference > ()[index]; }

// Scalars are taken by value, so that device code can use constants of the program. All others are taken by reference.
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
/// `field[i]` is a reference to element i, which may be known only at run time. Conversion, `get()` and assignment copy
/// the whole array.
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

  /// @pre index < size(); checked builds report a larger index
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
