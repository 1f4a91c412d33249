/// @file
/// The rules of the flock, for host and device. Used by every parallel implementation; the reference has its own
/// code. README.md defines them.
#pragma once

#include <cmath>
#include <cstdint>

#include <app/vector.h>
#include <dynasoar/platform/config.h>

namespace flocking {

using app::Vector;

/// The distance that a boid sees, which is the unit of length, and the distance below which others are too close.
inline constexpr float kSight = 1;
inline constexpr float kTooClose = 0.4f;

/// The weights of the rules.
inline constexpr float kAlignment = 0.08f;
inline constexpr float kCohesion = 0.002f;
inline constexpr float kSeparation = 0.005f;

/// Speeds, per step.
inline constexpr float kSlowest = 0.03f;
inline constexpr float kFastest = 0.06f;

/// The data of a boid that others see.
struct alignas(16) Bird {
  Vector position;
  Vector velocity;
};

/// The sums over a boid's neighbours.
struct Impression {
  float neighbours = 0;
  Vector velocities;
  Vector offsets;
  Vector away;  ///< away from boids that are too close, more if they are closer

  __host__ __device__ friend Impression operator+(const Impression& a, const Impression& b) {
    return {a.neighbours + b.neighbours, a.velocities + b.velocities, a.offsets + b.offsets, a.away + b.away};
  }

  /// The velocity after the step of a boid with this impression.
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

/// The contribution of a neighbour to the impression.
__host__ __device__ inline Impression impression_of(Vector offset, float squared_distance, Vector velocity) {
  constexpr float kSquare = kTooClose * kTooClose;
  constexpr float kPerSquare = 1 / kSquare;
  const float pressure = squared_distance < kSquare ? 1 - kPerSquare * squared_distance : 0;
  return {1, velocity, offset, -pressure * offset};
}

/// Neighbours are added up in several partial sums: kSumsOfFew for up to kFewBoids, and kSumsOfSome for up to
/// kSomeBoids. Boid number i, counted cell by cell, is added to sum i modulo their number. For more boids, there is one
/// sum.
inline constexpr std::uint32_t kFewBoids = 1 << 15;
inline constexpr std::uint32_t kSumsOfFew = 16;
inline constexpr std::uint32_t kSomeBoids = 1 << 18;
inline constexpr std::uint32_t kSumsOfSome = 4;

}  // namespace flocking
