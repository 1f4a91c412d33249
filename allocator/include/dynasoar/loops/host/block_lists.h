/// @file
/// make_lists on a CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/loops/block_lists.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

inline ListedBlock load_entry(const BlockList& list, std::uint32_t index) {
  return list.entries[index];
}

/// Makes the list of a type if objects of it were created or deleted since its last list was made.
template <class Heap>
void make_list(Executor& executor, const ListSource<Heap>& type, const typename Heap::BlockWords& slots) {
  constexpr int kShards = Heap::Counter::kShards;
  bool is_same = true;
  for (int i = 0; i < 2 * kShards; ++i) {
    const std::uint64_t now = (i % 2 == 0 ? type.created : type.deleted).word(i / 2).load(Order::relaxed);
    if (type.seen[i].load(Order::relaxed) == now) continue;
    type.seen[i].store(now, Order::relaxed);
    is_same = false;
  }
  if (is_same) return;
  AtomicWord<std::uint32_t>& entries = type.progress->entries;
  executor.for_each_index(type.allocated.level_size(0), [&](std::size_t index) {
    std::uint64_t bits = type.allocated.container(0, static_cast<std::uint32_t>(index));
    if (bits == 0) return;
    // relaxed: only uniqueness matters; the end of the loop publishes the entries.
    std::uint32_t at = entries.fetch_add(static_cast<std::uint32_t>(popcount(bits)), Order::relaxed);
    for (; bits != 0; bits &= bits - 1) {
      const auto block = static_cast<std::uint32_t>(index * 64 + static_cast<std::size_t>(lowest_bit(bits)));
      type.list.entries[at++] = {slots[block].load(Order::relaxed), block};
    }
  });
  type.list.size->blocks = entries.exchange(0, Order::relaxed);
}

template <class Heap, int kTypes>
void make_lists(Executor& executor, const ListSources<Heap, kTypes>& sources) {
  for (int i = 0; i < sources.count; ++i) make_list(executor, sources.types[i], sources.slots);
}

}  // namespace dynasoar::detail
