/// @file
/// ObjectSort: puts the objects of a class into the order of keys, and updates the pointers to them. Used by
/// AllocatorHandle::sort. How: sort_tasks.h and pointer_updates.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <dynasoar/heap/heap_memory.h>
#include <dynasoar/heap/relocation.h>
#include <dynasoar/heap/sorted_class.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/scan.h>
#include <dynasoar/platform/sort.h>

namespace dynasoar::detail {

/// The memory that sorts need beside the heap, kept from one sort to the next: 16 bytes per 64 blocks of the heap, and
/// 21 bytes per object of the class, or 24 with keys of 64 bits.
struct SortMemory {
  DeviceArray<std::uint32_t> counts;  ///< by container
  std::optional<PrefixSums> sums;     ///< of half as many numbers
  DeviceArray<char> objects;          ///< by rank
};

/// A sort. The constructor numbers the objects; the caller then sets their keys and calls `run`.
///
/// @tparam Key   std::uint32_t or std::uint64_t
template <class Key>
class ObjectSort {
 public:
  /// Rewrites the list of blocks of a class in the order of the blocks. Waits for all loops.
  ///
  /// @pre the lists of blocks are as of now; `memory` outlives this
  /// @throws Error if there is not enough memory, or there are too many blocks; no object has moved then
  ObjectSort(Executor& executor, const HeapMemory& memory, std::size_t type, SortMemory& scratch);

  /// Whether there is anything to sort. Otherwise no other function may be called.
  bool is_needed() const { return sorted_.objects > 1; }

  KeysOfObjects<Key> keys() const { return {sorted_, pairs_.keys[0], pairs_.numbers[0]}; }

  /// Moves the objects, and updates the pointers to them. Objects with equal keys keep their order.
  ///
  /// @param bits       how many of the lowest bits of the keys to sort by
  /// @param pointers   to update, in addition to those in fields of objects
  /// @pre the keys of all objects are set
  void run(int bits, const OtherPointers& pointers);

 private:
  void number_objects();
  void lay_out();
  std::size_t bytes_of(std::size_t per_object) const;

  Executor& executor_;
  const HeapMemory& memory_;
  SortMemory& scratch_;
  SortedClass sorted_;
  KeyedNumbers<Key> pairs_{};
  std::size_t radix_bytes_ = 0;
};

extern template class ObjectSort<std::uint32_t>;
extern template class ObjectSort<std::uint64_t>;

}  // namespace dynasoar::detail
