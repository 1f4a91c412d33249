/// @file
/// look_at_all: a hand-written loop in which every body of an array reads all others, for both backends. For the
/// baselines.
///
///     look_at_all(executor, most, look)
///
/// `most` is an upper bound on the number of bodies. A `look` has the types Source and Result, and device functions:
///
/// - `std::uint32_t bodies()`: the number of bodies
/// - `Source source(j)`: the data that body j shows to others
/// - `Source here(i)`: the data of body i itself
/// - `Result nothing()`: the result before the first body
/// - `Result combined(here, result, source)`: adds a body to a result
/// - `Result merged(result, result)`: combines two results
/// - `finish(i, result)`: stores the result of body i
#pragma once

#include <dynasoar/platform/config.h>

#include DYNASOAR_BACKEND_HEADER(all_pairs.h)
