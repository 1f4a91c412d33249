// What the benchmark program needs to know of the backend, kept apart from files that nvcc does not compile.
#include <unistd.h>

#include <cstddef>
#include <string>
#include <utility>

#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>

#include "report.h"

namespace benchmarks {

std::string device_name() {
  return dynasoar::Executor::device_name();
}
bool device_available() {
  return dynasoar::Executor::device_available();
}
bool cuda_backend() {
  return dynasoar::kCudaBackend;
}
bool checked_build() {
  return dynasoar::kChecked;
}

std::size_t free_memory_bytes() {
#if DYNASOAR_CUDA_BACKEND
  std::size_t free = 0;
  std::size_t total = 0;
  dynasoar::detail::check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return free;
#else
  return static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
#endif
}

void enlarge_toolkit_heap() {
#if DYNASOAR_CUDA_BACKEND
  static bool is_enlarged = false;
  if (std::exchange(is_enlarged, true)) return;
  std::size_t free = 0;
  std::size_t total = 0;
  dynasoar::detail::check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  dynasoar::detail::check_cuda(cudaDeviceSetLimit(cudaLimitMallocHeapSize, total / 8),
                               "cudaDeviceSetLimit(cudaLimitMallocHeapSize)");
#endif
}

}  // namespace benchmarks
