/// @file
/// How fast memory is taken and given back over the size of a piece, by a fixed number of threads.
///
/// Source: Pham et al., ICS '22, section 5.2.2, figure 9: 4 to 8192 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../suite.h"
#include "pieces.h"
#include "series.h"

namespace benchmarks::allocators {

template <class M>
void add_rw_sizes(std::vector<Case>& cases) {
  if constexpr (pieces::kFits<M>) {
    cases.push_back({"rw_sizes", M::kProperties.name, [](const Context& context) {
                       const std::size_t threads = context.pick(1 << 14, 1 << 8);
                       for (const std::uint32_t bytes : {4u, 16u, 64u, 256u, 1024u, 4096u, 8192u}) {
                         const double longest = pieces::measure<M>(
                             context, "rw_sizes", threads, {bytes, bytes},
                             {{"threads", static_cast<std::int64_t>(threads)}, {"bytes", std::int64_t{bytes}}});
                         if (longest > kLongestRun) return;
                       }
                     }});
  }
}

}  // namespace benchmarks::allocators
