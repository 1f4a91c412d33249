/// @file
/// Loops over the slots that a bit mask selects: the objects of a placed class, all places of a lattice, or its free
/// places.
///
///     loop_over_slots<A>(executor, SlotLoop{range, mask, function}...)
///
/// calls `function(slot)`, with a std::uint64_t, for every slot 64 w + i such that w is a word of the range and bit i
/// of `mask(w)` is set. The function is device code that may use objects of allocator type A. Several such loops run
/// together, in one kernel. On a GPU, each warp takes a few words of one loop. If `kSelectsFew` of the mask's type is
/// true, the warp distributes the selected slots evenly over its lanes. `kIsOfObjects` of the mask's type is true if
/// the mask selects all places in a loop over objects: fewer warps then share the registers, and a warp takes more
/// words.
///
/// If `kIsConditional` of the function's type is true, the function has two parts: `function.answer(slot)`, the
/// condition, and `function.act(slot, answer)`, the action. A warp then first evaluates the condition for all its
/// slots. It distributes only the slots for which the condition holds over its lanes, and so acts in fewer rounds. On a
/// CPU, `act` follows directly after `answer`.
#pragma once

#include <dynasoar/loops/slot_loop.h>
#include <dynasoar/platform/config.h>

#include DYNASOAR_BACKEND_HEADER(place_loops.h)
