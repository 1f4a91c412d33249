/// @file
/// Loops over pairs: several threads combine the data of all objects of other lists on behalf of each object of a list.
/// Used by loop_over_objects.
///
/// On a GPU, a thread block takes a share of the objects, and each group of its threads takes one object. Data of the
/// other objects is loaded into shared memory, tile by tile. On a CPU, a thread takes the objects of a block.
///
/// `Pairs` defines the interaction of two objects:
///
///     kOthers                                   the number of lists of other objects
///     List<kList> list<kList>()                 one of these lists, a BlockList or AllBlocks
///     Request, Source, Result                   trivially copyable types
///     Request request(block, slot)              the data of the object that sees others
///     Source load<kList>(block, slot)           the data of another object
///     Result init(request)                      the result without other objects
///     Result combined(request, result, source)  the result with one more object
///     Result merged(request, result, result)    the result of two threads
///     finish(block, slot, request, result)      stores the result
#pragma once

#include <dynasoar/platform/config.h>

#include DYNASOAR_BACKEND_HEADER(pair_loops.h)
