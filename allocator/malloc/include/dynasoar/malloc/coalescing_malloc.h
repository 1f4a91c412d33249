/// @file
/// The coalescing allocators: threads that allocate together get adjacent pieces of one superblock, so that their
/// accesses coalesce.
///
/// Source: "Coalescing Memory Allocations for GPU MPI" (Blach, Erhart, Memedi, Schäfer), section 3.1: *static*
/// allocations, in which all threads of a block or warp are known to take part with the same size. The *dynamic*
/// allocator of section 3.2, which determines these threads itself, is in dynamic_coalescing_malloc.h. Superblocks come
/// from another allocator.
///
/// The paper leaves the following open; this is our choice:
/// - The leader tells all threads whether there is a superblock. If there is none, all get null.
/// - Headers, counters and pieces are aligned to 16 bytes.
/// - The hash map has a place for every 64 bytes of the heap. If there is no free place near that of a piece, the piece
///   is released and its thread gets null.
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

/// The threads that allocate together with the caller. In a warp, only those with the same size, because lanes in
/// different iterations of a loop may arrive together.
template <CoalescingScope kScope, class Warp>
__device__ auto coalescing_threads([[maybe_unused]] const Warp& warp, [[maybe_unused]] std::size_t piece_bytes) {
  if constexpr (kCudaBackend && kScope == CoalescingScope::block) {
    return PlatformBlock{};
  } else {
    return warp.coalesce().matching(static_cast<std::uint32_t>(piece_bytes / kMallocAlignment));
  }
}

/// With headers: the address of its superblock stands in front of each piece.
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

/// Without headers: a hash map has the superblock of each piece.
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
/// With scope `block`, all threads of a block call `malloc` together, with one size. With scope `warp`, lanes that
/// arrive together with the same size get pieces of one superblock. Each thread can free its piece at any time. The
/// superblock counts its pieces, and the last free also frees the superblock.
///
/// @tparam Pieces   detail::PieceHeaders or detail::PieceMap: finds the superblock of a piece
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

  /// Allocates for a single thread, in a superblock of its own, outside of collective calls. `free` accepts both.
  template <class Warp = PlatformWarp>
  __device__ void* malloc_alone(std::size_t bytes, Warp warp = {}) const {
    return malloc_with(bytes, SingleLaneGroup{}, warp.id());
  }

  /// Each thread calls it separately.
  template <class Warp = PlatformWarp>
  __device__ void free(void* pointer, Warp warp = {}) const {
    if (pointer == nullptr) return;
    give_piece(pieces_.remove(reinterpret_cast<std::uint64_t>(pointer)), warp.id());
  }

  /// The largest request of one thread. All threads together can have as much as Pool allocates at once.
  __host__ __device__ std::size_t largest() const {
    return pool_.largest() < kLeastBytes ? 0 : pool_.largest() / kMallocAlignment * kMallocAlignment - kOverhead;
  }

  /// For Storage. @throws Error as Pool does, which has to allocate the superblock of a full block or warp
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
    group.synchronize();  // the leader's acquire and its write of the counter hold for all threads
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
    // Releases the piece to the last thread, which acquires those of all others.
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
