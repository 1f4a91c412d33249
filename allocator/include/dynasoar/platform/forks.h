/// @file
/// forks_so_far: tells a child that fork() made from its parent. A child has none of its parent's threads, and may not
/// use the parent's CUDA context. Used by ThreadTeam and Executor.
#pragma once

#include <cstdint>

namespace dynasoar::detail {

/// How many forks lie between this process and the one that started the program.
std::uint64_t forks_so_far() noexcept;

}  // namespace dynasoar::detail
