// How fast loops read and write fields, against hand-written kernels over plain arrays, in useful bytes per second:
// the bytes that the computation has to read and write, whatever else is moved.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "measure.h"
#include "report.h"

namespace benchmarks {
namespace field_loop {

constexpr float kDt = 0.1f;

// pos += vel * dt in two dimensions; three more fields that are not touched.
class Body;
using BodyAllocator = dynasoar::SoaAllocator<Body>;
class Body : public dynasoar::SoaBase<BodyAllocator> {
 public:
  DYNASOAR_FIELDS(Body, (x_, float), (y_, float), (vx_, float), (vy_, float), (mass_, float), (fx_, float),
                  (fy_, float));
  __device__ explicit Body(std::size_t) : x_(0), y_(0), vx_(1), vy_(2), mass_(1), fx_(0), fy_(0) {}
  __device__ void move(float dt) {
    x_ += vx_ * dt;
    y_ += vy_ * dt;
  }
};

// Fields of 1, 4 and 8 bytes.
class Mixed;
using MixedAllocator = dynasoar::SoaAllocator<Mixed>;
class Mixed : public dynasoar::SoaBase<MixedAllocator> {
 public:
  DYNASOAR_FIELDS(Mixed, (x_, float), (energy_, double), (flags_, std::uint8_t), (vx_, float), (power_, double));
  __device__ explicit Mixed(std::size_t) : x_(0), energy_(0), flags_(0), vx_(1), power_(2) {}
  __device__ void move(float dt) {
    x_ += vx_ * dt;
    energy_ += power_ * dt;
    flags_ ^= std::uint8_t{1};
  }
};

// A method of a base class on subclasses of different sizes.
class Base;
class Small;
class Large;
using FamilyAllocator = dynasoar::SoaAllocator<Small, Large>;
class Base : public dynasoar::SoaBase<FamilyAllocator> {
 public:
  DYNASOAR_FIELDS(Base, (x_, float), (y_, float), (vx_, float), (vy_, float));
  __device__ Base() : x_(0), y_(0), vx_(1), vy_(2) {}
  __device__ void move(float dt) {
    x_ += vx_ * dt;
    y_ += vy_ * dt;
  }
};
class Small : public Base {
 public:
  using BaseClass = Base;
  DYNASOAR_FIELDS(Small, (a_, float));
  __device__ explicit Small(std::size_t) : a_(0) {}
};
class Large : public Base {
 public:
  using BaseClass = Base;
  DYNASOAR_FIELDS(Large, (a_, float), (b_, double), (c_, double));
  __device__ explicit Large(std::size_t) : a_(0), b_(0), c_(0) {}
};

// The same by hand: plain arrays, one kernel.
struct HandMove {
  float *x, *y, *vx, *vy;
  __device__ void operator()(std::size_t i) const {
    x[i] += vx[i] * kDt;
    y[i] += vy[i] * kDt;
  }
};
// All loads before the first store, which the compiler may not do by itself: it cannot know that the arrays differ.
struct HandMoveLoadsFirst {
  float *x, *y, *vx, *vy;
  __device__ void operator()(std::size_t i) const {
    const float new_x = x[i] + vx[i] * kDt;
    const float new_y = y[i] + vy[i] * kDt;
    x[i] = new_x;
    y[i] = new_y;
  }
};
struct HandMixed {
  float* x;
  double* energy;
  std::uint8_t* flags;
  float* vx;
  double* power;
  __device__ void operator()(std::size_t i) const {
    x[i] += vx[i] * kDt;
    energy[i] += power[i] * kDt;
    flags[i] ^= 1;
  }
};

// Arrays that a kernel by hand works on, set to zero.
template <class T>
dynasoar::DeviceArray<T> zeros(std::size_t count) {
  dynasoar::DeviceArray<T> array(count);
  array.fill_bytes(0);
  return array;
}

constexpr double kMoveBytes = 6 * sizeof(float);
constexpr double kMixedBytes = 3 * sizeof(float) + 3 * sizeof(double) + 2;

class Comparison {
 public:
  Comparison(Report& report, const Settings& settings, const char* name, std::size_t objects, double bytes_per_object)
      : report_(report), settings_(settings), name_(name), objects_(objects), bytes_(bytes_per_object) {}

  template <class Work>
  void run(dynasoar::Executor& executor, const char* how, Work work) {
    const std::vector<double> seconds = measure(executor, settings_, work, [] {});
    report_.add({"field_loop",
                 std::string(name_) + " " + how,
                 {{"objects", static_cast<std::int64_t>(objects_)}},
                 "useful bandwidth",
                 "TB/s",
                 rates(seconds, static_cast<double>(objects_) * bytes_, 1e-12)});
  }

 private:
  Report& report_;
  const Settings& settings_;
  const char* name_;
  std::size_t objects_;
  double bytes_;
};

void body(Report& report, const Settings& settings, std::size_t objects) {
  Comparison comparison(report, settings, "7 floats", objects, kMoveBytes);
  {
    dynasoar::AllocatorHandle<BodyAllocator> handle(
        {.heap_bytes = BodyAllocator::heap_bytes_for<Body>(objects) / 16 * 17 + 64 * (std::size_t{1} << 20)});
    handle.parallel_new<Body>(objects);
    handle.synchronize();
    comparison.run(handle.executor(), "objects", [&] { handle.parallel_do<&Body::move>(kDt); });
  }
  dynasoar::Executor executor;
  const auto x = zeros<float>(objects), y = zeros<float>(objects), vx = zeros<float>(objects),
             vy = zeros<float>(objects);
  const HandMove move{x.data(), y.data(), vx.data(), vy.data()};
  comparison.run(executor, "by hand", [&] { executor.for_each_index(objects, move); });
  const HandMoveLoadsFirst loads_first{x.data(), y.data(), vx.data(), vy.data()};
  comparison.run(executor, "by hand, loads first", [&] { executor.for_each_index(objects, loads_first); });
}

void mixed(Report& report, const Settings& settings, std::size_t objects) {
  Comparison comparison(report, settings, "1, 4 and 8 bytes", objects, kMixedBytes);
  {
    dynasoar::AllocatorHandle<MixedAllocator> handle(
        {.heap_bytes = MixedAllocator::heap_bytes_for<Mixed>(objects) / 16 * 17 + 64 * (std::size_t{1} << 20)});
    handle.parallel_new<Mixed>(objects);
    handle.synchronize();
    comparison.run(handle.executor(), "objects", [&] { handle.parallel_do<&Mixed::move>(kDt); });
  }
  dynasoar::Executor executor;
  const auto x = zeros<float>(objects), vx = zeros<float>(objects);
  const auto energy = zeros<double>(objects), power = zeros<double>(objects);
  const auto flags = zeros<std::uint8_t>(objects);
  const HandMixed move{x.data(), energy.data(), flags.data(), vx.data(), power.data()};
  comparison.run(executor, "by hand", [&] { executor.for_each_index(objects, move); });
}

void family(Report& report, const Settings& settings, std::size_t objects) {
  Comparison comparison(report, settings, "base class", objects, kMoveBytes);
  const std::size_t half = objects / 2;
  {
    dynasoar::AllocatorHandle<FamilyAllocator> handle(
        {.heap_bytes =
             (FamilyAllocator::heap_bytes_for<Small>(half) + FamilyAllocator::heap_bytes_for<Large>(half)) / 16 * 17 +
             128 * (std::size_t{1} << 20)});
    handle.parallel_new<Small>(half);
    handle.parallel_new<Large>(half);
    handle.synchronize();
    comparison.run(handle.executor(), "objects", [&] { handle.parallel_do<Base, &Base::move>(kDt); });
  }
  dynasoar::Executor executor;
  const auto x = zeros<float>(objects), y = zeros<float>(objects), vx = zeros<float>(objects),
             vy = zeros<float>(objects);
  comparison.run(executor, "by hand", [&] {
    for (const std::size_t first : {std::size_t{0}, half}) {
      executor.for_each_index(half, HandMove{x.data() + first, y.data() + first, vx.data() + first, vy.data() + first});
    }
  });
}

}  // namespace field_loop

void run_field_loop(Report& report, const Settings& settings) {
  const std::size_t objects = std::size_t{1} << (settings.small ? 20 : 27);
  field_loop::body(report, settings, objects);
  field_loop::mixed(report, settings, objects);
  field_loop::family(report, settings, objects);
}

}  // namespace benchmarks
