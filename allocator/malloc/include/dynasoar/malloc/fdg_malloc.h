/// @file
/// FdgMalloc: every warp has its own heap, from which it takes memory without contention, and which is freed as a
/// whole.
///
/// Source: FDGMalloc (Widmer, Wodniok, Weber, Goesele, 2013) as Vinkler and Havran ("Register Efficient Dynamic Memory
/// Allocator for GPUs", section 4.4) and DynaSOAr (section 6) describe it: a warp takes superblocks from a global pool,
/// keeps a list of them, and allocates their memory from the beginning to the end. Memory has no header, so it cannot
/// be freed separately. The pool serves requests that are larger than a superblock.
///
/// These papers leave the following open; this is our choice:
/// - Warp::id() determines the heap of a warp. So warps that run one after the other in the same slot of a
///   multiprocessor share a heap, and each thread of the host has one.
/// - One lane makes the requests of all lanes of a warp that allocate together.
/// - The heap's words change by compare-and-swap, because the lanes of a warp may diverge.
/// - The size of superblocks is chosen such that the pool has four for each warp, between 1 and 64 KiB. If there is no
///   superblock, a request takes its own memory from the pool: first for all lanes together, then for each lane.
/// - The pool is a MultiprocessorListMalloc and not the toolkit's allocator: Vinkler and Havran note that a faster
///   allocator is possible, and its memory is freed with the Storage.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <dynasoar/heap/requests.h>
#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/malloc/list_malloc.h>
#include <dynasoar/malloc/malloc_storage.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/warp.h>

namespace dynasoar {

/// Memory from the calling warp's heap; `free` does nothing, `free_all` frees the heap.
///
/// @tparam Pool   a DeviceMalloc that frees, for superblocks
/// @par Concurrency   everything may overlap, except free_all; lock-free, if Pool is
/// @par Cost          one compare-and-swap for the lanes that allocate together, without contention from other warps
template <class Pool>
class BasicFdgMalloc {
  static_assert(DeviceMalloc<Pool> && Pool::kProperties.frees && !Pool::kProperties.collective,
                "dynasoar: BasicFdgMalloc needs an allocator that frees, for superblocks");

 public:
  static constexpr MallocProperties kProperties{"fdg", false, false, true};

  class Storage;

  template <class Warp = PlatformWarp>
  __device__ void* malloc(std::size_t bytes, Warp warp = {}) const {
    if (bytes == 0 || bytes > largest()) return nullptr;
    const auto units = static_cast<std::uint32_t>((bytes + kUnit - 1) / kUnit);
    const auto group = warp.coalesce();
    const LaneSums sums = group.sums(units);
    const detail::LoneLane leader{warp.id()};
    std::uint64_t memory = 0;
    if (group.rank() == 0) memory = take(sums.total, leader);
    memory = group.broadcast(memory);
    group.synchronize();  // the leader's acquire holds for the other lanes, too
    if (memory != 0) return reinterpret_cast<void*>(memory + std::uint64_t{sums.before} * kUnit);
    return group.size() == 1 ? nullptr : reinterpret_cast<void*>(take(units, leader));
  }

  template <class Warp = PlatformWarp>
  __device__ void free(void*, Warp = {}) const {}

  /// Frees all memory that warps with the calling warp's id have taken since the last call.
  ///
  /// @pre no thread uses that memory any more; lanes of the warp that take memory or free all at the same time call it
  ///      together
  template <class Warp = PlatformWarp>
  __device__ void free_all(Warp warp = {}) const {
    const auto group = warp.coalesce();
    group.synchronize();  // all accesses of the other lanes to the memory come before
    if (group.rank() == 0) free_heap(heap_of(warp.id()), detail::LoneLane{warp.id()});
    group.synchronize();  // before they take memory again
  }

  __host__ __device__ std::size_t largest() const {
    const std::size_t units = pool_.largest() / kUnit;
    // 32 lanes' units add up to less than 2^32.
    constexpr std::size_t kMostUnitsOfLane = (std::size_t{1} << 27) - 1;
    if (units <= kHeaderUnits) return 0;
    return (units - kHeaderUnits < kMostUnitsOfLane ? units - kHeaderUnits : kMostUnitsOfLane) * kUnit;
  }

  /// For Storage. @throws Error as Pool does, which has to allocate superblocks, and the largest request
  static BasicFdgMalloc make(Executor& executor, const MallocNeeds& needs, detail::MallocMemory& memory) {
    const std::uint32_t warps = executor.concurrent_warps();
    const std::size_t share = needs.heap_bytes / kSuperblocksPerWarp / warps;
    const std::size_t superblock = std::clamp(std::bit_floor(share), kLeastSuperblock, kMostSuperblock);
    const std::size_t largest = std::max(needs.largest_request + kHeaderUnits * kUnit, superblock);
    BasicFdgMalloc made{};
    made.pool_ = memory.make_pool<Pool>(executor, {needs.heap_bytes, largest});
    made.heaps_ = memory.make_table<Heap>(warps);
    made.heap_count_ = warps;
    made.superblock_units_ = static_cast<std::uint32_t>(superblock / kUnit);
    return made;
  }

 private:
  using Word = AtomicWord<std::uint64_t>;

  static constexpr std::size_t kUnit = kMallocAlignment;
  static constexpr std::uint32_t kHeaderUnits = 1;  // of a superblock: the address of the next
  static constexpr std::uint32_t kUsedBits = 13;    // for the units of the largest superblock

  // Bytes of a superblock, and how many of them the pool can serve for each warp.
  static constexpr std::size_t kLeastSuperblock = 1 << 10;
  static constexpr std::size_t kMostSuperblock = 64 << 10;
  static constexpr std::size_t kSuperblocksPerWarp = 4;

  /// A warp's heap, in a cache line of its own. All 0 if it is empty.
  struct alignas(128) Heap {
    Word current;      ///< Current
    Word superblocks;  ///< address of the first superblock in the list of all
  };

  /// The superblock from which memory is taken, and its number of used units.
  struct Current {
    std::uint64_t superblock;
    std::uint32_t used;  ///< units

    __device__ static Current of(std::uint64_t word) {
      return {(word >> kUsedBits) * kUnit, static_cast<std::uint32_t>(word & ((1u << kUsedBits) - 1))};
    }
    __device__ std::uint64_t word() const { return superblock / kUnit << kUsedBits | used; }
  };

  __device__ Heap& heap_of(std::uint32_t warp) const { return heaps_[warp % heap_count_]; }
  __device__ static Word& next_of(std::uint64_t superblock) { return *reinterpret_cast<Word*>(superblock); }

  /// Takes memory from the current superblock or a new one. @return 0 if there is none
  __device__ std::uint64_t take(std::uint32_t units, detail::LoneLane lane) const {
    Heap& heap = heap_of(lane.id());
    std::uint64_t found = heap.current.load(Order::relaxed);
    // A further iteration means that another lane of the warp has taken units, so the loop ends when the superblock is
    // used up.
    while (found != 0) {
      Current current = Current::of(found);
      if (units > superblock_units_ - current.used) break;
      const std::uint64_t memory = current.superblock + current.used * kUnit;
      current.used += units;
      // Acquires the superblock from replace.
      if (heap.current.compare_exchange(found, current.word(), Order::acquire)) return memory;
    }
    if (units <= superblock_units_ - kHeaderUnits) {
      const std::uint64_t superblock = add_superblock(heap, superblock_units_, lane);
      if (superblock != 0) {
        replace(heap, found, {superblock, kHeaderUnits + units});
        return superblock + kHeaderUnits * kUnit;
      }
    }
    const std::uint64_t superblock = add_superblock(heap, kHeaderUnits + std::size_t{units}, lane);
    return superblock == 0 ? 0 : superblock + kHeaderUnits * kUnit;
  }

  /// Replaces the current superblock in `found`. If other lanes have replaced it meanwhile, the rest of the caller's
  /// superblock remains unused.
  __device__ static void replace(Heap& heap, std::uint64_t found, Current current) {
    const std::uint64_t old = Current::of(found).superblock;
    // Releases the superblock to take.
    while (Current::of(found).superblock == old &&
           !heap.current.compare_exchange(found, current.word(), Order::release)) {
    }
  }

  /// A superblock from the pool, in the heap's list. @return 0 if there is no memory
  __device__ std::uint64_t add_superblock(Heap& heap, std::size_t units, detail::LoneLane lane) const {
    const auto superblock = reinterpret_cast<std::uint64_t>(pool_.malloc(units * kUnit, lane));
    if (superblock == 0) return 0;
    std::uint64_t found = heap.superblocks.load(Order::relaxed);
    do {
      next_of(superblock).store(found, Order::relaxed);
      // Releases the superblock and its link to free_heap.
    } while (!heap.superblocks.compare_exchange(found, superblock, Order::release));
    return superblock;
  }

  __device__ void free_heap(Heap& heap, detail::LoneLane lane) const {
    heap.current.store(0, Order::relaxed);
    // Acquires the superblocks from add_superblock.
    std::uint64_t superblock = heap.superblocks.exchange(0, Order::acquire);
    while (superblock != 0) {
      const std::uint64_t next = next_of(superblock).load(Order::relaxed);
      pool_.free(reinterpret_cast<void*>(superblock), lane);
      superblock = next;
    }
  }

  Pool pool_;
  Heap* heaps_;
  std::uint32_t heap_count_;
  std::uint32_t superblock_units_;
};

namespace detail {

/// Frees warps' heaps, by number.
template <class M>
struct FreeHeaps {
  M memory;
  __device__ void operator()(std::size_t heap) const { memory.free_all(LoneLane{static_cast<std::uint32_t>(heap)}); }
};

}  // namespace detail

template <class Pool>
class BasicFdgMalloc<Pool>::Storage : public detail::MallocStorage<BasicFdgMalloc> {
 public:
  using detail::MallocStorage<BasicFdgMalloc>::MallocStorage;

  /// Frees the heaps of all warps. @pre no running work uses the memory
  void free_all(Executor& executor) const {
    executor.for_each_index(this->view().heap_count_, detail::FreeHeaps<BasicFdgMalloc>{this->view()});
    executor.synchronize();
  }
};

/// Superblocks come from lists of free memory.
using FdgMalloc = BasicFdgMalloc<MultiprocessorListMalloc>;

static_assert(DeviceMalloc<FdgMalloc>);

}  // namespace dynasoar
