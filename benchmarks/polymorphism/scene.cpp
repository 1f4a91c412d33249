#include "scene.h"

#include "random_numbers.h"

namespace benchmarks::polymorphism {

Scene random_scene(std::uint32_t spheres, std::uint32_t width, std::uint32_t height) {
  Scene scene{{}, width, height};
  scene.shapes.push_back({{0, 1, 0}, 0, 0, 0.25f, 0.25f});   // the floor
  scene.shapes.push_back({{0, 0, 1}, 0, 40, 0.125f, 0.5f});  // the walls
  scene.shapes.push_back({{1, 0, 0}, 0, -15, 0, 0.375f});
  for (std::uint32_t i = 0; i < spheres; ++i) {
    const auto random = [i](std::uint32_t what) { return static_cast<float>(hashed(i, what) % 1024) / 1024; };
    scene.shapes.push_back({{-14 + 28 * random(0), 1 + 10 * random(1), 40 * random(2)},
                            0.25f + 0.75f * random(3),
                            0,
                            hashed(i, 4) % 2 == 0 ? 0.5f : 0,
                            0.5f * random(5)});
  }
  return scene;
}

}  // namespace benchmarks::polymorphism
