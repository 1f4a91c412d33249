/// @file
/// ObjectSort: puts the objects of a class into the order of keys, and updates the pointers to them. Used by
/// AllocatorHandle::sort. Implemented in sort_tasks.h and pointer_updates.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <dynasoar/heap/heap_memory.h>
#include <dynasoar/heap/relocation.h>
#include <dynasoar/heap/sorted_class.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/scan.h>
#include <dynasoar/platform/sort.h>

namespace dynasoar::detail {

/// The additional memory of a sort: 16 bytes per 64 blocks of the heap, and 24 bytes per object of the class.
struct SortArrays {
  DeviceArray<std::uint32_t> counts;  ///< by container
  std::optional<PrefixSums> sums;     ///< for a quarter of the numbers
  DeviceArray<char> objects;          ///< by rank
};

/// The memory of sorts, kept from one to the next. Recorded sorts of a class have memory of their own, for as many
/// objects as the heap has room for. It is replaced only when the heap has grown, and then their steps are recorded
/// again.
struct SortMemory {
  SortArrays direct;
  std::vector<SortArrays> recorded;  ///< by class
  std::vector<SortArrays> replaced;  ///< recorded sorts may still run there: freed by a direct sort, which waits
  std::uint64_t growths = 0;         ///< of the heap, when a step was last recorded

  /// Called before a step is recorded, when the device is idle. Frees the memory of sorts that were recorded for a
  /// smaller heap: their steps are recorded again before they run.
  void before_recording(std::uint64_t heap_growths) {
    if (std::exchange(growths, heap_growths) == heap_growths) return;
    recorded.clear();
    replaced.clear();
  }
};

/// How a sort determines the number of objects.
enum class SortSize : std::uint8_t {
  counted,  ///< counts the objects, and waits
  bounded   ///< does not wait, may be recorded, and sorts a key for each object for which the heap has room
};

/// A sort. The constructor numbers the objects; the caller then sets their keys and calls `run`.
///
/// @tparam Key   std::uint32_t or std::uint64_t
template <class Key>
class ObjectSort {
 public:
  /// Rewrites the list of blocks of a class in the order of the blocks.
  ///
  /// @pre the lists of blocks are as of now; `memory` outlives this; nothing is being recorded, or `size` is bounded
  /// @throws Error if there is not enough memory, or there are too many blocks; no object has moved then
  ObjectSort(Executor& executor, const HeapMemory& memory, std::size_t type, SortMemory& scratch, SortSize size);

  /// Whether there is anything to sort, as far as the host knows. Otherwise no other function may be called.
  bool is_needed() const { return objects_ > 1; }

  KeysOfObjects<Key> keys() const { return {sorted_, pairs_.keys[0], pairs_.numbers[0]}; }

  /// Moves the objects, and updates the pointers to them. Objects with equal keys keep their order.
  ///
  /// @param bits       the number of lowest bits of the keys by which to sort
  /// @param pointers   pointers to update, in addition to those in fields of objects
  /// @pre the keys of all objects are set
  void run(int bits, const OtherPointers& pointers);

 private:
  void number_objects();
  void count();
  void bound();
  void lay_out();
  void check_entries(const char* has) const;
  std::size_t containers() const;
  std::size_t bytes_of(std::size_t per_object) const;
  template <class K>
  std::size_t key_bytes() const;
  std::size_t destination_teams() const;
  std::size_t bytes_needed() const;

  Executor& executor_;
  const HeapMemory& memory_;
  SortMemory& all_scratch_;
  SortSize size_;
  SortArrays& scratch_;
  SortedClass sorted_;
  std::size_t entries_ = 0;  // actual or maximum number
  std::size_t objects_ = 0;
  KeyedNumbers<Key> pairs_{};
};

extern template class ObjectSort<std::uint32_t>;
extern template class ObjectSort<std::uint64_t>;

}  // namespace dynasoar::detail
