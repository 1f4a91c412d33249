/// @file
/// Loops of teams: threads that work on one thing together, phase by phase, with memory of their own. Used by
/// compaction.cpp and sort.cpp.
///
/// On a GPU a team is a thread block. On a CPU it is a single thread, because there are more things than threads.
///
///     loop_over_teams(executor, most, function)
///
/// calls `function(team, scratch, part, i)` for all parts and all their things; more than `most` teams are not worth
/// it. A `function` has
///
///     Scratch                              what the members of a team share; not initialized
///     int parts()                          how many parts the loop has, none of which may need what another does
///     std::size_t count(part)              how many things there are in a part
///     operator()(team, scratch, part, i)   what a team does with thing number i of a part
///
/// Both numbers are asked for on the device, so they may depend on earlier loops. A `Team` has two functions. Both are
/// phases: the whole team calls them, and they return when all calls of `function` are done.
/// `for_each(count, function)` calls `function(i)` for 0 <= i < count, distributed over the members.
/// `any(count, function)` does the same, and returns whether any call returned true.
///
///     load_team_loop<F>(executor)
///
/// loads the code of loops whose function is an F. CUDA loads a kernel when it is first needed, which fails if memory
/// is short. Call it for all loops of which either none or all have to run, before the first of them; it throws Error
/// then.
#pragma once

#include <dynasoar/platform/config.h>

#include DYNASOAR_BACKEND_HEADER(team_loops.h)
