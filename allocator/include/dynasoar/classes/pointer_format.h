/// @file
/// PointerFormat: the encoding of a pointer to an object in the 32 bits of a CompressedPointer. Used by
/// CompressedPointer, and through the table of classes by compaction, columns and the heap's limit.
///
/// The bits encode the same position as a handle, but only for the classes to which the pointer may point. From the
/// lowest bit on, they are:
///   - the slot (6 bits)
///   - the class (1 to 3 bits), counted from 1, so that only null is 0
///   - the number of the block
///   - in checked builds, the lowest bits of the slot's generation
///
/// Blocks are numbered as in the heap, but a page has only the numbers that these classes need. The offset of a block
/// is computed with multiplications; no memory is read.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/layout.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/classes/type_name.h>
#include <dynasoar/platform/config.h>

namespace dynasoar {

template <class T, class Allocator>
class CompressedPointer;  // of the DSL, above this layer; named here for the table of classes

namespace detail {

/// The class to which a CompressedPointer points; NoPointee for other types.
struct NoPointee;
template <class Value>
struct CompressedPointee : std::type_identity<NoPointee> {};
template <class T, class A>
struct CompressedPointee<CompressedPointer<T, A>> : std::type_identity<T> {};

template <class Value>
inline constexpr bool is_compressed_v = !std::is_same_v<typename CompressedPointee<Value>::type, NoPointee>;

/// The first CompressedPointer<T, A> that the program mentions defines `is_compressed_to(CompressedTag<T, A>)`. This
/// limits the heap to the size that such pointers can address.
template <class T, class A>
struct CompressedTag {
  DYNASOAR_FRIEND_OF_EACH_SPECIALIZATION(friend constexpr auto is_compressed_to(CompressedTag<T, A>);)
};
template <class T, class A>
struct DefineCompressed {
  static_assert(sizeof(CompressedTag<T, A>) > 0);  // the friend's first declaration: nvcc 12.4 needs it here
  friend constexpr auto is_compressed_to(CompressedTag<T, A>) { return true; }
};
template <class T, class A>
concept HasCompressedPointers = requires {
  is_compressed_to(CompressedTag<T, A>{});
};

struct PointerFormat {
  static constexpr std::size_t kMostClasses = 7;
  static constexpr std::uint32_t kGenerationBits = 4;  ///< in checked builds

  std::uint64_t page_bytes = 0;
  std::uint32_t page_shift = 0;  ///< bits of a block's number that are its number in its page
  std::uint32_t class_bits = 0;
  std::uint32_t generation_bits = 0;
  std::uint32_t classes = 0;                              ///< number of classes to which it may point
  std::array<std::uint8_t, kMostClasses> types{};         ///< their indices in the allocator's list
  std::array<std::uint32_t, kMostClasses> block_bytes{};  ///< bytes of their blocks

  /// The handle, of generation 0. Null remains null.
  __host__ __device__ constexpr Handle decode(std::uint32_t bits) const {
    const std::uint32_t slot = bits & kSlotMask;
    const std::uint32_t number = (bits & position_mask()) >> (kSlotBits + class_bits);
    const std::uint32_t code = bits >> kSlotBits & ((1u << class_bits) - 1);
    return Handle(offset_of(number, code) | slot | type_bits(code));
  }

  /// @return   0 for null, and for a pointer to an object of another class
  __host__ __device__ constexpr std::uint32_t encode(Handle handle) const {
    std::uint32_t code = 0;
    std::uint32_t bytes = block_bytes[0];
    for (std::uint32_t i = 0; i < kMostClasses; ++i) {
      if (i >= classes) break;
      if (handle.type_index() != types[i]) continue;
      code = i + 1;
      bytes = block_bytes[i];
    }
    const std::uint32_t page = page_of(handle.block_offset());
    const std::uint32_t within =
        static_cast<std::uint32_t>(handle.block_offset()) - page * static_cast<std::uint32_t>(page_bytes);
    const std::uint32_t number = (page << page_shift) + within / bytes;
    const std::uint32_t position = (number << class_bits | code) << kSlotBits | handle.slot();
    return code == 0 ? 0 : position | generation_part(handle.generation());
  }

  /// The generation of a pointer, if its slot has generation `now`. It is `now` if the stored bits are equal.
  __host__ __device__ constexpr std::uint32_t generation_of(std::uint32_t bits, std::uint32_t of_slot) const {
    const std::uint32_t known = (1u << generation_bits) - 1;
    return (of_slot & ~known) | ((bits & ~position_mask()) >> position_bits() % 32);
  }

  /// The greatest number of pages of a heap in which it can point to every object.
  __host__ __device__ constexpr std::uint64_t most_pages() const {
    return std::uint64_t{1} << (position_bits() - kSlotBits - class_bits) >> page_shift;
  }

 private:
  static constexpr std::uint32_t kSlotBits = 6, kSlotMask = 63;

  __host__ __device__ constexpr std::uint32_t position_bits() const { return 32 - generation_bits; }
  __host__ __device__ constexpr std::uint32_t position_mask() const { return ~std::uint32_t{0} >> generation_bits; }

  __host__ __device__ constexpr std::uint32_t generation_part(std::uint32_t generation) const {
    return generation_bits == 0 ? 0 : generation << position_bits() % 32;
  }

  /// The page of a block. Pages begin on lines, so no 64-bit division is needed if the numbers of all addressable lines
  /// fit into 32 bits.
  __host__ __device__ constexpr std::uint32_t page_of(std::uint64_t block_offset) const {
    const std::uint64_t line = block_offset / kArrayAlignment;
    const auto lines = static_cast<std::uint32_t>(page_bytes / kArrayAlignment);
    if (most_pages() * lines > ~std::uint32_t{0}) return static_cast<std::uint32_t>(line / lines);
    return static_cast<std::uint32_t>(line) / lines;
  }

  /// The bits of the class in a handle. The classes at the beginning of the allocator's list have the same numbers in
  /// both.
  __host__ __device__ constexpr std::uint64_t type_bits(std::uint32_t code) const {
    if (begin_list()) return std::uint64_t{code} << Handle::kTypeShift;
    std::uint64_t type = 0;
    for (std::uint32_t i = 0; i < kMostClasses; ++i) {
      if (i < classes && code == i + 1) type = Handle::type_bits(types[i]);
    }
    return type;
  }

  __host__ __device__ constexpr std::uint64_t offset_of(std::uint32_t number, std::uint32_t code) const {
    if (fill_pages()) return std::uint64_t{number} * block_bytes[0];
    std::uint32_t bytes = block_bytes[0];
    for (std::uint32_t i = 1; i < kMostClasses; ++i) {
      if (i < classes && code == i + 1) bytes = block_bytes[i];
    }
    const std::uint32_t index = number & ((1u << page_shift) - 1);
    return (number >> page_shift) * page_bytes + index * bytes;
  }

  __host__ __device__ constexpr bool begin_list() const {
    bool all = true;
    for (std::uint32_t i = 0; i < kMostClasses; ++i) all = all && (i >= classes || types[i] == i);
    return all;
  }

  /// Whether all blocks have the same size, and a page has as many blocks as block numbers.
  __host__ __device__ constexpr bool fill_pages() const {
    bool all = true;
    for (std::uint32_t i = 0; i < kMostClasses; ++i) {
      all = all && (i >= classes || page_bytes == std::uint64_t{block_bytes[i]} << page_shift);
    }
    return all;
  }
};

/// The format of pointers to T in allocator A. @pre all classes of A are complete
template <class A, class T>
constexpr PointerFormat make_pointer_format() {
  using Classes = typename A::template Subtypes<T>;
  static_assert(Classes::size > 0,
                "dynasoar: neither this class nor a class derived from it is in its allocator's list, so a "
                "CompressedPointer cannot point to one. Add it to SoaAllocator<...>");
  static_assert(Classes::size <= PointerFormat::kMostClasses,
                "dynasoar: a CompressedPointer can point to objects of 7 classes at most, and more classes of the "
                "allocator's list derive from this one. Use T* instead");
  static_assert(!is_placed<T>(),
                "dynasoar: this class is placed on a lattice, and a CompressedPointer cannot point to such objects. "
                "Use T*, or store the object's dynasoar::Place");
  constexpr auto kPages = A::pages();
  PointerFormat format;
  format.page_bytes = kPages.bytes;
  format.class_bits = static_cast<std::uint32_t>(std::bit_width(static_cast<unsigned>(Classes::size)));
  format.generation_bits = A::kFindsMisuse ? PointerFormat::kGenerationBits : 0;
  std::uint32_t most_blocks = 1;
  Classes::for_each([&]<class S>(std::type_identity<S>) {
    if constexpr (Classes::size <= PointerFormat::kMostClasses) {
      constexpr auto kType = static_cast<std::size_t>(A::template index_of<S>);
      format.types[format.classes] = static_cast<std::uint8_t>(kType);
      format.block_bytes[format.classes++] = static_cast<std::uint32_t>(A::template kBlockBytes<S>);
      most_blocks = most_blocks < kPages.blocks_per_page[kType] ? kPages.blocks_per_page[kType] : most_blocks;
    }
  });
  format.page_shift = static_cast<std::uint32_t>(std::bit_width(most_blocks - 1));
  return format;
}
template <class A, class T>
inline constexpr PointerFormat pointer_format_v = make_pointer_format<A, std::remove_cv_t<T>>();

/// The heap size that all compressed pointers of an allocator can address.
struct CompressedReach {
  std::uint64_t pages = ~std::uint64_t{0};
  std::string_view target;  ///< the class of the most limited pointers; empty if there are none

  /// Adds the compressed pointers to C and its bases.
  template <class A, class C>
  constexpr void add() {
    if constexpr (!std::is_void_v<C>) {
      if constexpr (HasCompressedPointers<C, A>) add<A>(pointer_format_v<A, C>.most_pages(), type_name<C>());
      if constexpr (HasCompressedPointers<const C, A>) add<A>(pointer_format_v<A, C>.most_pages(), type_name<C>());
      add<A, typename C::BaseClass>();
    }
  }

 private:
  template <class A>
  constexpr void add(std::uint64_t reached, std::string_view name) {
    if (reached < pages) *this = {reached, name};
  }
};

template <class A, class List>
inline constexpr CompressedReach compressed_reach_v{};
template <class A, template <class...> class List, class... Ts>
requires(A::kCompacts) inline constexpr CompressedReach compressed_reach_v<A, List<Ts...>> = [] {
  CompressedReach reach;
  (reach.add<A, Ts>(), ...);
  return reach;
}();

}  // namespace detail
}  // namespace dynasoar
