/// @file
/// ThreadContext: the object on which a thread is working, for reports of checked builds. Used by checks.h.
#pragma once

#include <cstdint>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/threads.h>

namespace dynasoar::detail {

/// A constructor that runs in make_new.
struct RunningConstructor {
  std::uint64_t object;       ///< bits of the pointer
  std::uint32_t depth;        ///< number of nested constructors
  RunningConstructor* outer;  ///< the enclosing constructor, or null
  std::uint32_t* set;         ///< a bit for each field that was accessed, inherited ones first
};

/// The current work of a thread in a loop; uninitialized in kernels that the user has written.
struct ThreadContext {
  std::uint64_t object = 0;                    ///< bits of the pointer to the loop's object; 0 if it runs over indices
  RunningConstructor* construction = nullptr;  ///< the innermost constructor that runs; null if none does
  std::uint64_t mark = 0;  ///< identifies the allocator, see Checks::mark; shows whether the context is initialized
};

/// The context of the calling thread.
__device__ inline ThreadContext& thread_context() {
  return of_calling_thread<ThreadContext>();
}

}  // namespace dynasoar::detail
