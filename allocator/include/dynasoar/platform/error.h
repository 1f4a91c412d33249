/// @file
/// The exceptions of the library. Only host functions throw; device functions record errors (see AllocatorHandle).
#pragma once

#include <stdexcept>
#include <string>

#include <dynasoar/platform/config.h>

namespace dynasoar {

/// An operation that the library refuses, or a failure of CUDA or the system. The message says what to do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {

/// The advice for code that waits where this is not allowed.
inline constexpr const char* kNoWaiting =
    "a recorded step cannot wait for its loops, copy memory, read results (synchronize, count, reduce, "
    "statistics) or call other steps: do that between steps";

#if DYNASOAR_CUDA_BACKEND
/// The advice for a child process of fork().
inline constexpr const char* kInChild =
    "this process is a child that fork() made of one that uses the GPU, and CUDA does not work there: make the first "
    "AllocatorHandle after the fork, or call exec";

/// If `code` is not cudaSuccess, clears CUDA's last error, and throws Error with the call, the code's name and its
/// text.
void check_cuda(cudaError_t code, const char* call);
#endif

}  // namespace detail

}  // namespace dynasoar
