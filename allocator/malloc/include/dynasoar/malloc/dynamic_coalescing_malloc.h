/// @file
/// DynamicCoalescingMalloc: lanes of a warp that happen to allocate together get segments of one superblock.
///
/// Source: "Coalescing Memory Allocations for GPU MPI" (Blach, Erhart, Memedi, Schäfer), section 3.2. A segment's
/// header has the distance to the segment before it. The header of the last segment that has not been freed is marked.
/// The thread that frees this segment passes the mark on to the segment before, and so forth, until it frees the
/// superblock.
///
/// Differences to the paper, and choices that it leaves open:
/// - A header always has 8 bytes. The smaller headers of the paper need payloads that are aligned to only 2 or 4 bytes;
///   here all are aligned to 16.
/// - The marks are set by atomic or. One thread frees a segment, and another one may pass the mark on to it. Exactly
///   one of them, the later one, sees the other's change. So `free` needs no compare-and-swap that could fail.
/// - If there is no superblock for all lanes, each lane asks for a separate one.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/heap/requests.h>
#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/malloc/malloc_storage.h>
#include <dynasoar/malloc/toolkit_malloc.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/warp.h>

namespace dynasoar {

/// Segments of superblocks, for lanes that ask together.
///
/// @tparam Pool   a DeviceMalloc that frees, for superblocks
/// @par Concurrency   everything may overlap; as Pool. Apart from calls of Pool, `free` is wait-free
/// @par Cost          one `malloc` of Pool for all lanes; `free`: one atomic operation, and one more for each segment
///                    that was freed before the one behind it
template <class Pool = ToolkitMalloc>
class DynamicCoalescingMalloc {
  static_assert(DeviceMalloc<Pool> && Pool::kProperties.frees && !Pool::kProperties.collective,
                "dynasoar: DynamicCoalescingMalloc needs an allocator that frees, for superblocks");

 public:
  static constexpr MallocProperties kProperties{"coalescing", true, false, true};

  using Storage = detail::MallocStorage<DynamicCoalescingMalloc>;

  template <class Warp = PlatformWarp>
  __device__ void* malloc(std::size_t bytes, Warp warp = {}) const {
    if (bytes == 0 || bytes > largest()) return nullptr;
    const std::uint32_t units = units_for(bytes);
    const auto group = warp.coalesce();
    const LaneSums sums = group.sums(units);
    const int rank = group.rank();
    const std::uint32_t units_before = group.shuffle(units, rank == 0 ? 0 : rank - 1);
    std::uint64_t superblock = 0;
    if (rank == 0) superblock = make_superblock(sums.total, warp.id());
    superblock = group.broadcast(superblock);
    group.synchronize();  // the leader's acquire holds for the other lanes, too
    if (superblock == 0) return group.size() == 1 ? nullptr : malloc_alone(units, warp.id());
    const std::uint64_t segment = superblock + kFirstSegment + std::uint64_t{sums.before} * kUnit;
    const std::uint64_t marks = (rank == 0 ? kFirst : 0) | (rank == group.size() - 1 ? kLast : 0);
    header_of(segment).store((rank == 0 ? 0 : units_before * kUnit) | marks, Order::relaxed);
    group.synchronize();  // before a lane frees its segment and reads the headers of others
    return reinterpret_cast<void*>(segment);
  }

  template <class Warp = PlatformWarp>
  __device__ void free(void* pointer, Warp warp = {}) const {
    if (pointer == nullptr) return;
    auto segment = reinterpret_cast<std::uint64_t>(pointer);
    // Releases the segment to the thread that will pass the mark on, or acquires all segments behind it from the thread
    // that has done so.
    std::uint64_t header = header_of(segment).fetch_or(kFree, Order::acq_rel);
    if ((header & kLast) == 0) return;
    // Terminates, because each step leads to a lower address until it reaches the first segment.
    while ((header & kFirst) == 0) {
      segment -= header & ~kMarks;
      // Acquires the segment from the thread that freed it, or releases those behind it to the thread that will free
      // it.
      header = header_of(segment).fetch_or(kLast, Order::acq_rel);
      if ((header & kFree) == 0) return;
    }
    pool_.free(reinterpret_cast<void*>(segment - kFirstSegment), detail::LoneLane{warp.id()});
  }

  /// The largest request of one lane. All lanes together can have as much as Pool allocates at once.
  __host__ __device__ std::size_t largest() const {
    const std::size_t units = pool_.largest() / kUnit;
    // The sum of the units of 32 lanes is less than 2^32.
    constexpr std::size_t kMostUnitsOfLane = (std::size_t{1} << 27) - 1;
    if (units < 2) return 0;
    return (units - 1 < kMostUnitsOfLane ? units - 1 : kMostUnitsOfLane) * kUnit - kHeaderBytes;
  }

  /// For Storage. @throws Error as Pool does, which has to allocate a superblock for a single request
  static DynamicCoalescingMalloc make(Executor& executor, const MallocNeeds& needs, detail::MallocMemory& memory) {
    const std::size_t superblock = superblock_bytes(units_for(needs.largest_request));
    DynamicCoalescingMalloc made{};
    made.pool_ = memory.make_pool<Pool>(executor, {needs.heap_bytes, superblock});
    return made;
  }

 private:
  using Header = AtomicWord<std::uint64_t>;

  static constexpr std::size_t kUnit = kMallocAlignment;
  static constexpr std::size_t kHeaderBytes = sizeof(Header);  // in front of a segment
  static constexpr std::size_t kFirstSegment = kUnit;          // from the superblock's beginning

  // Marks in a header; the rest is the distance to the segment before.
  static constexpr std::uint64_t kFree = 1;   // has been freed
  static constexpr std::uint64_t kFirst = 2;  // is the superblock's first
  static constexpr std::uint64_t kLast = 4;   // the ones behind it have been freed
  static constexpr std::uint64_t kMarks = 7;

  /// Units from a segment to the next.
  __host__ __device__ static std::uint32_t units_for(std::size_t bytes) {
    return static_cast<std::uint32_t>((bytes + kHeaderBytes + kUnit - 1) / kUnit);
  }

  /// Memory of a superblock: its first header begins in the middle of a unit.
  __host__ __device__ static std::size_t superblock_bytes(std::size_t units) {
    return kFirstSegment - kHeaderBytes + units * kUnit;
  }

  __device__ static Header& header_of(std::uint64_t segment) {
    return *reinterpret_cast<Header*>(segment - kHeaderBytes);
  }

  /// @return 0 if there is no memory
  __device__ std::uint64_t make_superblock(std::uint32_t units, std::uint32_t warp) const {
    return reinterpret_cast<std::uint64_t>(pool_.malloc(superblock_bytes(units), detail::LoneLane{warp}));
  }

  __device__ void* malloc_alone(std::uint32_t units, std::uint32_t warp) const {
    const std::uint64_t superblock = make_superblock(units, warp);
    if (superblock == 0) return nullptr;
    header_of(superblock + kFirstSegment).store(kFirst | kLast, Order::relaxed);
    return reinterpret_cast<void*>(superblock + kFirstSegment);
  }

  Pool pool_;
};

/// Superblocks come from the toolkit's allocator, as in the paper.
using CoalescingMalloc = DynamicCoalescingMalloc<>;

static_assert(DeviceMalloc<CoalescingMalloc>);

}  // namespace dynasoar
