/// @file
/// The layout of SOA blocks at compile time: the positions of a class's fields in a block, and the sizes of blocks and
/// pages. Used by SoaField to find a field, and by SoaAllocator.
///
/// Source: DynaSOAr, section 3, "Block Size". Differences: every block has 64 slots, and every field array starts on a
/// 128-byte line. A warp that accesses two arrays in one line, or an array across lines, reaches only half of the
/// bandwidth. Arrays that do not fill whole lines, such as arrays of bytes, may share a line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <dynasoar/platform/config.h>
#include <dynasoar/tuning.h>

namespace dynasoar::detail {

inline constexpr std::size_t kSlotsPerBlock = 64;
inline constexpr std::size_t kArrayAlignment = 128;

template <class Field>
struct ArrayFieldTraits {
  using Element = Field;
  static constexpr std::size_t count = 1;
  static constexpr bool is_array = false;
};

/// `std::array<T, n>` is split into n arrays of T, so that equal elements of neighbouring objects are neighbours.
template <class T, std::size_t n>
struct ArrayFieldTraits<std::array<T, n>> {
  using Element = T;
  static constexpr std::size_t count = n;
  static constexpr bool is_array = true;
};

/// Bytes from one of a field's arrays to the next.
template <class Element>
inline constexpr std::size_t array_stride_v = kSlotsPerBlock * sizeof(Element);

/// Bytes that a field takes in a block.
template <class Field>
inline constexpr std::size_t field_bytes_v =
    ArrayFieldTraits<Field>::count* array_stride_v<typename ArrayFieldTraits<Field>::Element>;

/// Whether a field's arrays may begin in the middle of a line. This is the case if they do not fill whole lines,
/// because the size of their elements is odd, such as 1 byte.
template <class Field>
inline constexpr bool in_half_lines_v =
    array_stride_v<typename ArrayFieldTraits<Field>::Element> % kArrayAlignment != 0;

constexpr std::size_t next_line(std::size_t offset) {
  return (offset + kArrayAlignment - 1) / kArrayAlignment * kArrayAlignment;
}

template <class Tuple>
struct FieldList;

/// The fields of a class without those of its bases. Each begins on a line.
///
/// If this would waste more than 1/10 of a block, the fields that may begin in the middle of a line lie together. They
/// come first if the bases' fields end in the middle of a line, otherwise last. (This is not the default, because loops
/// that write several fields of one line take up to 5 % longer.)
template <class... Fields>
struct FieldList<std::tuple<Fields...>> {
  static constexpr std::size_t count = sizeof...(Fields);

  /// The offset of the array of field `index` in a block, in which bases take the first `inherited` bytes. If `index`
  /// is `count`, the end of the last array.
  static constexpr std::size_t offset(std::size_t index, std::size_t inherited) {
    const bool shares = shares_lines(inherited);
    const bool half_lines_first = inherited % kArrayAlignment != 0;
    std::size_t end = inherited;
    for (const bool in_half_lines : {half_lines_first, !half_lines_first}) {
      for (std::size_t field = 0; field != count; ++field) {
        if (shares ? kInHalfLines[field] != in_half_lines : in_half_lines) continue;
        if (!shares || !in_half_lines) end = next_line(end);
        if (field == index) return end;
        end += kBytes[field];
      }
    }
    return end;
  }

  static constexpr bool trivially_copyable = (true && ... && std::is_trivially_copyable_v<Fields>);

 private:
  static constexpr bool kInHalfLines[count + 1] = {in_half_lines_v<Fields>..., false};
  static constexpr std::size_t kBytes[count + 1] = {field_bytes_v<Fields>..., 0};

  static constexpr bool shares_lines(std::size_t inherited) {
    std::size_t used = inherited;
    std::size_t block = next_line(inherited);
    for (const std::size_t bytes : kBytes) used += bytes, block += next_line(bytes);
    return 10 * (block - used) > block;
  }
};

template <class C>
concept Complete = requires {
  sizeof(C);
};
template <class C>
concept HasBaseClass = requires {
  typename C::BaseClass;
};
template <class C>
concept HasAllocator = requires {
  typename C::Allocator;
};
template <class C>
concept HasFieldTypes = requires {
  typename C::FieldTypes;
};

/// Checks that C is defined, and declares its base and its fields publicly.
template <class C>
constexpr bool check_declarations() {
  constexpr bool kComplete = Complete<C>;
  static_assert(kComplete, "dynasoar: a class of the allocator's list is only declared up to here. Include its "
                           "definition before its objects, or an AllocatorHandle, are used");
  if constexpr (kComplete) {
    static_assert(HasBaseClass<C>,
                  "dynasoar: this class does not derive publicly from SoaBase<...>, or 'using BaseClass = ...;' is "
                  "private in it. Write 'class ThisClass : public SoaBase<...>', and what DynaSOAr needs behind "
                  "'public:'");
    static_assert(HasFieldTypes<C>,
                  "dynasoar: this class does not say what its fields are, or does so where it is private. Write "
                  "DYNASOAR_FIELDS(ThisClass, (name, type), ...) behind 'public:' in the class");
  }
  return true;
}

/// Fields and bytes of a class and its bases; zero for `void`, the base of a class without one.
template <class C>
struct ClassLayout {
  static_assert(check_declarations<C>());
  using Base = ClassLayout<typename C::BaseClass>;
  using Own = FieldList<typename C::FieldTypes>;
  static constexpr std::size_t field_count = Base::field_count + Own::count;
  static constexpr std::size_t bytes = Own::offset(Own::count, Base::bytes);
};

template <>
struct ClassLayout<void> {
  static constexpr std::size_t field_count = 0;
  static constexpr std::size_t bytes = 0;
};

/// The number of fields that C inherits. Needs only C's BaseClass, so it can be used while C is being defined.
template <class C>
inline constexpr std::size_t inherited_fields_v = ClassLayout<typename C::BaseClass>::field_count;

/// Bytes from a block's start to the array of C's own field `index`. Inherited fields come first.
template <class C, std::size_t index>
inline constexpr std::size_t field_offset_v =
    FieldList<typename C::FieldTypes>::offset(index, ClassLayout<typename C::BaseClass>::bytes);

/// C's own field `I` in a block: kCount arrays of Elements, kStride bytes apart.
template <class C, std::size_t I>
struct FieldArrays {
  using Value = std::tuple_element_t<I, typename C::FieldTypes>;
  using Element = typename ArrayFieldTraits<Value>::Element;
  static constexpr std::size_t kCount = ArrayFieldTraits<Value>::count;
  static constexpr std::size_t kStride = array_stride_v<Element>;
  static constexpr std::size_t kOffset = field_offset_v<C, I>;
};

/// Calls f(FieldArrays<B, I>{}) for the fields I of C and its bases B, inherited ones first.
template <class C, class F>
__host__ __device__ constexpr void for_each_field(const F& f) {
  if constexpr (!std::is_void_v<C>) {
    for_each_field<typename C::BaseClass>(f);
    [&f]<std::size_t... I>(std::index_sequence<I...>) {
      (f(FieldArrays<C, I>{}), ...);
    }
    (std::make_index_sequence<ClassLayout<C>::Own::count>{});
  }
}

/// Bytes of a block of T.
template <class T>
inline constexpr std::size_t block_bytes_v = ClassLayout<T>::bytes > 0 ? next_line(ClassLayout<T>::bytes)
                                                                       : kArrayAlignment;

/// Size of pages and the number of blocks of each type in one.
template <std::size_t kTypes>
struct PageLayout {
  std::size_t bytes = 0;
  std::uint32_t block_stride = 0;  ///< block numbers per page: a power of two
  std::array<std::uint32_t, kTypes> blocks_per_page{};
  double largest_loss = 0;  ///< fraction of a page that the worst-fitting type leaves unused
};

/// Chooses the page size for blocks of the given sizes: the smallest one of which no type leaves more than 1/16 unused.
/// Then chooses the maximum number of blocks in a page: the least power of two for which this still holds.
///
/// Such a size exists: a page of 16 times the largest block leaves less than one block of any type unused. Small pages
/// are better, because a page can change its type only when all of its blocks are free. Fewer block numbers per page
/// are better, because fewer bits of the bitmaps then stand for no block.
template <std::size_t kTypes>
constexpr PageLayout<kTypes> choose_pages(const std::array<std::size_t, kTypes>& block_bytes) {
  const auto number = [](std::size_t page, std::size_t bytes, std::size_t most) {
    return page / bytes < most ? page / bytes : most;
  };
  const auto unused = [&](std::size_t page, std::size_t most) {
    std::size_t result = 0;
    for (const std::size_t bytes : block_bytes) {
      const std::size_t left = page - number(page, bytes, most) * bytes;
      result = left > result ? left : result;
    }
    return result;
  };
  PageLayout<kTypes> pages;
  for (const std::size_t bytes : block_bytes) pages.bytes = bytes > pages.bytes ? bytes : pages.bytes;
  while (kUnusedPageShare * unused(pages.bytes, pages.bytes) > pages.bytes) pages.bytes += kArrayAlignment;
  pages.block_stride = 1;
  while (kUnusedPageShare * unused(pages.bytes, pages.block_stride) > pages.bytes) pages.block_stride *= 2;
  pages.largest_loss = static_cast<double>(unused(pages.bytes, pages.block_stride)) / static_cast<double>(pages.bytes);
  for (std::size_t i = 0; i < kTypes; ++i) {
    pages.blocks_per_page[i] = static_cast<std::uint32_t>(number(pages.bytes, block_bytes[i], pages.block_stride));
  }
  return pages;
}

}  // namespace dynasoar::detail
