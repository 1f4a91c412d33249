/// @file
/// The model's arithmetic, shared by every parallel implementation. Defined in README.md.
///
/// All of it is in single precision, with every operation rounded separately. The build prevents compilers from fusing
/// multiplications with additions (CMakeLists.txt), so that all implementations get the same bits on every backend.
#pragma once

#include <cmath>

#include <dynasoar/platform/config.h>

#include "simulation.h"

namespace structure {

/// Loops over the springs and the free nodes in a step.
inline constexpr int kRelaxations = 40;

/// The numbers that moving needs, passed to the device by value.
struct Physics {
  float strength;
  float time_step;
  float velocity_per_force;  ///< that a free node gains in a time step

  static Physics of(const Parameters& parameters) {
    const float time_step = 0.2f;
    return {static_cast<float>(parameters.strength), time_step, time_step / static_cast<float>(parameters.mass)};
  }
};

__host__ __device__ inline Vector operator+(Vector a, Vector b) {
  return {a.x + b.x, a.y + b.y};
}

__host__ __device__ inline Vector operator-(Vector a, Vector b) {
  return {a.x - b.x, a.y - b.y};
}

__host__ __device__ inline Vector operator*(Vector v, float factor) {
  return {v.x * factor, v.y * factor};
}

__host__ __device__ inline float length(Vector v) {
  return std::sqrt(v.x * v.x + v.y * v.y);
}

/// What a spring does at the present length.
struct Pull {
  bool breaks;
  Vector force;  ///< on the end that is `here`; the force on the other end is exactly the opposite
};

/// @param here, there   positions of the spring's ends
/// @return              whether the spring breaks, or else the force on the end that is here
__host__ __device__ inline Pull pull_of(Vector here, Vector there, float factor, float rest_length, float strength) {
  const Vector along = there - here;
  const float now = length(along);
  const float tension = now > rest_length ? factor * (now - rest_length) : 0.0f;
  if (tension > strength) return {true, {}};
  if (tension <= 0) return {false, {}};
  return {false, along * (tension / now)};
}

}  // namespace structure
