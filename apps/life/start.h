/// @file
/// Start: the states of the cells before the first step, on the device. Used by every parallel implementation.
#pragma once

#include <cstdint>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/random.h>

#include "dynamics.h"
#include "lattice.h"
#include "simulation.h"

namespace life {

/// The purpose of a random number. Its value is part of the key.
enum class Decision : std::uint32_t {
  initial = 0,  ///< whether a cell is alive in a random start
};

/// The device's view of a Start.
struct StartView {
  const std::uint16_t* pattern;  ///< [width * height], or null for a random start
  std::uint32_t width;
  std::uint32_t height;
  std::uint32_t margin;
  std::uint32_t frame_width;
  dynasoar::random::Seed seed;
  std::uint64_t alive;  ///< a random word below this is an alive cell

  /// The state of cell c of the frame.
  __device__ std::uint32_t state(std::uint64_t c) const {
    // In the left and upper margin, the unsigned coordinates are huge, and so outside, too.
    const std::uint32_t x = static_cast<std::uint32_t>(c % frame_width) - margin;
    const std::uint32_t y = static_cast<std::uint32_t>(c / frame_width) - margin;
    if (x >= width || y >= height) return kDead;
    const std::uint64_t cell = std::uint64_t{y} * width + x;
    if (pattern != nullptr) return pattern[cell];
    return dynasoar::random::words(seed, Decision::initial, cell, 0)[0] < alive ? kAlive : kDead;
  }
};

/// Owns the pattern's copy in device memory. It must outlive the loops that use its view.
class Start {
 public:
  explicit Start(const Parameters& parameters)
      : pattern_(parameters.start.size()),
        view_{pattern_.data(),
              static_cast<std::uint32_t>(parameters.width),
              static_cast<std::uint32_t>(parameters.height),
              static_cast<std::uint32_t>(parameters.margin),
              Lattice::of(parameters).width,
              {parameters.seed},
              static_cast<std::uint64_t>(parameters.density * 4294967296.0)} {
    pattern_.upload(parameters.start);
  }

  StartView view() const { return view_; }

 private:
  dynasoar::DeviceArray<std::uint16_t> pattern_;
  StartView view_;
};

}  // namespace life
