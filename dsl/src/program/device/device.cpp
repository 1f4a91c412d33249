#include "../device.h"

#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/host_threads.h>

namespace dynasoar::program {
namespace {

// Only the host's executor has threads to count.
template <class Executor>
std::string describe(const Executor& executor) {
  if constexpr (requires { executor.threads(); }) {
    const std::string threads = executor.threads() == 1 ? "1 thread" : std::to_string(executor.threads()) + " threads";
    return "the CPU " + Executor::device_name() + ", " + threads;
  } else {
    return "the GPU " + Executor::device_name();
  }
}

}  // namespace

bool device_available() {
  return dynasoar::Executor::device_available();
}

bool device_is_asynchronous() {
  return dynasoar::kCudaBackend;
}

int share_host(int process, int processes) {
  dynasoar::Executor::choose_device(process);
  return dynasoar::detail::processors_of_rank(processes);
}

std::string device_description(int threads) {
  return describe(dynasoar::Executor(threads));
}

}  // namespace dynasoar::program
