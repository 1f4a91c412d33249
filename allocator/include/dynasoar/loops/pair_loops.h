/// @file
/// Loops over pairs: every object of a list sees all objects of other lists, with the help of several threads. Used by
/// loop_over_objects.
///
/// On a GPU, a thread block takes a share of the objects, and each group of its threads takes one object. Data of the
/// other objects is loaded into shared memory, tile by tile. On a CPU, a thread takes the objects of a block.
///
/// `Pairs` defines the interaction of two objects:
///
///     kOthers                             number of lists of others
///     List<kList> list<kList>()           one of them, a BlockList or AllBlocks
///     Request, Source, Result             trivially copyable
///     Request request(block, slot)        the data of the object that sees others Source load<kList>(block,
///     slot)     the data of another object Result init(request), combined(request, result, source), merged(request,
///     result, result) finish(block, slot, request, result)
#pragma once

#include <dynasoar/platform/config.h>

#include DYNASOAR_BACKEND_HEADER(pair_loops.h)
