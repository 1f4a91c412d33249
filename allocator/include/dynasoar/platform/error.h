/// @file
/// The exceptions of the library. Only host functions throw; device functions record (see AllocatorHandle).
#pragma once

#include <stdexcept>
#include <string>

#include <dynasoar/platform/config.h>

namespace dynasoar {

/// Anything the library refuses or that failed underneath it; the message says what to do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {

/// What to do about waiting where nobody may wait.
inline constexpr const char* kNoWaiting =
    "a recorded step cannot wait for its loops, copy memory, read results (synchronize, count, reduce, "
    "statistics) or have steps in it: do that between steps";

#if DYNASOAR_CUDA_BACKEND
/// What to do in a child that fork() made.
inline constexpr const char* kInChild =
    "this process is a child that fork() made of one that uses the GPU, and CUDA does not work there: make the first "
    "AllocatorHandle after the fork, or call exec";

/// Throws Error with the call, the code's name and its text if `code` is not cudaSuccess. Then clears CUDA's last
/// error.
void check_cuda(cudaError_t code, const char* call);
#endif

}  // namespace detail

}  // namespace dynasoar
