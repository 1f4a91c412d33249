/// @file
/// The visited block on a CPU.
#pragma once

#include <cstdint>

namespace dynasoar::detail {

// A separate type, so that compilers know that writes to fields do not change it. (For writes to bytes, see
// assign_byte.)
enum class FirstHandle : std::uint64_t {};

/// The handle of slot 0 of the full block that this thread visits, or visited last.
inline constinit thread_local FirstHandle visited_block{};

inline void note_visited_block(std::uint64_t first) {
  visited_block = FirstHandle{first};
}

inline bool is_in_visited_block(std::uint64_t handle, std::uint64_t& first) {
  first = static_cast<std::uint64_t>(visited_block);
  const std::uint64_t slot = handle - first;
  return __builtin_constant_p(slot < 64) && slot < 64;
}

}  // namespace dynasoar::detail
