/// @file
/// Loops over the objects of listed blocks, loops over pairs of objects (pair_loops.h), and reductions over objects.
///
///     loop_over_objects<A>(executor, ObjectLoop{list, capacity, function}...)
///
/// calls a function for every object of the list, or visits pairs of such an object and another one. The list's length
/// is read on the device; `capacity` is an upper bound on it. Several such loops run together: on a GPU in one kernel,
/// unless one of them visits pairs.
///
///     reduce_objects<A>(executor, list, capacity, scratch, init, op, function) -> R
///
/// combines `function(block, slot)` over the objects of a list and waits for the result. `scratch` is memory that
/// reductions share, one after the other.
///
///     submit_reduction<A>(executor, list, capacity, parts, before, init, op, function, finish) -> std::size_t
///
/// does not wait. It writes the results of several parts of the list to `parts`, behind the `before` results that are
/// there already, and returns their number. `parts` is device memory with room for `most_parts<A, R, Op, F,
/// Finish>(executor)` more results. The call may be recorded; each replay then writes the same number of results.
///
/// Unless `finish` is LeaveParts, several threads call finish(thread, threads, result) when all of these parts have
/// been written, except for some that will be `init`. Thread 0 gets the combination of all parts. Such a `finish` has a
/// pointer `ticket` to a number in device memory. The number is 0 before and after, and no other reduction uses it at
/// that time.
///
/// A `function` is called as function(block, slot) for an object. On a GPU, if F::kPrefetches is true, 64 threads call
/// function.prefetch(block, lane) before. If `F::Pairs<>` is not void, the loop constructs a `F::Pairs<>` from the
/// function instead, and visits pairs of objects (see pair_loops.h). Only device code can decide between the two: for a
/// method that returns `auto`, nvcc does not tell the host compiler the type.
#pragma once

#include <dynasoar/loops/block_lists.h>
#include <dynasoar/loops/object_loop.h>
#include <dynasoar/loops/pair_loops.h>
#include <dynasoar/platform/config.h>

#include DYNASOAR_BACKEND_HEADER(object_loops.h)
