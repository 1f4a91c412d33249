/// @file
/// contradiction_in: checks whether a HeapSnapshot from a file can be that of a heap. Used for checkpoint files, which
/// may come from anywhere.
#pragma once

#include <dynasoar/checkpoint/heap_snapshot.h>
#include <dynasoar/classes/class_table.h>

namespace dynasoar::detail {

/// Describes, as a part of a sentence, a contradiction within a snapshot, or between it and the classes; null if there
/// is none. HeapSnapshot::restore, and all loops after it, rely on these checks.
///
/// Counts of objects may be wrong, because the program may have destroyed an object twice before it saved the
/// checkpoint.
const char* contradiction_in(const HeapSnapshot& snapshot, const ClassTable& classes);

}  // namespace dynasoar::detail
