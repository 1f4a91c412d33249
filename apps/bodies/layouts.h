/// @file
/// Bodies in plain arrays: as a structure of arrays and as an array of structures. For the hand-written baselines.
#pragma once

#include <cstddef>
#include <cstdint>

#include <app/layout.h>
#include <dynasoar/platform/config.h>

#include "physics.h"
#include "simulation.h"

namespace bodies {

struct Body {
  std::uint32_t number;
  Vector position, velocity, acceleration;
  float mass;
};

using SoaStorage =
    app::StructureOfArrays<&Body::number, &Body::position, &Body::velocity, &Body::acceleration, &Body::mass>;
using AosStorage = app::ArrayOfStructures<Body>;

/// The bodies as device code sees them. @tparam Storage   SoaStorage or AosStorage
template <class Storage>
struct Arrays : Storage::View {
  __device__ Vector& position(std::uint32_t i) const { return this->template at<&Body::position>(i); }
  __device__ Vector& velocity(std::uint32_t i) const { return this->template at<&Body::velocity>(i); }
  __device__ Vector& acceleration(std::uint32_t i) const { return this->template at<&Body::acceleration>(i); }
  __device__ float& mass(std::uint32_t i) const { return this->template at<&Body::mass>(i); }
  __device__ std::uint32_t& id(std::uint32_t i) const { return this->template at<&Body::number>(i); }
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

/// The sum of the attractions of bodies within a distance.
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
