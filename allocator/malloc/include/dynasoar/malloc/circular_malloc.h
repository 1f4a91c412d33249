/// @file
/// CMalloc, CFMalloc, CMMalloc and CFMMalloc, and CircularMalloc, of which they are instances: the heap is a ring of
/// chunks, a singly linked list of headers, in which requests look for the first free chunk that is large enough.
///
/// Source: Vinkler and Havran, "Register Efficient Dynamic Memory Allocator for GPUs", sections 5.2 to 5.4.
///
/// As there: a chunk is taken by compare-and-swap on its flag, split if it is kMaxFragmentation times as large as
/// needed, and joined with the next one when it is freed; the heap is split beforehand into chunks as a binary heap's;
/// the offset where a search begins moves behind what was taken. What is different, or was left open:
///
/// - Headers stand in a table of their own, one for each unit of kUnit bytes, and not before the memory. There, a late
///   thread that comes to a chunk which has been joined with another one meanwhile would take the user's data for a
///   header; the paper assumes that no thread is that late. Here every word of the table is a header at all times: one
///   without a chunk says `used` and leads on, to a unit further behind. So it does not matter how late a thread is,
///   which of the header's values it sees, or whether an offset points to it, and `free` need not move the offset.
/// - A third flag, `busy`: a thread splits the chunk or joins others to it. A request that finds nothing goes round
///   again if it saw one, because memory may come of it.
/// - A search that went round in vain goes round again and joins all free chunks that it comes to, as `free` does. The
///   paper's goes round for ever, and never joins the small chunks that many frees leave behind.
/// - kMaxFragmentation is 2 (no number is given): no chunk is left over that is smaller than the request.
/// - The smallest chunks of the binary heap have kLeastLeaf units, so that a warp's request fits in.
/// - A warp's requests are combined (section 6, "Test considerations"): one lane takes a chunk for all, which becomes
///   one chunk per lane, so that each can be freed by itself. Free chunks behind the one it found are joined to it if
///   they are needed, and the offset is moved behind them before, so that warps do not take them from each other. The
///   first chunks that a search comes to must be large enough for all: joining costs more than looking.
/// - Lanes of a warp that free chunks together do so as if the lane whose chunk comes behind were first: what lies side
///   by side becomes one chunk. Otherwise none would find the next one free, and the warp's next request
///   would have to join them all.
/// - A search that has not found anything soon goes on from the offset, if others have moved it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <dynasoar/malloc/chunk_headers.h>
#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/malloc/malloc_storage.h>
#include <dynasoar/malloc/neighbours.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/warp.h>

namespace dynasoar {

/// How many offsets there are from which requests begin to search (section 5.4).
enum class SearchOffsets { one, per_multiprocessor };

namespace detail {

/// How the heap is split beforehand: `heaps` times a binary heap (section 5.2, equation 1), whose level l has 2^l
/// chunks of root / 2^l units, and one chunk of what is left.
struct HeapSplit {
  std::uint32_t units;
  std::uint32_t heaps;
  std::uint32_t levels = 1;
  std::uint32_t leaf = 0;  ///< units of a chunk of the last level

  static constexpr std::uint32_t kLeastLeaf = 128;  // 4096 bytes: what a warp asks for together, for small objects

  /// With as many levels as leave the leaves large enough. @pre units > 0
  __host__ static HeapSplit of(std::uint32_t units, std::uint32_t offsets) {
    HeapSplit split{units, std::clamp(units / kLeastLeaf, 1u, offsets)};
    const auto leaf_for = [&](std::uint32_t levels) { return units / split.heaps / levels >> (levels - 1); };
    while (leaf_for(split.levels + 1) >= kLeastLeaf) ++split.levels;
    split.leaf = leaf_for(split.levels);
    return split;
  }

  __host__ __device__ std::uint32_t root() const { return leaf << (levels - 1); }
  __host__ __device__ std::uint32_t heap() const { return root() * levels; }
  __host__ __device__ std::uint32_t chunks_per_heap() const { return (1u << levels) - 1; }
  __host__ __device__ std::size_t chunks() const { return std::size_t{heaps} * chunks_per_heap() + 1; }
};

/// Makes all of the table headers that lead on.
template <class Headers>
struct ClearHeaders {
  Headers headers;
  std::uint32_t units;

  __device__ void operator()(std::size_t index) const {
    const auto unit = static_cast<std::uint32_t>(index);
    headers.put_used(unit, unit < units ? unit + 1 : 0);  // the last one closes the ring
  }
};

/// Makes the chunks of a HeapSplit.
template <class Headers>
struct SplitHeap {
  Headers headers;
  HeapSplit split;

  __device__ void operator()(std::size_t index) const {
    const std::uint32_t begin = static_cast<std::uint32_t>(index / split.chunks_per_heap()) * split.heap();
    if (begin == split.heaps * split.heap()) {
      if (begin < split.units) headers.put_free(begin, split.units);
      return;
    }
    const std::uint32_t chunk = static_cast<std::uint32_t>(index % split.chunks_per_heap()) + 1;
    std::uint32_t level = 0;
    while (chunk >> (level + 1) != 0) ++level;
    const std::uint32_t size = split.root() >> level;
    const std::uint32_t first = begin + level * split.root() + (chunk - (1u << level)) * size;
    headers.put_free(first, first + size);
  }
};

}  // namespace detail

/// Chunks of any size, in a ring.
///
/// @tparam Headers    TwoWordHeaders or FusedHeaders
/// @tparam kOffsets   where searches begin
/// @par Concurrency   everything may overlap. `free` is wait-free. A request is refused after about kMostLooks
///                    looks; it goes round more than twice only if chunks change meanwhile
/// @par Cost          as many looks as chunks lie between the offset and the first that is large enough
template <class Headers, SearchOffsets kOffsets>
class CircularMalloc {
 public:
  static constexpr MallocProperties kProperties{kOffsets == SearchOffsets::one ? Headers::kName : Headers::kNameOfMulti,
                                                true, false, true};

  using Storage = detail::MallocStorage<CircularMalloc>;

  template <class Warp = PlatformWarp>
  __device__ void* malloc(std::size_t bytes, Warp warp = {}) const {
    if (bytes == 0 || bytes > largest()) return nullptr;
    const auto units = static_cast<std::uint32_t>((bytes + kUnit - 1) / kUnit);
    auto& offset = offsets_[warp.id() / detail::kWarpsPerSet % offset_count_].unit;
    for (auto group = warp.coalesce();;) {  // which one lane leaves at least each time
      const LaneSums sums = group.sums(units);
      Extent taken;
      if (group.rank() == 0) taken = take({units, sums.total, offset});
      taken = {group.broadcast(taken.begin), group.broadcast(taken.end)};
      const std::uint32_t least = group.broadcast(units);
      group.synchronize();  // what lane 0 acquired is the other lanes' now
      // The first lanes are served, as many as fit; or none is, and lanes that ask for as much as lane 0 need not
      // search.
      const bool leaves = taken.is_empty() ? units >= least : sums.before + units <= taken.size();
      const auto alike = group.matching(leaves);
      if (leaves) {
        if (taken.is_empty()) return nullptr;
        const std::uint32_t begin = taken.begin + sums.before;
        const bool is_last = alike.rank() == alike.size() - 1;
        return hand_out({begin, is_last ? taken.end : begin + units}, units);
      }
      group = alike;
    }
  }

  template <class Warp = PlatformWarp>
  __device__ void free(void* pointer, Warp warp = {}) const {
    if (pointer == nullptr) return;
    const auto offset = static_cast<std::size_t>(static_cast<char*>(pointer) - heap_);
    const auto unit = static_cast<std::uint32_t>(offset / kUnit);
    const auto group = warp.coalesce();
    const auto chunks = detail::Neighbours::of(unit, headers_.look(unit).next - unit, group);
    if (!chunks.is_first) headers_.put_used(unit, unit + chunks.size);  // no chunk's header any more
    group.synchronize();                                                // the first lane of each run releases all of it
    if (chunks.is_first) headers_.put_free(unit, join(unit + chunks.size));
  }

  /// The whole heap, if that is not too large for sums over a warp.
  __host__ __device__ std::size_t largest() const {
    return std::size_t{units_ < kMostUnitsOfLane ? units_ : kMostUnitsOfLane} * kUnit;
  }

  /// For Storage. @throws Error if the heap is smaller than a unit or larger than offsets reach, or there is too little
  /// memory
  static CircularMalloc make(Executor& executor, const MallocNeeds& needs, detail::MallocMemory& memory) {
    const std::size_t units = needs.heap_bytes / kUnit;
    if (units == 0) throw Error("dynasoar: the heap is smaller than 32 bytes; ask for more heap_bytes");
    if (units > Headers::kMostUnits) {
      throw Error("dynasoar: " + std::string(kProperties.name) + " has offsets for " +
                  std::to_string(Headers::kMostUnits * kUnit >> 30) + " GiB at most; ask for less heap_bytes");
    }
    CircularMalloc made{};
    made.heap_ = memory.make_heap(units * kUnit);
    made.headers_ = Headers(memory.make_table<AtomicWord<std::uint32_t>>((units + 1) * Headers::kWords));
    made.units_ = static_cast<std::uint32_t>(units);
    made.most_rounds_ = static_cast<int>(std::clamp<std::size_t>(kMostLooks / units, 4, PlatformAtomics::kPatience));
    made.make_chunks(executor, memory);
    return made;
  }

 private:
  static constexpr std::size_t kUnit = 32;                           // bytes; fewer would need a larger table
  static constexpr std::uint32_t kMostUnitsOfLane = (1u << 27) - 1;  // 32 of them add up to less than 2^32
  static constexpr std::uint32_t kMaxFragmentation = 2;
  static constexpr std::uint32_t kLooksPerJump = 8;  // after which a search goes on where others have got to
  static constexpr std::uint32_t kLooksForAll = 64;  // chunks that are passed by if they are too small for a whole warp
  static constexpr std::uint32_t kMostJumps = 1024;
  /// Looks that a request may make before it gives up, roughly. Chunks are busy briefly: it takes many rounds to
  /// outlast that only in heaps of few chunks.
  static constexpr std::size_t kMostLooks = std::size_t{1} << 24;

  /// Units from `begin` to `end`.
  struct Extent {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;

    __device__ bool is_empty() const { return begin == end; }
    __device__ std::uint32_t size() const { return end - begin; }
  };

  /// What came of one round.
  struct Round {
    Extent found;
    bool is_hopeful = false;  ///< if nothing was found: another one may find something
  };

  /// Where a search begins; in a cache line of its own.
  struct alignas(128) Offset {
    AtomicWord<std::uint32_t> unit;
  };

  /// What a search is for, and from where.
  struct Request {
    std::uint32_t least;   ///< units that the first lane needs
    std::uint32_t wanted;  ///< units that all lanes need
    AtomicWord<std::uint32_t>& offset;
  };

  /// Takes a chunk for a request. @return what is the caller's, or nothing
  __device__ Extent take(const Request& request) const {
    for (int round = 0; round < most_rounds_; ++round) {
      const Round result = go_round(request, round > 0);
      if (!result.found.is_empty()) return result.found;
      if (!result.is_hopeful) break;
      PlatformAtomics::pause(round);
    }
    return {};
  }

  /// Looks at all chunks once, and takes one that is large enough for the first lane; for all lanes, if it is among the
  /// first kLooksForAll. @param joins   take all that are free, until one is enough with those behind it
  ///
  /// It ends: headers lead on to a larger unit, until one leads back to the first; and jumps are counted.
  __device__ Round go_round(const Request& request, bool joins) const {
    Round result;
    std::uint32_t start = request.offset.load(Order::relaxed);
    std::uint32_t unit = start;
    std::uint32_t looks = 0;
    for (bool wrapped = false; !wrapped || unit < start;) {
      const ChunkHeader header = headers_.look(unit);
      std::uint32_t next = header.next;
      const std::uint32_t enough = looks < kLooksForAll ? request.wanted : request.least;
      if (header.flag == ChunkFlag::free && next - unit >= (joins ? 1 : enough)) {
        const Extent chunk = take_chunk(unit, header, request);
        if (chunk.size() >= request.least) {
          result.found = chunk;
          return result;
        }
        if (!chunk.is_empty()) {
          headers_.put_free(unit, chunk.end);
          next = chunk.end;
        }
        // Another thread was faster, and may join chunks; or there was something to join.
        if (chunk.is_empty() || next != header.next) result.is_hopeful = true;
      } else if (header.flag != ChunkFlag::used) {
        result.is_hopeful = true;
      }
      wrapped = wrapped || next <= unit;
      unit = next;
      if (++looks % kLooksPerJump == 0 && looks <= kMostJumps * kLooksPerJump) {
        const std::uint32_t now = request.offset.load(Order::relaxed);
        if (now != start) {
          start = unit = now;
          wrapped = false;
        }
      }
    }
    return result;
  }

  /// Takes the chunk that begins at `unit` and was seen free, and free ones behind it if that is not all that is
  /// wanted.
  /// @return what is the caller's, of which nothing is split off if it is not enough; empty if another thread was
  /// faster
  __device__ Extent take_chunk(std::uint32_t unit, ChunkHeader header, const Request& request) const {
    if (!headers_.take(unit, header)) return {unit, unit};
    const std::uint64_t wanted_end = std::uint64_t{unit} + request.wanted;
    // Others begin to search behind what is about to be joined, or they would take the next chunks away.
    const bool joins_enough = header.next < wanted_end && header.next - unit >= request.least;
    if (joins_enough) {
      request.offset.store(wanted_end < units_ ? static_cast<std::uint32_t>(wanted_end) : 0, Order::relaxed);
    }
    Extent chunk{unit, join_until(wanted_end, header.next)};
    if (chunk.size() < request.least) return chunk;
    chunk.end = split(chunk, request.wanted);
    if (!joins_enough) request.offset.store(chunk.end, Order::relaxed);
    return chunk;
  }

  /// Joins the chunk that begins at `next` to the caller's, which ends there, if it is free. @return the new end
  __device__ std::uint32_t join(std::uint32_t next) const {
    ChunkHeader header = headers_.look(next);
    if (header.flag != ChunkFlag::free || !headers_.take(next, header)) return next;
    headers_.put_used(next, header.next);  // no chunk's header any more
    return header.next;
  }

  /// Joins free chunks to the caller's, which ends at `end`, until it ends at `wanted` or later. @return the new end
  __device__ std::uint32_t join_until(std::uint64_t wanted, std::uint32_t end) const {
    while (end < wanted) {
      const std::uint32_t joined = join(end);
      if (joined == end) break;
      end = joined;
    }
    return end;
  }

  /// Makes a free chunk of what the caller's has beyond `units`, if that is worth it. @return the caller's new end
  __device__ std::uint32_t split(Extent chunk, std::uint32_t units) const {
    if (chunk.size() / kMaxFragmentation < units) return chunk.end;
    headers_.put_free(chunk.begin + units, chunk.end);
    return chunk.begin + units;
  }

  /// A lane's memory, of which it needs `units`.
  __device__ void* hand_out(Extent chunk, std::uint32_t units) const {
    headers_.put_used(chunk.begin, split(chunk, units));
    return heap_ + chunk.begin * kUnit;
  }

  void make_chunks(Executor& executor, detail::MallocMemory& memory) {
    offset_count_ = kOffsets == SearchOffsets::one ? 1 : detail::sets_of_warps(executor);
    const auto split = detail::HeapSplit::of(units_, offset_count_);
    std::vector<Offset> offsets(offset_count_);
    for (std::uint32_t i = 0; i < offset_count_; ++i) {
      offsets[i].unit.store(i % split.heaps * split.heap(), Order::relaxed);
    }
    offsets_ = memory.make_table<Offset>(offsets);
    executor.for_each_index(std::size_t{units_} + 1, detail::ClearHeaders<Headers>{headers_, units_});
    executor.for_each_index(split.chunks(), detail::SplitHeap<Headers>{headers_, split});
    executor.synchronize();
  }

  Headers headers_;
  Offset* offsets_;
  std::uint32_t offset_count_;
  std::uint32_t units_;
  int most_rounds_;
  char* heap_;
};

/// Chunks in a ring that all requests search from one offset, for heaps up to 128 GiB (section 5.2).
using CMalloc = CircularMalloc<TwoWordHeaders, SearchOffsets::one>;

/// CMalloc with half as much memory for headers, for heaps up to 32 GiB (section 5.3).
using CFMalloc = CircularMalloc<FusedHeaders, SearchOffsets::one>;

/// CMalloc with an offset for each multiprocessor (section 5.4): faster when many threads allocate at the same time.
using CMMalloc = CircularMalloc<TwoWordHeaders, SearchOffsets::per_multiprocessor>;

/// CFMalloc with an offset for each multiprocessor (section 5.4).
using CFMMalloc = CircularMalloc<FusedHeaders, SearchOffsets::per_multiprocessor>;

static_assert(DeviceMalloc<CMalloc> && DeviceMalloc<CFMalloc> && DeviceMalloc<CMMalloc> && DeviceMalloc<CFMMalloc>);

}  // namespace dynasoar
