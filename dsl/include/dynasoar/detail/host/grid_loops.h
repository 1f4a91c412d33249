/// @file
/// loop_over_places on a CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

template <class F>
void loop_over_places(Executor& executor, std::size_t capacity, const F& function) {
  executor.for_each_index(capacity, [function](std::size_t place) {
    if (place < function.size()) function(static_cast<std::uint32_t>(place));
  });
}

}  // namespace dynasoar::detail
