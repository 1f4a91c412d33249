// planted_faults TOOL: what that tool of compute-sanitizer must find; scripts/sanitize-gpu believes no tool that does
// not.
//
// The faults are in instances of one template, launched like the library's kernels. Only racecheck's has shared memory.
#include <cstdint>
#include <cstdio>
#include <string_view>

#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

using dynasoar::DeviceArray;
using dynasoar::Error;
using dynasoar::Executor;

constexpr unsigned kThreads = dynasoar::detail::kThreadsPerBlock;

template <class F>
static __global__ void __launch_bounds__(kThreads) faulty_kernel(F function) {
  dynasoar::detail::take_turns();
  function(threadIdx.x);
}

// Calls `function(i)` for 0 <= i < kThreads, in one thread block.
template <class F>
void run_in_block(const Executor& executor, F function) {
  const dynasoar::detail::KernelTraits traits(faulty_kernel<F>, executor.multiprocessors());
  dynasoar::detail::launch(traits, faulty_kernel<F>, dim3(1), executor.stream(), function);
}

// Submits the tool's fault; false if there is no such tool. Every fault ends without a tool, too.
bool submit_fault(const Executor& executor, std::string_view tool, DeviceArray<std::uint32_t>& array) {
  std::uint32_t* const values = array.data();
  if (tool == "memcheck") {
    // The last thread writes behind the end of the array.
    run_in_block(executor, [values] __device__(unsigned i) { values[i + 1] = i; });
  } else if (tool == "initcheck") {
    // Reads memory that was never written.
    run_in_block(executor, [values] __device__(unsigned i) { values[i] += i; });
  } else if (tool == "synccheck") {
    array.fill_bytes(0xfe);
    // Lanes 0, 8, 16 and 24 wait with their warp, but are not in the mask, which comes out of memory because the
    // compiler leaves no instruction to check where it sees that a warp is together. Before Hopper it leaves none in
    // any case.
    run_in_block(executor, [values] __device__(unsigned i) { __syncwarp(values[i]); });
  } else if (tool == "racecheck") {
    // Threads read what those of other warps write, without a barrier in between.
    run_in_block(executor, [values] __device__(unsigned i) {
      __shared__ unsigned shared[kThreads];
      shared[i] = i;
      values[i] = shared[kThreads - 1 - i];
    });
  } else {
    return false;
  }
  return true;
}

int main(int argc, char** argv) try {
  if (!Executor::device_available()) {
    std::fputs("planted_faults: there is no usable GPU\n", stderr);
    return 1;
  }
  Executor executor;
  DeviceArray<std::uint32_t> array(kThreads);
  try {
    if (argc != 2 || !submit_fault(executor, argv[1], array)) {
      std::fputs("usage: planted_faults memcheck|initcheck|synccheck|racecheck\n", stderr);
      return 2;
    }
    executor.synchronize();
  } catch (const Error& error) {
    // Most likely the tool has stopped a kernel at its fault. No failure: what compute-sanitizer has found is in its
    // exit code only if the program's own is 0.
    std::puts(error.what());
  }
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "planted_faults: %s\n", error.what());
  return 1;
}
