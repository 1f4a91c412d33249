/// @file
/// Vector: a vector of the plane, for host and device. For models with objects that have coordinates.
#pragma once

#include <dynasoar/platform/config.h>

namespace app {

struct Vector {
  float x = 0;
  float y = 0;

  __host__ __device__ friend Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y}; }
  __host__ __device__ friend Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y}; }
  __host__ __device__ friend Vector operator*(float factor, Vector a) { return {factor * a.x, factor * a.y}; }
};

__host__ __device__ inline float squared_length(Vector a) {
  return a.x * a.x + a.y * a.y;
}

}  // namespace app
