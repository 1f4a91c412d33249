/// @file
/// How fast memory of mixed sizes is taken and given back, over the largest of the sizes.
///
/// Source: Pham et al., ICS '22, section 5.2.2, figure 10. Each thread asks for its own size between 4 bytes and the
/// largest, all equally likely.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../suite.h"
#include "pieces.h"
#include "series.h"

namespace benchmarks::allocators {

template <class M>
void add_rw_mixed(std::vector<Case>& cases) {
  if constexpr (pieces::kFits<M>) {
    cases.push_back({"rw_mixed", M::kProperties.name, [](const Context& context) {
                       const std::size_t threads = context.pick(1 << 16, 1 << 9);
                       for (const std::uint32_t largest : {64u, 512u, 4096u, 8192u}) {
                         const double longest = pieces::measure<M>(
                             context, "rw_mixed", threads, {4, largest},
                             {{"threads", static_cast<std::int64_t>(threads)}, {"largest", std::int64_t{largest}}});
                         if (longest > kLongestRun) return;
                       }
                     }});
  }
}

}  // namespace benchmarks::allocators
