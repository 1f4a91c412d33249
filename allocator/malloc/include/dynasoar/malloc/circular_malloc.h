/// @file
/// CMalloc, CFMalloc, CMMalloc and CFMMalloc, which are instances of CircularMalloc: the heap is a ring of chunks, a
/// singly linked list of headers. A request searches it for the first free chunk that is large enough.
///
/// Source: Vinkler and Havran, "Register Efficient Dynamic Memory Allocator for GPUs", sections 5.2 to 5.4.
///
/// As in the paper: a chunk is taken by compare-and-swap on its flag, split if it is kMaxFragmentation times as large
/// as needed, and joined with the next one when it is freed. The heap is initially split into chunks like a binary
/// heap. The offset at which searches begin moves behind the taken chunk. Differences, and choices that the paper
/// leaves open:
///
/// - Headers are in a separate table, one for each unit of kUnit bytes, and not in front of the memory. There, a slow
///   thread could mistake the user's data for a header, if the chunk has been joined with another one meanwhile; the
///   paper assumes that no thread is so slow. Here every word of the table is always a header: the header of a unit at
///   which no chunk begins says `used` and leads to a later unit. So slow threads, old values of headers, and offsets
///   that point to them do no harm, and `free` need not move the offset.
/// - There is a third flag, `busy`: a thread is splitting the chunk or joining others to it. A request that finds
///   nothing searches again if it saw such a chunk, because memory may become free.
/// - After a search without success, the next round joins all free chunks that it finds, as `free` does. In the paper,
///   a search continues forever, and never joins the small chunks that many frees leave behind.
/// - kMaxFragmentation is 2 (the paper gives no number): no remaining chunk is smaller than the request.
/// - The smallest chunks of the binary heap have kLeastLeaf units, so that a warp's request fits.
/// - A warp's requests are combined (section 6, "Test considerations"): one lane takes a chunk for all, which becomes
///   one chunk per lane, so that each lane can free its own. Free chunks behind it are joined to it if they are needed.
///   The offset is first moved behind them, so that warps do not take them from each other. Among the first chunks, a
///   search takes only one that is large enough for all lanes: joining is slower than searching.
/// - If lanes of a warp free adjacent chunks together, one lane frees all of them as one chunk. Otherwise no lane would
///   find the next chunk free, and the warp's next request would have to join them all.
/// - If a search does not find a chunk soon, it continues at the offset, if other threads have moved it.
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

/// The number of offsets at which searches begin (section 5.4).
enum class SearchOffsets { one, per_multiprocessor };

namespace detail {

/// The initial chunks: `heaps` binary heaps (section 5.2, equation 1), and one chunk with the rest. Level l of a binary
/// heap has 2^l chunks of root / 2^l units.
struct HeapSplit {
  std::uint32_t units;
  std::uint32_t heaps;
  std::uint32_t levels = 1;
  std::uint32_t leaf = 0;  ///< units of a chunk of the last level

  static constexpr std::uint32_t kLeastLeaf = 128;  // 4096 bytes: a combined request of a warp for small objects

  /// Takes the greatest number of levels for which the leaves are large enough. @pre units > 0
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

/// Sets all headers of the table to ones that lead to the next unit.
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
/// @par Concurrency   everything may overlap. `free` is wait-free. A request is refused after reading about kMostLooks
///                    headers; it searches more than twice only if chunks change meanwhile
/// @par Cost          reads a header for each chunk between the offset and the first chunk that is large enough
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
    for (auto group = warp.coalesce();;) {  // at least one lane leaves it in each round
      const LaneSums sums = group.sums(units);
      Extent taken;
      if (group.rank() == 0) taken = take({units, sums.total, offset});
      taken = {group.broadcast(taken.begin), group.broadcast(taken.end)};
      const std::uint32_t least = group.broadcast(units);
      group.synchronize();  // lane 0's acquire holds for the other lanes, too
      // The chunk serves as many of the first lanes as fit. If there is no chunk, lanes with requests at least as large
      // as that of lane 0 need not search.
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
    const std::uint32_t next = headers_.look(unit).next;
    const auto chunks = detail::Neighbours::of(unit, next - unit, group);
    group.synchronize();  // the first lane of each run releases all of it
    // The headers of the other lanes still say `used` and lead to the chunk behind, like headers without a chunk.
    if (!chunks.is_first) return;
    const std::uint32_t end = join(unit + chunks.size);
    if (end == next) {
      headers_.set_free(unit, end);
    } else {
      headers_.put_free(unit, end);
    }
  }

  /// The whole heap, unless sums over a warp would overflow.
  __host__ __device__ std::size_t largest() const {
    return std::size_t{units_ < kMostUnitsOfLane ? units_ : kMostUnitsOfLane} * kUnit;
  }

  /// For Storage. @throws Error if the heap is smaller than a unit or too large for offsets, or there is too little
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
  static constexpr std::size_t kUnit = 32;                           // bytes; smaller units would need a larger table
  static constexpr std::uint32_t kMostUnitsOfLane = (1u << 27) - 1;  // 32 of them add up to less than 2^32
  static constexpr std::uint32_t kMaxFragmentation = 2;
  static constexpr std::uint32_t kLooksPerJump = 8;  // after these, a search continues at the moved offset
  static constexpr std::uint32_t kLooksForAll = 64;  // chunks that are skipped if they are too small for a whole warp
  static constexpr std::uint32_t kMostJumps = 1024;
  /// The approximate number of headers that a request reads before it gives up. Chunks are busy only briefly, so a
  /// request needs many rounds only in heaps with few chunks.
  static constexpr std::size_t kMostLooks = std::size_t{1} << 24;

  /// Units from `begin` to `end`.
  struct Extent {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;

    __device__ bool is_empty() const { return begin == end; }
    __device__ std::uint32_t size() const { return end - begin; }
  };

  /// The result of a round.
  struct Round {
    Extent found;
    bool is_hopeful = false;  ///< if no chunk was found: whether another round may find one
  };

  /// The start of searches, in a cache line of its own.
  struct alignas(128) Offset {
    AtomicWord<std::uint32_t> unit;
  };

  /// The size and the start of a search.
  struct Request {
    std::uint32_t least;   ///< units that the first lane needs
    std::uint32_t wanted;  ///< units that all lanes need
    AtomicWord<std::uint32_t>& offset;
  };

  /// Takes a chunk for a request. @return the units for the caller, or none
  __device__ Extent take(const Request& request) const {
    for (int round = 0; round < most_rounds_; ++round) {
      const Round result = go_round(request, round > 0);
      if (!result.found.is_empty()) return result.found;
      if (!result.is_hopeful) break;
      PlatformAtomics::pause(round);
    }
    return {};
  }

  /// Searches all chunks once, and takes one that is large enough for the first lane. Among the first kLooksForAll
  /// chunks, takes only one that is large enough for all lanes.
  /// @param joins   whether to take every free chunk, and join those behind it until it is large enough
  ///
  /// Termination: each header leads to a higher unit, until one leads back to the first; and the number of jumps is
  /// limited.
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
        // Another thread was faster, and may join chunks; or this thread has joined chunks.
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

  /// Takes the free chunk that begins at `unit`, and free chunks behind it if it is too small for all lanes.
  /// @return the units for the caller; if there are too few, nothing is split off. Empty if another thread was faster
  __device__ Extent take_chunk(std::uint32_t unit, ChunkHeader header, const Request& request) const {
    if (!headers_.take(unit, header)) return {unit, unit};
    const std::uint64_t wanted_end = std::uint64_t{unit} + request.wanted;
    // Let other searches begin behind the chunks that will be joined. Otherwise they would take these chunks.
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

  /// Joins the chunk that begins at `next` to the caller's chunk, which ends there, if it is free. @return the new end
  __device__ std::uint32_t join(std::uint32_t next) const {
    ChunkHeader header = headers_.look(next);
    if (header.flag != ChunkFlag::free || !headers_.take(next, header)) return next;
    headers_.put_used(next, header.next);  // no longer the header of a chunk
    return header.next;
  }

  /// Joins free chunks to the caller's chunk, which ends at `end`, until it ends at `wanted` or later. @return the new
  /// end
  __device__ std::uint32_t join_until(std::uint64_t wanted, std::uint32_t end) const {
    while (end < wanted) {
      const std::uint32_t joined = join(end);
      if (joined == end) break;
      end = joined;
    }
    return end;
  }

  /// Makes a free chunk of the units beyond `units`, if there are enough of them. @return the new end of the caller's
  /// chunk
  __device__ std::uint32_t split(Extent chunk, std::uint32_t units) const {
    if (chunk.size() / kMaxFragmentation < units) return chunk.end;
    headers_.put_free(chunk.begin + units, chunk.end);
    return chunk.begin + units;
  }

  /// Returns a lane's memory, of which it needs `units`.
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
