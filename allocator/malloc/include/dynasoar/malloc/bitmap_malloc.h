/// @file
/// BitmapMalloc: allocates chunks of one size. A hierarchical bitmap finds free chunks.
///
/// Source: DynaSOAr, section 7, "BitmapAlloc": the whole heap is one array of chunks. It has no blocks, so objects that
/// are used together are not adjacent, and chunks are as large as the largest class.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <dynasoar/heap/bitmap.h>
#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/malloc/malloc_storage.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar {

/// Chunks of `largest()` bytes.
///
/// @par Concurrency   everything may overlap; lock-free except for the waits described in Bitmap
class BitmapMalloc {
 public:
  static constexpr MallocProperties kProperties{"bitmap", true, false, false};

  using Storage = detail::MallocStorage<BitmapMalloc>;

  template <class Warp = PlatformWarp>
  __device__ void* malloc(std::size_t bytes, Warp warp = {}) const {
    if (bytes == 0 || bytes > chunk_bytes_) return nullptr;
    // Different warps start in different containers, and lanes of one warp at different bits of a container. Of lanes
    // that start at the same bit, only one gets it.
    const std::uint32_t first = free_.position_at(warp.id() * detail::kSpread) / kContainerBits * kContainerBits;
    const std::uint32_t start = first + static_cast<std::uint32_t>(warp.coalesce().rank()) * 2 % kContainerBits;
    for (int round = 0; round < kRounds; ++round) {
      const std::uint32_t chunk = free_.clear_any(start, kTries);
      if (is_position(chunk)) return heap_ + chunk * chunk_bytes_;
      if (!is_position(free_.find_exhaustively(start))) return nullptr;
      PlatformAtomics::pause(round);
    }
    return nullptr;
  }

  template <class Warp = PlatformWarp>
  __device__ void free(void* pointer, Warp = {}) const {
    if (pointer == nullptr) return;
    const auto offset = static_cast<std::size_t>(static_cast<char*>(pointer) - heap_);
    free_.set(static_cast<std::uint32_t>(offset / chunk_bytes_));
  }

  __host__ __device__ std::size_t largest() const { return chunk_bytes_; }

  /// For Storage. @throws Error if not even one chunk of needs.largest_request fits, or there is too little memory
  static BitmapMalloc make(Executor&, const MallocNeeds& needs, detail::MallocMemory& memory) {
    const std::size_t chunk_bytes = detail::round_up(std::max<std::size_t>(needs.largest_request, 1), kMallocAlignment);
    const std::size_t chunks = needs.heap_bytes / chunk_bytes;
    if (chunks == 0) throw Error("dynasoar: the heap is smaller than one chunk; ask for more heap_bytes");
    if (chunks > std::numeric_limits<std::int32_t>::max()) {
      throw Error("dynasoar: BitmapMalloc manages 2^31 - 1 chunks at most; ask for less heap_bytes");
    }
    const auto size = static_cast<std::uint32_t>(chunks);
    std::vector<std::uint64_t> words(Bitmap<>::words_needed(size));
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = Bitmap<>::filled_word(size, size, i);
    BitmapMalloc made{};
    made.free_ = Bitmap<>::over(memory.make_table<Bitmap<>::Word>(words), size);
    made.heap_ = memory.make_heap(chunks * chunk_bytes);
    made.chunk_bytes_ = chunk_bytes;
    return made;
  }

 private:
  static constexpr std::uint32_t kContainerBits = 64;  // of the bitmap
  static constexpr int kTries = 8;                     // searches for a free chunk in a round
  static constexpr int kRounds = 64;                   // rounds after which a request gives up

  Bitmap<> free_;
  char* heap_;
  std::size_t chunk_bytes_;
};

static_assert(DeviceMalloc<BitmapMalloc>);

}  // namespace dynasoar
