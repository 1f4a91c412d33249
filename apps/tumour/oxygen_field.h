/// @file
/// The oxygen of the hand-written baselines. Each explicit step reads one of two arrays and writes the other. The
/// numbers are the same as those of a dynasoar::Substance.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>

#include "rules.h"

namespace tumour::baselines {

/// The lattice in device code.
struct OxygenField {
  using Units = dynasoar::AtomicWord<std::uint64_t>;
  static constexpr double kUnits = 0x1p32;  // in an amount of 1
  static constexpr double kConcentrationOfUnit = 1 / (kUnits * kSpacing * kSpacing * kSpacing);

  std::int32_t side;
  float rate;             ///< of diffusion in half a step
  float* now;             ///< [places]
  float* half_way;        ///< [places] after the first half of a step
  Units* uptake;          ///< [places] whole numbers of units, modulo 2^64
  std::uint8_t* vessels;  ///< [places]

  __host__ __device__ std::uint32_t places() const {
    const auto n = static_cast<std::uint32_t>(side);
    return n * n * n;
  }
  __device__ std::uint32_t place(std::int32_t x, std::int32_t y, std::int32_t z) const {
    return static_cast<std::uint32_t>((z * side + y) * side + x);
  }

  /// Takes up oxygen at a position. @return the concentration
  __device__ float breathe(Vector position, float taken_volume) const {
    const Axis x = axis(position.x), y = axis(position.y), z = axis(position.z);
    const auto row = [&](std::int32_t j, std::int32_t k) {
      return between(at(x.first, j, k), at(x.first + 1, j, k), x.share);
    };
    const auto layer = [&](std::int32_t k) { return between(row(y.first, k), row(y.first + 1, k), y.share); };
    const float found = between(layer(z.first), layer(z.first + 1), z.share);
    const double units = double{taken_volume * found} * kUnits;
    const auto whole = static_cast<std::int64_t>(units + (units < 0 ? -0.5 : 0.5));
    uptake[place(x.cell, y.cell, z.cell)].add(static_cast<std::uint64_t>(-whole), dynasoar::Order::relaxed);
    return found;
  }

 private:
  struct Axis {
    std::int32_t cell, first;  ///< the place; the lower one of the two places between whose centres it is
    float share;
  };

  __device__ Axis axis(float coordinate) const {
    const auto length = static_cast<float>(side);
    const float way = std::fmin(std::fmax((coordinate + length * (kSpacing / 2)) * (1 / kSpacing), 0.0f), length);
    const float first = std::floor(way - 0.5f);
    const auto cell = static_cast<std::int32_t>(way);
    return {cell < side ? cell : side - 1, static_cast<std::int32_t>(first), way - 0.5f - first};
  }
  __device__ static float between(float low, float high, float share) { return low + share * (high - low); }
  __device__ float at(std::int32_t x, std::int32_t y, std::int32_t z) const {
    return is_inside(x) && is_inside(y) && is_inside(z) ? now[place(x, y, z)] : 1;
  }
  __device__ bool is_inside(std::int32_t i) const { return i >= 0 && i < side; }
};

/// Half a step of diffusion. In the first half, vessels supply oxygen, and the uptake of the cells is subtracted.
template <bool kIsFirst>
struct Diffuse {
  OxygenField field;
  Rules rules;

  __device__ void operator()(std::size_t index) const {
    const auto i = static_cast<std::uint32_t>(index);
    const auto side = static_cast<std::uint32_t>(field.side);
    const std::uint32_t x = i % side, y = i / side % side, z = i / (side * side);
    const float here = value(i);
    float flows = flow(i, x, 1, here);
    flows += flow(i, y, side, here);
    flows += flow(i, z, side * side, here);
    float after = here + flows;
    if constexpr (kIsFirst) {
      const auto units = static_cast<std::int64_t>(field.uptake[i].load(dynasoar::Order::relaxed));
      if (units != 0) field.uptake[i].store(0, dynasoar::Order::relaxed);
      after += static_cast<float>(static_cast<double>(units) * OxygenField::kConcentrationOfUnit);
      field.half_way[i] = after;
    } else {
      if (after < rules.hypoxia) field.vessels[i] = 0;  // for the supply of the next step
      field.now[i] = after;
    }
  }

 private:
  __device__ float value(std::uint32_t i) const {
    if constexpr (!kIsFirst) return field.half_way[i];
    const float oxygen = field.now[i];
    return field.vessels[i] != 0 ? rules.supplied(oxygen) : oxygen;
  }
  __device__ float flow(std::uint32_t i, std::uint32_t along, std::uint32_t stride, float here) const {
    const float before = along > 0 ? value(i - stride) : 1;
    const float behind = along + 1 < static_cast<std::uint32_t>(field.side) ? value(i + stride) : 1;
    return field.rate * ((before - here) + (behind - here));
  }
};

}  // namespace tumour::baselines
