/// @file
/// Chooses the backend: CUDA if nvcc compiles this file, otherwise the host's threads. Included by all other files in
/// `platform/`, the only folder that depends on the backend.
#pragma once

#if defined(__CUDACC__)
#define DYNASOAR_CUDA_BACKEND 1
#include <cuda_runtime.h>
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
#error "dynasoar: copies and fills rely on the legacy default stream; compile without --default-stream per-thread."
#endif
#else
#define DYNASOAR_CUDA_BACKEND 0
#if defined(DYNASOAR_TARGET_USES_CUDA)
#error \
    "dynasoar: this target uses the CUDA backend, but this file is compiled as plain C++. Call \
dynasoar_compile_as_cuda(<target>) in CMakeLists.txt, or include dynasoar only from CUDA files."
#endif
// One source for both backends: without nvcc, CUDA's function annotations are empty.
#ifndef __device__
#define __device__
#endif
#ifndef __host__
#define __host__
#endif
#endif

#if !defined(__cpp_exceptions) && !defined(__CUDA_ARCH__)
#error \
    "dynasoar: errors are reported as exceptions, which this file is compiled without. Remove -fno-exceptions from its \
options; functions of yours that must not throw can be noexcept."
#endif

// Checked builds check every access to an object for misuse, see checks/checks.h. All files of a program must have the
// same setting.
#ifndef DYNASOAR_CHECKED
#ifdef NDEBUG
#define DYNASOAR_CHECKED 0
#else
#define DYNASOAR_CHECKED 1
#endif
#endif

// Builds that count accesses to fields, see dynasoar/statistics.h. All files of a program must have the same setting.
#ifndef DYNASOAR_COUNT_ACCESSES
#define DYNASOAR_COUNT_ACCESSES 0
#endif

// For a function that is not called: nvcc warns about it if its class is in an unnamed namespace, even if it is
// [[maybe_unused]].
#if defined(__NVCC__)
#define DYNASOAR_NEVER_CALLED(...) \
  _Pragma("nv_diagnostic push") _Pragma("nv_diag_suppress 177") __VA_ARGS__ _Pragma("nv_diagnostic pop")
#else
#define DYNASOAR_NEVER_CALLED(...) __VA_ARGS__
#endif

// For a friend that each specialization of a class template declares again, on purpose: nvcc and the host compiler warn
// about it.
#if defined(__NVCC__)
#define DYNASOAR_NVCC_FRIEND_(...) \
  _Pragma("nv_diagnostic push") _Pragma("nv_diag_suppress 1301") __VA_ARGS__ _Pragma("nv_diagnostic pop")
#else
#define DYNASOAR_NVCC_FRIEND_(...) __VA_ARGS__
#endif
#if defined(__GNUC__) && !defined(__clang__)
#define DYNASOAR_FRIEND_OF_EACH_SPECIALIZATION(...)                                          \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wnon-template-friend\"") \
      DYNASOAR_NVCC_FRIEND_(__VA_ARGS__) _Pragma("GCC diagnostic pop")
#else
#define DYNASOAR_FRIEND_OF_EACH_SPECIALIZATION(...) DYNASOAR_NVCC_FRIEND_(__VA_ARGS__)
#endif

// In a header that is implemented once per backend: includes the file of that name in the folder cuda/ or host/ beside
// the header. `#include DYNASOAR_BACKEND_HEADER(object_loops.h)`. Not formatted: spaces would be a part of the name.
// clang-format off
#define DYNASOAR_TEXT_OF_(path) #path
#define DYNASOAR_TEXT_OF(path) DYNASOAR_TEXT_OF_(path)
#if DYNASOAR_CUDA_BACKEND
#define DYNASOAR_BACKEND_HEADER(file) DYNASOAR_TEXT_OF(cuda/file)
#else
#define DYNASOAR_BACKEND_HEADER(file) DYNASOAR_TEXT_OF(host/file)
#endif
// clang-format on

namespace dynasoar {

/// True in programs whose parallel loops run on an NVIDIA GPU.
inline constexpr bool kCudaBackend = DYNASOAR_CUDA_BACKEND != 0;

/// True in builds that detect misuse (`DYNASOAR_CHECKED`, by default where NDEBUG is not defined).
inline constexpr bool kChecked = DYNASOAR_CHECKED != 0;

/// True in builds that count accesses to fields (`DYNASOAR_COUNT_ACCESSES`).
inline constexpr bool kCountsAccesses = DYNASOAR_COUNT_ACCESSES != 0;

}  // namespace dynasoar
