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

// Threads of a thread block: as many as two tiles and the places of their objects leave room for in shared memory.
// Checked builds have contexts for kThreadsPerBlock (see checks.h).
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

// What a thread block of kThreads threads has loaded of others: the objects of up to kThreads / 64 blocks, without
// gaps.
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

// Reads a list tile by tile, always one tile ahead of its use, and entries of the list one more: each thread keeps what
// it has read until the tile is wanted. Two tiles take turns: while some threads still look at one, others write the
// next, and the counts of the one after it are already there.
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

  // Completes tile number t and moves on to it; all threads call it for one after the other.
  __device__ const TileT& tile(std::uint32_t t) {
    TileT& now = tiles_[t % 2];
    objects_ = now.objects_before(TileT::kBlocks);  // not later: what is read next overwrites the counts of tile t - 1
    const std::uint32_t slot = threadIdx.x % 64;
    if ((slots_ >> slot & 1) != 0) {
      const auto before = static_cast<std::uint32_t>(popcount(slots_ & first_bits(static_cast<int>(slot))));
      now.sources.make(now.objects_before(threadIdx.x / 64) + before, source_[0]);
    }
    read_source(tiles_[1 - t % 2]);
    __syncthreads();
    return now;
  }

  // How many objects the present tile has.
  __device__ std::uint32_t objects() const { return objects_; }

 private:
  __device__ void read_entry() {
    entry_ = next_ < entries_ ? load_entry(list_, next_) : ListedBlock{};
    next_ += TileT::kBlocks;
  }

  // What the thread will write to `tile`; its counts at once.
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
  std::uint32_t next_;   // entry to be read
  ListedBlock entry_;    // of the tile after the next one
  std::uint64_t slots_;  // of the next tile's block
  RawArray<typename Pairs::Source, 1> source_;
};

// Numbers the objects of a list in its order, without gaps: blocks are often half empty, and threads without an object
// would idle for as long as others look at all there are. All threads of a thread block call the functions together.
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
    __syncthreads();  // before the next scan takes the shared memory
    std::uint32_t objects = 0;
    for (std::uint32_t i = threadIdx.x; i < entries_; i += kThreads) {
      objects += objects_of(load_entry(list_, i));
    }
    std::uint32_t total = 0;
    Scan::exclusive_sum(objects, shared_.scan, total);
    return total;
  }

  // Looks up where objects number `first` ... `first + most - 1` are, at most kThreads and none before those of the
  // last call. @return how many there are. @pre count() has been called
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

  // Where the object is that was looked up as number `i`, from 0.
  __device__ std::uint64_t place(std::uint32_t i) const { return shared_.places[i]; }

 private:
  __device__ static std::uint32_t objects_of(const ListedBlock& entry) {
    return static_cast<std::uint32_t>(popcount(entry.slots));
  }

  // Each thread looks at an entry from now on, from `window` on; `before` objects are in those before.
  __device__ void load_window(std::uint32_t window, std::uint32_t before) {
    window_ = window;
    const std::uint32_t index = window + threadIdx.x;
    entry_ = index < entries_ ? load_entry(list_, index) : ListedBlock{};
    std::uint32_t total = 0;
    number_ = before + Scan::exclusive_sum(objects_of(entry_), shared_.scan, total);
    before_next_window_ = before + total;
  }

  // Writes down where those of the numbers are that the thread's entry has.
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
  std::uint32_t window_ = 0;              // the first of the kThreads entries that are looked at
  std::uint32_t before_next_window_ = 0;  // objects of these and of the entries before
  ListedBlock entry_{};                   // the thread's, and the number of its first object
  std::uint32_t number_ = 0;
};

// kLanes neighbouring threads look at the others on behalf of an object, or stand by.
template <int kLanes, class Pairs>
class Group {
 public:
  // @param objects   those of the thread block; each of its first groups takes one
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
      // Counted, so that the compiler can mix the turns.
      const std::uint32_t lane = threadIdx.x % kLanes;
      const std::uint32_t turns = (reader.objects() + (kLanes - 1 - lane)) / kLanes;
#pragma unroll 8
      for (std::uint32_t turn = 0; turn < turns; ++turn) {
        const typename Pairs::Source source = tile.sources[turn * kLanes + lane];
        result_[0] = pairs_.combined(request_[0], result_[0], source);
      }
    }
    __syncthreads();  // the tiles may be used for something else
  }

  // Merges what the threads found; the first one passes it on.
  __device__ void finish() {
    if constexpr (kLanes > 1) {
#pragma unroll
      for (int distance = kLanes / 2; distance > 0; distance /= 2) {
        // Within the group: the next one may have no object, and no result.
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

// A thread block's share of the objects, kLanes threads for each. Shares are measured in warps: all multiprocessors get
// equally many of them, and a share that is more than a thread block can do at a time is done in equal parts.
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

// All threads of a thread block share tiles of others. The fewer threads there are for an object, the less it takes to
// load the tiles: as few as keep half of the warps busy.
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
