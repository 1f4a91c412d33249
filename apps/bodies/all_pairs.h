/// @file
/// look_at_all: every body of an array looks at all others, written by hand for both backends. For the baselines.
///
///     look_at_all(executor, most, look)
///
/// `most` is an upper bound on the number of bodies. A `look` has the types Source and Result, and device functions
///
///     std::uint32_t bodies()            how many there are
///     Source source(j)                  what a body shows to others
///     Source here(i)                    what it knows of itself
///     Result nothing()
///     Result combined(here, result, source), merged(result, result)
///     finish(i, result)
#pragma once

#include <dynasoar/platform/config.h>

#include DYNASOAR_BACKEND_HEADER(all_pairs.h)
