#include <algorithm>
#include <string>

#include <dynasoar/platform/error.h>
#include <dynasoar/platform/toolkit_heap.h>

namespace dynasoar::detail {

#if DYNASOAR_CUDA_BACKEND

void enlarge_toolkit_heap(std::size_t bytes) {
  std::size_t now = 0;
  check_cuda(cudaDeviceGetLimit(&now, cudaLimitMallocHeapSize), "cudaDeviceGetLimit");
  if (now >= bytes) return;
  std::size_t free = 0;
  std::size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  const std::size_t wanted = std::max(bytes, total / 32);
  const cudaError_t error = cudaDeviceSetLimit(cudaLimitMallocHeapSize, wanted);
  static_cast<void>(cudaGetLastError());  // otherwise the next launch would seem to have failed
  if (error != cudaSuccess) {
    throw Error("dynasoar: the toolkit's heap cannot grow from " + std::to_string(now) + " to " +
                std::to_string(wanted) + " bytes (" + cudaGetErrorString(error) +
                "); it must get its size before the first kernel that allocates: make the largest " +
                "Storage of the process first");
  }
}

#else

void enlarge_toolkit_heap(std::size_t) {}

#endif

}  // namespace dynasoar::detail
