/// @file
/// look_at_all: a hand-written loop in which every body of an array looks at all others, for both backends. For the
/// baselines.
///
///     look_at_all(executor, most, look)
///
/// `most` is an upper bound on the number of bodies. A `look` has the types Source and Result, and device functions
///
///     std::uint32_t bodies()            the number of bodies Source source(j)                  the data that a body
///     shows to others Source here(i)                    the data of the body itself Result nothing() Result
///     combined(here, result, source), merged(result, result) finish(i, result)
#pragma once

#include <dynasoar/platform/config.h>

#include DYNASOAR_BACKEND_HEADER(all_pairs.h)
