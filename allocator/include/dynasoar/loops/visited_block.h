/// @file
/// The visited block: tells compilers for a CPU that the objects of a loop are neighbours, so that they can vectorize
/// the loop. Written by loops over objects and by bulk_creation.h, read by position_of (handle.h).
///
/// A handle has its slot in its lowest bits, but compilers do not see that these bits of `first + slot` are `slot`. So
/// a loop notes the first handle of the block that it visits. Once the method is inlined into the loop, the compiler
/// can prove that the difference to this handle is a slot, and an access to a field uses the difference. Elsewhere an
/// access uses the bits. Both have the same value, whatever handle was noted, so this cannot cause errors. The running
/// program never reads the noted handle.
///
///     note_visited_block(first)
///
/// notes the block that the calling thread is about to visit, by the handle of its slot 0.
///
///     is_in_visited_block(handle, first) -> bool
///
/// returns whether the compiler can prove that a handle belongs to that block. If so, `first` becomes the handle of its
/// slot 0. Always false on a GPU.
#pragma once

#include <dynasoar/platform/config.h>

#include DYNASOAR_BACKEND_HEADER(visited_block.h)
