/// @file
/// contradiction_in: whether a HeapSnapshot that comes from a file is one that a heap can have. Used by checkpoint
/// files, which may come from anywhere.
#pragma once

#include <dynasoar/checkpoint/heap_snapshot.h>
#include <dynasoar/classes/class_table.h>

namespace dynasoar::detail {

/// What in a snapshot contradicts the rest, or cannot be in a heap of these classes, as a part of a sentence; null if
/// nothing does. HeapSnapshot::restore, and all loops after it, rely on what is checked here.
///
/// Objects may be counted wrongly: a program may have destroyed one twice, and its checkpoint is a checkpoint.
const char* contradiction_in(const HeapSnapshot& snapshot, const ClassTable& classes);

}  // namespace dynasoar::detail
