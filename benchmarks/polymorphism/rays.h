/// @file
/// The arithmetic of the ray tracer's shapes and rays. Used by all variants. Every operation is rounded by itself
/// (CMakeLists.txt), so that they get the same picture.
#pragma once

#include <cmath>
#include <cstdint>

#include <dynasoar/platform/config.h>

#include "scene.h"

namespace benchmarks::polymorphism {

__host__ __device__ inline Vector3 operator+(Vector3 a, Vector3 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
__host__ __device__ inline Vector3 operator-(Vector3 a, Vector3 b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
__host__ __device__ inline Vector3 operator*(float f, Vector3 a) {
  return {f * a.x, f * a.y, f * a.z};
}
__host__ __device__ inline float dot(Vector3 a, Vector3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
__host__ __device__ inline Vector3 unit(Vector3 a) {
  return (1 / std::sqrt(dot(a, a))) * a;
}

struct Ray {
  Vector3 from;
  Vector3 towards;  ///< of length 1
};

inline constexpr float kNowhere = 1e30f;    ///< the distance of what a ray does not hit
inline constexpr float kClose = 1e-3f;      ///< a ray does not hit what is closer: it comes from there
inline constexpr float kRiseFall = 0.125f;  ///< how far a sphere moves in a step
inline constexpr std::uint32_t kReflections = 2;

/// Along the ray, how far a sphere is.
__host__ __device__ inline float distance_to_sphere(const Ray& ray, Vector3 centre, float radius) {
  const Vector3 offset = centre - ray.from;
  const float along = dot(offset, ray.towards);
  const float squared = along * along - dot(offset, offset) + radius * radius;
  if (squared < 0) return kNowhere;
  const float half = std::sqrt(squared);
  if (along - half > kClose) return along - half;
  return along + half > kClose ? along + half : kNowhere;
}

/// Along the ray, how far a plane is.
__host__ __device__ inline float distance_to_plane(const Ray& ray, Vector3 normal, float height) {
  const float speed = dot(ray.towards, normal);
  const float distance = speed == 0 ? kNowhere : (height - dot(ray.from, normal)) / speed;
  return distance > kClose ? distance : kNowhere;
}

/// Where a sphere is after a step. @param step   its number, from 0
__host__ __device__ inline float moved_height(float y, std::uint32_t step, std::uint32_t number) {
  return (step + number) % 16 < 8 ? y + kRiseFall : y - kRiseFall;
}

/// The ray of a pixel, from the eye.
__host__ __device__ inline Ray ray_of_pixel(std::uint32_t pixel, std::uint32_t width, std::uint32_t height) {
  const float x = static_cast<float>(pixel % width) - 0.5f * static_cast<float>(width);
  const float y = 0.5f * static_cast<float>(height) - static_cast<float>(pixel / width);
  return {{0, 4, -20}, unit({x, y, static_cast<float>(width)})};
}

/// What a ray hits first. Of two shapes at the same distance, the one with the lower number.
///
/// @tparam Shape   pointer to a shape
template <class Shape>
struct Hit {
  float distance = kNowhere;
  std::uint32_t number = 0;
  Shape shape = nullptr;
  __host__ __device__ void consider(Shape other, std::uint32_t other_number, float other_distance) {
    if (other_distance > distance) return;
    if (other_distance == distance && (shape == nullptr || other_number > number)) return;
    distance = other_distance;
    number = other_number;
    shape = other;
  }
};

/// How a surface looks from where a ray comes from.
struct Surface {
  Vector3 normal;  ///< of length 1
  float mirrors;
  float darkness;
};

/// The brightness of what a ray hits, from 0 to 1.
///
/// @tparam World   `first_hit(ray)`, a Hit whose shape is null if there is nothing; `surface(shape, point)`
template <class World>
__device__ float trace(const World& world, Ray ray) {
  const Vector3 light{-10, 30, -20};
  float brightness = 0;
  float share = 1;
  for (std::uint32_t depth = 0; depth <= kReflections; ++depth) {
    const auto hit = world.first_hit(ray);
    if (hit.shape == nullptr) return brightness + share * 0.25f;  // the sky
    const Vector3 point = ray.from + hit.distance * ray.towards;
    Surface surface = world.surface(hit.shape, point);
    if (dot(surface.normal, ray.towards) > 0) surface.normal = -1.0f * surface.normal;
    const Vector3 to_light = light - point;
    const Ray shadow{point, unit(to_light)};
    const float slope = dot(surface.normal, shadow.towards);
    float lit = 0.125f;
    if (slope > 0) {
      const float first = world.first_hit(shadow).distance;
      if (first * first > dot(to_light, to_light)) lit = lit + 0.875f * slope;
    }
    brightness = brightness + share * (1 - surface.mirrors) * (1 - surface.darkness) * lit;
    share = share * surface.mirrors;
    if (share == 0) return brightness;
    ray = {point, ray.towards - (2 * dot(ray.towards, surface.normal)) * surface.normal};
  }
  return brightness;
}

}  // namespace benchmarks::polymorphism
