/// @file
/// Loops over indices whose code may use objects.
///
///     loop_over_indices<A, blocks_per_multiprocessor = kIndexBlocksPerMultiprocessor>(executor, count, function,
///                                                                                    per_thread = 1)
///
/// calls `function(i)` for 0 <= i < count in device code that may use objects of allocator type A. A thread takes
/// `per_thread` indices at least, if there are enough. On a GPU, the kernel gets so few registers that so many thread
/// blocks fit on a multiprocessor.
#pragma once

#include <dynasoar/platform/config.h>

#include DYNASOAR_BACKEND_HEADER(index_loops.h)
