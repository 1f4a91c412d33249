/// @file
/// Loops of teams. A team is a group of threads that work on one thing together, phase by phase, with shared memory.
/// Used by compaction.cpp and sort.cpp.
///
/// On a GPU a team is a thread block. On a CPU it is a single thread, because there are more things than threads.
///
///     loop_over_teams(executor, most, function)
///
/// calls `function(team, scratch, part, i)` for all parts and all their things, with at most `most` teams. A `function`
/// has
///
///     Scratch                              the shared memory of a team; not initialized
///     int parts()                          the number of parts of the loop, which must be independent
///     std::size_t count(part)              the number of things in a part
///     operator()(team, scratch, part, i)   the work of a team on thing number i of a part
///
/// Both numbers are computed on the device, so they may depend on earlier loops. A `Team` has two functions, each of
/// which is a phase: the whole team calls it, and it returns when all calls of its argument have returned.
/// `for_each(count, f)` calls `f(i)` for 0 <= i < count, distributed over the members of the team. `any(count, f)` does
/// the same, and returns whether any call returned true.
///
///     load_team_loop<F>(executor)
///
/// loads the code of loops with a function of type F, and throws Error if this fails. CUDA loads a kernel when it is
/// first needed, which fails if memory is short. If several loops must run either all or not at all, call this for each
/// of them before the first one.
#pragma once

#include <dynasoar/platform/config.h>

#include DYNASOAR_BACKEND_HEADER(team_loops.h)
