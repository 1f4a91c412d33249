#include "slabs.h"

#include <cstdlib>
#include <cstring>
#include <vector>

#ifdef SLABS_ON_GPU
#include <cuda_runtime_api.h>
#endif

namespace slabs {
namespace {

constexpr std::size_t kAlignment = 256;

std::size_t rounded(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// A copy of these bytes at the start of device memory of `bytes` bytes.
char* on_device(const void* from, std::size_t size, std::size_t bytes) {
#ifdef SLABS_ON_GPU
  void* memory = nullptr;
  if (cudaMalloc(&memory, bytes) != cudaSuccess) return nullptr;
  if (cudaMemcpy(memory, from, size, cudaMemcpyHostToDevice) != cudaSuccess) {
    cudaFree(memory);
    return nullptr;
  }
  return static_cast<char*>(memory);
#else
  void* const memory = std::aligned_alloc(kAlignment, rounded(bytes, kAlignment));
  if (memory != nullptr) std::memcpy(memory, from, size);
  return static_cast<char*>(memory);
#endif
}

}  // namespace

// In one piece: the pool, the head, next, the slabs.
Pool* create(std::size_t bytes, std::size_t bytes_per_slab) {
  bytes = bytes / kAlignment * kAlignment;
  const std::size_t slab = rounded(bytes_per_slab, 16);
  if (slab == 0 || bytes < 3 * kAlignment + slab) return nullptr;
  const std::size_t count = (bytes - 3 * kAlignment) / (slab + sizeof(std::uint32_t));
  if (count == 0 || count >= UINT32_MAX) return nullptr;
  const std::size_t table = rounded(count * sizeof(std::uint32_t), kAlignment);
  std::vector<char> start(2 * kAlignment + table);
  const Head first = 1;
  std::memcpy(start.data() + kAlignment, &first, sizeof first);
  for (std::size_t i = 0; i < count; ++i) {
    const auto next = static_cast<std::uint32_t>(i + 1 < count ? i + 2 : 0);
    std::memcpy(start.data() + 2 * kAlignment + i * sizeof next, &next, sizeof next);
  }
  char* const memory = on_device(start.data(), start.size(), start.size() + count * slab);
  if (memory == nullptr) return nullptr;
  const Pool pool{reinterpret_cast<Head*>(memory + kAlignment),
                  reinterpret_cast<std::uint32_t*>(memory + 2 * kAlignment), memory + start.size(), slab};
#ifdef SLABS_ON_GPU
  if (cudaMemcpy(memory, &pool, sizeof pool, cudaMemcpyHostToDevice) != cudaSuccess) {
    cudaFree(memory);
    return nullptr;
  }
#else
  std::memcpy(memory, &pool, sizeof pool);
#endif
  return reinterpret_cast<Pool*>(memory);
}

void destroy(Pool* pool) {
#ifdef SLABS_ON_GPU
  cudaFree(pool);
#else
  std::free(pool);
#endif
}

}  // namespace slabs
