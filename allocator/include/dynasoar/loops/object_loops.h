/// @file
/// Loops over the objects of listed blocks: for each object a call, or a look at all objects of other lists
/// (pair_loops.h); and reductions over objects.
///
///     loop_over_objects<A>(executor, ObjectLoop{list, capacity, function}...)
///
/// calls a function for every object of the list, or lets them see others. The list's length is read on the device;
/// `capacity` is an upper bound on it. Several such loops run together: on a GPU in one kernel, unless one of them is
/// about pairs of objects.
///
///     reduce_objects<A>(executor, list, capacity, scratch, init, op, function) -> R
///
/// combines `function(block, slot)` over the objects of a list and waits for the result. `scratch` is memory that is
/// kept from one reduction to the next.
///
///     submit_reduction<A>(executor, list, capacity, parts, before, init, op, function, finish) -> std::size_t
///
/// does not wait: it leaves the results of so many parts of the list in `parts`, behind the `before` that are there
/// already. `parts` is device memory with room for `most_parts<A, R, Op, F, Finish>(executor)` more. May be recorded;
/// the number is then that of each replay. Unless `finish` is LeaveParts, it is called when all of these parts are
/// there, but for some that will be `init`, as finish(thread, threads, result) by some threads; thread 0 gets the
/// combination of all. Such a `finish` has a pointer `ticket` to a number in device memory that is 0 before and after,
/// and that no other reduction uses at that time.
///
/// A `function` is called as function(block, slot) for an object. If F::kPrefetches, on a GPU, function.prefetch(block,
/// lane) is called before by 64 threads. If `F::Pairs<>` is not void, it is made of the function instead and says what
/// happens to pairs of objects (see pair_loops.h). Only device code asks which of the two it is: where a method returns
/// `auto`, nvcc tells the host's compiler nothing.
#pragma once

#include <dynasoar/loops/block_lists.h>
#include <dynasoar/loops/object_loop.h>
#include <dynasoar/loops/pair_loops.h>
#include <dynasoar/platform/config.h>

#include DYNASOAR_BACKEND_HEADER(object_loops.h)
