// The ray tracer with shapes as objects of DynaSOAr: see rays.h. The thread of a pixel asks all shapes.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "measure.h"
#include "rays.h"
#include "variant.h"

namespace benchmarks::polymorphism {
namespace object_rays {

class Shape;
class Sphere;
class Plane;
using AllocatorT = dynasoar::SoaAllocator<Sphere, Plane>;

DYNASOAR_METHOD(NormalAt, normal_at);

class Shape : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Shape, (number_, std::uint32_t), (at_, Vector3), (mirrors_, float), (darkness_, float));
  __device__ Shape(std::uint32_t number, const ShapeSeed& seed)
      : number_(number), at_(seed.at), mirrors_(seed.mirrors), darkness_(seed.darkness) {}
};

class Sphere : public Shape {
 public:
  using BaseClass = Shape;
  DYNASOAR_FIELDS(Sphere, (radius_, float));
  __device__ Sphere(std::uint32_t number, const ShapeSeed& seed) : Shape(number, seed), radius_(seed.radius) {}
  __device__ float distance(const Ray& ray) const { return distance_to_sphere(ray, at_, radius_); }
  __device__ Vector3 normal_at(Vector3 point) const { return unit(point - at_.get()); }
  __device__ void move(std::uint32_t step) { at_->y = moved_height(at_->y, step, number_); }
};

class Plane : public Shape {
 public:
  using BaseClass = Shape;
  DYNASOAR_FIELDS(Plane, (height_, float));
  __device__ Plane(std::uint32_t number, const ShapeSeed& seed) : Shape(number, seed), height_(seed.height) {}
  __device__ float distance(const Ray& ray) const { return distance_to_plane(ray, at_, height_); }
  __device__ Vector3 normal_at(Vector3) const { return at_; }
};

/// Of a shape of each class.
struct Consider {
  template <class S>
  __device__ void operator()(S* shape, Hit<Shape*>& hit, const Ray& ray) const {
    hit.consider(shape, shape->number_, shape->distance(ray));
  }
};

struct World {
  __device__ Hit<Shape*> first_hit(const Ray& ray) const {
    Hit<Shape*> hit;
    dynasoar::device_do<Shape>(Consider{}, hit, ray);
    return hit;
  }
  __device__ Surface surface(Shape* shape, Vector3 point) const {
    return {dynasoar::call<NormalAt>(shape, point), shape->mirrors_, shape->darkness_};
  }
};

struct MakeShape {
  const ShapeSeed* seeds;
  __device__ void operator()(std::size_t i) const {
    const auto number = static_cast<std::uint32_t>(i);
    if (seeds[i].radius > 0) {
      dynasoar::make_new<Sphere>(number, seeds[i]);
    } else {
      dynasoar::make_new<Plane>(number, seeds[i]);
    }
  }
};

struct Render {
  std::uint32_t width, height;
  float* picture;
  __device__ void operator()(std::size_t i) const {
    picture[i] = trace(World{}, ray_of_pixel(static_cast<std::uint32_t>(i), width, height));
  }
};

class Rays final : public Variant {
 public:
  explicit Rays(const Scene& scene)
      : width_(scene.width),
        height_(scene.height),
        handle_({.heap_bytes = heap_bytes_with_room<Sphere>(scene.shapes.size()) +
                               heap_bytes_with_room<Plane>(scene.shapes.size())}),
        picture_(std::size_t{width_} * height_) {
    dynasoar::DeviceArray<ShapeSeed> seeds(scene.shapes.size());
    seeds.upload(scene.shapes);
    handle_.parallel_for(seeds.size(), MakeShape{seeds.data()});
    handle_.synchronize();
  }

  void step() override {
    handle_.parallel_do<&Sphere::move>(steps_++);
    handle_.parallel_for(picture_.size(), Render{width_, height_, picture_.data()});
  }

  void synchronize() override { handle_.synchronize(); }

  std::vector<double> result() override {
    synchronize();
    const std::vector<float> picture = picture_.download();
    return {picture.begin(), picture.end()};
  }

 private:
  std::uint32_t width_, height_;
  std::uint32_t steps_ = 0;
  dynasoar::AllocatorHandle<AllocatorT> handle_;
  dynasoar::DeviceArray<float> picture_;
};

}  // namespace object_rays

std::unique_ptr<Variant> make_object_rays(const Scene& scene) {
  return std::make_unique<object_rays::Rays>(scene);
}

}  // namespace benchmarks::polymorphism
