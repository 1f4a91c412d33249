/// @file
/// A base class and two subclasses: loops over all, over one class, and what an object is at run time.
///
/// Prints:
///     300 shapes, 100 circles, 200 rectangles
///     total area 914.2
///     after growing: 2056.9
///     40 rectangles are large
#include <cstddef>
#include <cstdio>

#include <dynasoar/dynasoar.h>

class Circle;
class Rectangle;
using AllocatorT = dynasoar::SoaAllocator<Circle, Rectangle>;  // Shape is missing: there are no objects of just that

class Shape : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Shape, (scale_, float));
  __device__ explicit Shape(float scale) : scale_(scale) {}
  __device__ void grow(float factor) { scale_ *= factor; }  // for every shape; subclasses inherit it
  __device__ float area();                                  // chooses by the object's class, see below
};

class Circle : public Shape {
 public:
  using BaseClass = Shape;  // said once more for the library
  DYNASOAR_FIELDS(Circle);  // no fields of its own
  __device__ explicit Circle(std::size_t) : Shape(1) {}
  __device__ float area_of_circle() { return 3.14159f * scale_ * scale_; }
};

class Rectangle : public Shape {
 public:
  using BaseClass = Shape;
  DYNASOAR_FIELDS(Rectangle, (width_, int), (height_, int));
  __device__ explicit Rectangle(std::size_t index) : Shape(1), width_(static_cast<int>(index % 5)), height_(1) {
    if (width_ == 0) width_ = 5;
  }
  __device__ float area_of_rectangle() { return static_cast<float>(width_ * height_) * scale_ * scale_; }
};

// There are no virtual functions: cast gives null if the object is of another class.
__device__ inline float Shape::area() {
  if (Circle* circle = dynasoar::cast<Circle>(this)) return circle->area_of_circle();
  return static_cast<Rectangle*>(this)->area_of_rectangle();
}

struct AreaOf {
  __device__ double operator()(Shape* shape) const { return static_cast<double>(shape->area()); }
};
struct IsLarge {
  __device__ bool operator()(Rectangle* rectangle) const { return rectangle->area() > 11; }
};

int main() {
  dynasoar::AllocatorHandle<AllocatorT> handle;
  handle.parallel_new<Circle>(100);
  handle.parallel_new<Rectangle>(200);
  std::printf("%d shapes, %d circles, %d rectangles\n", static_cast<int>(handle.count<Shape>()),
              static_cast<int>(handle.count<Circle>()), static_cast<int>(handle.count<Rectangle>()));
  std::printf("total area %.1f\n", handle.reduce<Shape>(0.0, dynasoar::Plus{}, AreaOf{}));
  handle.parallel_do<Shape, &Shape::grow>(1.5f);  // circles and rectangles; <Circle, &Shape::grow> is circles alone
  std::printf("after growing: %.1f\n", handle.reduce<Shape>(0.0, dynasoar::Plus{}, AreaOf{}));
  std::printf("%d rectangles are large\n", static_cast<int>(handle.count_if<Rectangle>(IsLarge{})));
}
