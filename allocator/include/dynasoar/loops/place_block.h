/// @file
/// BlockNeighbours: looks at the neighbours of all 64 places of a block at once. Used by the functions of place.h that
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
  /// @param word_of   called with the number of a word: which of its slots are selected, none that is not a place
  /// @pre distances along each axis are less than 2^30
  /// @par Cost   where blocks lie in rows, two words for the next places in a direction, at most four for others;
  ///             otherwise as many for each row that the block has places of
  template <class WordOf>
  __host__ __device__ static std::uint64_t find(const LatticeShape& shape, PlaceBlock block, LatticeVector distance,
                                                const WordOf& word_of) {
    if (!shape.has_blocks_in_rows()) return find_by_rows(shape, block, distance, word_of);
    const LatticeShape::Row at = shape.row_of(block.number() * 64);
    const Target row(shape, at, distance);
    if (!row.exists) return 0;
    if (distance.x == 0) return word_of((row.first + static_cast<std::uint32_t>(at.x)) / 64);
    const std::uint64_t found = distance.x == -1  ? left(shape, row.first, at.x, word_of)
                                : distance.x == 1 ? right(shape, row.first, at.x, word_of)
                                                  : around(shape, row.first, at.x, distance.x, word_of);
    return found & shape.places(block);
  }

 private:
  /// The row at a distance, by its first slot.
  struct Target {
    bool exists;
    std::uint64_t first;

    __host__ __device__ Target(const LatticeShape& shape, LatticeShape::Row from, LatticeVector distance) {
      const std::int32_t y = shape.y_.moved(from.y, distance.y);
      const std::int32_t z = shape.z_.moved(from.z, distance.z);
      exists = (y | z) >= 0;
      first = exists ? shape.first_slot(y, z) : 0;
    }
  };

  /// For the 64 places from x on, their left neighbours. @pre x and the row begin at whole words
  template <class WordOf>
  __host__ __device__ static std::uint64_t left(const LatticeShape& shape, std::uint64_t row, std::int32_t x,
                                                const WordOf& word_of) {
    const std::uint64_t word = (row + static_cast<std::uint32_t>(x)) / 64;
    std::uint64_t carried = 0;
    if (x > 0) {
      carried = word_of(word - 1) >> 63;
    } else if (shape.x_.is_periodic) {
      const std::uint64_t last = row + static_cast<std::uint32_t>(shape.x_.length - 1);
      carried = word_of(last / 64) >> last % 64 & 1;
    }
    return word_of(word) << 1 | carried;
  }

  /// Likewise, their right neighbours.
  template <class WordOf>
  __host__ __device__ static std::uint64_t right(const LatticeShape& shape, std::uint64_t row, std::int32_t x,
                                                 const WordOf& word_of) {
    const std::uint64_t word = (row + static_cast<std::uint32_t>(x)) / 64;
    const std::int32_t last = shape.x_.length - 1 - x;  // of the row, counted from x
    std::uint64_t carried = 0;
    if (last > 63) {
      carried = word_of(word + 1) << 63;
    } else if (shape.x_.is_periodic) {
      carried = (word_of(row / 64) & 1) << last;
    }
    return word_of(word) >> 1 | carried;
  }

  /// The 64 places of a row from x + by on, beyond its ends as the axis says. Bits of places beyond the end of the row
  /// that begins at x are unspecified.
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

  /// `find` for blocks that have places of several rows. Outlined, for it is long and rarely needed.
  template <class WordOf>
  [[gnu::noinline]] __host__ __device__ static std::uint64_t find_by_rows(const LatticeShape& shape, PlaceBlock block,
                                                                          LatticeVector distance,
                                                                          const WordOf& word_of) {
    const std::uint64_t begin = block.number() * 64;
    const std::uint64_t end = begin + 64 < shape.size() ? begin + 64 : shape.size();
    std::uint64_t found = 0;
    for (std::uint64_t slot = begin; slot < end;) {
      const LatticeShape::Row at = shape.row_of(slot);
      const auto of_row = static_cast<std::uint32_t>(shape.x_.length - at.x);
      const auto count = of_row < end - slot ? static_cast<int>(of_row) : static_cast<int>(end - slot);
      const Target row(shape, at, distance);
      if (row.exists) {
        const std::uint64_t places = around(shape, row.first, at.x, distance.x, word_of) & first_bits(count);
        found |= places << (slot - begin);
      }
      slot += static_cast<std::uint64_t>(count);
    }
    return found;
  }
};

}  // namespace dynasoar::detail
