/// @file
/// The colours of the ground and of ants. Used by pictures.cpp and, on the device, by the DSL variant.
#pragma once

#include <cstdint>

#include <app/color.h>

#include "simulation.h"

namespace ants {

inline constexpr app::Rgb kGround = {13, 15, 24};
inline constexpr app::Rgb kHome = {16, 70, 170};
inline constexpr app::Rgb kTrail = {240, 130, 16};
inline constexpr app::Rgb kFood = {124, 200, 88};
inline constexpr app::Rgb kNest = {176, 124, 90};
inline constexpr app::Rgb kWall = {74, 80, 96};
inline constexpr app::Rgb kForager = {150, 176, 214};
inline constexpr app::Rgb kCarrier = {255, 244, 214};

/// The brightness of a concentration, from 0 to 1. It is 1/2 at the concentration `half`.
constexpr double brightness(float concentration, double half) {
  return concentration > 0 ? concentration / (concentration + half) : 0;
}

/// The colour of a cell: that of its food or, without food, that of its pheromones.
constexpr app::Rgb color_of(const CellState& cell) {
  if (cell.food > 0) return kFood;
  const double home = 0.8 * brightness(cell.home, 5);
  const double trail = brightness(cell.trail, 2.5);
  const auto channel = [&](std::uint8_t ground, std::uint8_t of_home, std::uint8_t of_trail) {
    const double sum = ground + home * of_home + trail * of_trail;
    return static_cast<std::uint8_t>(sum < 255 ? sum : 255);
  };
  return {channel(kGround.red, kHome.red, kTrail.red), channel(kGround.green, kHome.green, kTrail.green),
          channel(kGround.blue, kHome.blue, kTrail.blue)};
}

}  // namespace ants
