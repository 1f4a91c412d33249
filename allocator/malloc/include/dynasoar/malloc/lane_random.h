/// @file
/// LaneRandom: random numbers for one lane, without state that lanes share. For allocators that distribute their
/// requests randomly.
#pragma once

#include <cstdint>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/threads.h>

namespace dynasoar::detail {

/// A small random generator (PCG-XSH-RR, 64 bits of state) for distributing work; not for statistics or secrets.
class LaneRandom {
 public:
  /// A generator that differs from those of other lanes and from earlier ones of this lane.
  ///
  /// @param warp   `Warp::id()` of the calling lane
  __device__ static LaneRandom of_lane(std::uint32_t warp) { return LaneRandom(lane_seed(warp)); }

  __device__ std::uint32_t next() {
    const std::uint64_t old = state_;
    state_ = old * 6364136223846793005u + 1442695040888963407u;
    const auto mixed = static_cast<std::uint32_t>(((old >> 18) ^ old) >> 27);
    const auto turn = static_cast<std::uint32_t>(old >> 59);
    return mixed >> turn | mixed << ((32 - turn) & 31);
  }

  /// A number below `bound`, each as likely as the others to within bound / 2^32. @pre bound > 0
  __device__ std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(std::uint64_t{next()} * bound >> 32);
  }

 private:
  /// Mixes the seed (the last steps of splitmix64), so that close seeds give unrelated numbers.
  __device__ explicit LaneRandom(std::uint64_t seed) {
    seed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9u;
    seed = (seed ^ (seed >> 27)) * 0x94D049BB133111EBu;
    state_ = seed ^ (seed >> 31);
  }

  std::uint64_t state_;
};

}  // namespace dynasoar::detail
