/// @file
/// XMalloc: combines the requests of the lanes of a warp, and serves them from lock-free lists of basicblocks.
///
/// Source: XMalloc (Huang, Rodrigues, Jones, Buck, Hwu, 2010) as later papers describe it: DynaSOAr, section 6;
/// ScatterAlloc, section 3; Vinkler and Havran, "Register Efficient Dynamic Memory Allocator for GPUs", section 2. See
/// basicblocks.h for superblocks and lists.
///
/// These papers leave the following open; this is our choice:
/// - A combined request gets one basicblock. It is free again when all lanes have freed their parts of it. Its word
///   counts the parts, so that no headers are needed. Lanes that free parts together change the count once.
/// - Warps that need more than the largest basicblock make several requests. If there is no basicblock for a combined
///   request, each lane makes its own request.
/// - The memory pool is a table of superblocks. Requests above 8 KiB get consecutive pages of a separate part of the
///   heap, which exists only if largest_request is that large.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <dynasoar/malloc/basicblocks.h>
#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/malloc/malloc_storage.h>
#include <dynasoar/malloc/page_runs.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar {

/// Basicblocks, and runs of pages for requests that are larger.
///
/// @par Concurrency   everything may overlap; lock-free, with a bound after which a request is refused
class XMalloc {
 public:
  static constexpr MallocProperties kProperties{"xmalloc", true, false, true};

  using Storage = detail::MallocStorage<XMalloc>;

  template <class Warp = PlatformWarp>
  __device__ void* malloc(std::size_t bytes, Warp warp = {}) const {
    if (bytes == 0 || bytes > largest_) return nullptr;
    if (bytes > kMostOfLane) return runs_.malloc(bytes);
    const auto rounded = static_cast<std::uint32_t>(detail::round_up(bytes, kMallocAlignment));
    auto group = warp.coalesce();
    LaneSums sums = group.sums(rounded);
    if (sums.total > kMostTogether) {
      group = group.matching(sums.before / kMostOfLane);
      sums = group.sums(rounded);
    }
    const std::uint32_t set = set_of(warp.id());
    const std::uint32_t size = detail::BasicblockSize::holding(sums.total);
    std::uint32_t block = 0;
    if (group.rank() == 0) block = blocks_.take(set, size, static_cast<std::uint32_t>(group.size()));
    block = group.broadcast(block);
    group.synchronize();  // the first lane's acquire holds for the other lanes, too
    if (block != Blocks::kNone) return heap_ + Blocks::offset_of(block, size) + sums.before;
    return group.size() == 1 ? nullptr : malloc_alone(set, rounded);
  }

  template <class Warp = PlatformWarp>
  __device__ void free(void* pointer, Warp warp = {}) const {
    if (pointer == nullptr) return;
    if (runs_.has(pointer)) return runs_.free(pointer);
    const std::uint32_t block = blocks_.block_at(static_cast<std::size_t>(static_cast<char*>(pointer) - heap_));
    const auto group = warp.coalesce().matching(block);
    group.synchronize();  // the first lane's release holds for all lanes
    if (group.rank() == 0) blocks_.give(set_of(warp.id()), block, static_cast<std::uint32_t>(group.size()));
  }

  __host__ __device__ std::size_t largest() const { return largest_; }

  /// For Storage. @throws Error if the heap is too small for a superblock, or for the largest request, or there is too
  /// little memory
  static XMalloc make(Executor& executor, const MallocNeeds& needs, detail::MallocMemory& memory) {
    const bool has_runs = needs.largest_request > kMostOfLane;
    const std::size_t all = needs.heap_bytes / Blocks::kSuperblockBytes;
    const std::size_t for_runs = has_runs ? std::max<std::size_t>(all / kSuperblocksPerRunSuperblock, 1) : 0;
    XMalloc made{};
    made.largest_ = has_runs ? for_runs * Blocks::kSuperblockBytes : kMostOfLane;
    if (all <= for_runs || needs.largest_request > made.largest_) {
      throw Error("dynasoar: XMalloc needs superblocks of 65536 bytes, and for requests above 8192 bytes " +
                  std::to_string(kSuperblocksPerRunSuperblock) + " times the largest; ask for more heap_bytes");
    }
    if (all > kMostSuperblocks) {
      throw Error("dynasoar: XMalloc manages 2^22 superblocks of 65536 bytes at most; ask for less heap_bytes");
    }
    const auto superblocks = static_cast<std::uint32_t>(all - for_runs);
    const std::uint32_t sets = std::clamp(superblocks / kSuperblocksPerSet, 1u, detail::sets_of_warps(executor));
    made.blocks_ = make_blocks(memory, superblocks, sets);
    made.heap_ = memory.make_heap(all * Blocks::kSuperblockBytes);
    const std::size_t pages = for_runs * (Blocks::kSuperblockBytes / detail::PageRuns::kPageBytes);
    made.runs_ = detail::PageRuns(memory.make_table<Blocks::State>(pages), static_cast<std::uint32_t>(pages),
                                  made.heap_ + std::size_t{superblocks} * Blocks::kSuperblockBytes);
    return made;
  }

 private:
  using Blocks = detail::Basicblocks;

  static constexpr std::size_t kSuperblocksPerRunSuperblock = 4;  // superblocks, one of which is for runs
  static constexpr std::uint32_t kSuperblocksPerSet = 8;          // at least
  static constexpr std::size_t kMostSuperblocks = std::size_t{1} << 22;
  static constexpr std::uint32_t kMostTogether = 16 << 10;  // bytes of the largest basicblock
  // Limit of one lane: the requests of lanes that begin in the same kMostOfLane bytes then fit in a basicblock.
  static constexpr std::uint32_t kMostOfLane = kMostTogether / 2;

  __device__ std::uint32_t set_of(std::uint32_t warp) const { return warp / detail::kWarpsPerSet % blocks_.sets(); }

  __device__ void* malloc_alone(std::uint32_t set, std::uint32_t bytes) const {
    const std::uint32_t size = detail::BasicblockSize::holding(bytes);
    const std::uint32_t block = blocks_.take(set, size, 1);
    return block == Blocks::kNone ? nullptr : heap_ + Blocks::offset_of(block, size);
  }

  static Blocks make_blocks(detail::MallocMemory& memory, std::uint32_t superblocks, std::uint32_t sets) {
    using Word = Blocks::Word;
    auto* const lists = memory.make_table<Blocks::List>(std::size_t{sets} * detail::BasicblockSize::kCount);
    auto* const links = memory.make_table<Word>(superblocks);
    auto* const blocks = memory.make_table<Word>(std::size_t{superblocks} * Blocks::kMostBlocks);
    return Blocks(memory.make_table<Blocks::State>(superblocks), links, blocks, lists, memory.make_table<Word>(1),
                  superblocks, sets);
  }

  Blocks blocks_;
  detail::PageRuns runs_;
  char* heap_;
  std::size_t largest_;
};

static_assert(DeviceMalloc<XMalloc>);

}  // namespace dynasoar
