/// @file
/// The visited block: where a loop on a CPU tells compilers that its objects are neighbours, so that they can vectorize
/// it. Written by loops over objects and by bulk_creation.h, read by position_of (handle.h).
///
/// A handle has its slot in its lowest bits, and no compiler of today sees that these bits of `first + slot` are
/// `slot`. So a loop notes the first handle of the block that it visits, and an access to a field takes the difference
/// to it, where the compiler can tell that this is a slot: in the loop, once the method is inlined. Everywhere else the
/// compiler takes the bits. Both say the same whatever was noted, so nothing can go wrong; and when the program runs,
/// nobody reads it.
///
///     note_visited_block(first)
///
/// says which block the calling thread is about to visit, by the handle of its slot 0.
///
///     is_in_visited_block(handle, first) -> bool
///
/// says whether the compiler can tell that a handle is of that block; then `first` becomes the handle of its slot 0.
/// Never on a GPU.
#pragma once

#include <dynasoar/platform/config.h>

#include DYNASOAR_BACKEND_HEADER(visited_block.h)
