/// @file
/// ThreadContext: what a thread is doing, so that checked builds can say who did what. Used by checks.h.
#pragma once

#include <cstdint>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/threads.h>

namespace dynasoar::detail {

/// A constructor that runs in make_new.
struct RunningConstructor {
  std::uint64_t object;       ///< bits of the pointer
  std::uint32_t depth;        ///< how many run in one another
  RunningConstructor* outer;  ///< the one that it runs in, or null
  std::uint32_t* set;         ///< a bit for each field that was accessed, inherited ones first
};

/// What a thread of a loop is doing; garbage in kernels of the user's own.
struct ThreadContext {
  std::uint64_t object = 0;                    ///< bits of the pointer to the loop's object; 0 if it runs over indices
  RunningConstructor* construction = nullptr;  ///< the innermost constructor that runs; null if none does
  std::uint64_t mark = 0;  ///< whose loop it is, see Checks::mark; so that garbage is not taken for one
};

/// The calling thread's.
__device__ inline ThreadContext& thread_context() {
  return of_calling_thread<ThreadContext>();
}

}  // namespace dynasoar::detail
