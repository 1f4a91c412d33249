/// @file
/// read_heap: the state of a heap in Relacy's memory, for the checks of heap_check.h. Used by HeapScenario.
#pragma once

#include "relacy_atomics.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../heap/heap_check.h"

namespace dynasoar::test {

/// The words of one level of a bitmap that no thread is changing.
template <class Bits>
std::vector<std::vector<std::uint64_t>> read_levels(const Bits& bitmap) {
  std::vector<std::vector<std::uint64_t>> levels(static_cast<std::size_t>(bitmap.levels()));
  for (int level = 0; level < bitmap.levels(); ++level) {
    for (std::uint32_t i = 0; i < bitmap.level_size(level); ++i) levels[level].push_back(bitmap.container(level, i));
  }
  return levels;
}

template <class T, class Word>
std::vector<T> read_words(const Word* words, std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = words[i].load(Order::relaxed);
  return values;
}

/// A heap's state, without the executor that copy_heap asks for. @pre no thread is changing it
template <class Heap>
HeapCopy read_heap(const Heap& heap, int container_bits) {
  HeapCopy copy;
  copy.pages = heap.pages;
  copy.stride = heap.block_stride();
  copy.container_bits = container_bits;
  copy.all_slots = Heap::kAllSlots;
  copy.slots = read_words<std::uint64_t>(heap.slots.words, heap.blocks());
  copy.token = read_words<std::uint32_t>(heap.token, heap.blocks());
  copy.page_type = read_words<std::uint32_t>(heap.page_type, heap.pages);
  copy.free_pages = read_levels(heap.free_pages);
  copy.free_page_count = heap.pages_freed.read() - heap.pages_taken.read();
  for (const typename Heap::TypeState& type : heap.types) {
    copy.types.push_back({read_levels(type.empty), read_levels(type.active), read_levels(type.allocated),
                          blocks_of_current<Heap>(read_words<std::uint32_t>(type.current.words, heap.current_count)),
                          read_words<std::uint32_t>(type.fetching.words, heap.current_count), type.blocks_per_page,
                          type.created.read() - type.deleted.read(), type.opened.read() - type.closed.read(),
                          type.emptied.read() - type.reused.read()});
  }
  return copy;
}

}  // namespace dynasoar::test
