/// @file
/// SlotLoop: one of the loops that loop_over_slots (place_loops.h) runs together.
#pragma once

#include <cstdint>

namespace dynasoar::detail {

/// Consecutive words.
struct WordRange {
  std::uint64_t first, words;
};

/// A loop over the slots that a mask selects in some words.
template <class M, class F>
struct SlotLoop {
  using Mask = M;
  using Function = F;

  WordRange range;
  M mask;
  F function;
};
template <class M, class F>
SlotLoop(WordRange, M, F) -> SlotLoop<M, F>;

}  // namespace dynasoar::detail
