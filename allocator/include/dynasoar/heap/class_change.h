/// @file
/// ClassChange: changes objects of one class into objects of another class, and updates the pointers to them. Used by
/// AllocatorHandle::become. Implemented in class_change_tasks.h and pointer_updates.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/classes/class_table.h>
#include <dynasoar/heap/heap_memory.h>
#include <dynasoar/heap/relocated_heap.h>
#include <dynasoar/heap/relocation.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/order.h>
#include <dynasoar/platform/scan.h>

namespace dynasoar::detail {

/// The objects of a class that change, and their successors, for device code.
struct ChangingObjects {
  AtomicWord<std::uint64_t>* slots;  ///< [entries] for each block of the class, the slots of objects that change
  const std::uint32_t* blocks;       ///< [entries] the numbers of these blocks
  const std::uint32_t* before;       ///< [entries] number of changing objects in earlier blocks
  const std::uint32_t* entry_of;     ///< [blocks of the heap] index into the other arrays; undefined for other blocks
  std::uint64_t* successors;         ///< handles of the new objects, by number; 0 if the heap was full
  std::uint32_t entries;

  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// Marks an object of the class.
  __device__ void choose(std::uint32_t block, std::uint32_t slot) const {
    slots[entry_of[block]].fetch_or(std::uint64_t{1} << slot, Order::relaxed);
  }

  /// The number of an object among those that change; kNone if it does not. @param block   of the heap
  __device__ std::uint32_t number_of(std::uint32_t block, std::uint32_t slot) const {
    const std::uint32_t entry = entry_of[block];
    if (entry >= entries || blocks[entry] != block) return kNone;
    const std::uint64_t changing = slots[entry].load(Order::relaxed);
    return (changing >> slot & 1) != 0 ? before[entry] + objects_below(changing, slot) : kNone;
  }
};

/// A change of class. The caller marks the objects that change, calls `number`, creates their successors, calls
/// `update_pointers`, and destroys the objects that have successors.
class ClassChange {
 public:
  /// Waits for all loops. @param from   the class of the objects
  /// @pre the lists of blocks are as of now
  /// @throws Error if there is not enough memory, or there are too many blocks
  ClassChange(Executor& executor, const HeapMemory& memory, std::size_t from);

  /// For device code. Complete once `number` has been called.
  ChangingObjects objects() const;

  /// Numbers the marked objects, and waits. @return the number of marked objects
  ///
  /// @param to   the class of their successors
  /// @throws Error if there is not enough memory, also for the code of update_pointers
  std::uint32_t number(std::size_t to);

  /// Updates the pointers to objects that have successors, if a pointer of their type may point to the successor.
  ///
  /// @param to         the class of the successors
  /// @param pointers   pointers to update, in addition to those in fields of objects
  /// @pre the lists of blocks are as of now
  void update_pointers(std::size_t to, const OtherPointers& pointers);

 private:
  Executor& executor_;
  const HeapMemory& memory_;
  std::size_t from_;
  std::uint32_t entries_ = 0;
  DeviceArray<std::uint64_t> slots_;
  DeviceArray<std::uint32_t> blocks_, counts_, before_;
  DeviceArray<std::uint64_t> successors_;
};

}  // namespace dynasoar::detail
