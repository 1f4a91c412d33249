/// @file
/// How long it takes to create and to delete an object, over the number of objects that each thread makes.
///
/// Source: DynaSOAr (Springer and Masuhara 2019), section 7.4, figure 13 (a). 16 384 threads, a heap with room for 1024
/// objects of 64 bytes per thread. Added: half of the objects by 8192 to 524 288 threads.
#pragma once

#include <vector>

#include "../suite.h"
#include "object_load.h"

namespace benchmarks::allocators::DYNASOAR_APP_ALLOCATOR {
namespace object_load {

/// The figure: a part of the heap's objects, up to all.
inline void run_scalability(const Context& context) {
  const std::size_t threads = threads_of(context);
  const Word most = most_of_thread(context);
  for (const Word part : {1024u, 256u, 64u, 16u, 4u, 2u, 1u}) {
    if (part > most) continue;
    const Load load{threads, most / part};
    if (measure<app::Allocator>(context, "linux_scalability", kAllocatorName, threads * most, load) > kLongestRun)
      return;
  }
}

/// Half of the heap's objects, by more and more threads.
inline void run_threads(const Context& context) {
  const std::size_t threads = threads_of(context);
  const Word most = most_of_thread(context);
  for (const Word factor : {1u, 4u, 16u, 64u}) {
    const Load load{threads * factor / 2, most / factor};
    if (measure<app::Allocator>(context, "linux_scalability_threads", kAllocatorName, threads * most, load) >
        kLongestRun) {
      return;
    }
  }
}

}  // namespace object_load

inline void add_linux_scalability(std::vector<Case>& cases) {
  cases.push_back({"linux_scalability", kAllocatorName, object_load::run_scalability});
  cases.push_back({"linux_scalability_threads", kAllocatorName, object_load::run_threads});
}

}  // namespace benchmarks::allocators::DYNASOAR_APP_ALLOCATOR
