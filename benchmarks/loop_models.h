/// @file
/// The models for comparisons of loops over objects with loops over plain arrays: classes with fields of several
/// numbers and sizes, and hand-written code that does the same work.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/dynasoar.h>

namespace benchmarks::loop_models {

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

// The same in hand-written code: plain arrays, one kernel.
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

}  // namespace benchmarks::loop_models
