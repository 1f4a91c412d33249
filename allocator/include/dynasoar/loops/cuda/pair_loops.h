/// @file
/// Loops over pairs on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <dynasoar/loops/block_lists.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/block_sums.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/tuning.h>

namespace dynasoar::detail {

namespace {

// Threads of a thread block: the greatest number for which two tiles and the places of their objects fit into shared
// memory. Checked builds have contexts for kThreadsPerBlock threads (see checks.h).
template <class Source>
constexpr int pair_threads() {
  int threads = kChecked ? kThreadsPerBlock : kMostPairThreads;
  while (threads > kThreadsPerBlock &&
         static_cast<std::size_t>(threads) * (2 * sizeof(Source) + 8) > kPairSharedBytes) {
    threads /= 2;
  }
  return threads;
}

template <class Pairs>
inline constexpr int kPairThreads = pair_threads<typename Pairs::Source>();

// The data of other objects that a thread block of kThreads threads has loaded: the objects of up to kThreads / 64
// blocks, without gaps.
template <class Source, int kThreads>
struct Tile {
  static constexpr std::uint32_t kBlocks = kThreads / 64;

  RawArray<Source, kThreads> sources;
  std::uint32_t counts[kBlocks];  // objects of each of the blocks

  __device__ std::uint32_t objects_before(std::uint32_t block) const {
    std::uint32_t objects = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < kBlocks; ++i) objects += i < block ? counts[i] : 0;
    return objects;
  }
};

template <class Pairs>
using PairTile = Tile<typename Pairs::Source, kPairThreads<Pairs>>;

// Reads a list tile by tile, always one tile in advance, and entries of the list two tiles in advance. Each thread
// keeps the data that it has read until the tile is needed. Two tiles alternate: while some threads still read one,
// others write the next, and the counts of the one after that are already there.
template <int kList, class Pairs>
class TileReader {
 public:
  using TileT = PairTile<Pairs>;

  __device__ TileReader(const Pairs& pairs, TileT (&tiles)[2])
      : pairs_(pairs),
        tiles_(tiles),
        list_(Pairs::template list<kList>()),
        entries_(length_of(list_)),
        next_(threadIdx.x / 64) {
    read_entry();
    read_source(tiles_[0]);
    __syncthreads();
  }

  __device__ std::uint32_t tiles() const { return (entries_ + TileT::kBlocks - 1) / TileT::kBlocks; }

  // Completes tile number t and moves on to it. All threads call it for one tile after the other.
  __device__ const TileT& tile(std::uint32_t t) {
    TileT& now = tiles_[t % 2];
    objects_ = now.objects_before(TileT::kBlocks);  // not later: the next read overwrites the counts of tile t - 1
    const std::uint32_t slot = threadIdx.x % 64;
    if ((slots_ >> slot & 1) != 0) {
      const auto before = static_cast<std::uint32_t>(popcount(slots_ & first_bits(static_cast<int>(slot))));
      now.sources.make(now.objects_before(threadIdx.x / 64) + before, source_[0]);
    }
    read_source(tiles_[1 - t % 2]);
    __syncthreads();
    return now;
  }

  // The number of objects in the current tile.
  __device__ std::uint32_t objects() const { return objects_; }

 private:
  __device__ void read_entry() {
    entry_ = next_ < entries_ ? load_entry(list_, next_) : ListedBlock{};
    next_ += TileT::kBlocks;
  }

  // Reads the data that the thread will write to `tile`. Writes its counts immediately.
  __device__ void read_source(TileT& tile) {
    const std::uint32_t slot = threadIdx.x % 64;
    slots_ = entry_.slots;
    if ((slots_ >> slot & 1) != 0) source_.make(0, pairs_.template load<kList>(entry_.block, slot));
    if (slot == 0) tile.counts[threadIdx.x / 64] = static_cast<std::uint32_t>(popcount(slots_));
    read_entry();
  }

  const Pairs& pairs_;
  TileT (&tiles_)[2];
  typename Pairs::template List<kList> list_;
  std::uint32_t entries_;
  std::uint32_t objects_ = 0;
  std::uint32_t next_;   // next entry to read
  ListedBlock entry_;    // of the tile after the next one
  std::uint64_t slots_;  // of the next tile's block
  RawArray<typename Pairs::Source, 1> source_;
};

// Numbers the objects of a list in its order, without gaps. Blocks are often half empty, and threads without an object
// would idle while others visit all objects. All threads of a thread block call the functions together.
template <int kThreads>
class ObjectNumbers {
  using Scan = BlockScan<kThreads>;

 public:
  struct Shared {
    typename Scan::Storage scan;
    std::uint64_t places[kThreads];  // block * 64 + slot
  };

  __device__ ObjectNumbers(const BlockList& list, Shared& shared)
      : list_(list), shared_(shared), entries_(list.size->blocks) {}

  // The number of objects in the list.
  __device__ std::uint32_t count() {
    load_window(0, 0);
    if (entries_ <= kThreads) return before_next_window_;
    __syncthreads();  // before the next scan overwrites the shared memory
    std::uint32_t objects = 0;
    for (std::uint32_t i = threadIdx.x; i < entries_; i += kThreads) {
      objects += objects_of(load_entry(list_, i));
    }
    std::uint32_t total = 0;
    Scan::exclusive_sum(objects, shared_.scan, total);
    return total;
  }

  // Finds the places of objects number `first` to `first + most - 1`: at most kThreads objects, none of them before
  // those of the last call. @return the number of these objects. @pre count() has been called
  __device__ std::uint32_t locate(std::uint32_t first, std::uint32_t most) {
    for (;;) {
      __syncthreads();
      note_places(first, most);
      if (before_next_window_ >= first + most || window_ + kThreads >= entries_) {
        __syncthreads();
        return before_next_window_ <= first ? 0 : min(before_next_window_ - first, most);
      }
      load_window(window_ + kThreads, before_next_window_);
    }
  }

  // The place of the i-th object of the last call of `locate`.
  __device__ std::uint64_t place(std::uint32_t i) const { return shared_.places[i]; }

 private:
  __device__ static std::uint32_t objects_of(const ListedBlock& entry) {
    return static_cast<std::uint32_t>(popcount(entry.slots));
  }

  // Loads an entry for each thread, from `window` on. The entries before have `before` objects.
  __device__ void load_window(std::uint32_t window, std::uint32_t before) {
    window_ = window;
    const std::uint32_t index = window + threadIdx.x;
    entry_ = index < entries_ ? load_entry(list_, index) : ListedBlock{};
    std::uint32_t total = 0;
    number_ = before + Scan::exclusive_sum(objects_of(entry_), shared_.scan, total);
    before_next_window_ = before + total;
  }

  // Stores the places of the objects in the thread's entry.
  __device__ void note_places(std::uint32_t first, std::uint32_t most) {
    const std::uint32_t end = number_ + objects_of(entry_);
    if (end <= first || number_ >= first + most) return;
    std::uint32_t number = number_;
    std::uint64_t left = entry_.slots;
    if (number < first) {
      left &= ~first_bits(nth_set_bit(left, static_cast<int>(first - number)));
      number = first;
    }
    for (; number < min(end, first + most); ++number, left &= left - 1) {
      shared_.places[number - first] = std::uint64_t{entry_.block} * 64 + static_cast<std::uint64_t>(lowest_bit(left));
    }
  }

  const BlockList list_;
  Shared& shared_;
  std::uint32_t entries_;
  std::uint32_t window_ = 0;              // the first of the kThreads loaded entries
  std::uint32_t before_next_window_ = 0;  // objects in these entries and in those before
  ListedBlock entry_{};                   // the thread's entry, and the number of its first object
  std::uint32_t number_ = 0;
};

// kLanes neighbouring threads visit the other objects on behalf of an object, or idle.
template <int kLanes, class Pairs>
class Group {
 public:
  // @param objects   the number of objects of the thread block; each of its first groups takes one
  template <class Numbers>
  __device__ Group(const Pairs& pairs, const Numbers& numbers, std::uint32_t objects)
      : pairs_(pairs), has_object_(threadIdx.x / kLanes < objects) {
    if (!has_object_) return;
    place_ = numbers.place(threadIdx.x / kLanes);
    request_.make(0, pairs_.request(block(), slot()));
    result_.make(0, pairs_.init(request_[0]));
  }

  // Combines the objects of one list, tile by tile, into the result.
  template <int kList>
  __device__ void visit_list(PairTile<Pairs> (&tiles)[2]) {
    TileReader<kList, Pairs> reader(pairs_, tiles);
    for (std::uint32_t t = 0; t < reader.tiles(); ++t) {
      const PairTile<Pairs>& tile = reader.tile(t);
      if (!has_object_) continue;
      // A counted loop, so that the compiler can interleave its iterations.
      const std::uint32_t lane = threadIdx.x % kLanes;
      const std::uint32_t turns = (reader.objects() + (kLanes - 1 - lane)) / kLanes;
#pragma unroll 8
      for (std::uint32_t turn = 0; turn < turns; ++turn) {
        const typename Pairs::Source source = tile.sources[turn * kLanes + lane];
        result_[0] = pairs_.combined(request_[0], result_[0], source);
      }
    }
    __syncthreads();  // the caller may then reuse the tiles
  }

  // Merges the results of the threads; the first thread calls `finish`.
  __device__ void finish() {
    if constexpr (kLanes > 1) {
#pragma unroll
      for (int distance = kLanes / 2; distance > 0; distance /= 2) {
        // Only within the group: the next group may have no object, and no result.
        const typename Pairs::Result other = shuffle_down<kLanes>(result_[0], distance, 0xffffffffu);
        if (has_object_) result_[0] = pairs_.merged(request_[0], result_[0], other);
      }
    }
    if (has_object_ && threadIdx.x % kLanes == 0) pairs_.finish(block(), slot(), request_[0], result_[0]);
  }

 private:
  __device__ std::uint32_t block() const {
    return static_cast<std::uint32_t>(place_ / 64);
  }
  __device__ std::uint32_t slot() const {
    return static_cast<std::uint32_t>(place_ % 64);
  }

  const Pairs& pairs_;
  bool has_object_;
  std::uint64_t place_ = 0;
  RawArray<typename Pairs::Request, 1> request_;
  RawArray<typename Pairs::Result, 1> result_;
};

// A thread block's share of the objects, with kLanes threads for each. Shares are measured in warps, so that all
// multiprocessors get the same number of warps. If a share is too large for a thread block, the block handles it in
// equal parts.
template <int kLanes, class Numbers, class Pairs>
__device__ void visit_pairs_in_groups(Numbers& numbers, std::uint64_t objects, const Pairs& pairs,
                                      PairTile<Pairs> (&tiles)[2]) {
  constexpr std::uint32_t kObjectsPerWarp = 32 / kLanes;
  constexpr std::uint32_t kWarps = kPairThreads<Pairs> / 32;
  const std::uint64_t warps = (objects + kObjectsPerWarp - 1) / kObjectsPerWarp;
  const auto begin = static_cast<std::uint32_t>(warps * blockIdx.y / gridDim.y);
  const auto end = static_cast<std::uint32_t>(warps * (blockIdx.y + 1) / gridDim.y);
  const std::uint32_t parts = (end - begin + kWarps - 1) / kWarps;
  const std::uint32_t warps_per_part = parts > 0 ? (end - begin + parts - 1) / parts : 0;
  for (std::uint32_t first = begin; first < end; first += warps_per_part) {
    const std::uint32_t now = end - first < warps_per_part ? end - first : warps_per_part;
    Group<kLanes, Pairs> group(pairs, numbers, numbers.locate(first * kObjectsPerWarp, now * kObjectsPerWarp));
    [&]<int... kList>(std::integer_sequence<int, kList...>) {
      (group.template visit_list<kList>(tiles), ...);
    }
    (std::make_integer_sequence<int, Pairs::kOthers>{});
    group.finish();
  }
}

// Chooses the least number of threads per object that keeps half of the warps busy. All threads of a thread block share
// tiles, so tiles are loaded less often if there are fewer threads per object.
template <class Pairs>
__device__ void visit_pairs(const BlockList& list, const Pairs& pairs) {
  using Numbers = ObjectNumbers<kPairThreads<Pairs>>;
  __shared__ PairTile<Pairs> tiles[2];
  __shared__ typename Numbers::Shared shared;
  Numbers numbers(list, shared);
  const std::uint64_t objects = numbers.count();
  const std::uint64_t enough = std::uint64_t{gridDim.y} * kPairThreads<Pairs> / 2;
  if (objects >= enough) {
    visit_pairs_in_groups<1>(numbers, objects, pairs, tiles);
  } else if (objects * 4 >= enough) {
    visit_pairs_in_groups<4>(numbers, objects, pairs, tiles);
  } else if (objects * 8 >= enough) {
    visit_pairs_in_groups<8>(numbers, objects, pairs, tiles);
  } else {
    visit_pairs_in_groups<32>(numbers, objects, pairs, tiles);
  }
}

}  // namespace

}  // namespace dynasoar::detail
