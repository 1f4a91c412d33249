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

// One field, three and eight, all of which are touched.
class One;
class Three;
class Eight;
using CountsAllocator = dynasoar::SoaAllocator<One, Three, Eight>;
class One : public dynasoar::SoaBase<CountsAllocator> {
 public:
  DYNASOAR_FIELDS(One, (x_, float));
  __device__ explicit One(std::size_t) : x_(0) {}
  __device__ void move(float dt) { x_ += dt; }
};
class Three : public dynasoar::SoaBase<CountsAllocator> {
 public:
  DYNASOAR_FIELDS(Three, (x_, float), (vx_, float), (ax_, float));
  __device__ explicit Three(std::size_t) : x_(0), vx_(0), ax_(1) {}
  __device__ void move(float dt) {
    vx_ += ax_ * dt;
    x_ += vx_ * dt;
  }
};
class Eight : public dynasoar::SoaBase<CountsAllocator> {
 public:
  DYNASOAR_FIELDS(Eight, (x_, float), (y_, float), (z_, float), (w_, float), (vx_, float), (vy_, float), (vz_, float),
                  (vw_, float));
  __device__ explicit Eight(std::size_t) : x_(0), y_(0), z_(0), w_(0), vx_(1), vy_(2), vz_(3), vw_(4) {}
  __device__ void move(float dt) {
    x_ += vx_ * dt;
    y_ += vy_ * dt;
    z_ += vz_ * dt;
    w_ += vw_ * dt;
  }
};

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
  __device__ void move_loads_first(float dt) {
    const float x = x_ + vx_ * dt;
    const double energy = energy_ + power_ * dt;
    const std::uint8_t flags = flags_ ^ std::uint8_t{1};
    x_ = x;
    energy_ = energy;
    flags_ = flags;
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
struct HandOne {
  float* x;
  __device__ void operator()(std::size_t i) const { x[i] += kDt; }
};
struct HandThree {
  float *x, *vx, *ax;
  __device__ void operator()(std::size_t i) const {
    vx[i] += ax[i] * kDt;
    x[i] += vx[i] * kDt;
  }
};
struct HandEight {
  float *x, *y, *z, *w, *vx, *vy, *vz, *vw;
  __device__ void operator()(std::size_t i) const {
    x[i] += vx[i] * kDt;
    y[i] += vy[i] * kDt;
    z[i] += vz[i] * kDt;
    w[i] += vw[i] * kDt;
  }
};
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
struct HandMixedLoadsFirst {
  HandMixed arrays;
  __device__ void operator()(std::size_t i) const {
    const float new_x = arrays.x[i] + arrays.vx[i] * kDt;
    const double new_energy = arrays.energy[i] + arrays.power[i] * kDt;
    const std::uint8_t new_flags = arrays.flags[i] ^ std::uint8_t{1};
    arrays.x[i] = new_x;
    arrays.energy[i] = new_energy;
    arrays.flags[i] = new_flags;
  }
};

// Bytes that a loop has to read and write for each object.
constexpr double kOneBytes = 2 * sizeof(float);
constexpr double kThreeBytes = 5 * sizeof(float);
constexpr double kEightBytes = 12 * sizeof(float);
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

/// A heap with so many objects of T and no others.
template <class T>
class Objects {
 public:
  explicit Objects(std::size_t count) : handle_({.heap_bytes = heap_bytes_with_room<T>(count)}) {
    handle_.template parallel_new<T>(count);
    handle_.synchronize();
  }

  template <auto kMethod>
  void compare(Comparison& comparison, const char* how) {
    comparison.run(handle_.executor(), how, [&] { handle_.template parallel_do<kMethod>(kDt); });
  }

 private:
  dynasoar::AllocatorHandle<typename T::Allocator> handle_;
};

void one_field(Report& report, const Settings& settings, std::size_t objects) {
  Comparison comparison(report, settings, "1 float", objects, kOneBytes);
  Objects<One>(objects).compare<&One::move>(comparison, "objects");
  dynasoar::Executor executor;
  const auto x = zeros<float>(objects);
  const HandOne move{x.data()};
  comparison.run(executor, "by hand", [&] { executor.for_each_index(objects, move); });
}

void three_fields(Report& report, const Settings& settings, std::size_t objects) {
  Comparison comparison(report, settings, "3 floats", objects, kThreeBytes);
  Objects<Three>(objects).compare<&Three::move>(comparison, "objects");
  dynasoar::Executor executor;
  const auto x = zeros<float>(objects), vx = zeros<float>(objects), ax = zeros<float>(objects);
  const HandThree move{x.data(), vx.data(), ax.data()};
  comparison.run(executor, "by hand", [&] { executor.for_each_index(objects, move); });
}

void eight_fields(Report& report, const Settings& settings, std::size_t objects) {
  Comparison comparison(report, settings, "8 floats", objects, kEightBytes);
  Objects<Eight>(objects).compare<&Eight::move>(comparison, "objects");
  dynasoar::Executor executor;
  const auto x = zeros<float>(objects), y = zeros<float>(objects), z = zeros<float>(objects), w = zeros<float>(objects);
  const auto vx = zeros<float>(objects), vy = zeros<float>(objects), vz = zeros<float>(objects),
             vw = zeros<float>(objects);
  const HandEight move{x.data(), y.data(), z.data(), w.data(), vx.data(), vy.data(), vz.data(), vw.data()};
  comparison.run(executor, "by hand", [&] { executor.for_each_index(objects, move); });
}

void seven_fields(Report& report, const Settings& settings, std::size_t objects) {
  Comparison comparison(report, settings, "7 floats", objects, kMoveBytes);
  Objects<Body>(objects).compare<&Body::move>(comparison, "objects");
  dynasoar::Executor executor;
  const auto x = zeros<float>(objects), y = zeros<float>(objects), vx = zeros<float>(objects),
             vy = zeros<float>(objects);
  const HandMove move{x.data(), y.data(), vx.data(), vy.data()};
  comparison.run(executor, "by hand", [&] { executor.for_each_index(objects, move); });
  const HandMoveLoadsFirst loads_first{x.data(), y.data(), vx.data(), vy.data()};
  comparison.run(executor, "by hand, loads first", [&] { executor.for_each_index(objects, loads_first); });
}

void mixed_fields(Report& report, const Settings& settings, std::size_t objects) {
  Comparison comparison(report, settings, "1, 4 and 8 bytes", objects, kMixedBytes);
  {
    Objects<Mixed> mixed(objects);
    mixed.compare<&Mixed::move>(comparison, "objects");
    mixed.compare<&Mixed::move_loads_first>(comparison, "objects, loads first");
  }
  dynasoar::Executor executor;
  const auto x = zeros<float>(objects), vx = zeros<float>(objects);
  const auto energy = zeros<double>(objects), power = zeros<double>(objects);
  const auto flags = zeros<std::uint8_t>(objects);
  const HandMixed move{x.data(), energy.data(), flags.data(), vx.data(), power.data()};
  comparison.run(executor, "by hand", [&] { executor.for_each_index(objects, move); });
  comparison.run(executor, "by hand, loads first",
                 [&] { executor.for_each_index(objects, HandMixedLoadsFirst{move}); });
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
  field_loop::one_field(report, settings, objects);
  field_loop::three_fields(report, settings, objects);
  field_loop::eight_fields(report, settings, objects);
  field_loop::seven_fields(report, settings, objects);
  field_loop::mixed_fields(report, settings, objects);
  field_loop::family(report, settings, objects);
}

}  // namespace benchmarks
