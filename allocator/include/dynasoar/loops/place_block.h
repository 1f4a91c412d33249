/// @file
/// BlockNeighbours: finds the neighbours of all 64 places of a block at once. Used by the functions of place.h that
/// handle blocks.
#pragma once

#include <cstdint>

#include <dynasoar/loops/lattice_shape.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

class BlockNeighbours {
 public:
  /// Bit i: whether the place at a distance from the block's i-th place exists and is selected.
  ///
  /// @param word_of   `word_of(number)` returns the selected slots of a word, all of which must be places
  /// @pre distances along each axis are less than 2^30
  /// @par Cost   if blocks lie in rows, reads two words for the next places in a direction, without a branch, so that
  ///             loads for several directions overlap; for other distances, at most six words. Otherwise the same for
  ///             each row with places of the block
  template <class WordOf>
  [[gnu::always_inline]] __host__ __device__ static std::uint64_t find(const LatticeShape& shape, PlaceBlock block,
                                                                       LatticeVector distance, const WordOf& word_of) {
    if (!block.is_in_row_) return find_by_rows(shape, block, distance, word_of);
    const std::uint64_t first = block.number_ * 64;
    const LatticeShape::Row at = shape.row_of(first);
    const Place above(first + shape.y_.step(at.y, distance.y) + shape.z_.step(at.z, distance.z));
    std::uint64_t found = 0;
    if (distance.x < -1 || distance.x > 1) {
      if (!above.exists()) return 0;
      found = around(shape, above.slot() - static_cast<std::uint32_t>(at.x), at.x, distance.x, word_of);
    } else {  // beyond an edge, reads the word of some other place
      found = distance.x < 0   ? left(shape, above.word(), at.x, word_of)
              : distance.x > 0 ? right(shape, above.word(), at.x, word_of)
                               : word_of(above.word());
    }
    const std::uint64_t places = shape.places(block);
    return above.exists() ? found & places : 0;
  }

 private:
  /// The left neighbours of the places of a word; its first place has coordinate x. @pre rows begin at whole words
  template <class WordOf>
  __host__ __device__ static std::uint64_t left(const LatticeShape& shape, std::uint32_t word, std::int32_t x,
                                                const WordOf& word_of) {
    const auto last = static_cast<std::uint32_t>(shape.x_.length - 1);
    const std::uint64_t beside = word_of(x > 0 ? word - 1 : word + last / 64);
    const std::uint64_t there_is = x > 0 || shape.x_.is_periodic ? 1 : 0;
    return word_of(word) << 1 | (beside >> (x > 0 ? 63 : last % 64) & there_is);
  }

  /// The right neighbours of these places.
  template <class WordOf>
  __host__ __device__ static std::uint64_t right(const LatticeShape& shape, std::uint32_t word, std::int32_t x,
                                                 const WordOf& word_of) {
    const auto left = static_cast<std::uint32_t>(shape.x_.length - 1 - x);  // places of the row behind the first one
    const std::uint64_t beside = word_of(left > 63 ? word + 1 : word - static_cast<std::uint32_t>(x) / 64);
    const std::uint64_t there_is = left > 63 || shape.x_.is_periodic ? 1 : 0;
    return word_of(word) >> 1 | (beside & there_is) << (left > 63 ? 63 : left);
  }

  /// The 64 places of a row from x + by on. Beyond the ends of the row, places wrap around if the axis is periodic;
  /// otherwise there are none. Bit i is unspecified if x + i is beyond the end of the row.
  template <class WordOf>
  __host__ __device__ static std::uint64_t around(const LatticeShape& shape, std::uint64_t row, std::int32_t x,
                                                  std::int32_t by, const WordOf& word_of) {
    const std::int64_t width = shape.x_.length;
    if (!shape.x_.is_periodic) return part(row, std::int64_t{x} + by, width, word_of);
    const std::int64_t from = x + by % width;  // more than -width; places that matter end before 2 * width
    return part(row, from, width, word_of) | part(row, from - width, width, word_of) |
           part(row, from + width, width, word_of);
  }

  /// The 64 places from `from` on of a row of `width`, which may begin before the row and end behind it.
  template <class WordOf>
  __host__ __device__ static std::uint64_t part(std::uint64_t row, std::int64_t from, std::int64_t width,
                                                const WordOf& word_of) {
    const std::int64_t begin = from < 0 ? 0 : from;
    const std::int64_t end = from + 64 < width ? from + 64 : width;
    if (begin >= end) return 0;
    const std::uint64_t slot = row + static_cast<std::uint64_t>(begin);
    const auto offset = static_cast<int>(slot % 64), count = static_cast<int>(end - begin);
    std::uint64_t found = word_of(slot / 64) >> offset;
    if (offset + count > 64) found |= word_of(slot / 64 + 1) << (64 - offset);
    return (found & first_bits(count)) << (begin - from);
  }

  /// `find` for blocks that have places of several rows. Not inlined, because it is long and rarely needed.
  template <class WordOf>
  [[gnu::noinline]] __host__ __device__ static std::uint64_t find_by_rows(const LatticeShape& shape, PlaceBlock block,
                                                                          LatticeVector distance,
                                                                          const WordOf& word_of) {
    const std::uint64_t begin = block.number_ * 64;
    const std::uint64_t end = begin + 64 < shape.size() ? begin + 64 : shape.size();
    std::uint64_t found = 0;
    for (std::uint64_t slot = begin; slot < end;) {
      const LatticeShape::Row at = shape.row_of(slot);
      const auto of_row = static_cast<std::uint32_t>(shape.x_.length - at.x);
      const auto count = of_row < end - slot ? static_cast<int>(of_row) : static_cast<int>(end - slot);
      const std::int32_t y = shape.y_.moved(at.y, distance.y);
      const std::int32_t z = shape.z_.moved(at.z, distance.z);
      if ((y | z) >= 0) {
        const std::uint64_t places = around(shape, shape.first_slot(y, z), at.x, distance.x, word_of);
        found |= (places & first_bits(count)) << (slot - begin);
      }
      slot += static_cast<std::uint64_t>(count);
    }
    return found;
  }
};

}  // namespace dynasoar::detail
