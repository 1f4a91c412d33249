/// @file
/// Bodies in the plane that attract each other: the common part of n-body and collision, for host and device. Used by
/// every parallel implementation; the references have their own code. apps/n_body/README.md defines the model.
#pragma once

#include <cmath>
#include <cstdint>

#include <app/vector.h>
#include <dynasoar/platform/arithmetic.h>
#include <dynasoar/platform/config.h>

namespace bodies {

using app::squared_length;
using app::Vector;

/// The data that a body shows to bodies that it attracts.
struct alignas(16) Attraction {
  Vector position;
  float mass;
};

/// In m^3 / (kg s^2). Only the value matters here.
inline constexpr float kGravity = 6.673e-11f;
/// Keeps the force of close bodies finite: G m m' / (d^2 + kSoftening).
inline constexpr float kSoftening = 0.05f;

/// The acceleration by a mass at the offset `towards`, without the factor kGravity. It is 0 at distance 0: a body does
/// not attract itself.
__host__ __device__ inline Vector pull(Vector towards, float mass) {
  // 1 / ((d^2 + kSoftening) d) with one root; bounded, so that distance 0 gives 0 and not 0 * infinity.
  const float squared = squared_length(towards);
  const float softened = squared + kSoftening;
  return mass * dynasoar::detail::inverse_square_root(std::fmax(softened * softened * squared, 1e-30f)) * towards;
}

/// A body's motion for a time step: first its velocity, then its position. A component of the velocity is reversed if
/// the position has left [-1, 1].
__host__ __device__ inline void advance(Vector& position, Vector& velocity, Vector acceleration, float time) {
  velocity = velocity + time * acceleration;
  position = position + time * velocity;
  if (position.x < -1 || position.x > 1) velocity.x = -velocity.x;
  if (position.y < -1 || position.y > 1) velocity.y = -velocity.y;
}

}  // namespace bodies
