/// @file
/// SlotLoop: one of the loops that loop_over_slots (place_loops.h) runs together.
#pragma once

#include <cstdint>

namespace dynasoar::detail {

/// A loop over the slots that a mask selects in some words.
template <class M, class F>
struct SlotLoop {
  using Mask = M;
  using Function = F;

  std::uint64_t words;
  M mask;
  F function;
};
template <class M, class F>
SlotLoop(std::uint64_t, M, F) -> SlotLoop<M, F>;

}  // namespace dynasoar::detail
