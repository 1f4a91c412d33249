/// @file
/// CompactionState: what compaction notes beside the heap. Owned by HeapMemory, used by compaction.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/atomic.h>

namespace dynasoar::detail {

/// How far the compaction of a class has come.
struct CompactionFlags {
  AtomicWord<std::uint32_t> wanted;  ///< 1 if the class is to be compacted
  AtomicWord<std::uint32_t> moved;   ///< 1 if objects have moved
};

/// A view of it.
struct CompactionState {
  std::uint32_t* entry_of;          ///< [blocks] for a block that was emptied: its place in its class's list
  CompactionFlags* flags;           ///< [types]
  AtomicWord<std::uint64_t>* seen;  ///< [types * shards] see ListSources
  std::size_t shards;

  /// Has the list of a class made anew before the next loop, although no object was created or deleted.
  __device__ void outdate_list(int type) const {
    constexpr std::uint64_t kNever = ~std::uint64_t{0};  // no counter gets there
    seen[static_cast<std::size_t>(type) * shards].store(kNever, Order::relaxed);
  }
};

}  // namespace dynasoar::detail
