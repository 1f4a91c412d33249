/// @file
/// Loops over slots that words of bits select: over the objects of a class that is placed on a lattice, over all places
/// and over free places.
///
///     loop_over_slots<A>(executor, words, mask, function)
///
/// calls `function(slot)`, with a std::uint64_t, for every slot 64 w + i such that bit i of `mask(w)` is set, 0 <= w <
/// words, in device code that may use objects of allocator type A. On a GPU, a warp takes a few words and, if
/// `M::kSelectsFew`, deals the slots that are selected to its lanes, so that no lane idles while others work.
///
/// A function with `F::kIsConditional` has two parts: `function.answer(slot)`, which says whether there is anything to
/// do, and `function.act(slot, answer)`, which does it. A warp then collects the slots with something to do first, and
/// deals these to its lanes again: where few have any, as where few animals move, it acts in fewer rounds.
#pragma once

#include <dynasoar/platform/config.h>

#include DYNASOAR_BACKEND_HEADER(place_loops.h)
