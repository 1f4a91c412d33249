/// @file
/// LatticeMemory: the memory of one class on a Lattice. Owned by Lattice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <dynasoar/loops/lattice_shape.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

/// The memory that a class needs on a lattice.
struct LatticeNeeds {
  std::string_view class_name;
  std::size_t block_bytes;  ///< for 64 places: a block, or 64 entries of a table; a multiple of kPlacedUnit
  std::size_t bits;         ///< per place
  bool has_generations;
  bool counts_created;
};

struct LatticeMemory {
  DeviceArray<char> blocks;
  DeviceArray<std::uint32_t> generations;  ///< in checked builds
  DeviceArray<std::uint64_t> words;    ///< seen, arrived, departed; and claims, for the first class that shares them
  DeviceArray<std::uint64_t> created;  ///< if creations are counted

  LatticeMemory() = default;
  /// @throws Error if objects of a class would take too much memory, or there is not enough
  LatticeMemory(const LatticeShape& shape, const LatticeNeeds& needs);

  std::size_t bytes() const { return blocks.bytes() + generations.bytes() + words.bytes(); }
};

[[noreturn]] void throw_no_room_at_every_place(const LatticeShape& shape, std::string_view class_name);
/// @throws Error if a lattice is divided, for a function that needs the whole one
void check_is_whole(const LatticeShape& shape, std::string_view function);

}  // namespace dynasoar::detail
