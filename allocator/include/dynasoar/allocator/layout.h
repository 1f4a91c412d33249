/// @file
/// Layout of SOA blocks at compile time: where a class's fields lie in a block, and how large blocks and pages are.
/// Used by SoaField to find a field and by SoaAllocator.
///
/// Source: DynaSOAr, section 3, "Block Size"; changed: every block has 64 slots and every field array starts on a
/// 128-byte line, because a warp's accesses to two arrays in one line, or to an array across lines, halve the
/// bandwidth.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include <dynasoar/platform/config.h>

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
inline constexpr std::size_t array_stride_v =
    (kSlotsPerBlock * sizeof(Element) + kArrayAlignment - 1) / kArrayAlignment* kArrayAlignment;

/// Bytes that a field takes in a block.
template <class Field>
inline constexpr std::size_t field_bytes_v =
    ArrayFieldTraits<Field>::count* array_stride_v<typename ArrayFieldTraits<Field>::Element>;

template <class Tuple>
struct FieldList;

template <class... Fields>
struct FieldList<std::tuple<Fields...>> {
  static constexpr std::size_t count = sizeof...(Fields);
  static constexpr std::size_t bytes = (std::size_t{0} + ... + field_bytes_v<Fields>);

  /// Bytes of the first `index` fields.
  static constexpr std::size_t offset(std::size_t index) {
    std::size_t position = 0;
    std::size_t sum = 0;
    ((sum += position++ < index ? field_bytes_v<Fields> : 0), ...);
    return sum;
  }

  static constexpr bool trivially_copyable = (true && ... && std::is_trivially_copyable_v<Fields>);
};

/// Fields and bytes of a class and its bases; zero for `void`, the base of a class without one.
template <class C>
struct ClassLayout {
  using Base = ClassLayout<typename C::BaseClass>;
  using Own = FieldList<typename C::FieldTypes>;
  static constexpr std::size_t field_count = Base::field_count + Own::count;
  static constexpr std::size_t bytes = Base::bytes + Own::bytes;
};

template <>
struct ClassLayout<void> {
  static constexpr std::size_t field_count = 0;
  static constexpr std::size_t bytes = 0;
};

/// Fields that C inherits. Needs C's BaseClass only, so it can be used while C is being defined.
template <class C>
inline constexpr std::size_t inherited_fields_v = ClassLayout<typename C::BaseClass>::field_count;

/// Bytes from a block's start to the array of C's own field `index`. Inherited fields come first.
template <class C, std::size_t index>
inline constexpr std::size_t field_offset_v = ClassLayout<typename C::BaseClass>::bytes +
                                              FieldList<typename C::FieldTypes>::offset(index);

/// C's own field `I` as its block holds it: kCount arrays of Elements, kStride bytes apart.
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
inline constexpr std::size_t block_bytes_v = ClassLayout<T>::bytes > 0 ? ClassLayout<T>::bytes : kArrayAlignment;

/// Size of pages and the number of blocks of each type in one.
template <std::size_t kTypes>
struct PageLayout {
  std::size_t bytes = 0;
  std::uint32_t block_stride = 0;                       ///< block numbers per page: a power of two
  std::array<std::uint32_t, kTypes> blocks_per_page{};  ///< at most 64: a page's blocks share a bitmap container
  double largest_loss = 0;                              ///< share of a page that the worst-fitting type leaves unused
};

/// Chooses the page size for blocks of the given sizes.
///
/// A page holds floor(page / block) blocks of a type, at most 64. The smallest page that no type leaves more than 1/16
/// unused is taken; if there is none up to 8 times the largest block, the one with the least loss. Small pages change
/// hands more easily, for a page is free only when all of its blocks are.
template <std::size_t kTypes>
constexpr PageLayout<kTypes> choose_pages(const std::array<std::size_t, kTypes>& block_bytes) {
  constexpr double kAcceptedLoss = 1.0 / 16;
  std::size_t largest = 0;
  for (const std::size_t bytes : block_bytes) largest = bytes > largest ? bytes : largest;
  PageLayout<kTypes> best;
  best.largest_loss = std::numeric_limits<double>::infinity();
  for (std::size_t page = largest; page <= 8 * largest && best.largest_loss > kAcceptedLoss; page += kArrayAlignment) {
    double loss = 0;
    for (const std::size_t bytes : block_bytes) {
      const std::size_t blocks = page / bytes < 64 ? page / bytes : 64;
      const double unused = 1 - static_cast<double>(blocks * bytes) / static_cast<double>(page);
      loss = unused > loss ? unused : loss;
    }
    if (loss < best.largest_loss) {
      best.largest_loss = loss;
      best.bytes = page;
    }
  }
  best.block_stride = 1;
  for (std::size_t i = 0; i < kTypes; ++i) {
    const std::size_t blocks = best.bytes / block_bytes[i];
    best.blocks_per_page[i] = static_cast<std::uint32_t>(blocks < 64 ? blocks : 64);
    while (best.block_stride < best.blocks_per_page[i]) best.block_stride *= 2;
  }
  return best;
}

}  // namespace dynasoar::detail
