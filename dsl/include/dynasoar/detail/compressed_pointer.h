/// @file
/// CompressedPointer: a pointer to an object in 4 bytes instead of 8, for fields.
///
/// JVMs have compressed pointers of the same kind: an offset in the heap in units of the alignment of objects. Here the
/// unit is a slot of a block, see classes/pointer_format.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/pointer_format.h>
#include <dynasoar/platform/config.h>

namespace dynasoar {

/// A `T*` of 4 bytes: `DYNASOAR_FIELDS(Node, (next_, CompressedPointer<Node>))`. In a class of objects,
/// SoaBase::CompressedPointer<T> is this type with the class's allocator.
///
/// Converts from and to `T*`; `->`, `*`, comparisons, conditions and nullptr work as with a `T*`. Loops that read
/// fields of this type, or arrays of them, read half as many bytes. These fields limit the heap to the size that they
/// can address: see docs/how-to/compressed-pointers.md. With an AosAllocator it is a plain pointer of 8 bytes.
///
/// @tparam T   a class of the allocator's list, or a base of up to 7 of them; not placed. May be incomplete here
/// @par Cost   reading a field of the object takes 5 to 15 instructions more than with a `T*`; assignment divides by a
///             constant. Only checked builds read memory for this
template <class T, class Allocator>
class CompressedPointer : detail::DefineCompressed<T, Allocator> {
 public:
  __host__ __device__ constexpr CompressedPointer(std::nullptr_t = nullptr) {}
  template <class U>
  requires std::is_convertible_v<U*, T*> __device__ CompressedPointer(U* object)
      : bits_(compressed(static_cast<T*>(object))) {}
  template <class U>
  requires(std::is_convertible_v<U*, T*> && !std::is_same_v<U, T>) __device__
      CompressedPointer(const CompressedPointer<U, Allocator>& pointer)
      : CompressedPointer(static_cast<U*>(pointer)) {}

  __device__ operator T*() const { return reinterpret_cast<T*>(handle().bits()); }
  __device__ T* operator->() const { return *this; }
  __device__ T& operator*() const { return *static_cast<T*>(*this); }

  __host__ __device__ explicit constexpr operator bool() const { return bits_ != 0; }
  __host__ __device__ friend constexpr bool operator==(CompressedPointer a, std::nullptr_t) { return a.bits_ == 0; }
  __host__ __device__ friend constexpr bool operator==(CompressedPointer a, CompressedPointer b) {
    return a.bits_ == b.bits_;
  }
  template <class U>
  __device__ friend bool operator==(CompressedPointer a, U* b) {
    return static_cast<T*>(a) == b;
  }

 private:
  static constexpr bool kIsShort = Allocator::kCompacts;  // otherwise handles are addresses
  using Bits = std::conditional_t<kIsShort, std::uint32_t, std::uint64_t>;

  __device__ static Bits compressed(T* object) {
    const detail::Handle handle(reinterpret_cast<std::uint64_t>(object));
    if constexpr (kIsShort) {
      constexpr detail::PointerFormat kFormat = detail::pointer_format_v<Allocator, T>;
      return kFormat.encode(handle);
    } else {
      return handle.bits();
    }
  }

  __device__ detail::Handle handle() const {
    if constexpr (kIsShort) {
      constexpr detail::PointerFormat kFormat = detail::pointer_format_v<Allocator, T>;
      const detail::Handle found = kFormat.decode(bits_);
      if constexpr (Allocator::kFindsMisuse) {
        if (!Allocator::is_position_of_object(found)) return found;
        const std::uint32_t now = Allocator::Checks::generation(Allocator::block_of(found), found.slot());
        return found.with_generation(kFormat.generation_of(bits_, now));
      } else {
        return found;
      }
    } else {
      return detail::Handle(bits_);
    }
  }

  Bits bits_ = 0;
};

}  // namespace dynasoar
