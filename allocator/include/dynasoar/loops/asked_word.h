/// @file
/// find_askers: finds those of the 64 places of a word for which agents ask, and the directions from the places to the
/// agents. Used by AskedFrom in place.h for loops on a CPU.
#pragma once

#include <cstdint>

#include <dynasoar/loops/lattice_shape.h>
#include <dynasoar/loops/place_block.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

inline constexpr std::uint32_t kPlaneDirections = 4;  // the first four of Direction

/// For each of the 64 places of a word, the directions from the place to the agents that ask for it.
struct AskedWord {
  std::uint64_t from[kPlaneDirections];  ///< for each direction, a bit for each place

  __host__ __device__ std::uint64_t asked() const { return from[0] | from[1] | from[2] | from[3]; }
  __host__ __device__ std::uint32_t operator[](int bit) const {
    std::uint64_t directions = 0;
    for (std::uint32_t d = 0; d < kPlaneDirections; ++d) directions |= (from[d] >> bit & 1) << d;
    return static_cast<std::uint32_t>(directions);
  }
};

/// The places of a word that are the first or the last of a row; all places if the word contains several rows.
__host__ __device__ inline std::uint64_t ends_of_rows(const LatticeShape& shape, std::uint64_t first_slot) {
  if (!shape.has_blocks_in_rows()) return ~std::uint64_t{0};
  const std::int32_t x = shape.coordinates(Place(first_slot)).x, behind = shape.width() - 1 - x;
  return (x == 0 ? std::uint64_t{1} : 0) | (behind < 64 ? std::uint64_t{1} << behind : 0);
}

/// Examines the agents beside some places of a word, and finds those that ask for these places.
///
/// For one direction, all places that are not at an end of a row have the same distance to the slot of their neighbour.
/// It is computed once for all of these places.
///
/// @param places   the places to examine, a bit for each place of the word
/// @param taken    `taken(word)` returns the slots of a word that have an agent
/// @param asks     `asks(slot, direction)` returns whether the agent in the slot asks for a place. The direction leads
///                 from the place to the agent
template <class Taken, class Asks>
__host__ __device__ AskedWord find_askers(const LatticeShape& shape, std::uint64_t word, std::uint64_t places,
                                          const Taken& taken, const Asks& asks) {
  const PlaceBlock block(word, shape.has_blocks_in_rows());
  const std::uint64_t first = word * 64;
  const std::uint64_t ends = ends_of_rows(shape, first);
  AskedWord result{};
  for (std::uint32_t d = 0; d < kPlaneDirections; ++d) {
    const auto direction = static_cast<Direction>(d);
    const std::uint64_t candidates = places & BlockNeighbours::find(shape, block, vector_of(direction), taken);
    const auto look = [&](std::uint64_t among, const auto& neighbour_of) {
      for (std::uint64_t left = among; left != 0; left &= left - 1) {
        const int bit = lowest_bit(left);
        const std::uint64_t slot = neighbour_of(first + static_cast<std::uint64_t>(bit));
        result.from[d] |= static_cast<std::uint64_t>(asks(slot, direction)) << bit;
      }
    };
    look(candidates & ends, [&](std::uint64_t slot) { return shape.neighbour(Place(slot), direction).slot(); });
    if (const std::uint64_t inner = candidates & ~ends; inner != 0) {
      const std::uint64_t some = first + static_cast<std::uint64_t>(lowest_bit(inner));
      const std::uint64_t distance = shape.neighbour(Place(some), direction).slot() - some;
      look(inner, [&](std::uint64_t slot) { return slot + distance; });
    }
  }
  return result;
}

}  // namespace dynasoar::detail
