// What the benchmark program needs to know of the backend, kept apart from files that nvcc does not compile.
#include <cstddef>
#include <string>

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

void set_toolkit_heap([[maybe_unused]] std::size_t bytes) {
#if DYNASOAR_CUDA_BACKEND
  dynasoar::detail::check_cuda(cudaDeviceSetLimit(cudaLimitMallocHeapSize, bytes),
                               "cudaDeviceSetLimit(cudaLimitMallocHeapSize)");
#endif
}

}  // namespace benchmarks
