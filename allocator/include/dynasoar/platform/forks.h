/// @file
/// forks_so_far: distinguishes a child of fork() from its parent. A child has none of its parent's threads, and may not
/// use the parent's CUDA context. Used by ThreadTeam and Executor.
#pragma once

#include <cstdint>

namespace dynasoar::detail {

/// The number of forks between the process that started the program and this one.
std::uint64_t forks_so_far() noexcept;

}  // namespace dynasoar::detail
