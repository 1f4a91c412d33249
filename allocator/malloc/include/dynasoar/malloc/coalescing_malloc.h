/// @file
/// The coalescing allocators: threads that ask for memory together get pieces of one superblock, side by side, so that
/// their accesses coalesce.
///
/// Source: "Coalescing Memory Allocations for GPU MPI" (Blach, Erhart, Memedi, Schäfer), section 3.1 for those of which
/// it is known that all threads of a block or warp take part and ask for the same (static), 3.2 for the one that finds
/// out (dynamic; in a header of its own, dynamic_coalescing_malloc.h). Superblocks come from another allocator.
///
/// What the paper leaves open, and what is done here:
/// - Whether there is a superblock, all threads learn from the leader; if not, all get null.
/// - Headers, counters and pieces are aligned to 16 bytes.
/// - The hash map has a place for every 64 bytes of the heap. If there is none near a piece's, the piece is given back
///   and its thread gets null.
/// - On the host, a block is one warp.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <dynasoar/heap/requests.h>
#include <dynasoar/malloc/address_map.h>
#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/malloc/malloc_storage.h>
#include <dynasoar/malloc/toolkit_malloc.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/warp.h>

namespace dynasoar {

/// The threads that share a superblock.
enum class CoalescingScope { block, warp };

namespace detail {

/// The threads that the caller allocates with. Of a warp, those that ask for as much: lanes in different rounds of a
/// loop may be there together.
template <CoalescingScope kScope, class Warp>
__device__ auto coalescing_threads([[maybe_unused]] const Warp& warp, [[maybe_unused]] std::size_t piece_bytes) {
  if constexpr (kCudaBackend && kScope == CoalescingScope::block) {
    return PlatformBlock{};
  } else {
    return warp.coalesce().matching(static_cast<std::uint32_t>(piece_bytes / kMallocAlignment));
  }
}

/// With header: in front of each piece stands the address of its superblock.
struct PieceHeaders {
  static constexpr std::size_t kBytes = kMallocAlignment;  ///< in front of a piece
  static constexpr const char* kNames[] = {"coalescing-header-block", "coalescing-header-warp"};

  static std::size_t words_needed(std::size_t) { return 0; }
  static PieceHeaders over(AddressMap::Word*, std::size_t) { return {}; }

  __device__ bool insert(std::uint64_t piece, std::uint64_t superblock) const {
    *header_of(piece) = superblock;
    return true;
  }
  __device__ std::uint64_t remove(std::uint64_t piece) const { return *header_of(piece); }

 private:
  __device__ static std::uint64_t* header_of(std::uint64_t piece) {
    return reinterpret_cast<std::uint64_t*>(piece - kBytes);
  }
};

/// Without header: a hash map knows the superblock of each piece.
struct PieceMap : AddressMap {
  static constexpr std::size_t kBytes = 0;
  static constexpr const char* kNames[] = {"coalescing-block", "coalescing-warp"};

  PieceMap() = default;
  PieceMap(Word* words, std::size_t places) : AddressMap(words, places) {}

  static std::size_t words_needed(std::size_t heap_bytes) { return 2 * std::bit_ceil(heap_bytes / kBytesPerPlace + 1); }
  static PieceMap over(Word* words, std::size_t count) { return {words, count / 2}; }

 private:
  static constexpr std::size_t kBytesPerPlace = 64;  // of the heap
};

}  // namespace detail

/// Pieces of superblocks for threads that are known to allocate together.
///
/// All threads of a block call `malloc` together, with one size; per warp, those that are together and want the same
/// get pieces of one superblock. Each frees its piece when it likes; the last one frees the superblock, which counts
/// the pieces.
///
/// @tparam Pieces   detail::PieceHeaders or detail::PieceMap: how the superblock of a piece is found
/// @tparam Pool     a DeviceMalloc that frees, for superblocks
/// @par Concurrency   as Pool
/// @par Cost          one `malloc` of Pool for all threads; two barriers of the block
template <CoalescingScope kScope, class Pieces, class Pool = ToolkitMalloc>
class StaticCoalescingMalloc {
  static_assert(DeviceMalloc<Pool> && Pool::kProperties.frees && !Pool::kProperties.collective,
                "dynasoar: StaticCoalescingMalloc needs an allocator that frees, for superblocks");

 public:
  static constexpr MallocProperties kProperties{Pieces::kNames[static_cast<int>(kScope)], true, true, true};

  using Storage = detail::MallocStorage<StaticCoalescingMalloc>;

  /// @pre per block: all threads of the block call it, with the same `bytes`
  template <class Warp = PlatformWarp>
  __device__ void* malloc(std::size_t bytes, Warp warp = {}) const {
    return malloc_with(bytes, detail::coalescing_threads<kScope>(warp, piece_bytes(bytes)), warp.id());
  }

  /// For a thread by itself, in a superblock of its own: what collective calls do not cover. `free` takes both.
  template <class Warp = PlatformWarp>
  __device__ void* malloc_alone(std::size_t bytes, Warp warp = {}) const {
    return malloc_with(bytes, SingleLaneGroup{}, warp.id());
  }

  /// Each thread by itself.
  template <class Warp = PlatformWarp>
  __device__ void free(void* pointer, Warp warp = {}) const {
    if (pointer == nullptr) return;
    give_piece(pieces_.remove(reinterpret_cast<std::uint64_t>(pointer)), warp.id());
  }

  /// For one thread; all together can have as much as Pool hands out at once.
  __host__ __device__ std::size_t largest() const {
    return pool_.largest() < kLeastBytes ? 0 : pool_.largest() / kMallocAlignment * kMallocAlignment - kOverhead;
  }

  /// For Storage. @throws Error as Pool does, which has to hand out the superblock of a full block or warp
  static StaticCoalescingMalloc make(Executor& executor, const MallocNeeds& needs, detail::MallocMemory& memory) {
    const std::size_t superblock = kCounterBytes + kMostThreads * piece_bytes(needs.largest_request);
    const std::size_t words = Pieces::words_needed(needs.heap_bytes);
    StaticCoalescingMalloc made{};
    made.pool_ = memory.make_pool<Pool>(executor, {needs.heap_bytes, superblock});
    made.pieces_ = Pieces::over(memory.make_table<detail::AddressMap::Word>(words), words);
    return made;
  }

 private:
  using Counter = AtomicWord<std::uint32_t>;

  static constexpr std::size_t kCounterBytes = kMallocAlignment;  // in front of the pieces
  static constexpr std::size_t kOverhead = kCounterBytes + Pieces::kBytes;
  static constexpr std::size_t kLeastBytes = kOverhead + kMallocAlignment;
  static constexpr std::size_t kMostThreads = kCudaBackend && kScope == CoalescingScope::block ? 1024 : 32;

  __host__ __device__ static std::size_t piece_bytes(std::size_t bytes) {
    return Pieces::kBytes + detail::round_up(bytes, kMallocAlignment);
  }

  __device__ static Counter& counter_of(std::uint64_t superblock) { return *reinterpret_cast<Counter*>(superblock); }

  /// @pre all threads of the group call it, with the same `bytes`
  template <class Group>
  __device__ void* malloc_with(std::size_t bytes, const Group& group, std::uint32_t warp) const {
    if (bytes == 0 || bytes > largest()) return nullptr;
    const auto threads = static_cast<std::uint32_t>(group.size());
    std::uint64_t superblock = 0;
    if (group.rank() == 0) superblock = make_superblock(bytes, threads, warp);
    superblock = group.broadcast(superblock);
    group.synchronize();  // what the leader acquired is the other threads' now, and its counter is set
    if (superblock == 0) return nullptr;
    const std::uint64_t piece =
        superblock + kCounterBytes + Pieces::kBytes + static_cast<std::uint64_t>(group.rank()) * piece_bytes(bytes);
    if (pieces_.insert(piece, superblock)) return reinterpret_cast<void*>(piece);
    give_piece(superblock, warp);
    return nullptr;
  }

  /// @return 0 if there is no memory
  __device__ std::uint64_t make_superblock(std::size_t bytes, std::uint32_t threads, std::uint32_t warp) const {
    void* const memory = pool_.malloc(kCounterBytes + threads * piece_bytes(bytes), detail::LoneLane{warp});
    if (memory == nullptr) return 0;
    const auto superblock = reinterpret_cast<std::uint64_t>(memory);
    counter_of(superblock).store(threads, Order::relaxed);
    return superblock;
  }

  __device__ void give_piece(std::uint64_t superblock, std::uint32_t warp) const {
    // Releases the piece to the last one, who acquires those of all others.
    if (counter_of(superblock).fetch_add(0u - 1u, Order::acq_rel) != 1) return;
    pool_.free(reinterpret_cast<void*>(superblock), detail::LoneLane{warp});
  }

  Pool pool_;
  Pieces pieces_;
};

/// Static, per block, with headers.
using HeaderBlockMalloc = StaticCoalescingMalloc<CoalescingScope::block, detail::PieceHeaders>;

/// Static, per block, without headers.
using BlockMalloc = StaticCoalescingMalloc<CoalescingScope::block, detail::PieceMap>;

/// Static, per warp, without headers.
using WarpMalloc = StaticCoalescingMalloc<CoalescingScope::warp, detail::PieceMap>;

static_assert(DeviceMalloc<HeaderBlockMalloc>);
static_assert(DeviceMalloc<BlockMalloc>);
static_assert(DeviceMalloc<WarpMalloc>);

}  // namespace dynasoar
