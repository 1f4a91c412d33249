/// @file
/// The landscape's geometry: a bounded grid, and the window of 5 x 5 cells around a cell that its agent may see.
/// Used by the DSL variants and the dense baselines.
#pragma once

#include <cstdint>

#include <dynasoar/platform/backend.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>

namespace sugarscape {

/// Positions in a window are numbered row by row, 0 to 24. The cell of the window is in the middle, at 12.
inline constexpr std::uint32_t kWindowSide = 5;
inline constexpr std::uint32_t kWindowCells = 25;
inline constexpr std::uint32_t kMiddle = 12;

/// No position.
inline constexpr std::uint8_t kNone = 25;

/// If b is at `position` in a's window, a is at mirrored(position) in b's.
__host__ __device__ constexpr std::uint8_t mirrored(std::uint32_t position) {
  return static_cast<std::uint8_t>(2 * kMiddle - position);
}

/// A set of positions in a window.
class Positions {
 public:
  Positions() = default;

  /// Position p is in the set if bit p is set.
  __host__ __device__ explicit constexpr Positions(std::uint32_t bits) : bits_(bits) {}

  __host__ __device__ constexpr void add(std::uint32_t position) { bits_ |= bit(position); }
  __host__ __device__ constexpr void add_if(bool condition, std::uint32_t position) {
    bits_ |= static_cast<std::uint32_t>(condition) << position;
  }
  __host__ __device__ constexpr bool contains(std::uint32_t position) const { return (bits_ & bit(position)) != 0; }
  __host__ __device__ constexpr bool empty() const { return bits_ == 0; }
  __host__ __device__ std::uint32_t size() const {
    return static_cast<std::uint32_t>(dynasoar::detail::popcount(bits_));
  }

  /// The n-th position in the set, counted from 0. @pre n < size()
  __host__ __device__ std::uint8_t operator[](std::uint32_t n) const {
    std::uint32_t rest = bits_;
    std::uint32_t position = 0;
    for (std::uint32_t half = 16; half > 0; half /= 2) {  // a binary search over counts of bits
      const std::uint32_t low = rest & (bit(half) - 1);
      const auto below = static_cast<std::uint32_t>(dynasoar::detail::popcount(low));
      const bool is_above = n >= below;
      n -= is_above ? below : 0;
      rest = is_above ? rest >> half : low;
      position += is_above ? half : 0;
    }
    return static_cast<std::uint8_t>(position);
  }

  /// Calls `f(position)` for every position in the set, in their order.
  template <class F>
  __device__ void for_each(F f) const {
    for (std::uint32_t rest = bits_; rest != 0; rest &= rest - 1) {
      f(static_cast<std::uint32_t>(dynasoar::detail::lowest_bit(rest)));
    }
  }

 private:
  __host__ __device__ static constexpr std::uint32_t bit(std::uint32_t position) {
    return std::uint32_t{1} << position;
  }

  std::uint32_t bits_ = 0;
};

/// A bounded grid of width x height cells, numbered row by row. @pre width * height < 2^31
struct Grid {
  std::uint32_t width;
  std::uint32_t height;

  __host__ __device__ std::uint32_t cells() const { return width * height; }

  /// The positions of the cells within `distance` of cell c, without c itself. @pre distance is 1 or 2
  __host__ __device__ Positions sight(std::uint32_t c, std::uint32_t distance) const {
    constexpr std::uint32_t kFirstRow = 0x1F;
    constexpr std::uint32_t kFirstColumn = 0x0108421;
    constexpr std::uint32_t kWithin1 = 0x00729C0;
    constexpr std::uint32_t kWithin2 = 0x1FFEFFF;
    const std::uint32_t x = c % width;
    const std::uint32_t y = c / width;
    std::uint32_t outside = 0;
    outside |= x < 2 ? kFirstColumn : 0;
    outside |= x < 1 ? kFirstColumn << 1 : 0;
    outside |= width - x <= 1 ? kFirstColumn << 3 : 0;
    outside |= width - x <= 2 ? kFirstColumn << 4 : 0;
    outside |= y < 2 ? kFirstRow : 0;
    outside |= y < 1 ? kFirstRow << kWindowSide : 0;
    outside |= height - y <= 1 ? kFirstRow << 3 * kWindowSide : 0;
    outside |= height - y <= 2 ? kFirstRow << 4 * kWindowSide : 0;
    return Positions((distance == 1 ? kWithin1 : kWithin2) & ~outside);
  }

  /// The cell at `position` in c's window. All sums are modulo 2^32.
  __host__ __device__ std::uint32_t at(std::uint32_t c, std::uint32_t position) const {
    return corner(c) + position / kWindowSide * width + position % kWindowSide;
  }

  /// Calls `use(position, is_there, value)` for the whole window of c, in order. If the position is one of these,
  /// `is_there` is true and `value` is read(cell). Otherwise `value` is read(c), and must not be used.
  ///
  /// So no read waits for a branch. If `use` does not branch either, all 25 reads are in flight at once on a GPU.
  template <class Read, class Use>
  __device__ void for_each_at(std::uint32_t c, Positions positions, Read read, Use use) const {
    const std::uint32_t first = corner(c);
    DYNASOAR_UNROLL()
    for (std::uint32_t p = 0; p < kWindowCells; ++p) {
      const bool is_there = positions.contains(p);
      use(p, is_there, read(is_there ? first + p / kWindowSide * width + p % kWindowSide : c));
    }
  }

  /// The positions among these for whose cells in c's window `predicate(cell)` holds. Reads as for_each_at does.
  template <class F>
  __device__ Positions where(std::uint32_t c, Positions positions, F predicate) const {
    Positions found;
    for_each_at(c, positions, predicate,
                [&](std::uint32_t position, bool is_there, bool holds) { found.add_if(is_there & holds, position); });
    return found;
  }

  /// The sum of `read(cell)` over c and the cells of its row that are at most 2 away. Reads as for_each_at does.
  ///
  /// The sum of these sums over a column is that of a window, for 10 reads instead of 25.
  template <class Read>
  __device__ std::uint32_t sum_of_row(std::uint32_t c, Read read) const {
    return sum_of_line(c, c % width, width, 1, read);
  }

  /// Likewise, over the cells of its column.
  template <class Read>
  __device__ std::uint32_t sum_of_column(std::uint32_t c, Read read) const {
    return sum_of_line(c, c / width, height, width, read);
  }

 private:
  /// @param at       of c in the line, which has `length` cells
  /// @param stride   from a cell to the next
  template <class Read>
  __device__ static std::uint32_t sum_of_line(std::uint32_t c, std::uint32_t at, std::uint32_t length,
                                              std::uint32_t stride, Read read) {
    std::uint32_t sum = read(c);
    DYNASOAR_UNROLL()
    for (std::uint32_t distance = 1; distance <= 2; ++distance) {
      const bool is_before = at >= distance;
      const bool is_behind = at + distance < length;
      const std::uint32_t before = read(is_before ? c - distance * stride : c);
      const std::uint32_t behind = read(is_behind ? c + distance * stride : c);
      sum += (is_before ? before : 0) + (is_behind ? behind : 0);
    }
    return sum;
  }

  /// The cell at position 0 of c's window, if there is one.
  __host__ __device__ std::uint32_t corner(std::uint32_t c) const { return c - 2 * width - 2; }
};

}  // namespace sugarscape
