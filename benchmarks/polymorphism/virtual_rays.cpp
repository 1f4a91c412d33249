// The ray tracer with virtual functions: see rays.h.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "rays.h"
#include "variant.h"
#include "virtual_objects.h"

namespace benchmarks::polymorphism {
namespace virtual_rays {

class Shape {
 public:
  __device__ explicit Shape(const ShapeSeed& seed) : at_(seed.at), mirrors_(seed.mirrors), darkness_(seed.darkness) {}
  __device__ virtual ~Shape() {}
  __device__ virtual float distance(const Ray& ray) const = 0;
  __device__ virtual Vector3 normal_at(Vector3 point) const = 0;
  __device__ virtual void move(std::uint32_t) {}

  __device__ Surface surface(Vector3 point) const { return {normal_at(point), mirrors_, darkness_}; }

 protected:
  Vector3 at_;
  float mirrors_, darkness_;
};

class Sphere : public Shape {
 public:
  __device__ Sphere(std::uint32_t number, const ShapeSeed& seed) : Shape(seed), number_(number), radius_(seed.radius) {}
  __device__ float distance(const Ray& ray) const override { return distance_to_sphere(ray, at_, radius_); }
  __device__ Vector3 normal_at(Vector3 point) const override { return unit(point - at_); }
  __device__ void move(std::uint32_t step) override { at_.y = moved_height(at_.y, step, number_); }

 private:
  std::uint32_t number_;
  float radius_;
};

class Plane : public Shape {
 public:
  __device__ explicit Plane(const ShapeSeed& seed) : Shape(seed), height_(seed.height) {}
  __device__ float distance(const Ray& ray) const override { return distance_to_plane(ray, at_, height_); }
  __device__ Vector3 normal_at(Vector3) const override { return at_; }

 private:
  float height_;
};

struct World {
  Shape* const* shapes;
  std::uint32_t count;

  __device__ Hit<const Shape*> first_hit(const Ray& ray) const {
    Hit<const Shape*> hit;
    for (std::uint32_t i = 0; i < count; ++i) hit.consider(shapes[i], i, shapes[i]->distance(ray));
    return hit;
  }
  __device__ Surface surface(const Shape* shape, Vector3 point) const { return shape->surface(point); }
};

struct MakeShape {
  const ShapeSeed* seeds;
  __device__ Shape* operator()(void* place, std::size_t i) const {
    if (seeds[i].radius > 0) return make_at<Sphere>(place, static_cast<std::uint32_t>(i), seeds[i]);
    return make_at<Plane>(place, seeds[i]);
  }
};

struct Render {
  World world;
  std::uint32_t width, height;
  float* picture;
  __device__ void operator()(std::size_t i) const {
    picture[i] = trace(world, ray_of_pixel(static_cast<std::uint32_t>(i), width, height));
  }
};

class Rays final : public Variant {
 public:
  explicit Rays(const Scene& scene)
      : width_(scene.width),
        height_(scene.height),
        seeds_(scene.shapes.size()),
        shapes_(executor_, seeds_.size(), MakeShape{uploaded(scene)}),
        picture_(std::size_t{width_} * height_) {}

  bool restart() override {
    steps_ = 0;
    shapes_.restart();
    return true;
  }

  void step() override {
    const std::uint32_t step = steps_++;
    shapes_.for_each([=] __device__(Shape * shape) { shape->move(step); });
    const World world{shapes_.data(), static_cast<std::uint32_t>(shapes_.size())};
    executor_.for_each_index(picture_.size(), Render{world, width_, height_, picture_.data()});
  }

  void synchronize() override { executor_.synchronize(); }

  std::vector<double> result() override {
    synchronize();
    const std::vector<float> picture = picture_.download();
    return {picture.begin(), picture.end()};
  }

 private:
  const ShapeSeed* uploaded(const Scene& scene) {
    seeds_.upload(scene.shapes);
    return seeds_.data();
  }

  std::uint32_t width_, height_;
  std::uint32_t steps_ = 0;
  dynasoar::Executor executor_;
  dynasoar::DeviceArray<ShapeSeed> seeds_;
  VirtualObjects<Shape> shapes_;
  dynasoar::DeviceArray<float> picture_;
};

}  // namespace virtual_rays

std::unique_ptr<Variant> make_virtual_rays(const Scene& scene) {
  return std::make_unique<virtual_rays::Rays>(scene);
}

}  // namespace benchmarks::polymorphism
