/// @file
/// Loops over indices whose code may use objects.
///
///     loop_over_indices<A>(executor, count, function, per_thread = 1)
///
/// calls `function(i)` for 0 <= i < count in device code that may use objects of allocator type A. A thread takes
/// `per_thread` indices at least, if there are enough.
#pragma once

#include <dynasoar/platform/config.h>

#include DYNASOAR_BACKEND_HEADER(index_loops.h)
