/// @file
/// Registers and stack of kernels that do nothing but allocate, free, or both. With CUDA only.
///
/// Source: Vinkler and Havran, "Register Efficient Dynamic Memory Allocator for GPUs" (2015), section 7, table 1, which
/// has the kernels that do both. Each allocator serves the lanes of a warp together if it can (kProperties.combines).
#pragma once

#include <cstddef>
#include <vector>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>

#include "../runs.h"
#include "../suite.h"

namespace benchmarks::allocators {

#if DYNASOAR_CUDA_BACKEND

template <class M>
static __global__ void malloc_kernel(M memory, void** pointers, std::size_t bytes) {
  pointers[blockIdx.x * blockDim.x + threadIdx.x] = memory.malloc(bytes);
}

template <class M>
static __global__ void free_kernel(M memory, void** pointers) {
  memory.free(pointers[blockIdx.x * blockDim.x + threadIdx.x]);
}

template <class M>
static __global__ void malloc_and_free_kernel(M memory, void** pointers, std::size_t bytes) {
  void* const piece = memory.malloc(bytes);
  pointers[blockIdx.x * blockDim.x + threadIdx.x] = piece;  // so that it is not left out
  memory.free(piece);
}

template <class M, class Kernel>
void record_registers(const Context& context, const std::string& which, Kernel kernel) {
  cudaFuncAttributes attributes{};
  dynasoar::detail::check_cuda(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  const Recorder recorder{context, "registers", M::kProperties.name, {}};
  recorder.add(which + ", registers", "", {static_cast<double>(attributes.numRegs)});
  recorder.add(which + ", stack", "bytes", {static_cast<double>(attributes.localSizeBytes)});
}

template <class M>
void run_registers(const Context& context) {
  record_registers<M>(context, "malloc", malloc_kernel<M>);
  if constexpr (!M::kProperties.frees) return;
  record_registers<M>(context, "free", free_kernel<M>);
  record_registers<M>(context, "malloc and free", malloc_and_free_kernel<M>);
}

#endif

/// A host's code has no such thing as the registers of a kernel.
template <class M>
void add_registers([[maybe_unused]] std::vector<Case>& cases) {
#if DYNASOAR_CUDA_BACKEND
  cases.push_back({"registers", M::kProperties.name, run_registers<M>});
#endif
}

}  // namespace benchmarks::allocators
