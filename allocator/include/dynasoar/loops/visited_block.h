/// @file
/// visited_block: where a loop on the host tells compilers that its objects are neighbours, so that they can vectorize
/// it. Written by loops over objects, read by position_of (handle.h).
///
/// A handle has its slot in its lowest bits, and no compiler of today sees that these bits of `first + slot` are
/// `slot`. So a loop notes the first handle of the block that it visits, and an access to a field takes the difference
/// to it, where the compiler can tell that this is a slot: in the loop, once the method is inlined. Everywhere else the
/// compiler takes the bits. Both say the same whatever was noted, so nothing can go wrong; and when the program runs,
/// nobody reads it.
#pragma once

#include <cstdint>

#include <dynasoar/platform/config.h>

#if !DYNASOAR_CUDA_BACKEND

namespace dynasoar::detail {

// A type of its own, so that compilers know that writes to fields do not change it. (Those to bytes: see assign_byte.)
enum class FirstHandle : std::uint64_t {};

/// The handle of slot 0 of the full block that this thread visits, or visited last.
inline constinit thread_local FirstHandle visited_block{};

}  // namespace dynasoar::detail

#endif
