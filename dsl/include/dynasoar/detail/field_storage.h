/// @file
/// FieldStorage: finds the value that a SoaField stands for, and explains at compile time why a field is not allowed.
/// The base of SoaField.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include <dynasoar/checks/access_counts.h>
#include <dynasoar/checks/checks.h>
#include <dynasoar/classes/class_rules.h>
#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/layout.h>
#include <dynasoar/platform/bits.h>

namespace dynasoar::detail {

/// Whether field I of class C is a std::array; false if there is no such field, which FieldStorage reports.
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

  // The friend's first declaration, in FieldTag: nvcc 12.4 needs it before the definition.
  static_assert(sizeof(FieldTag<C, I>) > 0);
  /// Records that this field was declared for C; see ClassRules.
  friend constexpr auto is_field_declared(FieldTag<C, I>) { return true; }

 protected:
  __device__ FieldStorage() {}
  ~FieldStorage() = default;

  /// Address of element 0. @tparam kAccess   the kind of access, which some builds count
  template <Access kAccess>
  __device__ Element* address() const {
    const Handle handle = object();
    if constexpr (C::Allocator::kFindsMisuse) {
      if (!CheckedBy::template may_access<C>(handle, kNumber)) return scratch();
    }
    if constexpr (kCountsAccesses) count_access<typename C::Allocator, kAccess>(handle, kNumber);
    return C::Allocator::template field<C, I, Element>(handle);
  }

  /// Called when the field of an object is constructed. In checked builds, false if the object is not in the heap.
  __device__ bool may_construct() const {
    if constexpr (C::Allocator::kFindsMisuse) return CheckedBy::template may_construct<C>(object(), kNumber);
    return true;
  }

  /// Called in checked builds before a value of the field is read. Reports a value that nothing has set.
  __device__ void check_set([[maybe_unused]] const Element* value) const {
    if constexpr (C::Allocator::kFindsMisuse)
      CheckedBy::template check_set<C>(object(), kNumber, value, sizeof(Element));
  }

  /// For checked builds: the memory for an access to element `index`, which is beyond the end.
  __device__ Element* out_of_range(std::size_t index) const {
    CheckedBy::template note_index<C>(object(), kNumber, index);
    return scratch();
  }

 private:
  using CheckedBy = Checks<typename C::Allocator>;

  static constexpr std::uint32_t kNumber = static_cast<std::uint32_t>(inherited_fields_v<C>) + I;
  static constexpr std::uint32_t kOffset = 1 + kNumber;  // offset in the object, behind the byte of SoaBase

  __device__ Handle object() const {
    if constexpr (C::Allocator::kFindsMisuse || kCudaBackend) {
      std::uint64_t bits = reinterpret_cast<std::uint64_t>(this);
      if constexpr (C::Allocator::kFindsMisuse) bits = opaque(bits);  // `this` may be null
      return Handle(bits - kOffset);
    } else {
      // Subtract from the pointer: host compilers see that this cancels the offset of the member.
      return Handle(reinterpret_cast<std::uint64_t>(reinterpret_cast<const char*>(this) - kOffset));
    }
  }

  /// Memory for an access that must not happen. It is all zeros, so that a pointer read there is null.
  __device__ Element* scratch() const {
    char* const memory = CheckedBy::scratch() + field_offset_v<C, I> + object().slot() * sizeof(Element);
    for (std::size_t i = 0; i < sizeof(Element); ++i) memory[i] = 0;
    return reinterpret_cast<Element*>(memory);
  }
};

/// Whether T is a byte type. Compilers assume that a write through such a type may change any value, so they read other
/// values again.
template <class T>
inline constexpr bool is_byte_v =
    std::is_same_v<T, char> || std::is_same_v<T, signed char> || std::is_same_v<T, unsigned char>;

/// Assigns a byte such that compilers know that nothing else changes.
template <class T>
__device__ T& assign_byte(T& here, T value) {
  enum class Byte : T {};
  reinterpret_cast<Byte&>(here) = Byte{value};
  return here;
}

template <class Field>
__device__ constexpr void refuse_copy_of_field() {
  static_assert(
      !std::is_same_v<Field, Field>,
      "dynasoar: this would copy a field of an object, which has no meaning outside of the object. Write "
      "the value's type instead of 'auto', give a lambda its return type with '->', or call get() on the field");
}

}  // namespace dynasoar::detail
