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
///     Scratch                              the shared memory of a team; not initialized int
///     parts()                          the number of parts of the loop, which must be independent std::size_t
///     count(part)              the number of things in a part operator()(team, scratch, part, i)   the work of a team
///     on thing number i of a part
///
/// Both numbers are computed on the device, so they may depend on earlier loops. A `Team` has two functions. Both are
/// phases: the whole team calls them, and they return when all calls of `function` have returned. `for_each(count,
/// function)` calls `function(i)` for 0 <= i < count, distributed over the members. `any(count, function)` does the
/// same, and returns whether any call returned true.
///
///     load_team_loop<F>(executor)
///
/// loads the code of loops with a function of type F. CUDA loads a kernel when it is first needed, which fails if
/// memory is short. If either none or all of several loops have to run, call this for all of them before the first one;
/// it throws Error if a load fails.
#pragma once

#include <dynasoar/platform/config.h>

#include DYNASOAR_BACKEND_HEADER(team_loops.h)
