/// @file
/// look_at_all on a CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/executor.h>

namespace bodies {

template <class Look>
void look_at_all(dynasoar::Executor& executor, std::uint32_t, const Look& look) {
  const std::uint32_t count = look.bodies();
  executor.for_each_index(count, [=](std::size_t index) {
    const auto i = static_cast<std::uint32_t>(index);
    const typename Look::Source here = look.here(i);
    typename Look::Result result = look.nothing();
    for (std::uint32_t j = 0; j < count; ++j) result = look.combined(here, result, look.source(j));
    look.finish(i, result);
  });
}

}  // namespace bodies
