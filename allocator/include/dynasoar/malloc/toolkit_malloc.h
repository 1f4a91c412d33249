/// @file
/// ToolkitMalloc: the allocator that comes with the compiler, as a DeviceMalloc: device-side malloc of the CUDA
/// Toolkit, or the C library's on the host. What everybody else is compared with (DynaSOAr, section 7).
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>

#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar {

/// Memory from `malloc`, of which heap_bytes are there.
///
/// On a GPU the heap is the device's (cudaLimitMallocHeapSize), so all objects of this class share it, and it can only
/// be made larger before the first kernel that allocates. On the host a count keeps to the limit.
///
/// @par Concurrency   everything may overlap
class ToolkitMalloc {
 public:
  static constexpr MallocProperties kProperties{"toolkit", true, false, false};

  class Storage;

  template <class Warp = PlatformWarp>
  __device__ void* malloc(std::size_t bytes, Warp = {}) const {
    if (bytes == 0 || bytes > largest_) return nullptr;
#if DYNASOAR_CUDA_BACKEND
    return ::malloc(bytes);  // aligned to 16 bytes
#else
    // In front of the memory stands its size, for `free`.
    const std::size_t size = detail::round_up(bytes, kMallocAlignment) + kMallocAlignment;
    if (used_->fetch_add(size, Order::relaxed) + size > limit_) {
      used_->fetch_add(std::size_t{0} - size, Order::relaxed);
      return nullptr;
    }
    auto* const memory = static_cast<std::size_t*>(std::aligned_alloc(kMallocAlignment, size));
    if (memory == nullptr) {
      used_->fetch_add(std::size_t{0} - size, Order::relaxed);
      return nullptr;
    }
    *memory = size;
    return reinterpret_cast<char*>(memory) + kMallocAlignment;
#endif
  }

  template <class Warp = PlatformWarp>
  __device__ void free(void* pointer, Warp = {}) const {
    if (pointer == nullptr) return;
#if DYNASOAR_CUDA_BACKEND
    ::free(pointer);
#else
    auto* const memory = reinterpret_cast<std::size_t*>(static_cast<char*>(pointer) - kMallocAlignment);
    used_->fetch_add(std::size_t{0} - *memory, Order::relaxed);
    std::free(memory);
#endif
  }

  __host__ __device__ std::size_t largest() const {
    return largest_;
  }

 private:
  AtomicWord<std::size_t>* used_;  // bytes, on the host only
  std::size_t limit_;
  std::size_t largest_;
};

/// Sets the size of the toolkit's heap.
class ToolkitMalloc::Storage {
 public:
  /// @throws Error on a GPU whose heap has been in use before with a smaller size, or that has too little memory
  Storage([[maybe_unused]] Executor& executor, const MallocNeeds& needs) {
#if DYNASOAR_CUDA_BACKEND
    std::size_t now = 0;
    detail::check_cuda(cudaDeviceGetLimit(&now, cudaLimitMallocHeapSize), "cudaDeviceGetLimit");
    if (now < needs.heap_bytes) {
      detail::check_cuda(cudaDeviceSetLimit(cudaLimitMallocHeapSize, needs.heap_bytes),
                         "cudaDeviceSetLimit(cudaLimitMallocHeapSize)");
    }
#else
    used_ = DeviceArray<std::size_t>(1);
    used_.fill_bytes(0);
    view_.used_ = reinterpret_cast<AtomicWord<std::size_t>*>(used_.data());
#endif
    view_.limit_ = needs.heap_bytes;
    view_.largest_ = needs.heap_bytes;
  }

  ToolkitMalloc view() const {
    return view_;
  }
  std::size_t heap_bytes() const {
    return view_.limit_;
  }
  std::size_t state_bytes() const {
    return 0;
  }

 private:
  DeviceArray<std::size_t> used_;
  ToolkitMalloc view_{};
};

static_assert(DeviceMalloc<ToolkitMalloc>);

}  // namespace dynasoar
