/// @file
/// InnerNeighbours: finds the positions of a place's neighbours in blocks, if all of them exist. Used by
/// for_each_neighbour of place.h for classes that have an object at every place.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/loops/lattice_shape.h>
#include <dynasoar/platform/backend.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// @tparam kBlockBytes   bytes from a block to the next
template <std::size_t kBlockBytes>
class InnerNeighbours {
 public:
  /// Calls `f(position)` for the places of a neighbourhood, in the order of LatticeShape::for_each_neighbour. A
  /// position is the low bits of a handle: the number of bytes up to the place's block, plus its slot in the block.
  ///
  /// The distance between the positions of a neighbour and of the place is constant, apart from a constant that is
  /// added if the border of a block lies between them. So there are no divisions and no branches, and all reads can
  /// overlap.
  ///
  /// @return false, and nothing has been called, if the neighbourhood reaches beyond an edge, if the lattice does not
  ///         have two axes, or if blocks have places of several rows
  template <class Neighbourhood, class F>
  [[gnu::always_inline]] __host__ __device__ static bool for_each(const LatticeShape& shape, Place place, Neighbourhood,
                                                                  const F& f) {
    constexpr int kRadius = Neighbourhood::kRadius;
    const bool suits = shape.axes_ == 2 && shape.rows_of_group_ == 1;
    const auto block = static_cast<std::uint32_t>(place.slot() / 64);
    const auto slot = static_cast<std::int32_t>(place.slot() % 64);
    const std::uint32_t x = shape.places_.in_row(block) * 64 + static_cast<std::uint32_t>(slot);
    const std::uint32_t blocks_of_row = shape.stride_ / 64;
    const std::uint32_t inner_columns = suits ? inner<kRadius>(shape.x_.length) : 0;
    const std::uint32_t inner_blocks = inner<kRadius>(shape.y_.length) * blocks_of_row;
    if (x - kRadius >= inner_columns || block - kRadius * blocks_of_row >= inner_blocks) return false;
    const std::uint64_t here = std::uint64_t{block} * kBlockBytes + static_cast<std::uint32_t>(slot);
    const std::uint64_t next_row = opaque(std::uint64_t{blocks_of_row} * kBlockBytes);
    [[maybe_unused]] constexpr int kUnrolled = kRadius <= 2 ? 2 * kRadius + 1 : 1;
    DYNASOAR_UNROLL(kUnrolled)
    for (int dy = -kRadius; dy <= kRadius; ++dy) {
      const int reach = Neighbourhood::reach(dy, 0);
      DYNASOAR_UNROLL(kUnrolled)
      for (int dx = -kRadius; dx <= kRadius; ++dx) {
        if (dx < -reach || dx > reach || (dx == 0 && dy == 0)) continue;
        f(here + static_cast<std::uint64_t>(in_row(slot, dx)) +
          static_cast<std::uint64_t>(std::int64_t{dy}) * next_row);
      }
    }
    return true;
  }

 private:
  /// The number of places along an axis that have kRadius other places on both sides.
  template <int kRadius>
  __host__ __device__ static std::uint32_t inner(std::int32_t length) {
    return length > 2 * kRadius ? static_cast<std::uint32_t>(length - 2 * kRadius) : 0;
  }

  /// The distance from a slot to another place of its row, which is at most 31 places away.
  __host__ __device__ static std::int64_t in_row(std::int32_t slot, int dx) {
    constexpr std::int32_t kFurther = static_cast<std::int32_t>(kBlockBytes) - 64;  // added if it is in another block
    return dx + (dx < 0 ? (slot < -dx ? -kFurther : 0) : (slot > 63 - dx ? kFurther : 0));
  }
};

}  // namespace dynasoar::detail
