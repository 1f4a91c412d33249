/// @file
/// Checks a heap that no thread is changing: every bitmap against itself, and all of them against each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <dynasoar/heap/block_heap.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "bitmap_check.h"

namespace dynasoar::test {

/// `count` words that hold a T each, in host memory.
template <class T, class Word>
std::vector<T> download_words(Executor& executor, const Word* from, std::size_t count) {
  DeviceArray<T> to(count);
  executor.for_each_index(count,
                          [from, to = to.data()] __device__(std::size_t i) { to[i] = from[i].load(Order::relaxed); });
  executor.synchronize();
  return to.download();
}

/// A heap's state in host memory.
struct HeapCopy {
  struct Type {
    std::vector<std::vector<std::uint64_t>> empty, active, allocated;  // all levels
    std::vector<std::uint32_t> current, fetching;
    std::uint32_t blocks_per_page;
    std::uint64_t objects = 0;       // created less deleted
    std::uint64_t open_blocks = 0;   // opened less closed
    std::uint64_t empty_blocks = 0;  // emptied less reused
  };
  std::uint32_t pages, stride;
  int container_bits;
  std::uint64_t all_slots;
  std::vector<std::uint64_t> slots;
  std::vector<std::uint32_t> token, page_type;
  std::vector<std::vector<std::uint64_t>> free_pages;
  std::vector<Type> types;
  std::uint64_t free_page_count;  // freed less taken

  bool bit(const std::vector<std::vector<std::uint64_t>>& levels, std::size_t position) const {
    return bit_of(levels[0], position, container_bits);
  }
};

/// The blocks in a table of current blocks.
template <class Heap>
std::vector<std::uint32_t> blocks_of_current(std::vector<std::uint32_t> words) {
  for (std::uint32_t& word : words) word = word == kNoPosition ? kNoPosition : word & ~Heap::kHalfFree;
  return words;
}

template <int kTypes, class Atomics, int kSlots, int kContainerBits>
HeapCopy copy_heap(Executor& executor, const BlockHeap<kTypes, Atomics, kSlots, kContainerBits>& heap) {
  using Heap = BlockHeap<kTypes, Atomics, kSlots, kContainerBits>;
  HeapCopy copy;
  copy.pages = heap.pages;
  copy.stride = heap.block_stride();
  copy.container_bits = kContainerBits;
  copy.all_slots = Heap::kAllSlots;
  constexpr auto kGroup = Heap::BlockWords::kGroup;
  const auto slots =
      download_words<std::uint64_t>(executor, heap.slots.words, (heap.blocks() + kGroup - 1) / kGroup * kGroup);
  for (std::uint32_t block = 0; block < heap.blocks(); ++block)
    copy.slots.push_back(slots[Heap::BlockWords::place(block)]);
  copy.token = download_words<std::uint32_t>(executor, heap.token, heap.blocks());
  copy.page_type = download_words<std::uint32_t>(executor, heap.page_type, heap.pages);
  copy.free_pages = download_levels(executor, heap.free_pages);
  for (const typename Heap::TypeState& type : heap.types) {
    copy.types.push_back(
        {download_levels(executor, type.empty), download_levels(executor, type.active),
         download_levels(executor, type.allocated),
         blocks_of_current<Heap>(download_words<std::uint32_t>(executor, type.current.words,
                                                               heap.current_count * Heap::WarpWords::kStride)),
         download_words<std::uint32_t>(executor, type.fetching.words, heap.current_count * Heap::WarpWords::kStride),
         type.blocks_per_page});
  }
  DeviceArray<std::uint64_t> counters(1 + 3 * copy.types.size());
  executor.for_each_index(1, [heap, counts = counters.data()] __device__(std::size_t) {
    std::uint64_t* count = counts;
    *count++ = heap.pages_freed.read() - heap.pages_taken.read();
    for (const typename Heap::TypeState& type : heap.types) {
      *count++ = type.created.read() - type.deleted.read();
      *count++ = type.opened.read() - type.closed.read();
      *count++ = type.emptied.read() - type.reused.read();
    }
  });
  executor.synchronize();
  const auto counts = counters.download();
  copy.free_page_count = counts[0];
  for (std::size_t type = 0; type < copy.types.size(); ++type) {
    copy.types[type].objects = counts[1 + 3 * type];
    copy.types[type].open_blocks = counts[2 + 3 * type];
    copy.types[type].empty_blocks = counts[3 + 3 * type];
  }
  return copy;
}

/// The taken slots of a block, none if it is not open.
inline std::uint64_t taken_slots(const HeapCopy& heap, std::size_t block) {
  for (const HeapCopy::Type& type : heap.types) {
    if (heap.bit(type.allocated, block)) return heap.slots[block];
  }
  return 0;
}

/// Slots that are owned but free, or taken but not owned.
/// @param owners   of each slot, 64 in a block; 0 for those without an owner
template <class Owners>
std::uint64_t slots_wrong(const HeapCopy& heap, const Owners& owners) {
  std::uint64_t wrong = 0;
  for (std::size_t block = 0; block < heap.slots.size(); ++block) {
    const std::uint64_t taken = taken_slots(heap, block);
    for (std::size_t slot = 0; slot < 64; ++slot) {
      wrong += (owners[block * 64 + slot] != 0) != ((taken >> slot & 1) != 0);
    }
  }
  return wrong;
}

/// Collects the first few things that are wrong.
class Complaints {
 public:
  void add(const std::string& what, std::uint64_t where) {
    if (++count_ <= 5) text_ += what + " (" + std::to_string(where) + "); ";
  }
  void add_if(bool wrong, const char* what, std::uint64_t where) {
    if (wrong) add(what, where);
  }
  std::string text() const { return count_ <= 5 ? text_ : text_ + std::to_string(count_ - 5) + " more"; }

 private:
  std::string text_;
  int count_ = 0;
};

/// The rules for a block that is closed: no object, nothing to find.
inline void check_closed(const HeapCopy& heap, std::uint32_t block, Complaints& complaints) {
  complaints.add_if(heap.slots[block] != heap.all_slots, "a closed block has a free slot: block", block);
  complaints.add_if(heap.token[block] != 0, "a closed block has an ownership token: block", block);
}

/// The rules for an open block, see block_transitions.h.
inline void check_open(const HeapCopy& heap, std::uint32_t block, std::uint32_t type, Complaints& complaints) {
  const std::vector<std::uint32_t>& current = heap.types[type].current;
  const bool active = heap.bit(heap.types[type].active, block);
  const std::uint32_t token = heap.token[block];
  complaints.add_if(token > 1 && token != type + 1, "a token is of another type: block", block);
  if (heap.slots[block] == heap.all_slots) {
    complaints.add_if(active, "a full block is listed as active: block", block);
    complaints.add_if(token != 0, "a full block has an ownership token: block", block);
  } else {
    complaints.add_if(heap.slots[block] == 0, "an open block has no object: block", block);
    complaints.add_if(!active && token == 0, "a block with free slots is lost, neither active nor current: block",
                      block);
    complaints.add_if(active && token != 0, "an active block has an ownership token: block", block);
  }
  if (token != 0) {
    bool is_current = false;
    for (const std::uint32_t entry : current) is_current = is_current || entry == block;
    complaints.add_if(!is_current, "a block with an ownership token is nobody's current block: block", block);
  }
}

inline void check_page(const HeapCopy& heap, std::uint32_t page, Complaints& complaints) {
  const bool free = heap.bit(heap.free_pages, page);
  const std::uint32_t owner = heap.page_type[page];
  complaints.add_if(owner >= heap.types.size(), "a page has a type that does not exist: page", page);
  if (owner >= heap.types.size()) return;
  bool all_empty = true;
  for (std::uint32_t i = 0; i < heap.stride; ++i) {
    const std::uint32_t block = page * heap.stride + i;
    for (std::uint32_t type = 0; type < heap.types.size(); ++type) {
      const HeapCopy::Type& lists = heap.types[type];
      const bool listed =
          heap.bit(lists.empty, block) || heap.bit(lists.active, block) || heap.bit(lists.allocated, block);
      complaints.add_if(listed && (free || type != owner || i >= lists.blocks_per_page),
                        "a block is listed that is not a block of this type: block", block);
    }
    if (free || i >= heap.types[owner].blocks_per_page) {
      check_closed(heap, block, complaints);
      continue;
    }
    const bool empty = heap.bit(heap.types[owner].empty, block);
    const bool open = heap.bit(heap.types[owner].allocated, block);
    all_empty = all_empty && empty;
    complaints.add_if(empty == open, "a block is both empty and allocated, or neither: block", block);
    if (open) {
      check_open(heap, block, owner, complaints);
    } else {
      complaints.add_if(heap.bit(heap.types[owner].active, block), "an empty block is active: block", block);
      check_closed(heap, block, complaints);
    }
  }
  complaints.add_if(!free && all_empty, "a page is not free although all of its blocks are empty: page", page);
}

/// Objects of a type, counted slot by slot.
inline std::uint64_t count_objects(const HeapCopy& heap, std::size_t type) {
  std::uint64_t count = 0;
  for (std::size_t block = 0; block < heap.slots.size(); ++block) {
    if (!heap.bit(heap.types[type].allocated, block)) continue;
    count += static_cast<std::uint64_t>(std::popcount(heap.slots[block]));
  }
  return count;
}

/// The errors of a heap; empty if there are none. @pre no thread is changing it
inline std::string heap_errors(const HeapCopy& heap) {
  Complaints complaints;
  const std::size_t blocks = heap.slots.size();
  const auto check_levels = [&](const char* name, const std::vector<std::vector<std::uint64_t>>& levels,
                                std::size_t size, std::uint64_t type) {
    if (const std::string errors = level_errors(levels, size, heap.container_bits); !errors.empty()) {
      complaints.add(std::string(name) + ": " + errors, type);
    }
  };
  check_levels("free pages", heap.free_pages, heap.pages, 0);
  for (std::size_t type = 0; type < heap.types.size(); ++type) {
    check_levels("empty blocks of type", heap.types[type].empty, blocks, type);
    check_levels("active blocks of type", heap.types[type].active, blocks, type);
    check_levels("allocated blocks of type", heap.types[type].allocated, blocks, type);
    complaints.add_if(heap.types[type].objects != count_objects(heap, type), "objects and counters differ for type",
                      type);
    complaints.add_if(heap.types[type].open_blocks != count_bits(heap.types[type].allocated[0]),
                      "open blocks and their counters differ for type", type);
    complaints.add_if(heap.types[type].empty_blocks != count_bits(heap.types[type].empty[0]),
                      "empty blocks and their counters differ for type", type);
    for (const std::uint32_t block : heap.types[type].current) {
      complaints.add_if(block != kNoPosition && block >= blocks, "a current block does not exist: block", block);
    }
    for (const std::uint32_t fetching : heap.types[type].fetching) {
      complaints.add_if(fetching != 0, "somebody seems to be getting a page of type", type);
    }
  }
  for (std::uint32_t page = 0; page < heap.pages; ++page) check_page(heap, page, complaints);
  complaints.add_if(heap.free_page_count != count_bits(heap.free_pages[0]), "free pages and their counters differ", 0);
  return complaints.text();
}

}  // namespace dynasoar::test
