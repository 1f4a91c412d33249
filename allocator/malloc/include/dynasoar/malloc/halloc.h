/// @file
/// Halloc: slabs of chunks of one size. A hash determines where to search the bitmap of a slab for a free chunk.
///
/// Source: Halloc (Adinetz and Pleiter, 2014) as later papers describe it: DynaSOAr, section 6; Vinkler and Havran,
/// "Register Efficient Dynamic Memory Allocator for GPUs", sections 2 and 4.5. See slabs.h for slabs and hashing.
///
/// The heap has two parts: slabs, and the memory of another allocator for requests above 3 KiB, in the papers that of
/// the toolkit.
///
/// These papers leave the following open; this is our choice:
/// - The second part is half of the heap, or nothing if largest_request says that there are no such requests.
/// - Simultaneous requests of lanes for the same size are combined, and so are the counts of lanes that free chunks of
///   a slab.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/malloc/malloc_storage.h>
#include <dynasoar/malloc/slabs.h>
#include <dynasoar/malloc/toolkit_malloc.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar {

/// Chunks of slabs. Another allocator serves larger requests.
///
/// @tparam Large   a DeviceMalloc that frees
/// @par Concurrency   everything may overlap; lock-free, with a bound after which a request is refused; and as Large
template <class Large>
class BasicHalloc {
  static_assert(DeviceMalloc<Large> && Large::kProperties.frees && !Large::kProperties.collective,
                "dynasoar: BasicHalloc needs an allocator that frees, for large requests");

 public:
  static constexpr MallocProperties kProperties{"halloc", true, false, true};

  using Storage = detail::MallocStorage<BasicHalloc>;

  template <class Warp = PlatformWarp>
  __device__ void* malloc(std::size_t bytes, Warp warp = {}) const {
    if (bytes == 0 || bytes > largest_) return nullptr;
    if (bytes > kMostBytes) return large_.malloc(bytes, warp);
    const std::uint32_t size =
        detail::SlabChunkSize::holding(static_cast<std::uint32_t>(detail::round_up(bytes, kMallocAlignment)));
    const std::size_t offset = slabs_.take(size, warp.coalesce().matching(size));
    return offset == Slabs::kNoOffset ? nullptr : heap_ + offset;
  }

  template <class Warp = PlatformWarp>
  __device__ void free(void* pointer, Warp warp = {}) const {
    if (pointer == nullptr) return;
    // Compare as integers, because the other allocator's memory is not part of this heap.
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(pointer) - reinterpret_cast<std::uintptr_t>(heap_);
    if (offset >= slabs_.bytes()) return large_.free(pointer, warp);
    const std::uint32_t slab = slabs_.slab_at(offset);
    slabs_.give(slab, offset, warp.coalesce().matching(slab));
  }

  __host__ __device__ std::size_t largest() const { return largest_; }

  /// For Storage. @throws Error if the heap is too small for a slab or for the largest request, or there is too little
  /// memory
  static BasicHalloc make(Executor& executor, const MallocNeeds& needs, detail::MallocMemory& memory) {
    const bool has_large = needs.largest_request > kMostBytes;
    const std::size_t for_slabs = has_large ? needs.heap_bytes / 2 : needs.heap_bytes;
    const std::size_t slab_bytes = std::clamp(std::bit_floor(for_slabs / kSlabs), kLeastSlab, kMostSlab);
    if (for_slabs < slab_bytes) {
      throw Error("dynasoar: Halloc needs " + std::to_string(has_large ? 2 * kLeastSlab : kLeastSlab) +
                  " bytes at least; ask for more heap_bytes");
    }
    BasicHalloc made{};
    made.largest_ = kMostBytes;
    if (has_large) {
      made.large_ = memory.make_pool<Large>(executor, {needs.heap_bytes - for_slabs, needs.largest_request});
      made.largest_ = std::max(kMostBytes, made.large_.largest());
      if (made.largest_ < needs.largest_request) {
        throw Error(
            "dynasoar: Halloc has half of the heap for requests above 3072 bytes, which is less than the "
            "largest request; ask for more heap_bytes");
      }
    }
    const std::size_t slabs = for_slabs / slab_bytes;
    made.heap_ = memory.make_heap(slabs * slab_bytes);
    made.slabs_ = make_slabs(memory, static_cast<std::uint32_t>(slabs), static_cast<std::uint32_t>(slab_bytes));
    return made;
  }

 private:
  using Slabs = detail::Slabs;

  static constexpr std::size_t kSlabs = 256;  // approximately
  static constexpr std::size_t kLeastSlab = 64 << 10;
  static constexpr std::size_t kMostSlab = 4 << 20;
  static constexpr std::size_t kMostBytes = 3 << 10;  // of a chunk

  static Slabs make_slabs(detail::MallocMemory& memory, std::uint32_t count, std::uint32_t slab_bytes) {
    return Slabs(memory.make_table<Slabs::Word>(count), memory.make_table<Slabs::Size>(count),
                 memory.make_table<Slabs::Word>(std::size_t{count} * Slabs::fields_of(slab_bytes)),
                 memory.make_table<Slabs::Head>(detail::SlabChunkSize::kCount), count, slab_bytes);
  }

  Slabs slabs_;
  Large large_;
  char* heap_;
  std::size_t largest_;
};

/// Large requests go to the toolkit's allocator, as in the papers.
using Halloc = BasicHalloc<ToolkitMalloc>;

static_assert(DeviceMalloc<Halloc>);

}  // namespace dynasoar
