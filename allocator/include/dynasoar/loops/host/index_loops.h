/// @file
/// loop_over_indices on a CPU.
#pragma once

#include <cstddef>

#include <dynasoar/platform/executor.h>
#include <dynasoar/tuning.h>

namespace dynasoar::detail {

template <class A, int kBlocksPerMultiprocessor = kIndexBlocksPerMultiprocessor, class F>
void loop_over_indices(Executor& executor, std::size_t count, const F& function, std::size_t = 1) {
  executor.for_each_index(count, function);
}

}  // namespace dynasoar::detail
