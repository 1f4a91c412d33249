/// @file
/// The rules of the flock, for host and device. Used by every parallel implementation; the reference has code of its
/// own. Defined in README.md.
#pragma once

#include <cmath>
#include <cstdint>

#include <app/vector.h>
#include <dynasoar/platform/config.h>

namespace flocking {

using app::Vector;

/// How far a boid sees, the unit of length; and what is too close.
inline constexpr float kSight = 1;
inline constexpr float kTooClose = 0.4f;

/// How strongly each rule acts.
inline constexpr float kAlignment = 0.08f;
inline constexpr float kCohesion = 0.002f;
inline constexpr float kSeparation = 0.005f;

/// Speeds, per step.
inline constexpr float kSlowest = 0.03f;
inline constexpr float kFastest = 0.06f;

/// What others see of a boid.
struct alignas(16) Bird {
  Vector position;
  Vector velocity;
};

/// What a boid has seen of its neighbours.
struct Impression {
  float neighbours = 0;
  Vector velocities;
  Vector offsets;
  Vector away;  ///< from those too close: the more, the closer

  __host__ __device__ friend Impression operator+(const Impression& a, const Impression& b) {
    return {a.neighbours + b.neighbours, a.velocities + b.velocities, a.offsets + b.offsets, a.away + b.away};
  }

  /// The velocity after the step of who has seen this.
  __host__ __device__ Vector steered(Vector velocity) const {
    if (neighbours == 0) return velocity;
    const float share = 1 / neighbours;
    const Vector aligned = share * velocities - velocity;
    const Vector gathered = share * offsets;
    const Vector wish =
        velocity + float{kAlignment} * aligned + float{kCohesion} * gathered + float{kSeparation} * away;
    const float speed = std::sqrt(wish.x * wish.x + wish.y * wish.y);
    if (!(speed > 0)) return velocity;
    const float allowed = std::fmin(std::fmax(speed, float{kSlowest}), float{kFastest});
    return allowed / speed * wish;
  }
};

/// What a neighbour adds to the impression.
__host__ __device__ inline Impression impression_of(Vector offset, float squared_distance, Vector velocity) {
  constexpr float kSquare = kTooClose * kTooClose;
  constexpr float kPerSquare = 1 / kSquare;
  const float pressure = squared_distance < kSquare ? 1 - kPerSquare * squared_distance : 0;
  return {1, velocity, offset, -pressure * offset};
}

/// Up to so many boids, neighbours are added up in kSums sums: number i of all boids, cell by cell, goes to number i
/// modulo kSums. Beyond, in one.
inline constexpr std::uint32_t kFewBoids = 1 << 16;
inline constexpr std::uint32_t kSums = 16;

}  // namespace flocking
