/// @file
/// Triangles to build k-d trees over: made up, or read from a file. Plain C++.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace benchmarks::allocators {

/// A box with sides along the axes; a triangle is its box here.
struct Box {
  float low[3];
  float high[3];
};

/// The boxes of `triangles` triangles: a hilly terrain with spheres on it, of very different sizes and fineness.
std::vector<Box> make_scene(std::size_t triangles);

/// The boxes of the triangles in a file in the OBJ format; of faces with more corners, those that a fan makes.
/// @throws std::runtime_error that names file and line if it cannot be read
std::vector<Box> read_obj(const std::string& path);

}  // namespace benchmarks::allocators
