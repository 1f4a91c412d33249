/// @file
/// Loops over indices, with code that may use objects.
///
///     loop_over_indices<A, blocks_per_multiprocessor = kIndexBlocksPerMultiprocessor>(executor, count, function,
///                                                                                    per_thread = 1)
///
/// calls `function(i)` for 0 <= i < count in device code that may use objects of allocator type A. A thread takes at
/// least `per_thread` indices, if there are enough. On a GPU, the registers of the kernel are limited so that
/// `blocks_per_multiprocessor` thread blocks fit on a multiprocessor.
#pragma once

#include <dynasoar/platform/config.h>

#include DYNASOAR_BACKEND_HEADER(index_loops.h)
