/// @file
/// Script: what one thread does in a HeapScenario, step by step.
#pragma once

#include <cstdint>
#include <vector>

#include <dynasoar/platform/order.h>

namespace dynasoar::test {

/// A call of HeapScenario's function of the same name, for scripts. Plain data: what a thread allocates would be
/// Relacy's memory.
struct Step {
  enum Kind { kTake, kGive, kTakeAndGive, kTakeAndGiveAround, kTakeBlocks, kTakeAndGiveBlocks, kRaise, kAwait } kind;
  int what;  ///< type, object or flag
  std::uint32_t warp_id = 0;
  int want = 0;
  Order order = Order::relaxed;
};
using Script = std::vector<Step>;

// The last argument but `want` is the requester: requesters with different numbers have current blocks of their own if
// there is more than one.
inline Step take(int type, std::uint32_t warp_id, int want = 1) {
  return {Step::kTake, type, warp_id, want};
}
inline Step give(int object, std::uint32_t warp_id) {
  return {Step::kGive, object, warp_id};
}
inline Step take_and_give(int type, std::uint32_t warp_id, int want = 1) {
  return {Step::kTakeAndGive, type, warp_id, want};
}
inline Step take_and_give_around(int type, std::uint32_t warp_id) {
  return {Step::kTakeAndGiveAround, type, warp_id};
}
inline Step take_blocks(int type, std::uint32_t warp_id, int want = 2) {
  return {Step::kTakeBlocks, type, warp_id, want};
}
inline Step take_and_give_blocks(int type, std::uint32_t warp_id, int want = 2) {
  return {Step::kTakeAndGiveBlocks, type, warp_id, want};
}
inline Step raise(int flag, Order order) {
  return {Step::kRaise, flag, 0, 0, order};
}
inline Step await(int flag, Order order) {
  return {Step::kAwait, flag, 0, 0, order};
}

}  // namespace dynasoar::test
