/// @file
/// Bodies in plain arrays: as a structure of arrays and as an array of structures. For the hand-written baselines.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/memory.h>

#include "physics.h"
#include "simulation.h"

namespace bodies {

/// A structure of arrays, as device code sees it.
struct SoaArrays {
  std::uint32_t* number;
  Vector* position_of;
  Vector* velocity_of;
  Vector* acceleration_of;
  float* mass_of;

  __device__ Vector& position(std::uint32_t i) const { return position_of[i]; }
  __device__ Vector& velocity(std::uint32_t i) const { return velocity_of[i]; }
  __device__ Vector& acceleration(std::uint32_t i) const { return acceleration_of[i]; }
  __device__ float& mass(std::uint32_t i) const { return mass_of[i]; }
  __device__ std::uint32_t& id(std::uint32_t i) const { return number[i]; }
};

/// An array of structures.
struct AosArrays {
  struct Body {
    std::uint32_t number;
    Vector position, velocity, acceleration;
    float mass;
  };
  Body* bodies;

  __device__ Vector& position(std::uint32_t i) const { return bodies[i].position; }
  __device__ Vector& velocity(std::uint32_t i) const { return bodies[i].velocity; }
  __device__ Vector& acceleration(std::uint32_t i) const { return bodies[i].acceleration; }
  __device__ float& mass(std::uint32_t i) const { return bodies[i].mass; }
  __device__ std::uint32_t& id(std::uint32_t i) const { return bodies[i].number; }
};

/// Owns the memory of SoaArrays.
class SoaStorage {
 public:
  using Arrays = SoaArrays;

  explicit SoaStorage(std::size_t count)
      : number_(count), position_(count), velocity_(count), acceleration_(count), mass_(count) {}

  Arrays arrays() const {
    return {number_.data(), position_.data(), velocity_.data(), acceleration_.data(), mass_.data()};
  }

 private:
  dynasoar::DeviceArray<std::uint32_t> number_;
  dynasoar::DeviceArray<Vector> position_, velocity_, acceleration_;
  dynasoar::DeviceArray<float> mass_;
};

/// Owns the memory of AosArrays.
class AosStorage {
 public:
  using Arrays = AosArrays;

  explicit AosStorage(std::size_t count) : bodies_(count) {}

  Arrays arrays() const { return {bodies_.data()}; }

 private:
  dynasoar::DeviceArray<AosArrays::Body> bodies_;
};

/// Writes a body into arrays.
template <class Arrays>
struct Unpack {
  Arrays arrays;
  const BodyState* states;
  __device__ void operator()(std::size_t index) const {
    const auto i = static_cast<std::uint32_t>(index);
    const BodyState state = states[i];
    arrays.id(i) = state.number;
    arrays.position(i) = {state.x, state.y};
    arrays.velocity(i) = {state.vx, state.vy};
    arrays.mass(i) = state.mass;
  }
};

/// Reads a body from arrays.
template <class Arrays>
struct Pack {
  Arrays arrays;
  BodyState* states;
  __device__ void operator()(std::size_t index) const {
    const auto i = static_cast<std::uint32_t>(index);
    const Vector position = arrays.position(i);
    const Vector velocity = arrays.velocity(i);
    states[i] = {arrays.id(i), position.x, position.y, velocity.x, velocity.y, arrays.mass(i)};
  }
};

/// What a body shows to those that it attracts.
struct alignas(16) Attraction {
  Vector position;
  float mass;
};

/// The sum of all attractions, for look_at_all.
///
/// @tparam Count   callable, the number of bodies
template <class Arrays, class Count>
struct Attract {
  using Source = Attraction;
  using Result = Vector;

  Arrays arrays;
  Count count;

  __device__ std::uint32_t bodies() const { return count(); }
  __device__ Source source(std::uint32_t j) const { return {arrays.position(j), arrays.mass(j)}; }
  __device__ Source here(std::uint32_t i) const { return source(i); }
  __device__ Result nothing() const { return {}; }
  __device__ Result combined(const Source& here, const Result& sum, const Source& other) const {
    return sum + pull(other.position - here.position, other.mass);
  }
  __device__ Result merged(const Result& a, const Result& b) const { return a + b; }
  __device__ void finish(std::uint32_t i, const Result& sum) const { arrays.acceleration(i) = float{kGravity} * sum; }
};

/// The sum of the attractions of those within a distance.
template <class Arrays, class Count>
struct AttractNear : Attract<Arrays, Count> {
  float squared_distance;

  __device__ Vector combined(const Attraction& here, const Vector& sum, const Attraction& other) const {
    const Vector towards = other.position - here.position;
    return squared_length(towards) <= squared_distance ? sum + pull(towards, other.mass) : sum;
  }
};

/// A body's motion, for a loop over bodies.
template <class Arrays, class Count>
struct Move {
  Arrays arrays;
  Count count;
  float time;
  __device__ void operator()(std::size_t index) const {
    const auto i = static_cast<std::uint32_t>(index);
    if (i < count()) advance(arrays.position(i), arrays.velocity(i), arrays.acceleration(i), time);
  }
};

/// A number of bodies that never changes.
struct FixedCount {
  std::uint32_t count;
  __host__ __device__ std::uint32_t operator()() const { return count; }
};

/// A number of bodies in device memory.
struct CountOnDevice {
  const std::uint32_t* count;
  __device__ std::uint32_t operator()() const { return *count; }
};

}  // namespace bodies
