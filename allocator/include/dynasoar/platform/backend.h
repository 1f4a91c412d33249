/// @file
/// Macros and functions for code above platform/ if the two backends differ, so that it needs no #if: hints for
/// compilers and memory, and templates that only programs for a CPU take from the library. For a simple choice between
/// two statements, use `if constexpr (kCudaBackend)`.
#pragma once

#include <dynasoar/platform/config.h>

/// Write it before a loop to unroll the loop in device code for a GPU: `DYNASOAR_UNROLL(8)` by this factor,
/// `DYNASOAR_UNROLL()` entirely. For hosts, the compiler decides.
#if defined(__CUDA_ARCH__)
#define DYNASOAR_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define DYNASOAR_UNROLL(...) DYNASOAR_PRAGMA(unroll __VA_ARGS__)
#else
#define DYNASOAR_UNROLL(...)
#endif

/// Write it before a function template for host and device that calls functions of its arguments. Callers in device
/// code may then pass arguments with functions for device code only, and callers in host code those for host code only.
#if defined(__NVCC__)
#define DYNASOAR_FOR_WHOEVER_CALLS _Pragma("nv_exec_check_disable")
#else
#define DYNASOAR_FOR_WHOEVER_CALLS
#endif

/// Write it after a template in a header: programs for a CPU then take this specialization from the library and do not
/// compile it. One source file of the library has DYNASOAR_HOST_TEMPLATE with the same specialization. In programs for
/// a GPU both do nothing, because device code is compiled with the kernels that call it.
///
///     DYNASOAR_HOST_EXTERN_TEMPLATE(class BlockHeap<kAnyNumber>);   // in block_heap.h
///     DYNASOAR_HOST_TEMPLATE(class BlockHeap<kAnyNumber>);   // in block_heap.cpp
#if DYNASOAR_CUDA_BACKEND
#define DYNASOAR_HOST_EXTERN_TEMPLATE(...) static_assert(true)
#define DYNASOAR_HOST_TEMPLATE(...) static_assert(true)
#else
#define DYNASOAR_HOST_EXTERN_TEMPLATE(...) extern template __VA_ARGS__
#define DYNASOAR_HOST_TEMPLATE(...) template __VA_ARGS__
#endif

namespace dynasoar::detail {

/// Prefetches the 32 bytes around an address in global memory into the L2 cache of a GPU. Does nothing on a CPU.
__device__ inline void prefetch_into_l2([[maybe_unused]] const void* address) {
#if defined(__CUDA_ARCH__)
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#endif
}

}  // namespace dynasoar::detail
