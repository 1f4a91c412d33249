/// @file
/// ToolkitMalloc: the allocator of the toolchain as a DeviceMalloc: device-side malloc of the CUDA Toolkit or, on the
/// host, malloc of the C library. The baseline for all others (DynaSOAr, section 7). BareToolkitMalloc: the same
/// without a limit for the heap.
#pragma once

#include <cstddef>

#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/malloc/malloc_storage.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/toolkit_heap.h>

namespace dynasoar {

/// Memory from `malloc`, without the limit of heap_bytes.
///
/// On a GPU this is the heap of the device (cudaLimitMallocHeapSize). The whole process shares it, and it can only grow
/// before the first kernel that allocates. So the first Storage of a process makes it large: a 32nd of the GPU's
/// memory, or more if necessary. The toolkit's own tables take a part of it, a third if objects are small, so the heap
/// has twice the requested bytes. On the host, the only limit is that of the process.
///
/// @par Concurrency   everything may overlap
class BareToolkitMalloc {
 public:
  static constexpr MallocProperties kProperties{"toolkit-bare", true, false, false};

  using Storage = detail::MallocStorage<BareToolkitMalloc>;

  template <class Warp = PlatformWarp>
  __device__ void* malloc(std::size_t bytes, Warp = {}) const {
    if (bytes == 0 || bytes > largest_) return nullptr;
    return detail::toolkit_memory(bytes, kMallocAlignment);
  }

  template <class Warp = PlatformWarp>
  __device__ void free(void* pointer, Warp = {}) const {
    detail::free_toolkit_memory(pointer);
  }

  __host__ __device__ std::size_t largest() const { return largest_; }

  /// For Storage: ensures that the toolkit's heap is large enough. It may be larger than requested.
  ///
  /// @throws Error on a GPU whose heap has been in use with a smaller size, or that has too little memory
  static BareToolkitMalloc make(Executor&, const MallocNeeds& needs, detail::MallocMemory& memory) {
    detail::enlarge_toolkit_heap(2 * needs.heap_bytes);
    memory.add_heap(needs.heap_bytes);
    BareToolkitMalloc made{};
    made.largest_ = needs.heap_bytes;
    return made;
  }

 private:
  std::size_t largest_;
};

static_assert(DeviceMalloc<BareToolkitMalloc>);

/// Memory from `malloc`; a counter enforces heap_bytes, like the heaps of other allocators.
///
/// `free` needs the size of a piece, so each piece has its size in front, in 16 bytes. On a GPU these are expensive:
/// the toolkit takes three times as long for 80 bytes as for 64. If the heap needs no limit, use BareToolkitMalloc.
///
/// @par Concurrency   everything may overlap
class ToolkitMalloc {
 public:
  static constexpr MallocProperties kProperties{"toolkit", true, false, false};

  using Storage = detail::MallocStorage<ToolkitMalloc>;

  template <class Warp = PlatformWarp>
  __device__ void* malloc(std::size_t bytes, Warp = {}) const {
    if (bytes == 0 || bytes > limit_) return nullptr;
    // The size stands in front of the memory, for `free`.
    const std::size_t size = detail::round_up(bytes, kMallocAlignment) + kMallocAlignment;
    // Check first, so that requests that cannot succeed do not make other requests fail.
    if (used_->load(Order::relaxed) + size > limit_) return nullptr;
    if (used_->fetch_add(size, Order::relaxed) + size > limit_) return give_up(size);
    auto* const memory = static_cast<std::size_t*>(pool_.malloc(size));
    if (memory == nullptr) return give_up(size);
    *memory = size;
    return reinterpret_cast<char*>(memory) + kMallocAlignment;
  }

  template <class Warp = PlatformWarp>
  __device__ void free(void* pointer, Warp = {}) const {
    if (pointer == nullptr) return;
    auto* const memory = reinterpret_cast<std::size_t*>(static_cast<char*>(pointer) - kMallocAlignment);
    used_->fetch_add(std::size_t{0} - *memory, Order::relaxed);
    pool_.free(memory);
  }

  __host__ __device__ std::size_t largest() const { return limit_; }

  /// For Storage. @throws Error as BareToolkitMalloc::make
  static ToolkitMalloc make(Executor& executor, const MallocNeeds& needs, detail::MallocMemory& memory) {
    ToolkitMalloc made{};
    made.pool_ = memory.make_pool<BareToolkitMalloc>(executor, needs);
    made.used_ = memory.make_table<AtomicWord<std::size_t>>(1);
    made.limit_ = needs.heap_bytes;
    return made;
  }

 private:
  __device__ void* give_up(std::size_t size) const {
    used_->fetch_add(std::size_t{0} - size, Order::relaxed);
    return nullptr;
  }

  BareToolkitMalloc pool_;
  AtomicWord<std::size_t>* used_;  // bytes, headers included
  std::size_t limit_;              // of used_
};

static_assert(DeviceMalloc<ToolkitMalloc>);

}  // namespace dynasoar
