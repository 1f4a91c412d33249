/// @file
/// A block heap of any size on the host, with tiny blocks and any atomics: for tests in which the number of states or
/// of interleavings must stay small.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include <dynasoar/heap/block_heap.h>

namespace dynasoar::test {

/// A heap of tiny blocks with memory of its own.
template <int kTypes, int kSlots, int kContainerBits, class Atomics>
class TinyHeap {
 public:
  using Heap = BlockHeap<kTypes, Atomics, kSlots, kContainerBits>;
  using Bits = typename Heap::Bits;

  /// @param blocks_per_page   of each type; block numbers per page are the next power of two
  /// @param few_pages            as in BlockHeap; pages are always few if nothing is said
  TinyHeap(std::uint32_t pages, const std::vector<std::uint32_t>& blocks_per_page, std::uint32_t current_count,
           int few_pages = kContainerBits) {
    constexpr auto kGroup = Heap::BlockWords::kGroup;
    heap_.pages = pages;
    const std::uint32_t most = *std::max_element(blocks_per_page.begin(), blocks_per_page.end());
    heap_.block_shift = static_cast<std::uint32_t>(std::bit_width(most - 1));
    heap_.current_count = current_count;
    heap_.few_pages = few_pages;
    heap_.slots = {words64((heap_.blocks() + kGroup - 1) / kGroup * kGroup, Heap::kAllSlots)};
    heap_.token = words32(heap_.blocks(), 0);
    heap_.page_type = words32(pages, 0);
    heap_.page_hint = warp_words(current_count, 0);
    heap_.full_at = words64(kTypes, 0);
    heap_.refusals = words64(kTypes * dynasoar::kRefusals, 0);
    heap_.pages_freed = counter(pages);
    heap_.pages_taken = counter();
    heap_.free_pages = bitmap(pages, pages);
    for (int type = 0; type < kTypes; ++type) {
      heap_.types[type].empty = bitmap(heap_.blocks(), 0);
      heap_.types[type].active = bitmap(heap_.blocks(), 0);
      heap_.types[type].allocated = bitmap(heap_.blocks(), 0);
      heap_.types[type].created = counter();
      heap_.types[type].deleted = counter();
      heap_.types[type].opened = counter();
      heap_.types[type].closed = counter();
      heap_.types[type].emptied = counter();
      heap_.types[type].reused = counter();
      heap_.types[type].current = warp_words(current_count, kNoPosition);
      heap_.types[type].fetching = warp_words(current_count, 0);
      heap_.types[type].blocks_per_page = blocks_per_page[static_cast<std::size_t>(type)];
    }
  }

  const Heap& heap() const { return heap_; }

 private:
  using Word64 = typename Atomics::template word<std::uint64_t>;
  using Word32 = typename Atomics::template word<std::uint32_t>;

  Bits bitmap(std::uint32_t size, std::uint32_t set) {
    Word64* const words = words64(Bits::words_needed(size), 0);
    for (std::size_t i = 0; i < Bits::words_needed(size); ++i) {
      words[i].store(Bits::filled_word(size, set, i), Order::relaxed);
    }
    return Bits::over(words, size);
  }
  typename Heap::Counter counter(std::uint64_t count = 0) {
    Word64* const words = words64(Heap::Counter::kWords, 0);
    words[0].store(count, Order::relaxed);
    return Heap::Counter::over(words);
  }
  Word64* words64(std::size_t count, std::uint64_t value) { return fill(words64_.emplace_back(count), value); }
  typename Heap::WarpWords warp_words(std::size_t count, std::uint32_t value) {
    return {words32(count * Heap::WarpWords::kStride, value)};
  }
  Word32* words32(std::size_t count, std::uint32_t value) { return fill(words32_.emplace_back(count), value); }

  template <class Word, class T>
  static Word* fill(std::vector<Word>& words, T value) {
    for (Word& word : words) word.store(value, Order::relaxed);
    return words.data();
  }

  std::deque<std::vector<Word64>> words64_;
  std::deque<std::vector<Word32>> words32_;
  Heap heap_{};
};

/// Gives slots of a block back.
template <class Heap>
void release(const Heap& heap, std::uint32_t block, std::uint64_t slots, std::uint32_t warp_id) {
  heap.release(block, heap.type_of(block), slots, warp_id, heap.taken(block));
}

}  // namespace dynasoar::test
