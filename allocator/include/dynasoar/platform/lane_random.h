/// @file
/// LaneRandom: random numbers for one lane, from nowhere but the lane itself. For allocators that spread their requests
/// at random and must not share a state for it.
#pragma once

#include <cstdint>

#include <dynasoar/platform/config.h>

#if !DYNASOAR_CUDA_BACKEND
#include <atomic>
#endif

namespace dynasoar::detail {

/// A small random generator (PCG-XSH-RR, 64 bits of state) for spreading work; not for statistics or secrets.
class LaneRandom {
 public:
  /// A generator that differs from the other lanes' and from those that the lane had before: its seed is made of the
  /// warp, the lane and the clock; on the host, of the thread and of how often it has asked.
  ///
  /// @param warp   `Warp::id()` of the calling lane
  __device__ static LaneRandom of_lane(std::uint32_t warp) {
#if DYNASOAR_CUDA_BACKEND
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return LaneRandom((std::uint64_t{warp} * 32 + lane) * kGolden + static_cast<std::uint64_t>(clock64()));
#else
    static std::atomic<std::uint64_t> threads{0};
    thread_local std::uint64_t asked = threads.fetch_add(1, std::memory_order_relaxed) << 32;
    return LaneRandom(asked++ * kGolden + warp);
#endif
  }

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
  static constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15u;  // 2^64 / golden ratio: multiples lie evenly apart

  /// Mixes the seed (splitmix64's last steps), so that seeds which are close give numbers that are not.
  __device__ explicit LaneRandom(std::uint64_t seed) {
    seed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9u;
    seed = (seed ^ (seed >> 27)) * 0x94D049BB133111EBu;
    state_ = seed ^ (seed >> 31);
  }

  std::uint64_t state_;
};

}  // namespace dynasoar::detail
