/// @file
/// The parameters of the models' rules, and the random choices of Sugarscape. Used by the models and the references.
#pragma once

#include <cstdint>

#include <dynasoar/random.h>

namespace benchmarks::flame_gpu {

namespace boids {

inline constexpr float kSight = 0.05f;
inline constexpr float kTooClose = 0.01f;
inline constexpr float kCohesion = 0.055f;
inline constexpr float kAlignment = 0.015f;
inline constexpr float kSeparation = 10;
inline constexpr float kAgility = 0.15f;  ///< the share of the wanted change that happens
inline constexpr float kSlowest = 0.5f;
inline constexpr float kFastest = 1;
inline constexpr float kNearWall = 0.1f;
inline constexpr float kPushOfWall = 0.05f;
inline constexpr float kTimeStep = 0.0005f;

}  // namespace boids

namespace circles {

inline constexpr float kReach = 2;
inline constexpr float kStrength = 0.05f;
inline constexpr float kHalfTurn = 3.141f;  ///< pi, as precise as in the example

}  // namespace circles

namespace sugarscape {

inline constexpr std::int32_t kMostSugar = 7;
inline constexpr std::int32_t kMetabolism = 6;          ///< of agents that have not moved yet
inline constexpr std::int32_t kMetabolismOfMoved = -1;  ///< and of others; also their wealth before they eat
inline constexpr std::int32_t kEaten = -1;              ///< sugar of a cell whose agent has eaten
inline constexpr std::uint32_t kRounds = 9;             ///< of moves in a step, at most

/// Who chooses among several: an agent among cells, or a cell among agents.
enum class Chooser : std::uint32_t { agent, cell };

/// Which of `among` things the chooser in a cell takes.
__host__ __device__ inline std::uint32_t choice(std::uint64_t seed, Chooser who, std::uint64_t cell, std::uint32_t step,
                                                std::uint32_t round, std::uint32_t among) {
  if (among == 1) return 0;
  return dynasoar::random::below(dynasoar::random::words({seed}, who, cell, step, round)[0], among);
}

}  // namespace sugarscape

}  // namespace benchmarks::flame_gpu
