/// @file
/// What code above platform/ uses where the two backends differ, so that it needs no #if: hints for compilers and
/// memory, and templates that only programs for a CPU take from the library. For a plain choice between two statements
/// use `if constexpr (kCudaBackend)`.
#pragma once

#include <dynasoar/platform/config.h>

/// Before a loop: unrolls it in device code for a GPU, `DYNASOAR_UNROLL(8)` by that factor, `DYNASOAR_UNROLL()`
/// entirely. Host compilers decide for themselves.
#if defined(__CUDA_ARCH__)
#define DYNASOAR_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define DYNASOAR_UNROLL(...) DYNASOAR_PRAGMA(unroll __VA_ARGS__)
#else
#define DYNASOAR_UNROLL(...)
#endif

/// Before a function template for host and device that calls what its arguments bring along: then those of device code
/// may bring functions of device code, and those of host code functions of host code.
#if defined(__NVCC__)
#define DYNASOAR_FOR_WHOEVER_CALLS _Pragma("nv_exec_check_disable")
#else
#define DYNASOAR_FOR_WHOEVER_CALLS
#endif

/// Behind a template in a header: in programs for a CPU, the library has this specialization compiled, so that programs
/// need not compile it. One source file of the library says DYNASOAR_HOST_TEMPLATE with the same specialization.
/// In programs for a GPU both do nothing, because device code is compiled with the kernels that call it.
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

/// Has a GPU bring the 32 bytes around an address in global memory into its L2 cache. Nothing happens on a CPU.
__device__ inline void prefetch_into_l2([[maybe_unused]] const void* address) {
#if defined(__CUDA_ARCH__)
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#endif
}

}  // namespace dynasoar::detail
