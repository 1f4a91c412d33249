/// @file
/// Object handles: the bits of a `T*` to a SOA object. Used by SoaField to find a field, and by SoaAllocator.
///
/// Source: DynaSOAr, section 3, "Representation of Object Handles". A handle is not an address. It names a slot of a
/// block, relative to the start of the heap, so it does not depend on the address of the heap. In checked builds, bits
/// 48 to 55 are the generation of the slot (see checks.h); otherwise they are 0.
#pragma once

#include <cstdint>
#include <type_traits>

#include <dynasoar/loops/visited_block.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// The 64 bits of an object pointer: slot (0-5), byte offset of the block in the heap (6-47), generation (48-55), type
/// id (56-63).
class Handle {
 public:
  __host__ __device__ explicit constexpr Handle(std::uint64_t bits) : bits_(bits) {}

  /// @param block_offset   bytes from the heap's start, a multiple of 64
  /// @param type_index     position in the allocator's type list; its id is one more, so that no handle is null
  /// @param generation     below kGenerations
  __host__ __device__ static constexpr Handle make(std::uint64_t block_offset, std::uint32_t slot, int type_index,
                                                   std::uint32_t generation = 0) {
    return Handle(block_offset | slot | std::uint64_t{generation} << kGenerationShift | type_bits(type_index));
  }

  /// The bits that encode the class of an object.
  __host__ __device__ static constexpr std::uint64_t type_bits(int type_index) {
    return (static_cast<std::uint64_t>(type_index) + 1) << kTypeShift;
  }

  __host__ __device__ constexpr std::uint64_t bits() const { return bits_; }
  __host__ __device__ constexpr std::uint32_t slot() const { return static_cast<std::uint32_t>(bits_) & kSlotMask; }
  __host__ __device__ constexpr std::uint64_t block_offset() const { return bits_ & kBlockMask; }

  __host__ __device__ constexpr std::uint32_t generation() const {
    return static_cast<std::uint32_t>(bits_ >> kGenerationShift) % kGenerations;
  }

  /// Position in the allocator's type list; -1 for a null pointer.
  __host__ __device__ constexpr int type_index() const { return static_cast<int>(bits_ >> kTypeShift) - 1; }

  /// The same object of another generation.
  __host__ __device__ constexpr Handle with_generation(std::uint32_t generation) const {
    return Handle((bits_ & ~(std::uint64_t{kGenerations - 1} << kGenerationShift)) | std::uint64_t{generation}
                                                                                         << kGenerationShift);
  }

  static constexpr int kMaxTypes = 255;
  static constexpr std::uint32_t kGenerations = 256;
  static constexpr std::uint64_t kMaxHeapBytes = std::uint64_t{1} << 48;
  static constexpr int kTypeShift = 56;

 private:
  static constexpr std::uint32_t kSlotMask = 63;
  static constexpr std::uint64_t kBlockMask = 0x0000FFFFFFFFFFC0u;
  static constexpr int kGenerationShift = 48;

  std::uint64_t bits_;
};

/// A handle of an object in one piece of memory, which is in no block: its address (bits 0-55) and its type id (56-63).
inline constexpr std::uint64_t kAddressMask = (std::uint64_t{1} << 56) - 1;

/// Whether an object of the class with this index is a T: the class is T or derives from it.
/// @pre all classes of the allocator are complete
template <class T>
__device__ bool is_of_class(int type) {
  using Allocator = typename T::Allocator;
  bool found = false;
  Allocator::template Subtypes<T>::for_each(
      [&]<class S>(std::type_identity<S>) { found = found || type == Allocator::template index_of<S>; });
  return found;
}

/// The position of an object: its block, in bytes from the start of the heap, and its slot.
struct HeapPosition {
  std::uint64_t block_offset;
  std::uint64_t slot;
};

/// The position in a handle, in a form that host compilers can optimize in loops; see visited_block.
__device__ inline HeapPosition position_of(Handle object) {
  std::uint64_t first = 0;
  if (is_in_visited_block(object.bits(), first)) return {Handle(first).block_offset(), object.bits() - first};
  return {object.block_offset(), object.slot()};
}

}  // namespace dynasoar::detail
