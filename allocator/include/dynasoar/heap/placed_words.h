/// @file
/// PlacedWords: the words with the places of objects on a lattice. For code that is compiled once for all programs,
/// which refreshes the words before a loop, counts objects, and makes lists for reductions and columns.
#pragma once

#include <cstdint>

#include <dynasoar/base/view.h>
#include <dynasoar/classes/occupancy.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

/// The words of one class. A class with an object at every place has none.
struct PlacedWords : Occupancy<PlatformAtomics> {
  std::uint64_t words;
};

/// Lets the next loop see the changes of earlier loops. May be recorded.
/// @par Cost   one kernel for up to 16 classes, which reads two words per 64 places, and writes words that have changed
void refresh_places(Executor& executor, View<PlacedWords> classes);

/// Adds the number of objects that are seen in some words to `total`, in device memory.
void count_seen(Executor& executor, const std::uint64_t* seen, std::uint64_t words, AtomicWord<std::uint64_t>* total);

/// Makes a list of all blocks. @param list   has room for them
void list_all(Executor& executor, const AllBlocks& blocks, const BlockList& list);

}  // namespace dynasoar::detail
