/// @file
/// Search: the host part of a breadth-first search with parallel loops as its phases. Used by every parallel
/// implementation.
#pragma once

#include <cstdint>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/memory.h>

namespace structure {

/// A node's distance from the nearest anchor, in springs. Nodes at distance d assign d + 1 to neighbours without a
/// distance. Several may do so for one node at the same time, all with the same value.
using Distance = dynasoar::AtomicWord<std::uint32_t>;

inline constexpr std::uint32_t kUnreached = 0xFFFFFFFF;

/// Gives a node a distance if it has none. Notes it in `farthest`, the largest distance so far.
__device__ inline void reach(Distance& node, std::uint32_t distance, Distance& farthest) {
  // Relaxed: later loops use the distances. This loop only needs to know whether there is one.
  constexpr auto kOrder = dynasoar::Order::relaxed;
  if (node.load(kOrder) != kUnreached) return;
  node.store(distance, kOrder);
  if (farthest.load(kOrder) != distance) farthest.store(distance, kOrder);
}

/// Submits phases until one has reached no node.
///
/// Only the device knows the number of necessary phases. Distances change little from step to step. So the host submits
/// as many phases as the last search needed, reads the largest distance, and submits a few more at a time if necessary.
/// Unnecessary phases do nothing.
class Search {
 public:
  Search() : farthest_(1) {}

  /// @param submit   `submit(d, farthest)` submits a loop in which all nodes at distance d reach() their neighbours
  template <class SubmitPhase>
  void run(SubmitPhase submit) {
    farthest_.fill_bytes(0);
    std::uint32_t phases = 0;
    std::uint32_t farthest = 0;
    for (std::uint32_t more = expected_; farthest >= phases; more = kPhasesPerLook) {
      for (; more > 0; --more) submit(phases++, farthest_.data());
      farthest = farthest_.download()[0].load(dynasoar::Order::relaxed);
    }
    expected_ = farthest + 1;
  }

 private:
  static constexpr std::uint32_t kPhasesPerLook = 4;

  dynasoar::DeviceArray<Distance> farthest_;
  std::uint32_t expected_ = kPhasesPerLook;
};

}  // namespace structure
