/// @file
/// AddressMap: a parallel hash map from the address of a piece of memory to that of its superblock. Used by the
/// coalescing allocators without headers.
///
/// Source: "Coalescing Memory Allocations for GPU MPI" (Blach et al.), section 3.1, which does not describe the map.
/// This map has open addressing: an entry goes to the first free place from its hash on. Only the owner of a piece
/// searches for its entry, and the entry always exists, so the place of a removed entry can become free immediately.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// @par Concurrency   everything may overlap; wait-free
class AddressMap {
 public:
  using Word = AtomicWord<std::uint64_t>;

  AddressMap() = default;

  /// @param words    [2 * places], all 0
  /// @param places   a power of two
  AddressMap(Word* words, std::size_t places) : keys_(words), values_(words + places), mask_(places - 1) {}

  /// Stores the superblock of a piece. @return whether there was room
  __device__ bool insert(std::uint64_t piece, std::uint64_t superblock) const {
    for (std::size_t i = 0; i <= kMostProbes; ++i) {
      const std::size_t place = place_of(piece, i);
      std::uint64_t found = keys_[place].load(Order::relaxed);
      // acquire: pairs with the release in remove, so that the last user of the place has read its value.
      if (found == 0 && keys_[place].compare_exchange(found, piece, Order::acquire)) {
        values_[place].store(superblock, Order::relaxed);
        return true;
      }
    }
    return false;
  }

  /// Removes a piece. @pre the caller owns it @return its superblock
  __device__ std::uint64_t remove(std::uint64_t piece) const {
    for (std::size_t i = 0; i <= kMostProbes; ++i) {
      const std::size_t place = place_of(piece, i);
      if (keys_[place].load(Order::relaxed) != piece) continue;
      const std::uint64_t superblock = values_[place].load(Order::relaxed);
      // release: pairs with the acquire in insert.
      keys_[place].store(0, Order::release);
      return superblock;
    }
    return 0;
  }

 private:
  static constexpr std::size_t kMostProbes = 1024;

  __device__ std::size_t place_of(std::uint64_t piece, std::size_t probe) const {
    constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15u;  // 2^64 / golden ratio: multiples are evenly distributed
    return ((piece * kFactor >> 20) + probe) & mask_;
  }

  Word* keys_;  // 0: free
  Word* values_;
  std::size_t mask_;
};

}  // namespace dynasoar::detail
