// What the benchmark program needs to know of the backend, kept apart from files that nvcc does not compile.
#include <string>

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

}  // namespace benchmarks
