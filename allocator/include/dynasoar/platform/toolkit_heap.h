/// @file
/// The heap of the toolchain: device-side malloc of the CUDA Toolkit or, on the host, malloc of the C library. Used by
/// ToolkitMalloc.
#pragma once

#include <cstddef>
#include <cstdlib>

#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// Memory, or null. @param alignment   at most 16 on a GPU
__device__ inline void* toolkit_memory(std::size_t bytes, [[maybe_unused]] std::size_t alignment) {
#if DYNASOAR_CUDA_BACKEND
  return ::malloc(bytes);  // aligned to 16 bytes
#else
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
#endif
}

__device__ inline void free_toolkit_memory(void* memory) {
  ::free(memory);
}

/// Ensures that a GPU's heap (cudaLimitMallocHeapSize) has this number of bytes; the host's heap has no limit.
/// @throws Error if the heap has been in use with a smaller size, or the GPU has too little memory
void enlarge_toolkit_heap(std::size_t bytes);

}  // namespace dynasoar::detail
