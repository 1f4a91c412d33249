/// @file
/// Vector3: a vector in space, for host and device.
#pragma once

#include <cmath>

#include <dynasoar/platform/config.h>

namespace benchmarks::flame_gpu {

struct Vector3 {
  float x = 0, y = 0, z = 0;

  __host__ __device__ friend Vector3 operator+(Vector3 a, Vector3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  __host__ __device__ friend Vector3 operator-(Vector3 a, Vector3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  __host__ __device__ friend Vector3 operator*(float f, Vector3 a) { return {f * a.x, f * a.y, f * a.z}; }
};

__host__ __device__ inline float length(Vector3 a) {
  return std::sqrt(a.x * a.x + a.y * a.y + a.z * a.z);
}

}  // namespace benchmarks::flame_gpu
