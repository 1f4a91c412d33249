/// @file
/// The ray tracer's scene: spheres that rise and fall over planes, and one light. Plain C++; the arithmetic of shapes
/// and rays is in rays.h.
#pragma once

#include <cstdint>
#include <vector>

namespace benchmarks::polymorphism {

struct Vector3 {
  float x = 0, y = 0, z = 0;
};

/// A sphere or, if the radius is 0, a plane.
struct ShapeSeed {
  Vector3 at;      ///< the sphere's centre, or the plane's normal
  float radius;    ///< 0: a plane
  float height;    ///< of a plane, along its normal
  float mirrors;   ///< share of the light that comes from where the ray is reflected to
  float darkness;  ///< of its surface, at most 1
};

struct Scene {
  std::vector<ShapeSeed> shapes;
  std::uint32_t width;
  std::uint32_t height;
};

/// Spheres at random, and a floor and two walls.
Scene random_scene(std::uint32_t spheres, std::uint32_t width, std::uint32_t height);

}  // namespace benchmarks::polymorphism
