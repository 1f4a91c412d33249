/// @file
/// What the experiments of Pham et al. and Blach et al. have in common: their heap, and who takes part.
#pragma once

#include <cstddef>

#include "../runs.h"

namespace benchmarks::allocators {

/// Of all experiments.
inline std::size_t heap_bytes(const Context& context) {
  return std::size_t{context.pick(1024u, 16u)} << 20;
}

/// Allocators of pages of one size, which the experiments with other sizes leave out.
template <class M>
concept HasPages = requires(const M& memory) {
  memory.page_count();
};

}  // namespace benchmarks::allocators
