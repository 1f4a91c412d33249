/// @file
/// ObjectLoop: one of the loops that loop_over_objects (object_loops.h) runs together.
#pragma once

#include <cstddef>

#include <dynasoar/loops/block_lists.h>

namespace dynasoar::detail {

/// A loop over the objects of a list.
template <class F>
struct ObjectLoop {
  BlockList list;
  std::size_t capacity;  ///< an upper bound on the length of the list, which only the device knows
  F function;
};
template <class F>
ObjectLoop(BlockList, std::size_t, F) -> ObjectLoop<F>;

}  // namespace dynasoar::detail
