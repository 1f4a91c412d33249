/// @file
/// Place, PlaceBlock, directions and neighbourhoods: types for places that do not depend on the shape of a lattice. For
/// this shape, see LatticeShape.
#pragma once

#include <cstdint>

#include <dynasoar/platform/config.h>

namespace dynasoar {

namespace detail {
class BlockNeighbours;
}

/// A place of a lattice, or no place, such as beyond an edge that is not periodic. LatticeShape converts it to
/// coordinates. May be the type of a field.
class Place {
 public:
  /// For the library: stands for a place of another process. `slot` minus this value is the number of the place.
  static constexpr std::uint64_t kElsewhere = std::uint64_t{1} << 62;

  /// No place.
  Place() = default;

  /// The place of a slot: for the library, and for the values of the column `id` of placed objects, which are slots.
  __host__ __device__ explicit constexpr Place(std::uint64_t slot) : slot_(slot) {}

  /// Whether this is a place.
  __host__ __device__ constexpr bool exists() const {
    return static_cast<std::uint32_t>(slot_ >> 32) < kNone >> 32;  // 64 bits would take twice as long
  }

  /// The same, for conditions.
  __host__ __device__ explicit constexpr operator bool() const { return exists(); }

  /// For the library: the number of the slot of objects at this place.
  __host__ __device__ constexpr std::uint64_t slot() const { return slot_; }

  /// For the library: the word with the place's bit. If this is no place, some existing word.
  __host__ __device__ constexpr std::uint32_t word() const { return static_cast<std::uint32_t>(slot_ / 64); }

  __host__ __device__ friend constexpr bool operator==(Place a, Place b) {
    return a.slot_ == b.slot_ || (!a.exists() && !b.exists() && ((a.slot_ | b.slot_) & kElsewhere) == 0);
  }
  __host__ __device__ friend constexpr bool operator!=(Place a, Place b) { return !(a == b); }

  /// For the library: a step beyond an edge along an axis adds this number, so that no branch is needed to find that
  /// there is no place. It does not change the bits that `word` uses.
  static constexpr std::uint64_t beyond_edge(int axis) { return kNone << axis; }

 private:
  static constexpr std::uint64_t kNone = std::uint64_t{1} << 58;

  std::uint64_t slot_ = kNone;
};

/// 64 consecutive places in the order of their slots, which device code handles together. A set of these places is a
/// std::uint64_t; bit i stands for the i-th place. The last bits of a row or of the lattice may stand for no place.
class PlaceBlock {
 public:
  /// For the library. @param is_in_row   LatticeShape::has_blocks_in_rows(), preferably as a constant
  __host__ __device__ constexpr PlaceBlock(std::uint64_t number, bool is_in_row)
      : number_(number), is_in_row_(is_in_row) {}

  /// For the library, and to distinguish blocks: 0, 1, ...
  __host__ __device__ constexpr std::uint64_t number() const { return number_; }

  /// For the library: the word with its bits.
  __host__ __device__ constexpr std::uint32_t word() const { return static_cast<std::uint32_t>(number_); }

  /// The i-th place. @pre it exists: see LatticeShape::places
  __host__ __device__ constexpr Place place(int i) const { return Place(number_ * 64 + static_cast<unsigned>(i)); }

 private:
  friend class detail::BlockNeighbours;

  std::uint64_t number_;
  bool is_in_row_;  // has no places of another row
};

/// Coordinates of a place, or a distance from one place to another; 0 along axes that the lattice does not have.
struct LatticeVector {
  std::int32_t x = 0, y = 0, z = 0;

  __host__ __device__ friend constexpr bool operator==(LatticeVector a, LatticeVector b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  }
};

/// The directions to the nearest neighbours: toward lower x, lower y, greater x, greater y, lower z and greater z.
enum class Direction : std::uint8_t { left, up, right, down, front, back };

/// The opposite direction.
__host__ __device__ constexpr Direction opposite(Direction direction) {
  const auto d = static_cast<std::uint8_t>(direction);
  return static_cast<Direction>(d < 4 ? d ^ 2 : d ^ 1);
}

/// The distance to the next place in a direction.
__host__ __device__ constexpr LatticeVector vector_of(Direction direction) {
  const int d = static_cast<int>(direction);
  const std::int32_t sign = d == 0 || d == 1 || d == 4 ? -1 : 1;
  return {d == 0 || d == 2 ? sign : 0, d == 1 || d == 3 ? sign : 0, d >= 4 ? sign : 0};
}

/// The neighbourhood of all places at most `radius` away along each axis: 8 places in two dimensions if it is 1.
template <int radius = 1>
struct Moore {
  static_assert(0 < radius && radius < 32, "dynasoar: the radius of a neighbourhood is from 1 to 31");
  static constexpr int kRadius = radius;

  /// The number of places to each side in a row, given its distances along the other axes; negative: none of the row.
  __host__ __device__ static constexpr int reach(int, int) { return radius; }
};

/// The neighbourhood of all places at most `radius` steps away: 4 places in two dimensions if it is 1.
template <int radius = 1>
struct VonNeumann {
  static_assert(0 < radius && radius < 32, "dynasoar: the radius of a neighbourhood is from 1 to 31");
  static constexpr int kRadius = radius;

  __host__ __device__ static constexpr int reach(int y, int z) { return radius - (y < 0 ? -y : y) - (z < 0 ? -z : z); }
};

namespace detail {

/// Whether a class is one of these neighbourhoods.
template <class>
inline constexpr bool is_neighbourhood_v = false;
template <int radius>
inline constexpr bool is_neighbourhood_v<Moore<radius>> = true;
template <int radius>
inline constexpr bool is_neighbourhood_v<VonNeumann<radius>> = true;

}  // namespace detail

}  // namespace dynasoar
