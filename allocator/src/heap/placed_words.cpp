#include <dynasoar/heap/placed_words.h>

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/order.h>

namespace dynasoar::detail {

namespace {

/// Refreshes the i-th words of several classes.
struct Refresh {
  static constexpr std::size_t kMost = 16;

  PlacedWords classes[kMost];
  std::size_t count;

  /// A thread takes one word of one class, so that no word waits for another.
  __device__ void operator()(std::size_t i) const {
    for (std::size_t c = 0; c < count; ++c) {
      if (i < classes[c].words) return classes[c].refresh(i);
      i -= static_cast<std::size_t>(classes[c].words);
    }
  }
};

struct CountSeen {
  static constexpr std::size_t kWordsPerTask = 64;

  const std::uint64_t* seen;
  std::uint64_t words;
  AtomicWord<std::uint64_t>* total;

  __device__ void operator()(std::size_t task) const {
    std::uint64_t found = 0;
    for (std::uint64_t i = task * kWordsPerTask; i < (task + 1) * kWordsPerTask && i < words; ++i) {
      found += static_cast<std::uint64_t>(popcount(seen[i]));
    }
    total->add(found, Order::relaxed);  // relaxed: read when the device is idle
  }
};

struct ListAll {
  AllBlocks blocks;
  BlockList list;

  __device__ void operator()(std::size_t i) const {
    list.entries[i] = load_entry(blocks, static_cast<std::uint32_t>(i));
    if (i == 0) *list.size = {blocks.blocks, 0};
  }
};

}  // namespace

void refresh_places(Executor& executor, View<PlacedWords> classes) {
  for (std::size_t first = 0; first < classes.size(); first += Refresh::kMost) {
    Refresh refresh{};
    std::uint64_t words = 0;
    for (std::size_t c = first; c < classes.size() && refresh.count < Refresh::kMost; ++c) {
      refresh.classes[refresh.count++] = classes[c];
      words += classes[c].words;
    }
    executor.for_each_index(words, refresh);
  }
}

void count_seen(Executor& executor, const std::uint64_t* seen, std::uint64_t words, AtomicWord<std::uint64_t>* total) {
  const std::size_t tasks = (words + CountSeen::kWordsPerTask - 1) / CountSeen::kWordsPerTask;
  executor.for_each_index(tasks, CountSeen{seen, words, total});
}

void list_all(Executor& executor, const AllBlocks& blocks, const BlockList& list) {
  executor.for_each_index(blocks.blocks, ListAll{blocks, list});
}

}  // namespace dynasoar::detail
