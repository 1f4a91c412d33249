/// @file
/// Loops over pairs: every object of a list looks at all objects of other lists, with the help of several threads. Used
/// by loop_over_objects.
///
/// On a GPU, a thread block takes a share of the objects, groups of its threads an object each. What is to be read of
/// the others goes through shared memory, tile by tile. On a CPU, a thread takes the objects of a block.
///
/// `Pairs` says what happens to two objects:
///
///     kOthers                             number of lists of others
///     List<kList> list<kList>()           one of them, a BlockList or AllBlocks
///     Request, Source, Result             trivially copyable
///     Request request(block, slot)        what an object wants to know
///     Source load<kList>(block, slot)     what is read of another one
///     Result init(request), combined(request, result, source), merged(request, result, result)
///     finish(block, slot, request, result)
#pragma once

#include <dynasoar/platform/config.h>

#include DYNASOAR_BACKEND_HEADER(pair_loops.h)
